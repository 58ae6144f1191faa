"""The maximum flow from drafts through their tokens (SpecHub, app. E, any k; Theory, 1)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from otspec._base.arithmetic import Array, IntArray
from otspec.programs.builder import ProgramBuilder
from otspec.programs.formulation import Formulation, Size, register
from otspec.solvers import Solution


@register
@dataclass(frozen=True, eq=False)
class MaxFlow(Formulation):
    """Source → drafts x (capacity P(x)) → tokens of x (no capacity) → sink (capacity q).

    The value of the flow is the acceptance, and its minimum cuts are the certificates of
    :func:`otspec.optimal_acceptance`. Source: SpecHub, app. E, for any k.
    """

    name: ClassVar[str] = "maxflow"
    source: ClassVar[str] = "SpecHub, app. E, any k"
    smaller: ClassVar[str] = 'program="reduced", which has no conservation rows'

    def _size(self, rows: int, pairs: int) -> Size:
        n = self.law.n
        return Size(rows + n, rows + pairs + n, rows + 2 * pairs + n)

    def _state(self, model: ProgramBuilder) -> IntArray:
        seen = self.support
        at_drafts = model.rows("drafts", seen.keys, 0, 0)
        at_tokens = model.rows("token", self._token_names, 0, 0)
        inflow = model.columns("source", seen.keys, 0, seen.masses)
        across = model.columns("flow", self._pair_names, 0, np.inf)
        outflow = model.columns("sink", self._token_names, 0, self.target)
        model.put(at_drafts, inflow)
        model.put(at_drafts[seen.rows], across, -1)
        model.put(at_tokens[seen.tokens], across)
        model.put(at_tokens, outflow, -1)
        return outflow

    def accepted(self, solution: Solution) -> Array:
        """Return the flow from each draft to each of its tokens."""
        _, across, _ = np.split(solution.primal, [len(self.support.masses), -self.law.n])
        return across
