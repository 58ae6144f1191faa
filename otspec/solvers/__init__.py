"""Linear programs and the solvers for them: one file per solver, one type of result."""

# ruff: noqa: I001 -- solvers are registered in the order of tables

from typing import TypeAlias

from otspec._base import as_choice, as_instance
from otspec.solvers.base import SOLVERS, Solver, default_solver
from otspec.solvers.linear_program import LinearProgram, Names, Sense
from otspec.solvers.base import Certificate, Solution, SolverError, Status, certify
from otspec.solvers import highs, cvxpy, rational

SolverName: TypeAlias = str
"""One of :data:`SOLVERS`: ``"highs"``, ``"cvxpy"``, ``"rational"``, or one that another package
adds."""


def solve(program: LinearProgram, solver: SolverName | None = None) -> Solution:
    """Solve a linear program and check the result by :meth:`Solution.check`.

    Parameters
    ----------
    program : LinearProgram
    solver : {"highs", "cvxpy", "rational"}, optional
        ``"highs"`` and ``"cvxpy"`` compute in floats and round exact data; ``"rational"`` is
        exact and needs exact data. By default ``"rational"`` for exact data, else ``"highs"``.

    Raises
    ------
    ValueError
        An unknown solver, data or a size that the solver does not take, or a program that was
        not solved (:class:`SolverError`, with advice); or the solver's package is not installed.
    """
    as_instance(program, "program", LinearProgram, "a LinearProgram, such as build() returns")
    if solver is None:
        solution = default_solver(program)(program)
    else:
        solution = SOLVERS[as_choice(solver, "solver", SOLVERS)](program)
    solution.check()
    return solution


__all__ = [
    "SOLVERS",
    "Certificate",
    "LinearProgram",
    "Names",
    "Sense",
    "Solution",
    "Solver",
    "SolverError",
    "SolverName",
    "Status",
    "certify",
    "cvxpy",
    "highs",
    "rational",
    "solve",
]
