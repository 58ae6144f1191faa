"""Select one of the drafts first, then accept it or not."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from otspec.arithmetic import Array
from otspec.coupling import accepted_weights
from otspec.programs.formulation import (
    Formulation,
    Lines,
    Seen,
    Size,
    arrow,
    assemble,
    token_indices,
)
from otspec.solvers import LinearProgram, Sense, Solution


@dataclass(frozen=True, eq=False)
class Importance(Formulation):
    """Choose the law b of the selected draft so that Σ min(b, q) is largest.

    Variables w(x, y) = P(x) β_y(x) ≥ 0 for y ∈ S(x) with Σ_y w(x, y) = P(x), and
    t(y) ≤ q(y), t(y) ≤ b(y) = Σ_x w(x, y); maximise Σ t. Source: Canonical, thms. 1 and 4; the
    optimum is the same as for any coupling.
    """

    title: ClassVar[str] = "importance"
    source: ClassVar[str] = "Canonical, thms. 1 and 4"
    smaller: ClassVar[str] = 'program="reduced", which has fewer variables'

    def _size(self, seen: Seen) -> Size:
        n = len(self.target)
        return Size(seen.rows + n, seen.pairs + n, 2 * seen.pairs + n)

    def _build(self) -> LinearProgram:
        seen, n = self.support, len(self.target)
        rows, columns = Lines(self.target), Lines(self.target)
        drafts = rows.add("drafts", seen.keys, seen.masses, seen.masses)
        below = rows.add("selected", token_indices(n), -np.inf, 0)
        weight = columns.add("w", arrow(seen.keys[seen.rows], seen.tokens), 0, np.inf)
        kept = columns.add("t", token_indices(n), 0, self.target)
        return assemble(
            f"{self.title} ({self.source})",
            Sense.MAXIMISE,
            rows,
            columns,
            kept,
            [(drafts[seen.rows], weight, 1), (below, kept, 1), (below[seen.tokens], weight, -1)],
        )

    def accepted(self, solution: Solution) -> Array:
        """Return w(x, y) min(1, q(y)/b(y)): what is left after accepting the selected draft."""
        return accepted_weights(
            solution.primal[: len(self.support.rows)],
            self.support.tokens,
            self.target if solution.program.exact else self.target.astype(float),
        )
