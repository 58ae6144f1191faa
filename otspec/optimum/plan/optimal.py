"""Optimal plans from linear programs, with lossless or lossy output (Programs, 2; Theory, 29)."""

from typing import Any

from otspec._base.arithmetic import positive_part
from otspec.distributions import DistributionLike, as_distribution
from otspec.drafts import DraftLaw
from otspec.optimum import TotalVariation
from otspec.optimum.plan.completed import Plan
from otspec.programs import Formulation, ProgramName, formulate
from otspec.solvers import Solution, SolverName


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
        Unusable input or budget, a program that would not fit in memory (with its size and what to
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
    return lossless.decomposition.within(budget).plan()


def plan_from(formulation: Formulation, solution: Solution) -> Plan:
    """Return the plan that a solution of a formulation stands for; what is below 0 counts as 0."""
    accepted = positive_part(formulation.accepted(solution))
    return Plan(formulation.support, formulation.target, accepted, solution)
