"""The transport problem as a maximum flow through a bipartite network."""

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
class MaxFlow(Formulation):
    """Source → drafts x (capacity P(x)) → tokens of x (no capacity) → sink (capacity q).

    The value of the flow is the acceptance, and its minimum cuts are the certificates of
    :func:`otspec.optimal_acceptance`. Source: SpecHub, app. E, for any k.
    """

    title: ClassVar[str] = "maxflow"
    source: ClassVar[str] = "SpecHub, app. E, any k"
    smaller: ClassVar[str] = 'program="reduced", which has no conservation rows'

    def _size(self, seen: Seen) -> Size:
        n = len(self.target)
        return Size(seen.rows + n, seen.rows + seen.pairs + n, seen.rows + 2 * seen.pairs + n)

    def _build(self) -> LinearProgram:
        seen, n = self.support, len(self.target)
        rows, columns = Lines(self.target), Lines(self.target)
        at_drafts = rows.add("drafts", seen.keys, 0, 0)
        at_tokens = rows.add("token", token_indices(n), 0, 0)
        inflow = columns.add("source", seen.keys, 0, seen.masses)
        across = columns.add("flow", arrow(seen.keys[seen.rows], seen.tokens), 0, np.inf)
        outflow = columns.add("sink", token_indices(n), 0, self.target)
        return assemble(
            f"{self.title} ({self.source})",
            Sense.MAXIMISE,
            rows,
            columns,
            outflow,
            [
                (at_drafts, inflow, 1),
                (at_drafts[seen.rows], across, -1),
                (at_tokens[seen.tokens], across, 1),
                (at_tokens, outflow, -1),
            ],
        )

    def accepted(self, solution: Solution) -> Array:
        """Return the flow from each draft to each of its tokens."""
        first = len(self.support.masses)
        mass: Array = solution.primal[first : first + len(self.support.rows)]
        return mass
