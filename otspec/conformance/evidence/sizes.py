"""Calls of one row, of a few, and of numbers of rows about those of tiles."""

from itertools import cycle
from typing import ClassVar

import numpy as np

from otspec._base import IntArray
from otspec.conformance.cases.cases import Case
from otspec.conformance.cases.drafting import Sample
from otspec.conformance.cases.kinds import Kind
from otspec.conformance.evidence.batches import KernelBatches
from otspec.conformance.evidence.statistics import Statistic, of_two_rows
from otspec.conformance.evidence.trial import FaultError


class OddRows(KernelBatches):
    """Calls of numbers of rows of which none is a multiple of a tile."""

    sizes: ClassVar[tuple[int, ...]] = (127, 255, 63, 31)

    def __call__(self, size: int) -> IntArray:
        """Return how often each mark came with each text."""
        sizes, counts = cycle(self.sizes), []
        while size > 0:
            rows = min(size, next(sizes))
            try:
                counts.append(super().__call__(rows))
            except ValueError as error:  # such as a shape that is right for more rows
                words = "one row" if rows == 1 else f"{rows} rows"
                raise FaultError("impossible", f"in a call of {words} {error}") from error
            size -= rows
        total: IntArray = np.sum(counts, axis=0)
        return total


class SingleRows(OddRows):
    """Calls of one row each."""

    sizes = (1,)


class FewRows(OddRows):
    """Calls of two to seven rows, all of which have as many drafts."""

    # About as many rows in calls of each size.
    sizes = (2, 3, 4, 5, 6, 7, 2, 3, 4, 2, 3, 6, 2, 5, 4, 2, 3, 7, 2)

    def drawn(self, rows: int) -> Sample:
        """Return drafts at the same places of each row."""
        sample = super().drawn(rows)
        return sample._replace(there=np.repeat(sample.there[:1], rows, axis=0))


class RowsBeside(KernelBatches):
    """Two rows of each call, which are side by side at its ends, or at borders of tiles.

    Their first tokens are independent, so that their joint law is known. It is another where one
    row has the answer, the models or the random numbers of the other.
    """

    sizes: ClassVar[tuple[int, ...]] = (31, 33, 64, 65, 127, 128, 129, 255)
    calls = sum(sizes) // len(sizes)
    ways = (
        "first two rows",
        "last two rows",
        "first and last row",
        "two rows where the largest tile ends",
        "two rows where the last tile of 32 begins",
    )

    @classmethod
    def statistics(cls, _kind: Kind, case: Case) -> list[Statistic]:
        """Return the joint law of the first tokens of two rows."""
        return [of_two_rows(case, cls.ways)]

    def __call__(self, size: int) -> IntArray:
        """Return how often tokens of two rows came together, of each two: one call for each."""
        case, cells = self.case, self.case.variants * self.case.n + 1
        counts = np.zeros((len(self.ways), cells, cells), dtype=np.int64)
        for _, rows in zip(range(size), cycle(self.sizes), strict=False):
            sample = self.drawn(rows)
            first = self.answer(sample).texts[:, 0]
            said = np.where(first < case.n, sample.variants * case.n + first, cells - 1)
            tile, last = 1 << (rows - 1).bit_length() - 1, (rows - 1) // 32 * 32
            pairs = ((0, 1), (-2, -1), (0, -1), (tile - 1, tile), (last - 1, last))
            one, two = said[np.array(pairs)].T
            counts[np.arange(len(self.ways)), one, two] += 1
        return counts.reshape(1, -1)


class FewBeside(RowsBeside):
    """The same of calls of two to seven rows."""

    sizes = (2, 3, 4, 5, 6, 7)
    calls = sum(sizes) // len(sizes)
