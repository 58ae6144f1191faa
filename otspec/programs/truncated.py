"""Two drafts: the importance program with most selections fixed in advance."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np

from otspec.arithmetic import Array, IntArray, Number, as_number, zeros
from otspec.drafts import IID, Independent
from otspec.programs.formulation import (
    Formulation,
    Lines,
    Seen,
    Size,
    arrow,
    assemble,
    token_indices,
)
from otspec.programs.importance import accepted_weights
from otspec.solvers import LinearProgram, Sense, Solution


@dataclass(frozen=True, eq=False)
class TruncatedImportance(Formulation):
    """Optimise the selection only among the ``free`` most under-drafted tokens.

    Tokens are sorted by q − p₁p₂, descending; Ω₁ is the first ``free`` of them, Ω₂ the rest. A
    pair of drafts that meets Ω₂ selects the earlier of the two; a pair inside Ω₁ is optimised.
    So there are at most free²  variables instead of n². For identical drafts p₁ = p₂ = p.

    Law: the acceptance is at most :attr:`loss_bound` = Σ_{Ω₂} (q − p₁p₂)₊ below the optimum.
    Source: Canonical, alg. 1 with eqs. 12–14, and app. G for drafts from two distributions.

    Parameters
    ----------
    law : IID or Independent
        With two drafts.
    target : ndarray, shape (n,)
    free : int
        How many tokens Ω₁ has, from 0 to n (the papers' s).

    Raises
    ------
    ValueError
        Another law, another k, or ``free`` out of range.

    Notes
    -----
    Why the bound holds: b(y) ≥ p₁(y) p₂(y) for any selection. Take an optimal one and change it
    as prescribed. A token of Ω₂ then loses at most min(b, q) − p₁p₂ ≤ (q − p₁p₂)₊; a pair that
    meets both parts now selects its token of Ω₁, so that no token of Ω₁ loses.
    """

    title: ClassVar[str] = "truncated importance"
    source: ClassVar[str] = "Canonical, alg. 1 and app. G"
    smaller: ClassVar[str] = "fewer free tokens"

    free: int = 0

    def __post_init__(self) -> None:
        if not isinstance(self.law, (IID, Independent)) or self.law.k != 2:
            raise ValueError(
                f"law is {type(self.law).__name__} with k = {self.law.k}: the truncated program "
                "is for two independent drafts, IID or Independent"
            )
        if not self.sets:
            raise ValueError("sets must be True: the truncated program has one row per draft set")
        if not 0 <= self.free <= self.law.n:
            raise ValueError(f"free is {self.free}: it must be between 0 and {self.law.n}")

    @cached_property
    def excess(self) -> Array:
        """Q − p₁p₂, shape (n,): what a token needs beyond its certain selections."""
        excess: Array = self.target - self.law.marginal(0) * self.law.marginal(1)
        return excess

    @cached_property
    def order(self) -> IntArray:
        """The tokens by descending excess; ties by id."""
        return np.argsort(-self.excess, kind="stable").astype(np.intp)

    @property
    def loss_bound(self) -> Number:
        """Σ (q − p₁p₂)₊ over Ω₂, by how much the acceptance may be below the optimum."""
        rest = np.maximum(self.excess[self.order[self.free :]], 0)
        return as_number(rest.sum(), like=self.target)

    @cached_property
    def _free_pairs(self) -> tuple[Array, Array]:
        """Which pairs of the support are optimised, and which others are selected surely."""
        seen = self.support
        rank = np.empty(len(self.target), dtype=np.intp)
        rank[self.order] = np.arange(len(rank))
        ranks = rank[seen.keys]
        inside: Array = np.all(ranks < self.free, axis=1).repeat(np.bincount(seen.rows))
        preferred = seen.keys[np.arange(len(ranks)), ranks.argmin(axis=1)]
        sure: Array = ~inside & (seen.tokens == preferred[seen.rows])
        return inside, sure

    def _size(self, _seen: Seen) -> Size:
        n, chosen = len(self.target), self.free * (self.free + 1) // 2
        return Size(chosen + n, 2 * chosen + n, 4 * chosen + n)

    def _build(self) -> LinearProgram:
        seen, n = self.support, len(self.target)
        inside, sure = self._free_pairs
        certain = zeros(n, like=self.target)
        np.add.at(certain, seen.tokens[sure], seen.masses[seen.rows[sure]])
        chosen, row_of_pair = np.unique(seen.rows[inside], return_inverse=True)
        tokens = seen.tokens[inside]
        rows, columns = Lines(self.target), Lines(self.target)
        drafts = rows.add("drafts", seen.keys[chosen], seen.masses[chosen], seen.masses[chosen])
        below = rows.add("selected", token_indices(n), -np.inf, certain)
        weight = columns.add("w", arrow(seen.keys[seen.rows[inside]], tokens), 0, np.inf)
        kept = columns.add("t", token_indices(n), 0, self.target)
        return assemble(
            f"{self.title} ({self.source})",
            Sense.MAXIMISE,
            rows,
            columns,
            kept,
            [(drafts[row_of_pair], weight, 1), (below, kept, 1), (below[tokens], weight, -1)],
        )

    def accepted(self, solution: Solution) -> Array:
        """Return what is left of free and sure selections after accepting the selected draft."""
        seen = self.support
        inside, sure = self._free_pairs
        like = solution.primal
        weights = zeros(len(seen.rows), like=like)
        weights[inside] = like[: int(inside.sum())]
        weights[sure] = seen.masses[seen.rows[sure]].astype(like.dtype)
        return accepted_weights(weights, seen.tokens, self.target.astype(like.dtype))
