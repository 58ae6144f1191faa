"""Whether the rows of a call, or calls, depend on each other (Conformance, 3)."""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import ClassVar

import numpy as np

from otspec._base import IntArray
from otspec.conformance.cases.cases import Case
from otspec.conformance.cases.drafting import Sample
from otspec.conformance.cases.kinds import Kind
from otspec.conformance.evidence.batches import KernelBatches
from otspec.conformance.evidence.statistics import Statistic, dependence

ROWS_APART = (*range(2, 129), *(1 << power for power in range(8, 13)))
"""How far apart rows of a call are that are compared, but for neighbors."""
CALLS_APART = 64  # calls that are at most so far apart are compared
FRESH = "draw new random numbers for every row of every call, from what the call is given"


class Pairs(KernelBatches, ABC):
    """Whether answers depend on each other: two rows of two calls, paired in several ways.

    If all answers are independent, each comparison says more or less with probability 1/2, and the
    comparisons of one way are independent: their pairs form no cycle (Conformance, 3). Each way has
    a test of its own, and its share of the false alarms.
    """

    calls = 4
    between: ClassVar[str]  # what depends on each other, in the plural
    next: ClassVar[tuple[str, str]]  # what follow each other, and the fault that explains it
    ways: ClassVar[tuple[tuple[str, str], ...]]  # the same for all that are compared

    @classmethod
    def statistics(cls, _kind: Kind, _case: Case) -> list[Statistic]:
        """Return the law of which pairs agree more, for each way."""
        return [dependence(cls.ways)]

    def __call__(self, size: int) -> IntArray:
        """Return how often pairs of each way agree more than others, and less, (1, 2 ways)."""
        counts = []
        for more in self.compared(size):
            # A fair coin stands for ties, and for rows or calls that are not there.
            ahead = np.count_nonzero(more > 0)
            ahead += self.rng.binomial(size - np.count_nonzero(more), 0.5)
            counts += [ahead, size - ahead]
        return np.array([counts])

    @abstractmethod
    def compared(self, size: int) -> Iterator[IntArray]:
        """Yield for each way in how many more places pairs agree than others, at most (size,)."""

    def said(self, sample: Sample) -> IntArray:
        """Return what the verifier says of each row: its symbols, and what it accepts."""
        answer = self.answer(sample)
        marks = np.zeros(len(answer.texts), int) if answer.marks is None else answer.marks
        return np.column_stack([answer.texts, marks])


class RowPairs(Pairs):
    """Whether rows of a call depend on each other: by their drafts, or by their places."""

    between = "rows of a call"
    next = "neighboring rows", "random numbers shared by neighboring rows"
    ways = tuple(
        (rows, f"random numbers shared by {rows}")
        for rows in (
            "rows of different drafts",
            "rows of equal drafts",
            *next[:1] * 3,  # all of them, from even rows on, and from odd ones
            *(f"rows {apart} apart" for apart in ROWS_APART),
            "rows half a call apart",
            "rows as far from the first as from the last of a call",
        )
    )

    def compared(self, size: int) -> Iterator[IntArray]:
        """Compare two rows, at places of all kinds if their drafts are equal, in two calls."""
        given, drafts = self.drafted(size)
        first, second = self.said(drafts), self.said(drafts)
        if drafts.drafts.size:
            one, two = (self.rng.permutation(np.flatnonzero(given == each)) for each in (0, 1))
            count, half = min(len(one), len(two)), len(one) // 2
            for i, j in ((one[:count], two[:count]), (one[:half], one[half : 2 * half])):
                yield more_agree(first[i], first[j], second[i], second[j])[:size]
        else:
            yield from np.zeros((2, 0), int)
        rows = np.arange(2 * size)
        pairs = [(rows[:-1], rows[1:]), (rows[:-1:2], rows[1::2]), (rows[1:-1:2], rows[2::2])]
        pairs += [(rows[:-apart], rows[apart:]) for apart in ROWS_APART]
        for i, j in (*pairs, (rows[:size], rows[size:]), (rows[:size], rows[: size - 1 : -1])):
            alike = np.flatnonzero(given[i] == given[j])[:size]
            i, j = i[alike], j[alike]
            yield more_agree(first[i], first[j], second[i], second[j])

    def drafted(self, size: int) -> tuple[IntArray, Sample]:
        """Give each row one of two frequent drafts; those half a call apart, and mirrored, alike."""
        # Whatever law they have, answers to given drafts are independent.
        drawn = self.kind.draw(self.case, 2 * size, self.rng)
        columns = np.column_stack([drawn.drafts, drawn.there])
        _, at, often = np.unique(columns, axis=0, return_index=True, return_counts=True)
        frequent = at[np.argsort(-often, kind="stable")]
        quarter = self.rng.integers(min(2, len(frequent)), size=-(-size // 2))
        given = np.tile(np.append(quarter, quarter[: size // 2][::-1]), 2)
        return given, taken(drawn, frequent[given])


class CallPairs(Pairs):
    """Whether calls depend on each other: any two of a series that are up to 64 apart."""

    series = 2 * CALLS_APART
    between = "calls"
    next = "calls", "random numbers of one call used again in the next"
    ways = (
        *(next,) * 3,  # all of them, from even calls on, and from odd ones
        *(
            (f"calls {apart} apart", f"random numbers of one call used again {apart} calls later")
            for apart in range(2, CALLS_APART + 1)
        ),
    )

    def compared(self, size: int) -> Iterator[IntArray]:
        """Compare the same row of two calls with the row beside it."""
        half = min(CALLS_APART, size)
        rows = 2 * -(-size // half)
        drawn = self.kind.draw(self.case, 2 * half * rows, self.rng)
        calls = np.arange(len(drawn.variants)).reshape(-1, rows)
        said = np.stack([self.said(taken(drawn, call)) for call in calls])
        one, two = said[:, ::2], said[:, 1::2]
        further = [(0, 1, apart) for apart in range(2, CALLS_APART + 1)]
        for start, step, apart in [(0, 1, 1), (0, 2, 1), (1, 2, 1), *further]:
            i, j = slice(start, -apart, step), slice(start + apart, None, step)
            answers = (one[i], one[j], two[i], two[j])
            yield more_agree(*(each.reshape(-1, said.shape[2])[:size] for each in answers))


def taken(drafts: Sample, rows: IntArray) -> Sample:
    """Return some rows of drafts."""
    return Sample(*(part[rows] for part in drafts))


def more_agree(a: IntArray, b: IntArray, c: IntArray, d: IntArray) -> IntArray:
    """Return in how many more places a and b, and c and d, agree than a and d, and c and b."""
    return (a == b).sum(1) + (c == d).sum(1) - (a == d).sum(1) - (c == b).sum(1)
