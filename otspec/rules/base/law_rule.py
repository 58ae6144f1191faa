"""Rules that are made from a draft law of any kind and a target."""

from __future__ import annotations

from dataclasses import InitVar, dataclass, field
from typing import Self

from otspec.distributions import Distribution, DistributionLike, as_distribution
from otspec.drafts import IID, DraftLaw
from otspec.drafts.base import as_law
from otspec.rules.base.rule import Rule


@dataclass(frozen=True, eq=False)
class LawRule(Rule):
    """A rule that is made from a draft law and a target."""

    draft_law: DraftLaw
    target: Distribution  # (n,)
    normalize: InitVar[bool] = field(default=False, kw_only=True)  # scale the target to sum 1

    k: int = field(init=False, repr=False)

    def __post_init__(self, normalize: bool) -> None:
        target = as_distribution(self.target, "target", normalize=normalize)
        target = as_law(self.draft_law, "draft_law").as_target(target)
        law = self.draft_law.for_target(target)
        self._hold(draft_law=law, target=target, k=law.k)

    @classmethod
    def of_pair(cls, draft: DistributionLike, target: DistributionLike, k: int) -> Self:
        """Return the rule for k i.i.d. drafts."""
        return cls(IID(draft, k), target)

    @classmethod
    def of_law(cls, law: DraftLaw, target: DistributionLike) -> Self:
        """Return the rule for drafts of any law."""
        return cls(law, target)

    @property
    def law(self) -> DraftLaw:
        """The law of the drafts that the rule verifies."""
        return self.draft_law
