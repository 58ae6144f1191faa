"""The transport problem as it is defined: every pair of a draft and an output."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from otspec.arithmetic import Array
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
class Membership(Formulation):
    """Couple drafts and target so that the output is off the drafts as seldom as possible.

    Variables π(x, y) ≥ 0 for every row x and token y; Σ_y π(x, y) = P(x), Σ_x π(x, y) = q(y);
    minimise Σ π(x, y) over y ∉ S(x). The optimum is 1 − acceptance.
    Source: SpecTr, eq. 4; SpecHub, eq. 1. With tuples: n^{k+1} variables, n^k + n rows.
    """

    title: ClassVar[str] = "membership"
    source: ClassVar[str] = "SpecTr, eq. 4"
    smaller: ClassVar[str] = 'program="reduced", which has only the pairs of a draft and its tokens'

    def _size(self, seen: Seen) -> Size:
        n = len(self.target)
        return Size(seen.rows + n, seen.rows * n, 2 * seen.rows * n)

    def _build(self) -> LinearProgram:
        seen, n = self.support, len(self.target)
        size = len(seen.masses)
        row, token = (index.ravel() for index in np.indices((size, n), dtype=np.intp))
        rows, columns = Lines(self.target), Lines(self.target)
        drafts = rows.add("drafts", seen.keys, seen.masses, seen.masses)
        outputs = rows.add("target", token_indices(n), self.target, self.target)
        mass = columns.add("pi", arrow(seen.keys[row], token), 0, np.inf)
        outside = np.ones(size * n, dtype=bool)
        outside[seen.rows * n + seen.tokens] = False
        return assemble(
            f"{self.title} ({self.source})",
            Sense.MINIMISE,
            rows,
            columns,
            mass[outside],
            [(drafts[row], mass, 1), (outputs[token], mass, 1)],
        )

    def accepted(self, solution: Solution) -> Array:
        """Return π(x, y) for y among the drafts."""
        seen, n = self.support, len(self.target)
        mass: Array = solution.primal[seen.rows * n + seen.tokens]
        return mass
