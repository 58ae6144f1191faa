"""What an engine generates: one token, or whole texts over several steps; and how rows depend."""

from __future__ import annotations

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


class RowPairs(KernelBatches):
    """Whether rows of a batch that follow each other agree more or less often than by chance."""

    calls = 4
    coarser = 4  # dependence is gross
    between: ClassVar[str] = "rows of a batch"

    @classmethod
    def statistics(cls, _kind: Kind, _case: Case) -> list[Statistic]:
        """Return the law of which pairs agree more, the same for all kinds."""
        return [dependence(cls.between)]

    def __call__(self, size: int) -> IntArray:
        """Return how often two pairs of texts agree more than after an exchange, or less."""
        texts = self.texts(4 * size)
        return agreements(texts[::2], texts[1::2], self.rng)

    def texts(self, size: int) -> IntArray:
        """Return what the engine generates, shape (size, T); raises as a call does."""
        return self.answer(self.kind.draw(self.case, size, self.rng)).texts


class CallPairs(RowPairs):
    """Whether two calls, one after the other, agree more or less often than by chance."""

    between = "calls"

    def __call__(self, size: int) -> IntArray:
        """Return how often two pairs of texts agree more than after an exchange, or less."""
        return agreements(self.texts(2 * size), self.texts(2 * size), self.rng)


def agreements(first: IntArray, second: IntArray, rng: np.random.Generator) -> IntArray:
    """Return how often two pairs agree more than after an exchange, and how often less, (1, 2).

    Of rows 2i and 2i + 1 the texts x, y and x', y' are compared: as many of x = y and x' = y' as of
    x = y' and x' = y hold, in the mean, if all are independent, and both orders of the two numbers
    are equally likely, whatever law the texts have. Equal numbers count at random.

    Parameters
    ----------
    first, second : ndarray of int, shape (2 size, T)
    rng : numpy.random.Generator
    """
    pairs = [(first[i::2], second[j::2]) for i, j in ((0, 0), (1, 1), (0, 1), (1, 0))]
    same = [(x == y).all(axis=1).astype(np.intp) for x, y in pairs]
    more = same[0] + same[1] - same[2] - same[3]
    less = np.where(more == 0, rng.random(len(more)) < 0.5, more < 0)
    return np.bincount(less, minlength=2)[None]
