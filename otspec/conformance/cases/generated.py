"""What an engine generates: one token, or whole texts over several steps."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from otspec._base.arithmetic import Array, IntArray
from otspec.conformance.cases.cases import Answer, Case, integers, named, symbols_of
from otspec.conformance.cases.drafting import Sample, drafted
from otspec.conformance.cases.kinds import Kind, Tokens

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
    """Texts of several steps."""

    step: Kind  # what is drafted in one step, a block or a tree
    law: str = "iid"  # of no matter: the engine drafts
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


@dataclass(frozen=True)
class Said(Texts):
    """Texts of a given length."""

    count: int = 1  # tokens of a text

    @property
    def kept(self) -> tuple[int, ...]:
        """No marks tell steps."""
        return (self.count - 1,)


def _undrafted(variants: IntArray, case: Case, rng: np.random.Generator) -> Sample:
    return drafted((), "iid", case, variants, rng)
