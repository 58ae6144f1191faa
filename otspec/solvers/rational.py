"""Exact rational arithmetic, through pycddlib's GMP interface."""

from __future__ import annotations

import time
from fractions import Fraction
from types import ModuleType
from typing import Any

import numpy as np

from otspec.arithmetic import zeros
from otspec.extras import needed
from otspec.solvers.contract import Solver, register
from otspec.solvers.linear_program import LinearProgram, Sense
from otspec.solvers.solution import Solution, Status

_ENDED = {
    "OPTIMAL": Status.OPTIMAL,
    "INCONSISTENT": Status.INFEASIBLE,
    "STRUC_INCONSISTENT": Status.INFEASIBLE,
    "UNBOUNDED": Status.UNBOUNDED,
    "DUAL_INCONSISTENT": Status.UNBOUNDED,
    "STRUC_DUAL_INCONSISTENT": Status.UNBOUNDED,
}
"""What the members of pycddlib's ``LPStatusType`` mean."""

_HINT = ", which compiles against libcdd and GMP (on Debian: apt install libcdd-dev libgmp-dev)"

DENSE_LIMIT = 2_000_000
"""Most entries of the dense tableau; a pivot touches all of them, in rational numbers."""


def solve(program: LinearProgram) -> Solution:
    """Solve a linear program exactly.

    Parameters
    ----------
    program : LinearProgram
        With exact data.

    Returns
    -------
    Solution
        Value, primal solution and duals are ``Fraction``.

    Raises
    ------
    ValueError
        Float data, or a program too large for a dense tableau; the message names the size. Or
        pycddlib is not installed.
    """
    cdd = pycddlib("solver='rational'")
    if not program.exact:
        raise ValueError(
            "solver='rational' needs exact distributions: pass Fractions or strings such as '3/10'"
        )
    rows, columns = program.shape
    conditions = _Conditions(program)
    entries = (len(conditions.equal) + 2 * (rows + columns)) * (columns + 1)
    if entries > DENSE_LIMIT:
        raise ValueError(
            f"{program} is too large for exact arithmetic (a dense tableau of up to {entries:,} "
            f"rationals, at most {DENSE_LIMIT:,}): use a smaller formulation or solver='highs'"
        )
    maximise = program.sense is Sense.MAXIMISE
    array, sources = conditions.stacked()
    matrix = cdd.gmp.matrix_from_array(
        array or [[Fraction(1)] + [Fraction(0)] * columns],  # 1 ≥ 0: one condition at least
        lin_set=range(len(conditions.equal)),
        rep_type=cdd.RepType.INEQUALITY,
        obj_type=cdd.LPObjType.MAX if maximise else cdd.LPObjType.MIN,
        obj_func=[Fraction(0), *program.objective],
    )
    start = time.perf_counter()
    tableau = cdd.gmp.linprog_from_matrix(matrix)
    cdd.gmp.linprog_solve(tableau)
    seconds = time.perf_counter() - start
    status = _ENDED.get(tableau.status.name, Status.FAILED)
    primal, duals = zeros(columns, like=program.objective), zeros(rows, like=program.objective)
    if status is Status.OPTIMAL:
        primal[:] = [Fraction(value) for value in tableau.primal_solution]
        for condition, multiplier in tableau.dual_solution:
            row, sign = sources[condition]
            if row >= 0:  # the multiplier of a row, not of a variable's bound
                duals[row] += sign * Fraction(multiplier)
    value = program.value(primal)
    return Solution(program, "rational", status, value, primal, duals, -1, seconds)


class _Conditions:
    """The rows and bounds as b + a·x ≥ 0, equalities first."""

    def __init__(self, program: LinearProgram) -> None:
        self.program = program
        fixed = program.row_lower == program.row_upper
        self.equal = np.flatnonzero(fixed)
        self.below = np.flatnonzero(~fixed & (program.row_upper < np.inf))
        self.above = np.flatnonzero(~fixed & (program.row_lower > -np.inf))

    def stacked(self) -> tuple[list[list[Fraction]], list[tuple[int, int]]]:
        """Return the conditions, and for each the row it states and the sign of its dual."""
        program = self.program
        dense = np.full(program.shape, Fraction(0), dtype=object)
        np.add.at(dense, (program.rows, program.columns), program.coefficients)
        array: list[list[Any]] = []
        sources: list[tuple[int, int]] = []
        for rows, bounds, sign in (
            (self.equal, program.row_upper, 1),
            (self.below, program.row_upper, 1),
            (self.above, program.row_lower, -1),
        ):
            array += [[sign * bounds[row], *(-sign * dense[row])] for row in rows]
            sources += [(int(row), sign) for row in rows]
        identity = np.eye(program.shape[1], dtype=int).astype(object)
        for bounds, sign in ((program.upper, 1), (program.lower, -1)):
            finite = np.flatnonzero(np.abs(bounds.astype(float)) < np.inf)
            array += [[sign * bounds[j], *(-sign * identity[j])] for j in finite]
            sources += [(-1, sign)] * len(finite)
        # cddlib appends each equality once more, reversed, and may put its dual there.
        sources += [(int(row), -1) for row in self.equal]
        return array, sources


def pycddlib(what: str) -> ModuleType:
    """Import pycddlib for something that needs it, as an error says.

    Raises
    ------
    ValueError
        It is not installed; with what needs it and how to install it.
    """
    needed("cdd.gmp", what, "cones", hint=_HINT)
    return needed("cdd", what, "cones", hint=_HINT)


def available() -> bool:
    """Return whether pycddlib is installed."""
    try:
        pycddlib("this")
    except ValueError:
        return False
    return True


register(Solver("rational", solve, exact=True, available=available))
