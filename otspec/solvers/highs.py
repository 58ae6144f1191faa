"""HiGHS, through its own interface."""

import time
from typing import Any

import numpy as np

from otspec.solvers.base import SOLVER_TOLERANCE, Solution, Solver, Status, register
from otspec.solvers.linear_program import LinearProgram, Sense


def _quiet() -> Any:
    """Return HiGHS without its banner, which some versions print while they are made."""
    import highspy

    class Quiet(highspy.Highs):
        def enableCallbacks(self) -> Any:  # noqa: N802 # HiGHS's name
            self.silent()
            return super().enableCallbacks()  # type: ignore[no-untyped-call]

    highs = Quiet()  # type: ignore[no-untyped-call]
    highs.silent()  # versions that enable nothing at first
    return highs


def _run(program: LinearProgram) -> tuple[Any, float]:
    """Return HiGHS after a program in floats, and how long it took."""
    import highspy

    model = highspy.HighsLp()
    model.num_row_, model.num_col_ = program.shape
    model.sense_ = (
        highspy.ObjSense.kMaximize
        if program.sense is Sense.MAXIMIZE
        else highspy.ObjSense.kMinimize
    )
    model.col_cost_ = program.objective
    model.col_lower_, model.col_upper_ = program.lower, program.upper
    model.row_lower_, model.row_upper_ = program.row_lower, program.row_upper
    matrix = program.matrix()
    model.a_matrix_.format_ = highspy.MatrixFormat.kColwise
    model.a_matrix_.start_ = matrix.indptr.astype(np.int32)
    model.a_matrix_.index_ = matrix.indices.astype(np.int32)
    model.a_matrix_.value_ = matrix.data

    highs = _quiet()
    highs.setOptionValue("primal_feasibility_tolerance", SOLVER_TOLERANCE)
    highs.setOptionValue("dual_feasibility_tolerance", SOLVER_TOLERANCE)
    highs.passModel(model)
    start = time.perf_counter()
    highs.run()
    if highs.getModelStatus() in (
        highspy.HighsModelStatus.kInfeasible,
        highspy.HighsModelStatus.kUnboundedOrInfeasible,
    ):
        # Presolve adds up equations and may take the rounding of the sum for a contradiction.
        highs.clearSolver()
        highs.setOptionValue("presolve", "off")
        highs.run()
    return highs, time.perf_counter() - start


def solve(program: LinearProgram) -> Solution:
    """Solve a linear program with HiGHS in float64: feasible to 1e-10, usually a vertex."""
    import highspy

    program = program.as_floats()
    highs, seconds = _run(program)
    ended = {
        highspy.HighsModelStatus.kOptimal: Status.OPTIMAL,
        highspy.HighsModelStatus.kModelEmpty: Status.OPTIMAL,
        highspy.HighsModelStatus.kInfeasible: Status.INFEASIBLE,
        highspy.HighsModelStatus.kUnbounded: Status.UNBOUNDED,
        highspy.HighsModelStatus.kUnboundedOrInfeasible: Status.INFEASIBLE,
        highspy.HighsModelStatus.kTimeLimit: Status.LIMIT,
        highspy.HighsModelStatus.kIterationLimit: Status.LIMIT,
    }
    status = ended.get(highs.getModelStatus(), Status.FAILED)
    found, info = highs.getSolution(), highs.getInfo()
    return Solution(
        program,
        "highs",
        status,
        float(info.objective_function_value),
        np.array(found.col_value, dtype=float),
        np.array(found.row_dual, dtype=float),
        int(info.simplex_iteration_count) + int(max(info.ipm_iteration_count, 0)),
        seconds,
    )


def basis_of(program: LinearProgram) -> tuple[set[int], set[int]]:
    """Return the basis at which HiGHS ends, n + i for row i, and what is at its upper bound."""
    import highspy

    try:
        basis = _run(program.as_floats())[0].getBasis()
    except OverflowError:  # a number is too large for a float
        return set(), set()
    if not basis.valid:
        return set(), set()
    kinds = highspy.HighsBasisStatus
    statuses = [*basis.col_status, *basis.row_status]
    return (
        {j for j, status in enumerate(statuses) if status == kinds.kBasic},
        {j for j, status in enumerate(statuses) if status == kinds.kUpper},
    )


register(Solver("highs", solve))
