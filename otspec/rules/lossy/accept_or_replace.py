"""Lossy rules for one draft that accept it or draw another token, whichever the draft is."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from otspec._base.arithmetic import Array, zeros
from otspec._base.frozen import cached_property
from otspec.chance import Chance
from otspec.distributions import Distribution
from otspec.drafts.single import likeliest
from otspec.rules.lossy.base import LossyRule


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

    def _by_token(self) -> Array:
        """Return what is drafted and accepted, or drafted and drawn again, shape (n,)."""
        accepted: Array = self.draft * self.chances + self._rejected * self.replacement
        return accepted

    def verify(self, drafts: Sequence[int], chance: Chance) -> int | Distribution:
        """Verify drafts; see :meth:`otspec.rules.Rule.verify`."""
        return 0 if chance.accept(self.chances[drafts[0]]) else self.replacement


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
