"""Coupling of the one draft that is drawn, the other drafts being certain (Theory, 14)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from otspec._base.arithmetic import Array, zeros
from otspec._base.frozen import cached_property
from otspec.chance import Chance
from otspec.coupling import Coupling
from otspec.distributions import Distribution
from otspec.drafts import SingleDraftLaw, TopPlusOne
from otspec.rules.base.pair_rule import PairRule


@dataclass(frozen=True, eq=False)
class DrawnDraft(PairRule):
    """Couple the drawn one of the drafts maximally; look a residual token up among the others.

    Law: the output is distributed as the target. No rule for the k − 1 likeliest tokens and one
    drawn off them accepts more.
    Source: the documentation ("Theory", 14). Parameters and errors:
    :class:`otspec.rules.PairRule`; also fewer than k tokens of positive probability.

    Examples
    --------
    >>> DrawnDraft(["1/2", "3/10", "1/5"], ["1/10", "3/5", "3/10"], k=2).acceptance()
    Fraction(1, 1)
    """

    name: ClassVar[str] = "drawn-draft"
    title: ClassVar[str] = "coupling of the drawn draft"
    law_class: ClassVar[type[SingleDraftLaw]] = TopPlusOne
    couples_one: ClassVar[bool] = True

    @cached_property
    def law(self) -> TopPlusOne:
        """The law of the drafts that the rule verifies."""
        return TopPlusOne(self.draft, self.k)

    @cached_property
    def coupling(self) -> Coupling:
        """How the drawn draft becomes the output."""
        return Coupling(self.law.free(), self.target)

    def verify(self, drafts: Sequence[int], chance: Chance) -> int | Distribution:
        """Verify drafts; see :meth:`otspec.rules.Rule.verify`."""
        return self.coupling.verify(drafts, self.k - 1, chance)

    def _by_token(self) -> Array:
        """Return q on the certain drafts, and off them the less of q and the drawn one's law."""
        accepted = self.coupling.accepted
        accepted[self.law.top] = self.target[self.law.top]
        return accepted

    def _by_position(self) -> Array:
        """Return the same at the position of each certain draft, and of the drawn one: (k, n)."""
        by_position = zeros((self.k, len(self.target)), like=self.target)
        by_position[-1] = self._by_token()
        for position, token in enumerate(self.law.top):
            by_position[[position, -1], token] = self.target[token], 0 * self.target[token]
        return by_position
