"""What a solver is and returns, the registry of solvers, and checks that trust no solver."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum

import numpy as np

from otspec._base import Frozen, Registry, as_callable, as_flag, as_instance, instance_of
from otspec._base.arithmetic import Array, Number, as_number, as_numbers, zeros
from otspec.solvers.linear_program import LinearProgram, Sense


class Status(Enum):
    """How a solve ended; the value is what to do about it."""

    OPTIMAL = "solved: read the value, the primal solution and the duals"
    INACCURATE = "solved to less than the wanted accuracy: use another solver, or solver='rational'"
    INFEASIBLE = "no point satisfies all rows: check that draft and target both sum to 1"
    UNBOUNDED = "the objective has no bound: a bound on a variable or a row is missing"
    LIMIT = "stopped at a limit of time or iterations: use a smaller formulation"
    FAILED = "the solver gave up: try another solver"


class SolverError(ValueError):
    """A program was not solved; the message is the status's advice."""


@dataclass(frozen=True, eq=False)
class Solution(Frozen):
    """The outcome of one solve.

    Parameters
    ----------
    program : LinearProgram
        In the arithmetic of the solution.
    solver : str
    status : Status
    value : float or Fraction
        The objective; NaN or 0 unless the status says that it was solved.
    primal : ndarray, shape (n,)
    duals : ndarray, shape (m,)
        For each row the derivative of the value with respect to its right-hand side.
    iterations : int
        As the solver counts them; −1 if it does not tell.
    seconds : float
        Wall-clock time of the solve alone.
    """

    program: LinearProgram
    solver: str
    status: Status
    value: Number
    primal: Array
    duals: Array
    iterations: int
    seconds: float

    def check(self) -> "Certificate":
        """Check optimality from the numbers alone; a :class:`SolverError` says what is violated."""
        if self.status is not Status.OPTIMAL:
            raise SolverError(f"{self.program.title}, {self.solver}: {self.status.value}")
        certificate = certify(self.program, self.primal, self.duals)
        limit = tolerance(self.program)
        worst = max(vars(certificate).values())
        # Not through a float: an exact difference may be too small for one.
        off = as_number(abs(self.value - self.program.value(self.primal)), self.program.objective)
        if not (worst <= limit and off <= limit):
            raise SolverError(
                f"{self.program.title}, {self.solver}: the solution violates optimality by "
                f"{float(max(worst, off)):.3g} (allowed: {limit:.3g}): {Status.INACCURATE.value}"
            )
        return certificate


@dataclass(frozen=True)
class Certificate:
    """The worst violations of the four conditions of optimality; all 0 in exact arithmetic.

    Parameters
    ----------
    primal : float or Fraction
        By how much a row or a bound is violated.
    dual : float or Fraction
        The largest multiplier of a bound that does not exist.
    complementarity : float or Fraction
        The largest product of a multiplier and the slack of its bound.
    gap : float or Fraction
        Between the primal and the dual objective.
    """

    primal: Number
    dual: Number
    complementarity: Number
    gap: Number


SOLVER_TOLERANCE = 1e-10
"""What float solvers are told: violation allowed per row, per reduced cost, and of the gap."""


def tolerance(program: LinearProgram) -> float:
    """Return the violation that a float solution may have; 0 in exact arithmetic."""
    # Solvers work to 1e-10 in scaled units, where a row or column may be scaled by its number of
    # coefficients; sums over all columns add their rounding. Ten times the first plus the second
    # stays below 1e-9 + 1e-10 for every program that fits in memory.
    if program.exact:
        return 0.0
    return 10 * SOLVER_TOLERANCE + np.finfo(float).eps * (len(program.rows) + sum(program.shape))


def certify(program: LinearProgram, primal: Array, duals: Array) -> Certificate:
    """Measure primal and dual feasibility, complementary slackness and the gap.

    Reduced costs are computed here, c − Aᵀy, whatever the solver says. With
    ``sign`` = 1 for maximizing, a positive ``sign``·multiplier prices the upper bound of its row
    or variable and a negative one the lower bound. ``primal`` has shape (n,) and ``duals`` (m,);
    anything else is a ValueError.
    """
    as_instance(program, "program", LinearProgram, "a LinearProgram")
    primal, duals = as_numbers(primal, "primal"), as_numbers(duals, "duals")
    for name, values, size in zip(("duals", "primal"), (duals, primal), program.shape, strict=True):
        if values.shape != (size,):
            raise ValueError(f"{name} has shape {values.shape}: it must have shape ({size},)")
    sign = 1 if program.sense is Sense.MAXIMIZE else -1
    activity = program.activity(primal)
    reduced = program.objective - program.prices(duals)
    parts = [
        _bound_conditions(activity, program.row_lower, program.row_upper, duals, sign),
        _bound_conditions(primal, program.lower, program.upper, reduced, sign),
    ]
    violation, unpriced, slackness, priced = zip(*parts, strict=True)
    gap = abs(program.value(primal) - sum(priced))
    worst = (max(violation), max(unpriced), max(slackness), gap)
    return Certificate(*(as_number(value, like=program.objective) for value in worst))


def _bound_conditions(
    values: Array, lower: Array, upper: Array, multipliers: Array, sign: int
) -> tuple[Number, Number, Number, Number]:
    """Return violation, multipliers without a bound, slackness and the priced bounds."""
    if len(values) == 0:
        zero = zeros(1, like=values)[0]
        return zero, zero, zero, zero
    least, most = (np.where(np.abs(ends) < np.inf, ends, values) for ends in (lower, upper))
    outside = np.maximum(np.maximum(least - values, values - most), 0)
    bound = np.where(sign * multipliers > 0, upper, lower)
    bounded = np.abs(bound) < np.inf
    missing = np.where(bounded, 0, np.abs(multipliers))
    priced = np.where(bounded, bound, 0) * np.where(bounded, multipliers, 0)
    slack = np.where(bounded, np.abs(np.where(bounded, bound, 0) - values) * abs(multipliers), 0)
    return outside.max(), missing.max(), slack.max(), priced.sum()


def _always() -> bool:
    return True


@dataclass(frozen=True)
class Solver:
    """A way to solve linear programs, which is called with one.

    Parameters
    ----------
    name : str
        What command lines and tables call it.
    solve : callable
        :class:`LinearProgram` → :class:`Solution`, not checked yet.
    exact : bool
        It takes exact data only, and solves them exactly; others compute in floats.
    available : callable
        Says whether what it needs is installed.
    """

    name: str
    solve: Callable[[LinearProgram], Solution]
    exact: bool = False
    available: Callable[[], bool] = _always

    def __post_init__(self) -> None:
        as_callable(self.solve, "solve", "a callable from a LinearProgram to a Solution")
        as_flag(self.exact, "exact")
        as_callable(self.available, "available", "a callable without arguments")

    def __call__(self, program: LinearProgram) -> Solution:
        """Solve a program; the solution is not checked yet."""
        return as_instance(self.solve(program), "what solve returns", Solution, "a Solution")

    def fits(self, exact: bool) -> bool:
        """Return whether it can be used for exact data, or for floats."""
        return (exact or not self.exact) and self.available()


SOLVERS: Registry[Solver] = Registry("solver", "otspec.solvers", instance_of(Solver))
"""The solvers by name; by default the first that is as exact as the data is used."""
register = SOLVERS.register


def default_solver(program: LinearProgram) -> Solver:
    """Return the solver for a program for which none is named."""
    return next(solver for solver in SOLVERS.values() if solver.exact == program.exact)
