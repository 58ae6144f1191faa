"""What an engine generates: one token, or whole texts over several steps; and how rows depend."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from otspec.arithmetic import Array, IntArray
from otspec.conformance.answers import Answer, integers, named, symbols_of
from otspec.conformance.cases import Case
from otspec.conformance.drafting import Sample, drafted
from otspec.conformance.kernel import KernelBatches
from otspec.conformance.kinds import Kind, Tokens
from otspec.conformance.statistics import Statistic, dependence

_PARTS = ("token", "drafts", "index")


@dataclass(frozen=True)
class DrawnToken(Tokens):
    """One token, of k drafts that the engine draws itself. Parameters: :class:`Tokens`."""

    def drafted(self, case: Case, variants: IntArray, rng: np.random.Generator) -> Sample:
        """Return given pairs of models, and no drafts."""
        return _undrafted(variants, case, rng)

    def read(self, answer: Any, case: Case, sample: Sample) -> Answer:
        """Read tokens, alone or with drafts, shape (size, k), and the accepted index."""
        size = len(sample.variants)
        if hasattr(answer, "token") and not hasattr(answer, "drafts"):
            answer = answer.token  # what otspec.batch returns has no drafts, for one
        given = named(answer, _PARTS, least=1)
        if not all(name in given for name in _PARTS):
            return super().read((given["token"],), case, sample)
        drafts = integers(given["drafts"], (size, self.k), "drafts")
        there = np.ones((size, self.k), dtype=bool)
        own = Sample(sample.variants, symbols_of(drafts, case), drafts, there)
        return super().read((given["token"], given["index"]), case, own)


@dataclass(frozen=True)
class Texts(Kind):
    """Texts of several steps.

    Parameters
    ----------
    step : Kind
        What is drafted in one step, a block or a tree.
    law : str
        Of no matter: the engine drafts.
    """

    step: Kind
    law: str = "iid"
    name: ClassVar[str] = "texts"

    @property
    def parents(self) -> tuple[int, ...]:
        """Those of one step."""
        return self.step.parents

    @property
    def kept(self) -> tuple[int, ...]:
        """The text has one token more than one step gives at most; no marks tell its steps."""
        return (self.step.length,)

    def arrays(self, case: Case, sample: Sample) -> dict[str, Array]:
        """Return the tokens of the prompts, shape (size, 1)."""
        return {"prompts": case.places[sample.variants][:, None]}

    def drafted(self, case: Case, variants: IntArray, rng: np.random.Generator) -> Sample:
        """Return given prompts, and no drafts."""
        return _undrafted(variants, case, rng)

    def read(self, answer: Any, case: Case, sample: Sample) -> Answer:
        """Read texts without their prompts, shape (size, T)."""
        shape = (len(sample.variants), self.length)
        return Answer(symbols_of(integers(answer, shape, "texts"), case), None)


def _undrafted(variants: IntArray, case: Case, rng: np.random.Generator) -> Sample:
    return drafted((), "iid", case, variants, rng)


class Pairs(KernelBatches, ABC):
    """Whether texts depend on each other: two rows of one call, and the same of another.

    Of four independent texts with one law, whichever it is, as many pairs agree as after an
    exchange of two of them, in the mean, and either is equally likely to be more.
    """

    calls = 4
    coarser = 4  # dependence is gross
    between: ClassVar[str]

    @classmethod
    def statistics(cls, _kind: Kind, _case: Case) -> list[Statistic]:
        """Return the law of which pairs agree more, the same for all kinds."""
        return [dependence(cls.between)]

    def __call__(self, size: int) -> IntArray:
        """Return how often two pairs agree more than after an exchange, and less, shape (1, 2)."""
        first, second = self._texts(2 * size), self._texts(2 * size)
        own = self.related(first[::2], first[1::2], second[::2], second[1::2])
        more = own - _agreeing((first[::2], second[1::2]), (first[1::2], second[::2]))
        less = np.where(more == 0, self.rng.random(size) < 0.5, more < 0)
        return np.bincount(less, minlength=2)[None]

    @staticmethod
    @abstractmethod
    def related(a: IntArray, b: IntArray, c: IntArray, d: IntArray) -> IntArray:
        """Return how many of two pairs agree: a and b are rows of one call, c and d of the next."""

    def _texts(self, size: int) -> IntArray:
        return self.answer(self.kind.draw(self.case, size, self.rng)).texts


class RowPairs(Pairs):
    """Whether rows of a batch that follow each other depend on each other."""

    between = "rows of a batch"

    @staticmethod
    def related(a: IntArray, b: IntArray, c: IntArray, d: IntArray) -> IntArray:
        """Return how many of the pairs of neighbouring rows agree."""
        return _agreeing((a, b), (c, d))


class CallPairs(Pairs):
    """Whether two calls, one after the other, depend on each other."""

    between = "calls"

    @staticmethod
    def related(a: IntArray, b: IntArray, c: IntArray, d: IntArray) -> IntArray:
        """Return how many of the pairs of the same row in both calls agree."""
        return _agreeing((a, c), (b, d))


def _agreeing(*pairs: tuple[IntArray, IntArray]) -> IntArray:
    count: IntArray = np.sum([(x == y).all(axis=1) for x, y in pairs], axis=0)
    return count
