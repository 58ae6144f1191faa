"""Any coupling as a rule."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from otspec.arguments import as_instance
from otspec.arithmetic import Array, Number, zeros
from otspec.distributions import Distribution
from otspec.drafts import DraftLaw
from otspec.plan import Plan
from otspec.rules.contract import Rule


@dataclass(frozen=True, eq=False)
class PlannedRule(Rule):
    """Draw the output from a plan's row of the drafts.

    Law: the output is distributed as the plan's target marginal, which is the target for every
    plan that passes :meth:`Plan.check`. Source: SpecTr, sec. 5 (any transport plan is a valid
    selection).

    Parameters
    ----------
    plan : Plan
    """

    title: ClassVar[str] = "plan"

    plan: Plan

    def __post_init__(self) -> None:
        as_instance(self.plan, "plan", Plan, "a Plan, such as optimal_plan(law, target)")

    @property
    def accuracy(self) -> float:  # type: ignore[override]
        """What the solver's tolerance leaves of the target marginal; 0 in exact arithmetic."""
        return self.plan.accuracy

    @property
    def law(self) -> DraftLaw:
        """The plan's draft law."""
        return self.plan.law

    @property
    def k(self) -> int:  # type: ignore[override]
        """Number of drafts."""
        return self.plan.law.k

    @property
    def target(self) -> Distribution:  # type: ignore[override]
        """The plan's target; exact also where the plan itself is in floats."""
        return self.plan.target

    def acceptance(self) -> Number:
        """Return the plan's acceptance."""
        return self.plan.acceptance

    def _joint_kernel(self, x: tuple[int, ...]) -> Array:
        joint = zeros((self.k + 1, self.law.n), like=self.plan.accepted)
        joint[self.k] = self.plan.kernel(x)
        for token in set(x):
            joint[x.index(token), token] = joint[self.k, token]
            joint[self.k, token] *= 0
        return joint
