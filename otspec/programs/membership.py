"""Optimal transport as it is defined (SpecTr, eq. 4): every pair of drafts and an output."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from otspec._base.arithmetic import Array, IntArray
from otspec.programs.builder import ProgramBuilder, arrow
from otspec.programs.formulation import Formulation, Size, register
from otspec.solvers import Sense, Solution


@register
@dataclass(frozen=True, eq=False)
class Membership(Formulation):
    """Couple drafts and target so that the output is off the drafts as seldom as possible.

    Variables π(x, y) ≥ 0 for every row x and token y; Σ_y π(x, y) = P(x), Σ_x π(x, y) = q(y);
    minimise Σ π(x, y) over y ∉ S(x). The optimum is 1 − acceptance.
    Source: SpecTr, eq. 4; SpecHub, eq. 1. With tuples: n^{k+1} variables, n^k + n rows.
    """

    name: ClassVar[str] = "membership"
    source: ClassVar[str] = "SpecTr, eq. 4"
    smaller: ClassVar[str] = 'program="reduced", which has only the pairs of a draft and its tokens'
    sense: ClassVar[Sense] = Sense.MINIMISE

    def _size(self, rows: int, pairs: int) -> Size:  # noqa: ARG002 -- all tokens, not pairs alone
        n = self.law.n
        return Size(rows + n, rows * n, 2 * rows * n)

    def _state(self, model: ProgramBuilder) -> IntArray:
        seen, n = self.support, self.law.n
        row, token = (index.ravel() for index in np.indices((len(seen.masses), n), dtype=np.intp))
        drafts = model.rows("drafts", seen.keys, seen.masses, seen.masses)
        outputs = model.rows("target", self._token_names, self.target, self.target)
        mass = model.columns("pi", arrow(seen.keys[row], token), 0, np.inf)
        model.put(drafts[row], mass)
        model.put(outputs[token], mass)
        outside = np.ones(len(mass), dtype=bool)
        outside[seen.rows * n + seen.tokens] = False
        return mass[outside]

    def accepted(self, solution: Solution) -> Array:
        """Return π(x, y) for y among the drafts."""
        mass: Array = solution.primal[self.support.rows * self.law.n + self.support.tokens]
        return mass
