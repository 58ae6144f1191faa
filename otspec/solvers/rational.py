"""Exact arithmetic: the optimum itself, in fractions."""

import time

from otspec._base.arithmetic import zeros
from otspec.solvers.base import Solution, Solver, Status, register
from otspec.solvers.linear_program import LinearProgram
from otspec.solvers.simplex import Simplex


def solve(program: LinearProgram) -> Solution:
    """Solve a linear program of exact data exactly."""
    if not program.exact:
        raise ValueError(
            "solver='rational' needs exact distributions: pass Fractions or strings such as '3/10'"
        )
    start = time.perf_counter()
    simplex = Simplex(program)
    status = simplex.run()
    seconds = time.perf_counter() - start
    rows, columns = program.shape
    primal, duals = zeros(columns, like=program.objective), zeros(rows, like=program.objective)
    if status is Status.OPTIMAL:
        primal[:], duals[:] = simplex.values()[:columns], simplex.duals()
    value = program.value(primal)
    return Solution(program, "rational", status, value, primal, duals, simplex.steps, seconds)


register(Solver("rational", solve, exact=True))
