"""An optimal acceptance, and what proves it: cut and selection law (Theory, 1, 2, 3, 29 and 30).

    α(P, q) = min over token sets A of  q(A) + 1 − P(all drafts inside A),

so a minimizing A proves that no rule accepts more. That some rule accepts as much is proved by a
law of the selected draft (:mod:`otspec.optimum.cuts.minimum`).
"""

from dataclasses import dataclass

import numpy as np

from otspec._base import Frozen, Number, as_number, cached_property, plain
from otspec.distributions import Distribution, check_alike
from otspec.drafts import DraftLaw, Independent
from otspec.optimum.budgets import Budget, Outputs
from otspec.optimum.cuts.halfplanes import ROUNDING, proved_by_prices
from otspec.optimum.cuts.levels import level_selection
from otspec.optimum.cuts.minimum import best_selection, cut_bound, shortfall


@dataclass(frozen=True, eq=False)
class Optimum(Frozen):
    """The optimal acceptance of a draft law for a target.

    Parameters
    ----------
    law : DraftLaw
    target : ndarray, shape (n,)
    acceptance : float or Fraction
        The largest probability that the output of a lossless rule is one of the drafts.
    cut : tuple of int
        Ascending token ids of a set A with acceptance = q(A) + 1 − P(all drafts inside A).
    """

    law: DraftLaw
    target: Distribution
    acceptance: Number
    cut: tuple[int, ...]

    @cached_property
    def selection(self) -> Distribution | None:
        """A law b of the selected draft that attains the acceptance, shape (n,), read-only.

        b(A) ≥ P(all drafts inside A) for every token set A, so that one of the drafts can be
        selected with the law b, and maximal coupling with the target accepts Σ min(b, q), which
        is the acceptance. Computed when it is first asked for, from the law and the target alone.

        None for two :class:`Independent` drafts over more than 100 tokens: their cut is found
        without a flow, and prices show that no cut is lower.
        """
        return best_selection(self.law, self.target)

    @property
    def output(self) -> Distribution | None:
        """The law of the output: of a lossless rule the target."""
        return self.target

    @property
    def bound(self) -> Number:
        """What no rule is above, computed from the cut: the acceptance, but for rounding."""
        return cut_bound(self.law, self.target, self.cut)

    def check(self) -> None:
        """Prove the acceptance from both sides, whatever way it was computed in.

        No rule accepts more: the cut's bound is evaluated. Some rule accepts as much:
        :attr:`selection` is a distribution, is nowhere below the chance that all drafts are
        inside a set, and has Σ min(b, q) = acceptance. Where it is None prices show that no cut
        is lower (Theory, 43). A ValueError says which side does not hold: exactly, or in floats
        beyond the rounding of sums of n terms and of their products (``law.accuracy``).
        """
        tolerance, bound = self._bound_accuracy, self.bound
        # Not through a float: an exact difference may be too small for one.
        if not -tolerance <= bound - self.acceptance <= tolerance:
            raise ValueError(
                f"the bound is {plain(bound)}, but the acceptance is said to be "
                f"{plain(self.acceptance)}: one of the two was changed"
            )
        if self.selection is not None and self.output is not None:
            self._check_selection(self.selection, self.output)
        elif isinstance(self.law, Independent):
            self._check_prices(self.law)

    @property
    def _bound_accuracy(self) -> float:
        """By how much the bound may be off."""
        return self.law.accuracy

    def _check_selection(self, selection: Distribution, output: Distribution) -> None:
        check_proper("selection", selection, like=self)
        tolerance = self.law.accuracy
        missed = shortfall(self.law, selection)
        if not missed <= tolerance:
            raise ValueError(
                "the selection is no law of a selected draft: the drafts are all inside some token "
                f"set with a probability that is {plain(missed)} above what it gives to that set"
            )
        accepted = as_number(np.minimum(selection, output).sum(), like=self.target)
        if not -tolerance <= accepted - self.acceptance <= tolerance:
            raise ValueError(
                f"the selection accepts {plain(accepted)}, but the acceptance is said to be "
                f"{plain(self.acceptance)}: one of the two was changed"
            )

    def _check_prices(self, law: Independent) -> None:
        proved = proved_by_prices(law.drafts[0], law.drafts[1], self.target)
        if proved is None:
            return  # ties all over an interval: walks along their lines settled it
        lowest = 1 + proved
        if not cut_bound(law, self.target, self.cut) - lowest <= law.accuracy + ROUNDING:
            raise ValueError(
                f"prices show that no cut is below {plain(lowest)}, but this one is above that: "
                "the cut or the law was changed"
            )


def check_proper(name: str, law: Distribution, like: Optimum) -> None:
    """Refuse a law of a token that is no distribution over the vocabulary of an optimum."""
    check_alike("target", like.target, name, law)
    tolerance, lowest, total = like.law.accuracy, law.min(), law.sum()
    if not (lowest >= 0 and -tolerance <= total - 1 <= tolerance):
        raise ValueError(
            f"the {name} is no distribution: its least mass is {plain(lowest)}, its "
            f"sum {plain(total)}"
        )


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
        As for :class:`Optimum`, of the lossless optimum α. An output within total variation ε has
        o(A) ≤ q(A) + ε, so that no rule is above α + ε.
    budget : Budget
        How far the output may be from the target, and in what distance.
    """

    budget: Budget

    @cached_property
    def selection(self) -> Distribution | None:
        """The law b of the selected draft that is nearest to the target, best for every budget."""
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
        """Prove the acceptance from both sides, as :meth:`Optimum.check`.

        The bound by divergences of the order a may be off by 3e-12 (1 + a), by rounding. That some
        rule accepts as much: :attr:`output` is a distribution within the budget, :attr:`selection`
        one that is nowhere below the chance that all drafts are inside a set, and their Σ min(b, o)
        is the acceptance. Where they are None only the first is proved.
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
