"""Couplings of drafts and output, completed (Programs, 2), and split in two steps (Programs, 3).

Optimal ones come from linear programs, with lossless or lossy output (Theory, 29).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from otspec._base import Frozen, cached_property, plain
from otspec._base.arithmetic import Array, Number, as_number, is_exact, positive_part, sums_by
from otspec.coupling import Coupling, accepted_weights
from otspec.distributions import Distribution, DistributionLike, as_distribution, normalized
from otspec.drafts import DraftLaw, Masked
from otspec.drafts.base import Support
from otspec.optimum.budgets import Outputs, TotalVariation, refuse_null_outputs
from otspec.programs import Formulation, ProgramName, formulate
from otspec.solvers import Solution, SolverName
from otspec.solvers.base import SOLVER_TOLERANCE


@dataclass(frozen=True, eq=False)
class Plan(Frozen):
    """A coupling of a draft law and a target.

    It is given by the mass ``accepted`` of each pair of a draft row and one of its tokens, within
    both marginals, and completed by the product of what is left:

        π(x, y) = accepted(x, y) + P_res(x) q_res(y) / R,

    with P_res(x) = P(x) − Σ_y accepted(x, y), q_res(y) = q(y) − Σ_x accepted(x, y) and
    R = Σ P_res = Σ q_res. Both marginals are exact: summed over y the second term is P_res(x),
    summed over x it is q_res(y). If more could be accepted, some x with P_res(x) > 0 has a token
    with q_res > 0, and the product puts mass there too; that is accepted as well, so that the
    plan's acceptance can be above Σ accepted, never below. At an optimum there is no such pair.

    Parameters
    ----------
    support : Support
        The rows and pairs of the draft law.
    target : ndarray, shape (n,)
    accepted : ndarray, shape (p,)
    solution : Solution, optional
        Where the plan came from.
    """

    support: Support
    target: Distribution
    accepted: Array
    solution: Solution | None = None

    @property
    def law(self) -> DraftLaw:
        """The law of the drafts."""
        return self.support.law

    @cached_property
    def _masses(self) -> Array:
        """P per row, in the arithmetic of ``accepted``."""
        return self.support.masses.astype(self.accepted.dtype)

    @cached_property
    def _target(self) -> Array:
        return self.target.astype(self.accepted.dtype)

    @cached_property
    def _taken_of_rows(self) -> Array:
        """What is accepted of each row, shape (m,)."""
        return sums_by(self.support.rows, self.accepted, len(self._masses))

    @cached_property
    def _taken_of_tokens(self) -> Array:
        """What is accepted of each token, shape (n,)."""
        return sums_by(self.support.tokens, self.accepted, len(self._target))

    @cached_property
    def draft_residual(self) -> Array:
        """P_res per row, shape (m,); float excess within rounding counts as 0."""
        return positive_part(self._masses - self._taken_of_rows)

    @cached_property
    def target_residual(self) -> Array:
        """q_res, shape (n,)."""
        return positive_part(self._target - self._taken_of_tokens)

    @cached_property
    def _share(self) -> Array:
        """q_res/R, shape (n,): the law of the output when no draft is accepted."""
        total = self.target_residual.sum()
        return self._target if total == 0 else self.target_residual / total

    @property
    def coupled(self) -> Array:
        """The mass of each pair in the completed coupling, shape (p,)."""
        seen = self.support
        return self.accepted + self.draft_residual[seen.rows] * self._share[seen.tokens]

    @property
    def acceptance(self) -> Number:
        """The probability that the output is one of the drafts."""
        return as_number(self.coupled.sum(), like=self.accepted)

    def target_marginal(self) -> Array:
        """Return the law of the output, shape (n,)."""
        return self._taken_of_tokens + self.draft_residual.sum() * self._share

    def draft_marginal(self) -> Array:
        """Return the law of the drafts, in the order of ``law.tuples()``: shape (m,)."""
        totals: Array = self._taken_of_rows + self.draft_residual * self._share.sum()
        if not self.support.sets:
            return totals
        tuples, masses = self.law.tuples()
        rows = np.array([self.support.row_of(x) for x in tuples.tolist()])
        # A row of a set stands for its tuples in proportion to their probability.
        marginal: Array = (totals / self._masses)[rows]
        marginal *= masses.astype(totals.dtype)
        return marginal

    def kernel(self, x: Sequence[int]) -> Distribution:
        """Return the law of the output given the drafts x, k token ids: π(x, ·)/P(x), shape (n,).

        It is the target for drafts (or, with rows of sets, a set of drafts) of probability 0.
        """
        row = self.support.row_of(x)
        if row is None:
            return self._target
        pairs = self.support.pairs_of(row)
        output = self.draft_residual[row] * self._share
        output[self.support.tokens[pairs]] += self.accepted[pairs]
        # Drafts of so small a probability that all products vanish have no row to speak of.
        return normalized(output, self._share)

    @property
    def accuracy(self) -> float:
        """By how much a float marginal may be off; 0 in exact arithmetic."""
        rounding = float(np.finfo(float).eps) * len(self.accepted)
        return 0.0 if is_exact(self.accepted) else 10 * SOLVER_TOLERANCE + rounding

    def check(self) -> None:
        """Check that the plan couples the law and the target.

        A ValueError refuses a negative mass, or a marginal that is off: at all in exact arithmetic,
        in floats by more than ten times the solvers' tolerance of 1e-10 and the rounding of the
        sums.
        """
        limit = self.accuracy
        lowest = min(self.accepted.min(), 0)
        if -lowest > limit:
            raise ValueError(f"the plan has a negative mass, {plain(lowest)}")
        for name, found, wanted in (
            ("draft", self.draft_marginal(), self.law.tuples()[1]),
            ("target", self.target_marginal(), self.target),
        ):
            worst = np.abs(found - wanted.astype(found.dtype)).max()
            if worst > limit:
                raise ValueError(f"the plan's {name} marginal is off by {plain(worst)}")

    @cached_property
    def decomposition(self) -> "Decomposition":
        """The plan split into selecting a draft and accepting it.

        Every accepted pair is selected; what a row does not accept selects its first token.
        The acceptance is at least the plan's, and the same for an optimal plan.
        """
        seen = self.support
        weights = self.coupled
        rest = self._masses - sums_by(seen.rows, weights, len(self._masses))
        first = np.searchsorted(seen.rows, np.arange(len(self._masses)))
        weights[first] += positive_part(rest)
        return Decomposition(seen, self.target, weights)


@dataclass(frozen=True, eq=False)
class Decomposition(Frozen):
    """The canonical two steps: select one of the drafts, then accept it or not.

    Source: Canonical, thms. 1 and 4: no coupling accepts more than the best selection followed
    by maximal coupling.

    Parameters
    ----------
    support : Support
    target : ndarray, shape (n,)
    weights : ndarray, shape (p,)
        w(x, y) = P(x) β_y(x): the probability that the drafts are x and y is selected.
    """

    support: Support
    target: Distribution
    weights: Array

    @property
    def law_of_selection(self) -> Distribution:
        """b, the law of the selected token, shape (n,)."""
        return sums_by(self.support.tokens, self.weights, len(self.target))

    @property
    def acceptance(self) -> Number:
        """Σ min(b, q)."""
        target = self.target.astype(self.weights.dtype)
        return Coupling(self.law_of_selection, target).acceptance

    def plan(self) -> Plan:
        """Return the coupling: accept the selected y with probability min(1, q(y)/b(y))."""
        target = self.target.astype(self.weights.dtype)
        accepted = accepted_weights(self.weights, self.support.tokens, target)
        return Plan(self.support, self.target, accepted)

    def within(self, budget: TotalVariation) -> "Decomposition":
        """Return the same selection for the output that is nearest to its law within a budget."""
        target = self.target.astype(self.weights.dtype)
        allowed = TotalVariation(as_number(budget.amount, like=target))
        outputs = Outputs(self.law_of_selection, target)
        return Decomposition(self.support, outputs.at(allowed.moved(outputs)), self.weights)


def optimal_plan(
    law: DraftLaw,
    target: DistributionLike,
    program: ProgramName = "reduced",
    solver: SolverName | None = None,
    *,
    sets: bool = True,
    total_variation: Any = None,
    normalize: bool = False,
) -> Plan:
    """Return a coupling that accepts as often as possible, from a linear program.

    Parameters
    ----------
    law : DraftLaw
    target : array_like, shape (n,)
    program : {"reduced", "membership", "importance", "maxflow", "compact"}
        The formulation; ``"compact"`` is for two drafts.
    solver : {"highs", "cvxpy", "rational"}, optional
        By default ``"rational"`` for exact input; for floats max flow if the program is
        ``"reduced"``, which is one, and else ``"highs"``. The first two compute in floats and
        give a plan in floats, also for exact input.
    sets : bool
        One row per set of distinct drafts instead of one per tuple.
    total_variation : number, optional
        By how much the output may be off, as for :func:`otspec.optimal_acceptance`. The target of
        the plan is then the law of its output, and its ``solution`` None.
    normalize : bool
        Scale the target to sum 1.

    Raises
    ------
    ValueError
        Unusable input or budget, one that lets the output be a null token of :class:`otspec.Masked`
        drafts, a program that would not fit in memory (with its size and what to
        use instead), or one that the solver did not solve; the solver's package is not installed.

    Examples
    --------
    >>> from otspec import IID
    >>> law = IID([0.5, 0.3, 0.2], k=2)
    >>> plan = optimal_plan(law, [0.1, 0.6, 0.3])
    >>> round(plan.acceptance, 9)
    0.85
    >>> plan.kernel([0, 1]).round(9).tolist()
    [0.0, 1.0, 0.0]
    """
    checked = as_distribution(target, "target", normalize=normalize)
    formulation = formulate(program, law, checked, sets=sets)
    if total_variation is None:
        return plan_from(formulation, formulation.solved(solver))
    budget = TotalVariation.of(total_variation, checked)
    lossless = plan_from(formulation, formulation.solved(solver))
    selected = lossless.decomposition
    if isinstance(law, Masked):
        outputs = Outputs(selected.law_of_selection, lossless.target.astype(selected.weights.dtype))
        refuse_null_outputs(law, budget, outputs, lossless.acceptance, lossless.accuracy)
    return selected.within(budget).plan()


def plan_from(formulation: Formulation, solution: Solution) -> Plan:
    """Return the plan that a solution of a formulation stands for; what is below 0 counts as 0."""
    accepted = positive_part(formulation.accepted(solution))
    return Plan(formulation.support, formulation.target, accepted, solution)
