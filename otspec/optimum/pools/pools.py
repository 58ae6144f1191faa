"""Pools: drafted tokens in stretches of ascending target/draft, and laws (Pooled, prop. 2, 3, 5).

Over the knots the cumulative law B is at least G, the chance that all drafts are below. The
minimum cut is at the knot s that maximizes G − Q, with Q of the target: a law is optimal if it is
at least q below s and at most q above it, token by token.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import ClassVar

import numpy as np

from otspec import ratios
from otspec._base import Array, Frozen, IntArray, Number, arithmetic, cached_property, read_only
from otspec.chance import Chance
from otspec.distributions import Distribution
from otspec.drafts.race.increments import inside_rises
from otspec.drafts.single import ByRatio
from otspec.optimum.pools.knots import Histogram, Knots, among_filled, equal_bins

UNITS = 512  # small units of mass are 2^−512


@dataclass(frozen=True, eq=False)
class Pools(Frozen):
    """A partition of the drafted tokens into m stretches of ascending target/draft."""

    split: ClassVar[bool] = False  # whether a token may be in two pools

    draft: Array  # (m,): the draft's mass of each pool, positive
    target: Array  # (m,): the target's
    floor: Array  # (m,): the draft's times a ratio that none of its tokens is below
    ceiling: Array  # (m,): or above, at most 1
    index: IntArray  # (n,): each token's pool; some pool for tokens that are never drafted
    tokens: Distribution  # (n,): the draft

    @property
    def knots(self) -> Array:
        """Draft mass below each boundary of pools, shape (m + 1,): from 0 to 1."""
        return self.by_pool.values

    @cached_property
    def by_pool(self) -> Knots:
        """The knots as sums of the pools' masses, each of which may be rounded."""
        return Knots.of(self.draft)

    @cached_property
    def by_token(self) -> Knots:
        """The knots as sums of tokens' masses: what drafts are drawn with."""
        if arithmetic.is_exact(self.tokens) or len(self.draft) == np.count_nonzero(self.tokens):
            return self.by_pool
        return Knots.of_tokens(self.tokens, self.index, len(self.draft))

    def in_small_units(self) -> "Pools":
        """Return the same pools with draft masses in units of 2^−512; exact ones as they are."""
        # Then selection over draft mass is a float for subnormal masses too: what is selected of
        # such a pool may be all that one heavy token leaves over.
        if arithmetic.is_exact(self.draft):
            return self
        draft, tokens = np.ldexp(self.draft, UNITS), np.ldexp(self.tokens, UNITS)
        return replace(self, draft=draft, tokens=tokens)

    def spread(self, values: Array) -> Array:
        """Return for each token what its pool has: (m,) -> (n,)."""
        return values[self.index]

    def law(self, slopes: Array) -> Distribution:
        """Return the law of a token that is selected with these slopes: (m,) -> (n,)."""
        law: Distribution = self.spread(slopes)
        law *= self.tokens
        return law

    def gathered(self, values: Array) -> Array:
        """Return for each pool the sum of what its drafted tokens have: (n,) -> (m,)."""
        drafted = self.tokens > 0
        return arithmetic.sums_by(self.index[drafted], values[drafted], len(self.draft))

    def rises_without_replacement(self, draft: Distribution, k: int) -> Array:
        """Return by how much P(all k distinct drafts are below) rises over each pool: (m,)."""
        drafted = self.in_order[: np.count_nonzero(self.tokens)]
        rises = inside_rises(draft[drafted], k)
        return arithmetic.sums_by(self.index[drafted], rises, len(self.draft))

    @property
    def in_order(self) -> IntArray:
        """The tokens by ascending pool, those never drafted last, shape (n,)."""
        # One sort of whole numbers: of one pool the lowest id comes first.
        n = len(self.tokens)
        keys = np.where(self.tokens > 0, self.index, len(self.draft)) * n + np.arange(n)
        return np.sort(keys) % n

    def below(self, tokens: IntArray, knots: IntArray) -> Array:
        """Return whether each token is below each knot: (t,), (c,) -> (t, c)."""
        return self.index[tokens][:, None] < knots

    def between(self, tokens: IntArray, start: int, end: int) -> Array:
        """Return how likely each token is put in the pools start to end − 1: (t,) -> (t,)."""
        pool = self.index[tokens]
        return (start <= pool) & (pool < end)

    def counted_once(self, tokens: IntArray) -> Array:
        """Return whether only the first arrival of each token counts: (t,) -> (t,)."""
        return np.ones(len(tokens), dtype=bool)

    def beyond_cut(self, slopes: Array, cut: int, law: ByRatio) -> Number:  # noqa: ARG002
        """Return b(A) − f(A) for the tokens A below a tight knot: 0, since none straddles it."""
        # f(A) is the probability that all drafts are in A.
        return arithmetic.as_number(0, like=self.draft)

    def placements(self, tokens: Sequence[int]) -> Iterator[tuple[tuple[int, ...], Number]]:
        """Yield the pools of drafts, and with what probability they are in those: 1."""
        yield tuple(self.index[list(tokens)].tolist()), arithmetic.as_number(1, like=self.draft)

    def placed(self, tokens: Sequence[int], chance: Chance) -> list[int]:  # noqa: ARG002
        """Return the pools of drafts; nothing is drawn for that."""
        return self.index[list(tokens)].tolist()


def by_token(draft: Distribution, target: Distribution) -> Pools:
    """Return a pool for every ratio that occurs: one per token, unless ratios tie."""
    return by_ratio(draft, target)[0]


def by_ratio(draft: Distribution, target: Distribution) -> tuple[Pools, Array]:
    """Return a pool for every ratio that occurs, and these ratios, shape (m,)."""
    drafted_tokens = int(np.count_nonzero(draft))
    order, keys, starts = (part[:drafted_tokens] for part in ratios.ranked(draft, target))
    drafted, wanted, index = draft[order], target[order], np.zeros(len(draft), dtype=np.intp)
    if starts.all():
        index[order] = np.arange(len(order))
    else:
        index[order] = np.cumsum(starts) - 1
        first = np.flatnonzero(starts)
        drafted, wanted = np.add.reduceat(drafted, first), np.add.reduceat(wanted, first)
        keys = keys[first]
    wanted = read_only(wanted)  # once, for all three
    return Pools(drafted, wanted, wanted, wanted, index, draft), keys


def by_bins(draft: Distribution, target: Distribution, count: int) -> Pools:
    """Return bins of equal width in log₂(target/draft) between −8 and 8, in one pass."""
    # The first and the last reach to 0 and to infinity. Bins without draft mass are left out.
    bins = equal_bins(count)
    if arithmetic.is_exact(draft):
        bins = Histogram(in_arithmetic_of(draft, bins.thresholds))
    return _filled(bins.binned(draft, target), *bins.edges, draft)


def by_thresholds(draft: Distribution, target: Distribution, thresholds: Array) -> Pools:
    """Return the pools between thresholds: pool j has thresholds[j−1] ≤ target/draft < [j]."""
    # Those without draft mass are left out.
    bins = Histogram(thresholds)
    keys = ratios.target_to_draft(draft, target)
    index = bins.place(keys)
    keys, occupied = keys[draft > 0], index[draft > 0]
    low, high = np.full((2, len(thresholds) + 1), keys[0], dtype=keys.dtype)
    low[occupied] = high[occupied] = keys
    np.minimum.at(low, occupied, keys)
    np.maximum.at(high, occupied, keys)
    masses = bins.masses_at(index, draft, target)
    return _filled(among_filled(index, *masses), low, high, draft)


def merged(pools: Pools, ratios: Array, inner: Sequence[int]) -> Pools:
    """Return fewer pools of a pool for every ratio, (m,): one between any two inner knots."""
    first, ends = np.array([0, *inner]), np.array([*inner, len(ratios)])
    drafted, wanted = (np.add.reduceat(each, first) for each in (pools.draft, pools.target))
    index = np.repeat(np.arange(len(first)), ends - first)[pools.index]
    found = among_filled(index, drafted, wanted)
    return _filled(found, ratios[first], ratios[ends - 1], pools.tokens)


def _filled(
    found: tuple[IntArray, IntArray, Array, Array], low: Array, high: Array, tokens: Distribution
) -> Pools:
    """Return the bins that hold draft mass, given bounds on the ratios of all bins."""
    index, filled, drafted, wanted = found
    low, high = low[filled], high[filled]
    with np.errstate(over="ignore"):
        floor, ceiling = low * drafted, np.minimum(high * drafted, 1 + 0 * drafted[0])
    # Rounding must not put a pool's own mass outside.
    floor, ceiling = np.minimum(floor, wanted), np.maximum(ceiling, wanted)
    return Pools(drafted, wanted, floor, ceiling, index, tokens)


def in_arithmetic_of(like: Distribution, values: Array) -> Array:
    """Return numbers in the arithmetic of ``like``; what is too large for a float is infinite."""
    if arithmetic.is_exact(like) == arithmetic.is_exact(values):
        return values
    if arithmetic.is_exact(like):
        exact = np.empty(len(values), dtype=object)
        exact[:] = [Fraction(value) if np.isfinite(value) else value for value in values.tolist()]
        return exact
    floats = np.full(len(values), np.inf)
    for j, value in enumerate(values.tolist()):
        if abs(value) <= np.finfo(float).max:
            floats[j] = value
    return floats


@dataclass(frozen=True, eq=False)
class SelectionLaw(Frozen):
    """A feasible law of the selected draft, proportional to the draft inside each pool."""

    pools: Pools
    masses: Array  # (m,): the probability that a token of the pool is selected
    tight: Array  # (m + 1,): the knots where B = G. Between them the slopes are non-decreasing.
    cut: int  # the knot s of the minimum cut among the knots

    @cached_property
    def slopes(self) -> Array:
        """Selection over draft mass, pool by pool, shape (m,)."""
        return self.masses / self.pools.draft


def clipped_law(pools: Pools, heights: Array) -> SelectionLaw:
    """Return the law of slopes clip(target/draft, low, high), which is tight at the cut only."""
    # `heights` are G, convex over the knots. In pools of many ratios the slope is at least the
    # highest of them below the cut and at most the lowest above, as far as the law stays feasible.
    from otspec._base.compiling import looped
    from otspec.optimum.pools import clipping  # imports Numba, if it is there

    one = arithmetic.as_number(1, like=heights)
    rounding = 0 * one if arithmetic.is_exact(heights) else float(np.finfo(float).eps)
    parts = pools.draft, pools.target, pools.floor, pools.ceiling, heights
    masses, tight, cut = looped(clipping.clip, clipping.fast_clip, parts, one, rounding)
    return SelectionLaw(pools, masses.astype(heights.dtype, copy=False), tight, cut)
