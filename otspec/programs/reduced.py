"""Optimal transport without the rejections (SpecHub, sec. 3.2): only what is accepted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from otspec._base.arithmetic import Array, IntArray
from otspec.programs.builder import ProgramBuilder
from otspec.programs.formulation import Formulation, Size, register
from otspec.solvers import Solution, SolverName, flow, solve


@register
@dataclass(frozen=True, eq=False)
class Reduced(Formulation):
    """Decide only what is accepted; the rest can always be completed to a coupling.

    Variables π(x, y) ≥ 0 for y ∈ S(x); Σ_y π(x, y) ≤ P(x), Σ_x π(x, y) ≤ q(y); maximise their
    sum, which is the acceptance. Source: SpecHub, sec. 3.2.
    """

    name: ClassVar[str] = "reduced"
    source: ClassVar[str] = "SpecHub, sec. 3.2"
    smaller: ClassVar[str] = "optimal_acceptance(law, target), which builds no program"

    def _size(self, rows: int, pairs: int) -> Size:
        return Size(rows + self.law.n, pairs, 2 * pairs)

    def _state(self, model: ProgramBuilder) -> IntArray:
        seen = self.support
        drafts = model.rows("drafts", seen.keys, -np.inf, seen.masses)
        outputs = model.rows("target", self._token_names, -np.inf, self.target)
        mass = model.columns("pi", self._pair_names, 0, np.inf)
        model.put(drafts[seen.rows], mass)
        model.put(outputs[seen.tokens], mass)
        return mass

    def solved(self, solver: SolverName | None) -> Solution:
        """Solve it, in floats by default as the flow from rows to tokens that it is."""
        program = self.build()
        if solver is not None or program.exact:
            return solve(program, solver)
        seen = self.support
        solution = flow.solve(program, seen.rows, seen.tokens, len(seen.masses))
        solution.check()
        return solution

    def accepted(self, solution: Solution) -> Array:
        """Return the solution as it is."""
        return solution.primal
