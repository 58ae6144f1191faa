"""A chain of drafts whose output may be off: what a lossy shortcut gains at best (Theory, 29)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from otspec._base.arguments import as_real
from otspec._base.arithmetic import Number, is_exact
from otspec._base.frozen import Frozen
from otspec.coupling import Coupling
from otspec.distributions import Distribution
from otspec.drafts import IID, SingleDraftLaw
from otspec.rules import MaximalCoupling


@dataclass(frozen=True)
class LossyChain(Frozen):
    """The most that a lossy rule accepts of single drafts, at every token within a budget.

    The draft is coupled with (1 − t) q + t p, t = min(1, ε/TV(p, q)), which is off by ε or less.
    """

    name: ClassVar[str] = "lossy"
    law_class: ClassVar[type[SingleDraftLaw]] = IID
    only_k: ClassVar[int] = 1
    nested: ClassVar[bool] = False

    total_variation: Number  # ε, from 0 to 1, for each token after the text before it

    def __post_init__(self) -> None:
        self._hold(total_variation=as_real(self.total_variation, "total_variation", 0, 1))

    @property
    def title(self) -> str:
        """What tables and charts call it."""
        return f"lossy, {float(self.total_variation):g} a token"

    def __call__(self, draft: Distribution, target: Distribution, k: int) -> MaximalCoupling:  # noqa: ARG002
        """Return the rule for one draft: lossless for an output that is off by the budget."""
        exact = is_exact(target)
        if exact and isinstance(self.total_variation, float):
            raise ValueError(
                f"total_variation is {self.total_variation}, a float, but the models are exact: "
                "write a fraction such as '1/20'"
            )
        budget: Any = self.total_variation if exact else float(self.total_variation)
        missing = 1 - Coupling(draft, target).acceptance
        share = 1 if budget >= missing else budget / missing
        return MaximalCoupling(draft, (1 - share) * target + share * draft)
