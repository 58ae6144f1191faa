"""The most that any rule accepts whose output may be off (Theory, 29).

If the output may be off by total variation ε, that is min(1, α + ε), for every draft law.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from otspec.arithmetic import Number
from otspec.cuts.minimum import cut_bound
from otspec.digits import plain
from otspec.distributions import Distribution
from otspec.optimum.budgets import TotalVariation
from otspec.optimum.certificate import Optimum, check_proper


@dataclass(frozen=True, eq=False)
class LossyOptimum(Optimum):
    """The optimal acceptance of a draft law if the output may be off from the target.

    Parameters
    ----------
    law : DraftLaw
    target : ndarray, shape (n,)
        The law that the output should have.
    acceptance : float or Fraction
        The largest probability that the output of a rule within the budget is one of the drafts.
    cut : tuple of int
        Ascending token ids of a set A with q(A) + 1 − P(all drafts inside A) = α, the lossless
        optimum. An output within total variation ε has o(A) ≤ q(A) + ε, so that no rule is above
        α + ε.
    budget : TotalVariation
        How far the output may be from the target.
    """

    budget: TotalVariation

    @cached_property
    def output(self) -> Distribution | None:
        """A law o of the output, within the budget, that so much can be accepted of, shape (n,).

        Its total variation from the target is min(ε, 1 − α): no more is of use. It lies on the
        straight way from the target to :attr:`selection`. A lossless rule for o that is optimal
        attains the acceptance, such as pooled selection. None where the selection is None.
        """
        if self.selection is None:
            return None
        return self.budget.output(self.selection, self.target)

    @property
    def distance(self) -> Number | None:
        """The total variation of the output from the target."""
        return None if self.output is None else self.budget.distance(self.output, self.target)

    def check(self) -> None:
        """Prove the acceptance from both sides, whatever way it was computed in.

        No rule within the budget accepts more: the cut's bound is evaluated, plus the budget.
        Some rule accepts as much: :attr:`output` is a distribution within the budget,
        :attr:`selection` one that is nowhere below the chance that all drafts are inside a set,
        and their Σ min(b, o) is the acceptance. Where they are None only the first is proved.

        Raises
        ------
        ValueError
            As :meth:`Optimum.check`.
        """
        super().check()
        if self.output is not None and self.distance is not None:
            check_proper("output", self.output, like=self)
            if not self.distance - self.budget.amount <= self.law.accuracy:
                raise ValueError(
                    f"the output is off by {plain(self.distance)}, above the budget of "
                    f"{plain(self.budget.amount)}: one of the two was changed"
                )

    def _bound(self) -> Number:
        return self.budget.added_to(cut_bound(self.law, self.target, self.cut))
