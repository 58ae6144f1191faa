"""What one sees first of a rule: what it is made of, and where it is small what it accepts."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator

from otspec._base.arithmetic import Array, Number
from otspec._base.frozen import Frozen
from otspec.cards import Masses, Row
from otspec.distributions import Distribution
from otspec.drafts import DraftLaw
from otspec.drafts.small import is_small
from otspec.optimum import optimal_acceptance


class RuleCard(Frozen, ABC):
    """What a rule is shown as when its name is typed."""

    target: Distribution
    k: int

    @property
    @abstractmethod
    def law(self) -> DraftLaw:
        """The law of the drafts that the rule verifies."""

    @abstractmethod
    def acceptance(self) -> Number:
        """Return the probability that the output is one of the drafts, exactly."""

    @abstractmethod
    def accepted_law(self) -> Array:
        """Return the probability that the output is y and one of the drafts, for every token y."""

    def _card_title(self) -> str:
        title: str = getattr(self, "title", type(self).__name__)
        drafts = "1 draft" if self.k == 1 else f"{self.k:,} drafts"
        return f"{title[:1].upper()}{title[1:]}, a rule for {drafts} of {len(self.target):,} tokens"

    def _card_more(self) -> Iterator[Row]:
        if is_small(self.law):
            optimum = optimal_acceptance(self.law, self.target).acceptance
            accepted = self.acceptance()
            yield "acceptance", accepted
            yield "optimum", optimum
            yield "gap", optimum - accepted

    def _card_masses(self) -> Masses:
        accepted = self.accepted_law() if is_small(self.law) else None
        return {"draft": getattr(self, "draft", None), "target": self.target, "accepted": accepted}
