"""Select one of the drafts first, then accept it or not (Theory, 3; Canonical, thms. 1 and 4)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from otspec._base.arithmetic import Array, IntArray
from otspec.coupling import accepted_weights
from otspec.programs.builder import ProgramBuilder
from otspec.programs.formulation import Formulation, Size, register
from otspec.solvers import Solution


@register
@dataclass(frozen=True, eq=False)
class Importance(Formulation):
    """Choose the law b of the selected draft so that Σ min(b, q) is largest.

    Variables w(x, y) = P(x) β_y(x) ≥ 0 for y ∈ S(x) with Σ_y w(x, y) = P(x), and
    t(y) ≤ q(y), t(y) ≤ b(y) = Σ_x w(x, y); maximise Σ t. Source: Canonical, thms. 1 and 4; the
    optimum is the same as for any coupling.
    """

    name: ClassVar[str] = "importance"
    source: ClassVar[str] = "Canonical, thms. 1 and 4"
    smaller: ClassVar[str] = 'program="reduced", which has fewer variables'

    def _size(self, rows: int, pairs: int) -> Size:
        n = self.law.n
        return Size(rows + n, pairs + n, 2 * pairs + n)

    def _state(self, model: ProgramBuilder) -> IntArray:
        seen = self.support
        drafts = model.rows("drafts", seen.keys, seen.masses, seen.masses)
        below = model.rows("selected", self._token_names, -np.inf, 0)
        weight = model.columns("w", self._pair_names, 0, np.inf)
        kept = model.columns("t", self._token_names, 0, self.target)
        model.put(drafts[seen.rows], weight)
        model.put(below, kept)
        model.put(below[seen.tokens], weight, -1)
        return kept

    def accepted(self, solution: Solution) -> Array:
        """Return w(x, y) min(1, q(y)/b(y)): what is left after accepting the selected draft."""
        weights = solution.primal[: len(self.support.rows)]
        return accepted_weights(weights, self.support.tokens, self.target.astype(weights.dtype))
