"""Lossy rules for one draft that accept it or draw another token, whichever the draft is."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np

from otspec.arithmetic import Array, as_number, zeros
from otspec.distributions import Distribution
from otspec.drafts.contract import inverted
from otspec.drafts.single import likeliest
from otspec.lossy.rules.contract import LossyRule


@dataclass(frozen=True, eq=False)
class AcceptOrReplace(LossyRule):
    """Accept a draft x with a chance a(x), else draw from a law f that does not depend on x.

    Law: the output is p a + R f with R = Σ p (1 − a). A replacement that happens to be the
    draft counts as accepted, as everywhere. Parameters and errors: :class:`LossyRule`; ``k`` is 1.
    """

    only_k: ClassVar[int | None] = 1

    k: int = 1

    @property
    @abstractmethod
    def chances(self) -> Array:
        """How likely each token is accepted where it is drafted, shape (n,)."""

    @property
    @abstractmethod
    def replacement(self) -> Distribution:
        """What is drawn instead of a draft that is not accepted, shape (n,)."""

    @cached_property
    def declared_output(self) -> Distribution:
        """The law of the output, shape (n,)."""
        output: Distribution = self.draft * self.chances + self._rejected.sum() * self.replacement
        return output

    @property
    def _rejected(self) -> Array:
        rejected: Array = self.draft * (1 - self.chances)
        return rejected

    def accepted_law(self) -> Array:
        """Return what is drafted and accepted, or drafted and drawn again, shape (n,)."""
        accepted: Array = self.draft * self.chances + self._rejected * self.replacement
        return accepted

    def acceptance_by_draft(self) -> Array:
        """Return how likely the draft is accepted, not counting replacements, shape (1,)."""
        accepted = (self.draft * self.chances).sum()
        return zeros(1, like=self.draft) + as_number(accepted, like=self.draft)

    def joint_kernel(self, x: Sequence[int]) -> Array:
        """Return the law of the accepted draft and the output, given the drafts: (k + 1, n)."""
        joint = zeros((2, len(self.target)), like=self.target)
        chance = self.chances[x[0]]
        joint[0, x[0]] = chance
        joint[1] = (1 - chance) * self.replacement
        return joint

    def sample(self, x: Sequence[int], rng: np.random.Generator) -> tuple[int, bool]:
        """Draw the output for the given draft, and whether it is the draft."""
        if rng.random() < self.chances[x[0]]:
            return x[0], True
        token = int(inverted(self._cumulative, rng.random(1))[0])
        return token, token in x

    @cached_property
    def _cumulative(self) -> Array:
        return np.cumsum(self.replacement.astype(float))


REPLACEMENTS = ("greedy", "target")
"""What some rules put in the place of a draft: the target's likeliest token, or a draw from it."""


def replaced_by(choice: str, target: Distribution) -> Distribution:
    """Return the law of one of :data:`REPLACEMENTS`, shape (n,)."""
    if choice == "target":
        return target
    law = zeros(len(target), like=target)
    law[likeliest(target, 1)] += 1
    return law


def accepting(accepted: Array, like: Array) -> Array:
    """Return the chances of a rule that accepts some tokens for certain, and no others: (n,)."""
    return zeros(len(like), like=like) + accepted
