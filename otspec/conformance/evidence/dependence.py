"""Whether the rows of a call, or calls, depend on each other (Conformance, 3)."""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from typing import ClassVar

import numpy as np

from otspec._base import IntArray
from otspec.conformance.cases.cases import Case
from otspec.conformance.cases.drafting import Sample
from otspec.conformance.cases.kinds import Kind
from otspec.conformance.evidence.batches import KernelBatches
from otspec.conformance.evidence.statistics import Statistic, dependence

ROWS_APART = (*range(1, 129), *(1 << power for power in range(8, 13)))
"""How far apart rows of a call are that are compared."""
CALLS_APART = 64  # calls that are at most so far apart are compared
SHORT = 8  # pairs at most so far apart are also compared in two halves: stretches in turn
ALIKE = 32  # rows one after another with the same drafts
FRESH = "draw new random numbers for every row of every call, from what the call is given"


def _shared(rows: str) -> tuple[str, str]:
    return rows, f"random numbers shared by {rows}"


def rows_apart(apart: int) -> tuple[str, str]:
    """Return what is compared of rows so far apart, and the fault that explains it."""
    return _shared("neighboring rows" if apart == 1 else f"rows {apart} apart")


def calls_apart(apart: int) -> tuple[str, str]:
    """Return what is compared of calls so far apart, and the fault that explains it."""
    if apart == 1:
        return "calls", "random numbers of one call used again in the next"
    return f"calls {apart} apart", f"random numbers of one call used again {apart} calls later"


def _parts(apart: int) -> int:
    return 3 if apart <= SHORT else 1


class Pairs(KernelBatches, ABC):
    """Whether answers depend on each other: two rows of two calls, paired in several ways.

    If all answers are independent, each comparison says more or less with probability 1/2, and the
    comparisons of one way are independent: their pairs form no cycle (Conformance, 3). Each way has
    a test of its own, and its share of the false alarms.
    """

    calls = 4
    between: ClassVar[str]  # what depends on each other, in the plural
    ways: ClassVar[tuple[tuple[str, str], ...]]  # what is compared, and the fault that explains it

    @classmethod
    def statistics(cls, _kind: Kind, _case: Case) -> list[Statistic]:
        """Return the law of which pairs agree more, for each way."""
        return [dependence(cls.ways)]

    def __call__(self, size: int) -> IntArray:
        """Return how often pairs of each way agree more than others, and less, (1, 2 ways)."""
        counts = []
        for more in self.compared(size):
            # A fair coin stands for ties, and for rows or calls that are not there.
            coins = self.rng.binomial(size - np.count_nonzero(more), 0.5)
            ahead = np.count_nonzero(more > 0) + int(coins)
            counts += [ahead, size - ahead]
        return np.array([counts])

    @abstractmethod
    def compared(self, size: int) -> Iterator[IntArray]:
        """Yield for each way in how many more places pairs agree than others, at most (size,)."""

    def frequent(self, size: int) -> Sample:
        """Return the two most frequent of so many drafts, or one if all are equal."""
        # Whatever law they have, answers to given drafts are independent.
        drawn = self.kind.draw(self.case, size, self.rng)
        columns = np.column_stack([drawn.drafts, drawn.there])
        _, at, often = np.unique(columns, axis=0, return_index=True, return_counts=True)
        return taken(drawn, at[np.argsort(-often, kind="stable")[:2]])

    def mixed(self, frequent: Sample, given: IntArray) -> list[tuple[IntArray, IntArray]]:
        """Return random pairs of rows that are given different drafts, and of those given equal."""
        if not frequent.drafts.size:
            return [(given[:0], given[:0])] * 2
        order = self.rng.permutation(len(given))
        order = order[np.argsort(given[order], kind="stable")]
        half = len(given) // 2
        i, j = order[:half], order[::-1][:half]
        k, m = order[: 2 * half : 2], order[1 : 2 * half : 2]
        other, same = given[i] != given[j], given[k] == given[m]
        return [(i[other], j[other]), (k[same], m[same])]

    def said(self, sample: Sample) -> IntArray:
        """Return the symbols that the verifier says of each row, and what it accepts, by places."""
        answer = self.answer(sample)
        marks = [] if answer.marks is None else [answer.marks]
        return np.array([*answer.texts.T, *marks], dtype=np.int16)


class RowPairs(Pairs):
    """Whether rows of a call depend on each other: by their drafts, or by their places."""

    between = "rows of a call"
    ways = (
        _shared("rows of different drafts"),
        _shared("rows of equal drafts"),
        *(rows_apart(apart) for apart in ROWS_APART for _ in range(_parts(apart))),
        _shared("rows half a call apart"),
        _shared("mirrored rows of a call"),  # as far from its first row as from its last
    )

    def compared(self, size: int) -> Iterator[IntArray]:
        """Compare two rows, at places of all kinds if their drafts are equal, in two calls."""
        frequent = self.frequent(2 * size)
        # Others in a quarter of the rows; the same half a call apart, and to a mirror.
        others = np.arange(1 + size // (2 * ALIKE)) % 4 == 3
        runs = np.where(others, len(frequent.drafts) - 1, 0)
        quarter = np.repeat(self.rng.permutation(runs), ALIKE)[: -(-size // 2)]
        given = np.tile(np.append(quarter, quarter[: size // 2][::-1]), 2)
        first, second = (self.said(taken(frequent, given)) for _ in range(2))
        rows = np.arange(2 * size)
        pairs = apart_in(len(rows), ROWS_APART)
        pairs += [(rows[:size], rows[size:]), (rows[:size], rows[: size - 1 : -1])]
        alike = [(i[given[i] == given[j]], j[given[i] == given[j]]) for i, j in pairs]
        for one, two in (*self.mixed(frequent, given), *alike):
            i, j = one[:size], two[:size]
            yield more_agree(first[:, i], first[:, j], second[:, i], second[:, j])


class CallPairs(Pairs):
    """Whether calls depend on each other: any two of a series that are up to 64 apart."""

    series = 2 * CALLS_APART
    between = "calls"
    ways = (
        *(calls_apart(apart) for apart in range(1, CALLS_APART + 1) for _ in range(_parts(apart))),
        *RowPairs.ways[:3],  # in many calls
    )

    def compared(self, size: int) -> Iterator[IntArray]:
        """Compare the same row of two calls with the row beside it, which has the same drafts."""
        half = min(CALLS_APART, size)
        frequent = self.frequent(2 * size)
        given = self.rng.integers(len(frequent.drafts), size=-(-size // half))
        drafts = np.repeat(given, 2)
        said = np.stack([self.said(taken(frequent, drafts)) for _ in range(2 * half)], axis=1)
        one, two = said[:, :, ::2], said[:, :, 1::2]
        pairs = apart_in(2 * half, range(1, CALLS_APART + 1))
        ways = [(one[:, i], one[:, j], two[:, i], two[:, j]) for i, j in pairs]
        rows = np.arange(len(drafts)).reshape(-1, 2)
        pairs = [(rows[i].ravel(), rows[j].ravel()) for i, j in self.mixed(frequent, given)]
        one, two = said[:, ::2], said[:, 1::2]
        for i, j in (*pairs, (rows[:, 0], rows[:, 1])):
            ways += [(one[:, :, i], one[:, :, j], two[:, :, i], two[:, :, j])]
        for answers in ways:
            yield more_agree(*(each.reshape(len(said), -1)[:, :size] for each in answers))


class WarpedPairs(RowPairs):
    """Rows of a call with models that the verifier warps or masks."""

    between = "rows of a call, with settings"


class WarpedCallPairs(CallPairs):
    """Calls with such models."""

    between = "calls, with settings"


class _FewerDrafts(Pairs):
    drafts: ClassVar[int]  # how many of a row count

    def frequent(self, size: int) -> Sample:
        """Return the most frequent of so many drafts, of which only the first ones count."""
        sample = super().frequent(size)
        first = np.arange(sample.there.shape[1]) < self.drafts
        return sample._replace(there=sample.there & first)


class FewerPairs(_FewerDrafts, RowPairs):
    """Rows of a call with one draft where others have more, and with settings."""

    between = "rows of a call with fewer drafts"
    drafts = 1


class FewerCallPairs(_FewerDrafts, CallPairs):
    """Calls of such rows."""

    between = "calls with fewer drafts"
    drafts = 1


class DraftlessPairs(_FewerDrafts, RowPairs):
    """Rows of a call that have no drafts, and with settings."""

    between = "rows of a call without drafts"
    drafts = 0


class DraftlessCallPairs(_FewerDrafts, CallPairs):
    """Calls of such rows."""

    between = "calls without drafts"
    drafts = 0


def taken(drafts: Sample, rows: IntArray | slice) -> Sample:
    """Return some rows of drafts."""
    return Sample(*(part[rows] for part in drafts))


def apart_in(count: int, distances: Sequence[int]) -> list[tuple[IntArray, IntArray]]:
    """Return which of so many places are so far apart: all, and short distances in halves, too."""
    pairs = []
    for apart in distances:
        first = np.arange(count - apart)
        odd = first // apart % 2 == 1
        pairs += [
            (each, each + apart) for each in (first, first[~odd], first[odd])[: _parts(apart)]
        ]
    return pairs


def more_agree(a: IntArray, b: IntArray, c: IntArray, d: IntArray) -> IntArray:
    """Return in how many more places a and b, and c and d, agree than a and d, and c and b."""
    agree = (a == b).view(np.int8) + (c == d)
    agree -= a == d
    agree -= c == b
    more: IntArray = agree.sum(axis=0, dtype=np.int16)
    return more
