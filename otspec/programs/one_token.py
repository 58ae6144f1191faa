"""Optimal transport of one token, as five linear programs (Theory, 1 and 3; SpecTr, eq. 4).

Selecting a draft first (Canonical, thms. 1 and 4) and the flow from drafts through their tokens
(SpecHub, app. E) have the same optimum as the transport itself.
So has the compact network of two drafts, whose nodes are tokens (Programs, 4).
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from otspec._base import Array, IntArray, positive_part, sums_by, zeros
from otspec.coupling import accepted_weights
from otspec.programs.formulation import Formulation, ProgramBuilder, Size, arrow, register
from otspec.solvers import Sense, Solution, SolverName, flow, solve


@register
@dataclass(frozen=True, eq=False)
class Membership(Formulation):
    """Couple drafts and target so that the output is off the drafts as seldom as possible.

    Variables π(x, y) ≥ 0 for every row x and token y; Σ_y π(x, y) = P(x), Σ_x π(x, y) = q(y);
    minimize Σ π(x, y) over y ∉ S(x). The optimum is 1 − acceptance.
    Source: SpecTr, eq. 4; SpecHub, eq. 1. With tuples: n^{k+1} variables, n^k + n rows.
    """

    name: ClassVar[str] = "membership"
    source: ClassVar[str] = "SpecTr, eq. 4"
    smaller: ClassVar[str] = 'program="reduced", which has only the pairs of a draft and its tokens'
    sense: ClassVar[Sense] = Sense.MINIMIZE

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
        return solution.primal[self.support.rows * self.law.n + self.support.tokens]


@register
@dataclass(frozen=True, eq=False)
class Reduced(Formulation):
    """Decide only what is accepted; the rest can always be completed to a coupling.

    Variables π(x, y) ≥ 0 for y ∈ S(x); Σ_y π(x, y) ≤ P(x), Σ_x π(x, y) ≤ q(y); maximize their
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


@register
@dataclass(frozen=True, eq=False)
class Importance(Formulation):
    """Choose the law b of the selected draft so that Σ min(b, q) is largest.

    Variables w(x, y) = P(x) β_y(x) ≥ 0 for y ∈ S(x) with Σ_y w(x, y) = P(x), and
    t(y) ≤ q(y), t(y) ≤ b(y) = Σ_x w(x, y); maximize Σ t. Source: Canonical, thms. 1 and 4; the
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
        return mass * (sinks / _or_one(received))[token]


def _or_one(values: Array) -> Array:
    """Return the values with 1 in the place of 0, to divide by."""
    return np.where(values == 0, zeros(1, like=values) + 1, values)
