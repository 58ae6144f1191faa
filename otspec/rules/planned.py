"""Any coupling as a rule (SpecTr, sec. 5)."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar, Self

from otspec._base import Array, Number, as_instance
from otspec.chance import Chance
from otspec.coupling import match, matches
from otspec.distributions import Distribution, DistributionLike
from otspec.drafts import IID, DraftLaw
from otspec.optimum.plan import Plan, optimal_plan
from otspec.rules.base.rule import Rule


@dataclass(frozen=True, eq=False)
class PlannedRule(Rule):
    """Draw the output from an optimal (or any) plan's row of the drafts (SpecTr, sec. 5).

    Law: the output is distributed as the plan's target marginal, which is the target for every
    plan that passes :meth:`Plan.check`.
    """

    name: ClassVar[str] = "planned"
    title: ClassVar[str] = "plan"
    formula: ClassVar[bool] = False

    plan: Plan
    target: Distribution = field(init=False, repr=False)
    k: int = field(init=False, repr=False)
    accuracy: float = field(init=False, repr=False)

    def __post_init__(self) -> None:
        plan = as_instance(self.plan, "plan", Plan, "a Plan, such as optimal_plan(law, target)")
        # The target is exact also where the plan itself is in floats; the solver's tolerance is
        # what it leaves of the target marginal.
        self._hold(target=plan.target, k=plan.law.k, accuracy=plan.accuracy)

    @classmethod
    def of_pair(cls, draft: DistributionLike, target: DistributionLike, k: int) -> Self:
        """Return the optimal plan for k i.i.d. drafts as a rule; small vocabularies only."""
        return cls(optimal_plan(IID(draft, k), target))

    @classmethod
    def of_law(cls, law: DraftLaw, target: DistributionLike) -> Self:
        """Return the optimal plan for drafts of any law as a rule; small vocabularies only."""
        return cls(optimal_plan(law, target))

    @property
    def law(self) -> DraftLaw:
        """The plan's draft law."""
        return self.plan.law

    def acceptance(self) -> Number:
        """Return the plan's acceptance."""
        return self.plan.acceptance

    def verify(self, drafts: Sequence[int], chance: Chance) -> int | Distribution:
        """Verify drafts; see :meth:`otspec.rules.Rule.verify`."""
        return match(self.plan.kernel(drafts), drafts, chance)

    def _joint_kernel(self, drafts: Sequence[int]) -> Array:
        # In the plan's arithmetic, which may be floats beside an exact target.
        return matches(self.plan.kernel(drafts), drafts)
