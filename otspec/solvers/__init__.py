"""Linear programs and the solvers for them: one file per solver, one type of result."""

from __future__ import annotations

from typing import Literal

from otspec.arguments import as_choice, as_instance
from otspec.solvers import cvxpy, highs, rational
from otspec.solvers.linear_program import LinearProgram, Names, Sense
from otspec.solvers.solution import Certificate, Solution, SolverError, Status, certify

SolverName = Literal["highs", "cvxpy", "rational"]

SOLVERS = {"highs": highs.solve, "cvxpy": cvxpy.solve, "rational": rational.solve}
"""The solvers by name."""


def solve(program: LinearProgram, solver: str | None = None) -> Solution:
    """Solve a linear program and check the result.

    Parameters
    ----------
    program : LinearProgram
    solver : {"highs", "cvxpy", "rational"}, optional
        ``"highs"`` and ``"cvxpy"`` compute in floats and round exact data; ``"rational"`` is
        exact and needs exact data. By default ``"rational"`` for exact data, else ``"highs"``.

    Returns
    -------
    Solution
        Checked by :meth:`Solution.check`.

    Raises
    ------
    ValueError
        An unknown solver, data or a size that the solver does not take, or a program that was
        not solved (:class:`SolverError`, with advice).
    ImportError
        The solver's package is not installed.
    """
    as_instance(program, "program", LinearProgram, "a LinearProgram, such as build() returns")
    name = "rational" if program.exact else "highs"
    if solver is not None:
        name = as_choice(solver, "solver", SOLVERS)
    solution = SOLVERS[name](program)
    solution.check()
    return solution


__all__ = [
    "SOLVERS",
    "Certificate",
    "LinearProgram",
    "Names",
    "Sense",
    "Solution",
    "SolverError",
    "SolverName",
    "Status",
    "certify",
    "solve",
]
