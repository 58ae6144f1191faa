"""The most that any rule accepts whose output may be off (Theory, 29 and 30)."""

from __future__ import annotations

from dataclasses import dataclass

from otspec._base.arithmetic import Number
from otspec._base.digits import plain
from otspec._base.frozen import cached_property
from otspec.distributions import Distribution
from otspec.optimum.budgets import Budget
from otspec.optimum.certificate import Optimum, check_proper
from otspec.optimum.cuts.levels import level_selection
from otspec.optimum.cuts.minimum import cut_bound
from otspec.optimum.outputs import Outputs


@dataclass(frozen=True, eq=False)
class LossyOptimum(Optimum):
    """The optimal acceptance of a draft law if the output may be off from the target.

    Parameters
    ----------
    law : DraftLaw
    target : ndarray, shape (n,)
        The law that the output should have.
    acceptance : float or Fraction
        The largest probability that the output of a rule within the budget is one of the drafts;
        in floats, what :attr:`output` attains.
    cut : tuple of int
        Ascending token ids of a set A with q(A) + 1 − P(all drafts inside A) = α, the lossless
        optimum. An output within total variation ε has o(A) ≤ q(A) + ε, so that no rule is above
        α + ε.
    budget : Budget
        How far the output may be from the target, and in what distance.
    """

    budget: Budget

    @cached_property
    def selection(self) -> Distribution | None:
        """The law b of the selected draft that is nearest to the target, shape (n,).

        It is optimal within every budget. None as :attr:`Optimum.selection`.
        """
        return level_selection(self.law, self.target)

    @cached_property
    def output(self) -> Distribution | None:
        """A law o of the output, within the budget, that so much can be accepted of, shape (n,).

        It is between the target and :attr:`selection`, its total variation from the target is the
        acceptance less α, and of such laws it is the nearest to the target in every divergence.
        A lossless rule for o that is optimal attains the acceptance, such as pooled selection.
        None where the selection is None.
        """
        if self.selection is None:
            return None
        outputs = Outputs(self.selection, self.target)
        return outputs.at(self.budget.moved(outputs))

    @property
    def distance(self) -> Number | None:
        """How far the output is from the target, in the distance of the budget."""
        return None if self.output is None else self.budget.distance(self.output, self.target)

    @property
    def lossless(self) -> Number:
        """The most that lossless rules accept, by the cut."""
        return cut_bound(self.law, self.target, self.cut)

    @property
    def bound(self) -> Number:
        """What no rule within the budget is above.

        For total variation by the cut, and equal to the acceptance; for divergences by prices,
        computed anew from them and the law alone.
        """
        laws = (self.target if law is None else law for law in (self.selection, self.output))
        return self.budget.bound(self.law, self.target, self.cut, *laws)

    @property
    def gap(self) -> Number:
        """The bound less the acceptance: 0 but for rounding."""
        return self.bound - self.acceptance

    @property
    def proof(self) -> str:
        """Why no rule within the budget is better, in a sentence; or what is proved instead."""
        accuracy = self._bound_accuracy
        if -accuracy <= self.gap <= accuracy:
            return self.budget.proof
        return f"What is proved is that no rule within the budget is above {plain(self.bound)}."

    def check(self) -> None:
        """Prove the acceptance from both sides, whatever way it was computed in.

        No rule within the budget accepts more: :attr:`bound` is evaluated, which by divergences
        of the order a may be off by 3e-12 (1 + a), by rounding. Some rule accepts as much:
        :attr:`output` is a distribution within the budget, :attr:`selection` one that is nowhere
        below the chance that all drafts are inside a set, and their Σ min(b, o) is the acceptance.
        Where they are None only the first is proved.

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

    @property
    def _bound_accuracy(self) -> float:
        return self.law.accuracy + self.budget.accuracy
