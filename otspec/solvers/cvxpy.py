"""cvxpy: the same program in its own terms, for any conic solver that it has."""

import operator
import time
from functools import cache
from types import ModuleType

import numpy as np

from otspec._base import needed
from otspec.solvers.base import Solution, Solver, Status, register
from otspec.solvers.linear_program import LinearProgram, Sense

_CLARABEL_TOLERANCES = {"tol_gap_abs": 1e-12, "tol_gap_rel": 1e-12, "tol_feas": 1e-12}
"""Beyond the tolerance of the check, since an interior point stops short of the vertex."""


def solve(program: LinearProgram, *, solver: str = "CLARABEL") -> Solution:
    """Solve a linear program in float64 with a conic solver that cvxpy knows by name."""
    cvxpy = _package()
    installed = _installed()
    if solver not in installed:
        raise ValueError(f"solver {solver!r} is not installed: choose {', '.join(installed)}")
    program = program.as_floats()
    x = cvxpy.Variable(program.shape[1])
    matrix = program.matrix()
    equal = program.row_lower == program.row_upper
    below = ~equal & (program.row_upper < np.inf)
    above = ~equal & (program.row_lower > -np.inf)
    # (which rows, sign of the dual, constraint); some versions of cvxpy refuse one of no rows
    stated = [
        (rows, sign, compared(matrix[rows] @ x, ends[rows]))
        for rows, sign, compared, ends in (
            (equal, 1, operator.eq, program.row_upper),
            (below, 1, operator.le, program.row_upper),
            (above, -1, operator.ge, program.row_lower),
        )
        if rows.any()
    ]
    floor, ceiling = program.lower > -np.inf, program.upper < np.inf
    bounds = [
        compared(x[which], ends[which])
        for which, compared, ends in (
            (floor, operator.ge, program.lower),
            (ceiling, operator.le, program.upper),
        )
        if which.any()
    ]
    maximize = program.sense is Sense.MAXIMIZE
    goal = cvxpy.Maximize if maximize else cvxpy.Minimize
    problem = cvxpy.Problem(
        goal(program.objective @ x), [constraint for _, _, constraint in stated] + bounds
    )
    options = _CLARABEL_TOLERANCES if solver == "CLARABEL" else {}
    start = time.perf_counter()
    try:
        # In steps: Problem.solve warns of inaccurate solutions, of which Solution.check decides,
        # and warnings can be silenced for the whole process only.
        data, chain, inverse = problem.get_problem_data(solver, solver_opts=options)
        found = chain.invert(chain.solve_via_data(problem, data, solver_opts=options), inverse)
        problem.unpack(found)
    except (cvxpy.SolverError, ValueError):  # ValueError: nothing to unpack
        return _unsolved(program, solver, Status.FAILED, time.perf_counter() - start)
    seconds = time.perf_counter() - start
    status = {
        cvxpy.OPTIMAL: Status.OPTIMAL,
        cvxpy.OPTIMAL_INACCURATE: Status.OPTIMAL,  # the check decides
        cvxpy.INFEASIBLE: Status.INFEASIBLE,
        cvxpy.UNBOUNDED: Status.UNBOUNDED,
        cvxpy.USER_LIMIT: Status.LIMIT,
    }.get(problem.status, Status.FAILED)
    if status is not Status.OPTIMAL:
        return _unsolved(program, solver, status, seconds)
    # cvxpy's multipliers are those of minimizing; ours are derivatives of the value.
    duals = np.zeros(program.shape[0])
    for rows, sign, constraint in stated:
        duals[rows] += (sign if maximize else -sign) * np.ravel(constraint.dual_value)
    steps = found.attr.get(cvxpy.settings.NUM_ITERS)
    return Solution(
        program,
        f"cvxpy ({solver})",
        status,
        float(problem.value),
        np.array(x.value, dtype=float),
        duals,
        -1 if steps is None else int(steps),
        seconds,
    )


def available() -> bool:
    """Return whether cvxpy is installed."""
    try:
        _package()
    except ValueError:
        return False
    return True


def _package() -> ModuleType:
    return needed("cvxpy", "the solver cvxpy", "cvxpy")


@cache
def _installed() -> tuple[str, ...]:
    """Return the solvers that cvxpy can import, which it tries again whenever it is asked."""
    return tuple(_package().installed_solvers())


def _unsolved(program: LinearProgram, solver: str, status: Status, seconds: float) -> Solution:
    duals, primal = (np.full(size, np.nan) for size in program.shape)
    name, value = f"cvxpy ({solver})", float("nan")
    return Solution(program, name, status, value, primal, duals, -1, seconds)


register(Solver("cvxpy", solve, available=available))
