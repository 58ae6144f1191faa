"""The compact network of two drafts (SpecHub, app. E; Programs, 4), whose nodes are tokens."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from otspec._base.arithmetic import Array, IntArray, positive_part, sums_by, zeros
from otspec.programs.builder import ProgramBuilder
from otspec.programs.formulation import Formulation, Size, register
from otspec.solvers import Solution


@register
@dataclass(frozen=True, eq=False)
class CompactMaxFlow(Formulation):
    """Two drafts: source → v (Σ_w P(v, w)), u → v (P(u, v), u ≠ v), v → sink (q(v)).

    A path may pass through several tokens. That does no harm, because any flow can be turned into
    accepted masses of the same total, which :meth:`accepted` does: conservation at v says
    source(v) + Σ_u f(u, v) = sink(v) + Σ_w f(v, w). Accept the drafts (u, v) as v with mass
    f(u, v); accept drafts that start with v as v with mass max(0, source(v) − Σ_w f(v, w)) in
    all, out of what f(v, ·) leaves of them, which is enough since source(v) ≤ Σ_w P(v, w). Token
    v then receives at least sink(v); what is more is dropped. Source: SpecHub, app. E.
    """

    name: ClassVar[str] = "compact"
    source: ClassVar[str] = "SpecHub, app. E, k = 2"
    smaller: ClassVar[str] = "optimal_acceptance(law, target), which builds no program"

    in_tuples: ClassVar[bool] = True

    sets: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.law.k != 2:
            raise ValueError(
                f"the compact network is for two drafts, but the law has k = {self.law.k}: use "
                'program="maxflow"'
            )

    def _size(self, rows: int, pairs: int) -> Size:  # noqa: ARG002 -- one row per token
        n = self.law.n
        return Size(n, rows + 2 * n, 2 * rows + 2 * n)

    def _state(self, model: ProgramBuilder) -> IntArray:
        tuples, masses = self.support.keys, self.support.masses
        between = tuples[:, 0] != tuples[:, 1]
        starts = sums_by(tuples[:, 0], masses, self.law.n)
        at_tokens = model.rows("token", self._token_names, 0, 0)
        inflow = model.columns("source", self._token_names, 0, starts)
        across = model.columns("flow", tuples[between], 0, masses[between])
        outflow = model.columns("sink", self._token_names, 0, self.target)
        model.put(at_tokens, inflow)
        model.put(at_tokens[tuples[between, 0]], across, -1)
        model.put(at_tokens[tuples[between, 1]], across)
        model.put(at_tokens, outflow, -1)
        return outflow

    def _advice(self) -> str:
        return f"use {self.smaller}"

    def accepted(self, solution: Solution) -> Array:
        """Return accepted masses of the flow's value, by the argument in the class."""
        seen, n = self.support, len(self.target)
        first, second = seen.keys.T
        like = solution.primal
        starts, across, sinks = np.split(like, [n, len(like) - n])
        flow = zeros(len(first), like=like)
        flow[first != second] = across
        left = seen.masses.astype(like.dtype) - flow
        unused, passed = sums_by(first, left, n), sums_by(first, flow, n)
        fresh = positive_part(starts - passed) / _or_one(unused)
        as_first = left * fresh[first]
        token, row = seen.tokens, seen.rows
        nothing = zeros(1, like=like)
        mass = np.where(token == first[row], as_first[row], nothing)
        mass = mass + np.where(token == second[row], flow[row], nothing)
        received = sums_by(token, mass, n)
        kept: Array = mass * (sinks / _or_one(received))[token]
        return kept


def _or_one(values: Array) -> Array:
    """Return the values with 1 in the place of 0, to divide by."""
    safe: Array = np.where(values == 0, zeros(1, like=values) + 1, values)
    return safe
