"""What an engine generates: one token, or whole texts over several steps; and how rows depend."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from otspec.arithmetic import Array, IntArray
from otspec.conformance.cases import Case
from otspec.conformance.kernel import KernelBatches
from otspec.conformance.kinds import Answer, Kind, Sample, Tokens, integers, named


@dataclass(frozen=True)
class DrawnToken(Tokens):
    """One token, of k drafts that the engine draws itself. Parameters: :class:`Tokens`."""

    @property
    def drawn(self) -> tuple[int, ...]:
        """The engine draws its drafts itself."""
        return ()

    def read(self, answer: Any, case: Case, sample: Sample) -> Answer:
        """Read tokens, alone or with drafts, shape (size, k), and the accepted index."""
        size = len(sample.variants)
        if hasattr(answer, "token"):  # what otspec.batch returns has no drafts, for one
            told = hasattr(answer, "drafts") and hasattr(answer, "index")
            answer = (answer.token, answer.drafts, answer.index) if told else answer.token
        given = named(answer, ("token", "drafts", "index"), least=1)
        if "index" not in given:
            return super().read((given["token"],), case, sample)
        drafts = integers(given["drafts"], (size, self.k), "drafts")
        drafted = sample._replace(drafts=self.symbols(drafts, case))
        return super().read((given["token"], given["index"]), case, drafted)


@dataclass(frozen=True)
class Texts(Kind):
    """Texts of several steps.

    Parameters
    ----------
    step : Kind
        What is drafted in one step, a block or a tree.
    """

    step: Kind
    name: ClassVar[str] = "texts"

    @property
    def parents(self) -> tuple[int, ...]:
        """Those of one step."""
        return self.step.parents

    @property
    def length(self) -> int:
        """T: one token more than one step gives at most."""
        return self.step.length + 1

    @property
    def marks(self) -> int:
        """The engine does not say where its steps end."""
        return 1

    def arrays(self, case: Case, sample: Sample) -> dict[str, Array]:
        """Return the tokens of the prompts, shape (size, 1)."""
        return {"prompts": case.places[sample.variants][:, None]}

    @property
    def drawn(self) -> tuple[int, ...]:
        """The engine draws its drafts itself."""
        return ()

    def read(self, answer: Any, case: Case, sample: Sample) -> Answer:
        """Read texts without their prompts, shape (size, T)."""
        shape = (len(sample.variants), self.length)
        return Answer(self.symbols(integers(answer, shape, "texts"), case), None)


class RowPairs(KernelBatches):
    """Whether rows of a batch that follow each other agree more or less often than by chance."""

    between = "rows of a batch"

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
