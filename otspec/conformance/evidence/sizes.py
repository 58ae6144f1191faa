"""Calls of one row, of a few, and of numbers of rows about those of tiles."""

from collections.abc import Callable
from typing import ClassVar

import numpy as np

from otspec._base import IntArray
from otspec.conformance.cases.cases import Answer, Case
from otspec.conformance.cases.drafting import Sample
from otspec.conformance.cases.kinds import Kind
from otspec.conformance.evidence.batches import KernelBatches
from otspec.conformance.evidence.dependence import taken
from otspec.conformance.evidence.statistics import Statistic, of_two_rows
from otspec.conformance.evidence.trial import FaultError


class OddRows(KernelBatches):
    """Calls of numbers of rows of which none is a multiple of a tile.

    In every second round no row of a call has drafts where its first row has none. Texts of a
    right verifier are independent of that, but not what it accepts, or drafts that a policy chose.
    """

    sizes: ClassVar[tuple[int, ...]] = (127, 255, 63, 31)

    @property
    def only_texts(self) -> bool:
        """Whether only texts are compared, of drafts that no policy chose."""
        return not self.marked and self.kind.policy is None

    def answer(self, sample: Sample) -> Answer:
        """Return what the verifier says of drafts, in calls of such numbers of rows."""
        return self._in_calls(sample, super().answer)

    def _texts(self, sample: Sample) -> Answer:
        # What is handed on with corrections is that of one call.
        corrects = self.verifier.corrects
        return self._in_calls(sample, super()._texts) if corrects else super()._texts(sample)

    def _in_calls(self, sample: Sample, answered: Callable[[Sample], Answer]) -> Answer:
        answers: list[Answer] = []
        begin, whole = 0, len(self.sizes)
        while begin < len(sample.drafts):
            rounds, turn = divmod(len(answers), whole)
            end = begin + self.sizes[turn]
            call = taken(sample, slice(begin, end))
            count = len(call.drafts)
            if rounds % 2 and self.only_texts:
                call = call._replace(there=call.there & call.there[0])
            try:
                answers.append(answered(call))
            except ValueError as error:  # such as a shape that is right for more rows
                words = "one row" if count == 1 else f"{count} rows"
                raise FaultError("impossible", f"in a call of {words} {error}") from error
            begin = end
        texts = np.concatenate([answer.texts for answer in answers])
        marks = [answer.marks for answer in answers if answer.marks is not None]
        return Answer(texts, np.concatenate(marks) if len(marks) == len(answers) else None)


class SingleRows(OddRows):
    """Calls of one row each."""

    sizes = (1,)


class FewRows(OddRows):
    """Calls of two to seven rows."""

    # About as many rows in calls of each size.
    sizes = (2, 3, 4, 5, 6, 7, 2, 3, 4, 2, 3, 6, 2, 5, 4, 2, 3, 7, 2)


class RowsBeside(OddRows):
    """Two rows of each call, which are side by side at its ends, or at borders of tiles.

    Their first tokens are independent, so that their joint law is known. It is another where one
    row has the answer, the models or the random numbers of the other.
    """

    sizes: ClassVar[tuple[int, ...]] = (31, 33, 64, 65, 127, 128, 129, 255)
    calls = sum(sizes) // len(sizes)
    ways: ClassVar[tuple[str, ...]] = (
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
        sizes = np.resize(self.sizes, size)
        said, begin = first_tokens(self, self.drawn(int(sizes.sum()))), np.cumsum(sizes) - sizes
        tile = 1 << np.frexp(sizes - 1)[1] - 1  # the largest power of 2 that is less
        last = (sizes - 1) // 32 * 32
        ends = np.array([(0, 1), (-2, -1), (0, -1)])
        places = np.stack(
            [*ends[:, :, None] % sizes, (tile - 1, tile), ((last - 1) % sizes, last)]
        )  # (ways, 2, calls)
        return counted_pairs(self.case, said[begin + places])


class FewBeside(RowsBeside):
    """The same of calls of two to seven rows."""

    sizes = (2, 3, 4, 5, 6, 7)
    calls = sum(sizes) // len(sizes)


class RowsApart(KernelBatches):
    """The same of all rows of long calls that are up to 32 apart."""

    calls = 2
    farthest = 32
    ways: ClassVar[tuple[str, ...]] = tuple(
        f"rows {apart} apart" for apart in range(1, farthest + 1)
    )

    @classmethod
    def statistics(cls, _kind: Kind, case: Case) -> list[Statistic]:
        """Return the joint law of the first tokens of two rows."""
        return [of_two_rows(case, cls.ways)]

    def __call__(self, size: int) -> IntArray:
        """Return how often tokens of two rows came together, of each distance."""
        said = first_tokens(self, self.drawn(2 * (size + self.farthest)))
        places = np.empty((self.farthest, 2, size), dtype=np.intp)
        for apart in range(1, self.farthest + 1):
            rows = np.arange(len(said) - apart)
            first = rows[rows // apart % 2 == 0][:size]  # of no row are two pairs
            places[apart - 1] = first, first + apart
        return counted_pairs(self.case, said[places])


def first_tokens(batches: KernelBatches, sample: Sample) -> IntArray:
    """Return the pair of models and the first token of each row, as one number."""
    n, first = batches.case.n, batches.answer(sample).texts[:, 0]
    return np.where(first < n, sample.variants * n + first, batches.case.variants * n)


def counted_pairs(case: Case, said: IntArray) -> IntArray:
    """Return how often two rows said each two, (ways, 2, size), as :func:`of_two_rows` has it."""
    cells = case.variants * case.n + 1
    both = said[:, 0] * cells + said[:, 1]
    return np.concatenate([np.bincount(each, minlength=cells**2) for each in both])[None]
