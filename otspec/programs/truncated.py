"""Two drafts: most selections fixed in advance (Canonical, alg. 1, app. G; Programs, 5)."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from otspec._base import arithmetic, as_integer, cached_property
from otspec.coupling import accepted_weights
from otspec.drafts.independent import Product
from otspec.programs.formulation import Formulation, ProgramBuilder, Size, arrow
from otspec.solvers import Solution


@dataclass(frozen=True, eq=False)
class TruncatedImportance(Formulation):
    """Optimize the selection only among the ``free`` most under-drafted tokens.

    Tokens are sorted by q − p₁p₂, descending; Ω₁ is the first ``free`` of them, Ω₂ the rest. A
    pair of drafts that meets Ω₂ selects the earlier of the two; a pair inside Ω₁ is optimized.
    So there are free² variables at most instead of n², at any n.

    Law: the acceptance is at most :attr:`loss_bound` = Σ_{Ω₂} (q − p₁p₂)₊ below the optimum.
    Proof: b(y) ≥ p₁(y) p₂(y) for any selection. Change an optimal one as prescribed. A token of Ω₂
    then loses at most min(b, q) − p₁p₂ ≤ (q − p₁p₂)₊; a pair that meets both parts now selects its
    token of Ω₁, so that no token of Ω₁ loses. Source: Canonical, alg. 1 with eqs. 12–14, and app. G
    for drafts from two distributions.

    Parameters
    ----------
    law : IID or Independent
        With two drafts; any other is a ValueError.
    target : ndarray, shape (n,)
    free : int
        How many tokens Ω₁ has, from 0 to n (the papers' s).
    """

    name: ClassVar[str] = "truncated importance"
    source: ClassVar[str] = "Canonical, alg. 1 and app. G"
    smaller: ClassVar[str] = "fewer free tokens"

    free: int = 0

    def __post_init__(self) -> None:
        super().__post_init__()
        if not isinstance(self.law, Product) or self.law.k != 2:
            raise ValueError(
                f"law is {type(self.law).__name__} with k = {self.law.k}: the truncated program "
                "is for two independent drafts, IID or Independent"
            )
        if not self.sets:
            raise ValueError("sets must be True: the truncated program has one row per draft set")
        otherwise = "there are no more tokens"
        self._hold(free=as_integer(self.free, "free", 0, self.law.n, otherwise=otherwise))

    @cached_property
    def excess(self) -> arithmetic.Array:
        """Q − p₁p₂, shape (n,): what a token needs beyond its certain selections."""
        return self.target - self.law.marginal(0) * self.law.marginal(1)

    @cached_property
    def order(self) -> arithmetic.IntArray:
        """The tokens by descending excess; ties by id."""
        return descending(self.excess)

    @property
    def loss_bound(self) -> arithmetic.Number:
        """Σ (q − p₁p₂)₊ over Ω₂, by how much the acceptance may be below the optimum."""
        rest = arithmetic.positive_part(self.excess[self.order[self.free :]])
        return arithmetic.as_number(rest.sum(), like=self.target)

    @cached_property
    def rank(self) -> arithmetic.IntArray:
        """The place of each token in the order, shape (n,)."""
        return places_in(self.order)

    @cached_property
    def free_pairs(self) -> tuple[arithmetic.IntArray, arithmetic.Array]:
        """The f pairs of tokens of Ω₁ that may be drafted, earlier first, and their masses."""
        earlier, later = np.triu_indices(self.free, 1)
        pairs = self.order[np.column_stack([earlier, later])]
        first, second = self.law.marginal(0)[pairs], self.law.marginal(1)[pairs]
        masses = first[:, 0] * second[:, 1] + first[:, 1] * second[:, 0]
        return pairs[masses > 0], masses[masses > 0]

    @cached_property
    def certain(self) -> arithmetic.Array:
        """The law of the selections that are not optimized, shape (n,): one cumulative sum.

        A token is selected from a pair with itself, and with any later token outside Ω₁ × Ω₁.
        """
        first, second = (self.law.marginal(i)[self.order] for i in range(2))
        certain = arithmetic.zeros(self.law.n, like=self.target)
        certain[self.order] = surely_selected(first, second, self.free)
        return certain

    def shares(self, solution: Solution) -> arithmetic.Array:
        """Return how often the earlier token of each free pair is selected, shape (f,)."""
        masses = self.free_pairs[1].astype(solution.primal.dtype)
        earlier = solution.primal[: len(masses)]
        return np.minimum(arithmetic.positive_part(earlier / masses), 1)

    def _size(self, rows: int, pairs: int) -> Size:  # noqa: ARG002 -- the free pairs count
        n, free = self.law.n, self.free * (self.free - 1) // 2
        return Size(free + n, 2 * free + n, 4 * free + n)

    def _state(self, model: ProgramBuilder) -> arithmetic.IntArray:
        pairs, masses = self.free_pairs
        drafts = model.rows("drafts", pairs, masses, masses)
        below = model.rows("selected", self._token_names, -np.inf, self.certain)
        earlier = model.columns("w", arrow(pairs, pairs[:, 0]), 0, np.inf)
        later = model.columns("w", arrow(pairs, pairs[:, 1]), 0, np.inf)
        kept = model.columns("t", self._token_names, 0, self.target)
        model.put(drafts, earlier)
        model.put(drafts, later)
        model.put(below, kept)
        model.put(below[pairs[:, 0]], earlier, -1)
        model.put(below[pairs[:, 1]], later, -1)
        return kept

    def accepted(self, solution: Solution) -> arithmetic.Array:
        """Return what is left of free and sure selections after accepting the selected draft."""
        seen, (pairs, _) = self.support, self.free_pairs
        share = arithmetic.zeros((self.free, self.free), like=solution.primal) + 1
        share[self.rank[pairs[:, 0]], self.rank[pairs[:, 1]]] = self.shares(solution)
        ranks = np.sort(self.rank[seen.keys], axis=1)
        inside = (ranks[:, 1] < self.free) & (ranks[:, 0] < ranks[:, 1])
        earlier = arithmetic.zeros(len(ranks), like=solution.primal) + 1
        earlier[inside] = share[ranks[inside, 0], ranks[inside, 1]]
        is_earlier = self.rank[seen.tokens] == ranks[seen.rows, 0]
        chosen = np.where(is_earlier, earlier[seen.rows], 1 - earlier[seen.rows])
        weights = seen.masses[seen.rows].astype(solution.primal.dtype) * chosen
        return accepted_weights(weights, seen.tokens, self.target.astype(solution.primal.dtype))


def places_in(order: arithmetic.IntArray) -> arithmetic.IntArray:
    """Return where each token is in an order of all: the inverse permutation."""
    places = np.empty(len(order), dtype=np.intp)
    places[order] = np.arange(len(order))
    return places


def surely_selected(
    first: arithmetic.Array, second: arithmetic.Array, free: int
) -> arithmetic.Array:
    """Return how likely each token is selected for sure, given the laws of two drafts in order.

    Shapes: ``first`` and ``second`` (n,). ``free``: how many of the first tokens are free. Result:
    shape (n,).
    """
    # A token is selected from a pair with itself, and with any later one unless both are free.
    later, other = _sums_after(first, free), _sums_after(second, free)
    other *= first
    later *= second
    selected: arithmetic.Array = first * second
    selected += other
    selected += later
    return selected


def _sums_after(values: arithmetic.Array, free: int) -> arithmetic.Array:
    """Return the sum after each value, for the first ``free`` after all of these: (n,)."""
    sums = arithmetic.zeros(len(values), like=values)
    np.cumsum(values[:0:-1], out=sums[-2::-1])
    sums[:free] = sums[max(free - 1, 0)]
    return sums


def descending_again(values: arithmetic.Array, tokens: arithmetic.IntArray) -> arithmetic.IntArray:
    """Return the places of values by descending value, ties by token, where few are out of order.

    Shapes: ``values`` (n,). ``tokens``, shape (n,): whose values they are. Returns shape (n,).
    """
    places = np.argsort(-values, kind="stable")  # merges what is in order
    ordered, ids = values[places], tokens[places]
    tied = ordered[1:] == ordered[:-1]
    wrong = np.flatnonzero(tied & (ids[1:] < ids[:-1]))
    if len(wrong):
        starts = np.append(0, np.flatnonzero(~tied) + 1)
        runs = np.unique(np.searchsorted(starts, wrong, side="right") - 1)
        lengths = np.diff(starts, append=len(values))[runs]
        group = np.repeat(np.arange(len(runs)), lengths)
        among = np.arange(len(group)) + (starts[runs] - np.cumsum(lengths) + lengths)[group]
        again = np.argsort(group * len(values) + ids[among], kind="stable")
        places[among] = places[among][again]
    return places.astype(np.intp, copy=False)


def descending(values: arithmetic.Array) -> arithmetic.IntArray:
    """Return the indices by descending value, ties by index."""
    if arithmetic.is_exact(values):
        return np.argsort(-values, kind="stable").astype(np.intp)
    order = np.argsort(-values)  # several times as fast as a stable sort
    ordered = values[order]
    tied = np.zeros(len(values) + 1, dtype=bool)
    np.equal(ordered[1:], ordered[:-1], out=tied[1:-1])
    among = np.flatnonzero(tied[1:] | tied[:-1])
    if among.size:
        group = np.cumsum(~tied[among]) * len(values)
        order[among] = np.sort(group + order[among]) - group
    return order
