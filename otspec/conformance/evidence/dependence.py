"""Whether the rows of a call, or two calls, depend on each other (Conformance, 3)."""

from abc import ABC, abstractmethod
from typing import ClassVar

import numpy as np

from otspec._base import IntArray
from otspec.conformance.cases.cases import Case
from otspec.conformance.cases.drafting import Sample
from otspec.conformance.cases.kinds import Kind
from otspec.conformance.evidence.batches import KernelBatches
from otspec.conformance.evidence.statistics import Statistic, dependence

REDRAWN = 20  # most attempts to draw drafts that differ from those of another row
FRESH = "draw new random numbers for every row of every call, from what the call is given"


class Pairs(KernelBatches, ABC):
    """Whether answers depend on each other: two rows of one call, and the same of another.

    Of four independent answers with one law, whichever it is, pairs agree in as many places as
    after an exchange of two of them, on average, and either is equally likely to be more.
    """

    calls = 4
    between: ClassVar[str]  # what depends on each other, in the plural
    fault: ClassVar[str]  # the known fault that explains it

    @classmethod
    def statistics(cls, _kind: Kind, _case: Case) -> list[Statistic]:
        """Return the law of which pairs agree more, the same for all kinds."""
        return [dependence(cls.between)]

    def __call__(self, size: int) -> IntArray:
        """Return how often two pairs agree more than after an exchange, and less, shape (1, 2)."""
        a, b, c, d = self.rows(size)
        more = self.compared(a, b, c, d)
        less = np.where(more == 0, self.rng.random(size) < 0.5, more < 0)
        return np.bincount(less, minlength=2)[None]

    @staticmethod
    def compared(a: IntArray, b: IntArray, c: IntArray, d: IntArray) -> IntArray:
        """Return in how many more places pairs agree: a and b are of one call, c and d the next."""
        return _agreeing((a, b), (c, d)) - _agreeing((a, d), (b, c))

    @abstractmethod
    def rows(self, size: int) -> tuple[IntArray, IntArray, IntArray, IntArray]:
        """Return the answers of two rows in each of two calls, shape (size, places) each."""

    def said(self, sample: Sample) -> IntArray:
        """Return what the verifier says of each row: its symbols, and what it accepts."""
        answer = self.answer(sample)
        marks = np.zeros(len(answer.texts), int) if answer.marks is None else answer.marks
        return np.column_stack([answer.texts, marks])

    def apart(self, size: int) -> Sample:
        """Draw drafts of two rows each, the second behind all first ones, that are not the same."""
        # Whatever law they have, answers to given drafts are independent.
        drafts = self.kind.draw(self.case, 2 * size, self.rng)
        for _ in range(REDRAWN):
            same = (drafts.drafts[:size] == drafts.drafts[size:]).all(axis=1)
            if not same.any() or not drafts.drafts.size:
                break
            others = self.kind.draw(self.case, int(same.sum()), self.rng)
            for part, other in zip(drafts, others, strict=True):
                part[size:][same] = other
        return drafts


class RowPairs(Pairs):
    """Whether rows of a call that follow each other depend on each other."""

    between = "neighboring rows"
    fault = "random numbers shared by neighboring rows"

    def rows(self, size: int) -> tuple[IntArray, IntArray, IntArray, IntArray]:
        """Return every second row and the one behind it, whose drafts are others."""
        order = np.arange(2 * size).reshape(2, size).T.ravel()
        drafts = taken(self.apart(size), order)
        first, second = self.said(drafts), self.said(drafts)
        return first[::2], first[1::2], second[::2], second[1::2]


class SlotPairs(Pairs):
    """Whether rows at the same place of two parts of a call depend on each other.

    They are half a call apart, mostly a power of two, so parts of smaller powers are covered, too.
    """

    between = "rows at the same place of two parts of a call"
    fault = "random numbers shared by rows at the same place of two parts of a call"

    def rows(self, size: int) -> tuple[IntArray, IntArray, IntArray, IntArray]:
        """Return the rows of the first half, and of the second, whose drafts are others."""
        drafts = self.apart(size)
        first, second = self.said(drafts), self.said(drafts)
        return first[:size], first[size:], second[:size], second[size:]


class DraftPairs(Pairs):
    """Whether rows of equal drafts, anywhere in a call, depend on each other."""

    between = "rows of equal drafts"
    fault = "random numbers shared by rows of equal drafts"

    def rows(self, size: int) -> tuple[IntArray, IntArray, IntArray, IntArray]:
        """Return two rows of the same drafts, in each of two calls."""
        drafts = self.kind.draw(self.case, size, self.rng)
        return (*self._scattered(drafts, size), *self._scattered(drafts, size))

    def _scattered(self, drafts: Sample, size: int) -> tuple[IntArray, IntArray]:
        """Return what is said of drafts that come twice each, at random places."""
        order = self.rng.permutation(2 * size)
        said = self.said(taken(drafts, order % size))
        places = np.argsort(order)
        return said[places[:size]], said[places[size:]]


class CallPairs(Pairs):
    """Whether two calls, one after the other, depend on each other."""

    between = "calls"
    fault = "random numbers of one call used again in the next"

    def rows(self, size: int) -> tuple[IntArray, IntArray, IntArray, IntArray]:
        """Return every second row, and the one behind it."""
        first, second = (self.said(self.kind.draw(self.case, 2 * size, self.rng)) for _ in range(2))
        return first[::2], first[1::2], second[::2], second[1::2]

    @staticmethod
    def compared(a: IntArray, b: IntArray, c: IntArray, d: IntArray) -> IntArray:
        """Return in how many more places the same row of both calls agrees than another does."""
        return _agreeing((a, c), (b, d)) - _agreeing((a, d), (b, c))


def taken(drafts: Sample, rows: IntArray) -> Sample:
    """Return some rows of drafts."""
    return Sample(*(part[rows] for part in drafts))


def _agreeing(*pairs: tuple[IntArray, IntArray]) -> IntArray:
    """Return in how many places pairs of rows agree, shape (size,)."""
    return np.sum([(x == y).sum(axis=1) for x, y in pairs], axis=0)
