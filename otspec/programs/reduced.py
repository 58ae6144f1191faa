"""The transport problem without the rejections."""

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
class Reduced(Formulation):
    """Decide only what is accepted; the rest can always be completed to a coupling.

    Variables π(x, y) ≥ 0 for y ∈ S(x); Σ_y π(x, y) ≤ P(x), Σ_x π(x, y) ≤ q(y); maximise their
    sum, which is the acceptance. Source: SpecHub, sec. 3.2.
    """

    title: ClassVar[str] = "reduced"
    source: ClassVar[str] = "SpecHub, sec. 3.2"
    smaller: ClassVar[str] = "optimal_acceptance(law, target), which builds no program"

    def _size(self, seen: Seen) -> Size:
        return Size(seen.rows + len(self.target), seen.pairs, 2 * seen.pairs)

    def _build(self) -> LinearProgram:
        seen = self.support
        rows, columns = Lines(self.target), Lines(self.target)
        drafts = rows.add("drafts", seen.keys, -np.inf, seen.masses)
        outputs = rows.add("target", token_indices(len(self.target)), -np.inf, self.target)
        mass = columns.add("pi", arrow(seen.keys[seen.rows], seen.tokens), 0, np.inf)
        return assemble(
            f"{self.title} ({self.source})",
            Sense.MAXIMISE,
            rows,
            columns,
            mass,
            [(drafts[seen.rows], mass, 1), (outputs[seen.tokens], mass, 1)],
        )

    def accepted(self, solution: Solution) -> Array:
        """Return the solution as it is."""
        return solution.primal
