"""The maximum flow for two drafts in SpecHub's compact network, whose nodes are tokens."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from otspec.arithmetic import Array, positive_part, sums_by, zeros
from otspec.programs.formulation import Formulation, Lines, Seen, Size, assemble, token_indices
from otspec.solvers import LinearProgram, Sense, Solution


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

    title: ClassVar[str] = "compact"
    source: ClassVar[str] = "SpecHub, app. E, k = 2"
    smaller: ClassVar[str] = "optimal_acceptance(law, target), which builds no program"

    sets: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.law.k != 2:
            raise ValueError(
                f"the compact network is for two drafts, but the law has k = {self.law.k}: use "
                'program="maxflow"'
            )

    def _size(self, seen: Seen) -> Size:
        n = len(self.target)
        return Size(n, seen.rows + 2 * n, 2 * seen.rows + 2 * n)

    def _build(self) -> LinearProgram:
        n = len(self.target)
        tuples, masses = self.support.keys, self.support.masses
        between = tuples[:, 0] != tuples[:, 1]
        starts = sums_by(tuples[:, 0], masses, n)
        rows, columns = Lines(self.target), Lines(self.target)
        at_tokens = rows.add("token", token_indices(n), 0, 0)
        inflow = columns.add("source", token_indices(n), 0, starts)
        across = columns.add("flow", tuples[between], 0, masses[between])
        outflow = columns.add("sink", token_indices(n), 0, self.target)
        return assemble(
            f"{self.title} ({self.source})",
            Sense.MAXIMISE,
            rows,
            columns,
            outflow,
            [
                (at_tokens, inflow, 1),
                (at_tokens[tuples[between, 0]], across, -1),
                (at_tokens[tuples[between, 1]], across, 1),
                (at_tokens, outflow, -1),
            ],
        )

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
