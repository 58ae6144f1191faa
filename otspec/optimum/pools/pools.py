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
from otspec.optimum.pools.knots import Histogram, Knots, equal_bins

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
    index, drafted, wanted = bins.binned(draft, target)
    return _filled(drafted, wanted, *bins.edges, index, draft)


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
    return _filled(*masses, low, high, index, draft)


def merged(pools: Pools, ratios: Array, inner: Sequence[int]) -> Pools:
    """Return fewer pools of a pool for every ratio, (m,): one between any two inner knots."""
    first, ends = np.array([0, *inner]), np.array([*inner, len(ratios)])
    drafted, wanted = (np.add.reduceat(each, first) for each in (pools.draft, pools.target))
    index = np.repeat(np.arange(len(first)), ends - first)[pools.index]
    return _filled(drafted, wanted, ratios[first], ratios[ends - 1], index, pools.tokens)


def _filled(
    drafted: Array, wanted: Array, low: Array, high: Array, index: IntArray, tokens: Distribution
) -> Pools:
    """Return the bins that hold draft mass, given bounds on their ratios."""
    filled = drafted > 0
    if not filled.all():
        # Only tokens that are never drafted can be in an empty bin.
        drafted, wanted, low, high = (part[filled] for part in (drafted, wanted, low, high))
        index = np.maximum(np.cumsum(filled) - 1, 0)[index]
    with np.errstate(over="ignore"):
        floor, ceiling = (
            low * drafted,
            np.minimum(high * drafted, arithmetic.zeros(1, like=drafted) + 1),
        )
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
    level, excess, s = _levels(pools, heights)
    # Below s: B_{j−1} = max(Q + level at j − 1, B_j − ceiling_j), going down from s.
    surplus = arithmetic.suffix_sums(pools.ceiling[:s] - pools.target[:s])
    below = level[: s + 1] + surplus
    lifted = np.maximum.accumulate(below[::-1])[::-1]
    # Above s: B_j = max(Q + level at j, B_{j−1} + floor_j), going up.
    deficit = arithmetic.prefix_sums(pools.target[s:] - pools.floor[s:])
    above = level[s:] + deficit
    raised = np.maximum.accumulate(above)
    masses = arithmetic.positive_part(
        np.concatenate([pools.ceiling[:s] + np.diff(lifted), pools.floor[s:] + np.diff(raised)])
    )
    # B = G where it is Q + level and that is G.
    own = np.concatenate([lifted == below, (raised == above)[1:]])
    tight = own & (level == excess)
    tight[[0, -1]] = True
    _flatten_bottom(pools, masses, tight, s, lifted[0] - surplus[0])
    _flatten_top(pools, masses, tight, s, raised[-1] - deficit[-1] - level[-1])
    return SelectionLaw(pools, masses, tight, s)


def _levels(pools: Pools, heights: Array) -> tuple[Array, Array, int]:
    """Return the running maxima of G − Q towards its maximum, G − Q, and the knot s of that."""
    # Q + level is the least law that is at least the target below s and at most above, pool by
    # pool.
    excess = heights - arithmetic.prefix_sums(pools.target)
    s = int(np.argmax(excess))
    below = np.maximum.accumulate(excess[: s + 1])
    above = np.maximum.accumulate(excess[s:][::-1])[::-1]
    return np.concatenate([below, above[1:]]), excess, s


def _flatten_bottom(pools: Pools, masses: Array, tight: Array, s: int, left: Number) -> None:
    """Give the lowest pools one slope, so that what is left at the bottom is used up there."""
    # B starts at `left` instead of 0; the tangent from 0 keeps it convex.
    if s == 0 or left <= 0:
        return
    with np.errstate(over="ignore"):  # the lowest slope is wanted
        slopes = (left + np.cumsum(masses[:s])) / np.cumsum(pools.draft[:s])
    last = int(np.argmin(slopes))
    # Above the tangent point slopes are higher; by rounding those of light pools may not be.
    slope, end = slopes[last], last + 1
    masses[:end] = slope * pools.draft[:end]
    masses[end:s] = np.maximum(masses[end:s], slope * pools.draft[end:s])
    tight[1 : last + 1] = False


def _flatten_top(pools: Pools, masses: Array, tight: Array, s: int, excess: Number) -> None:
    """Give the highest pools one slope, so that the law's mass ends at 1 without ``excess``."""
    if s == len(masses) or excess <= 0:
        return
    rest = np.cumsum(masses[s:][::-1]) - excess
    if not arithmetic.is_exact(rest):
        # What is only rounding must not be divided by the mass of a token that is hardly drafted.
        rest[rest <= np.finfo(float).eps * np.arange(1, len(rest) + 1)] = 0
    slopes = arithmetic.positive_part(rest) / np.cumsum(pools.draft[s:][::-1])
    # Of equal slopes the one from furthest down: nothing but zeros means all the pools above s.
    pools_above = len(slopes) - int(np.argmax(slopes[::-1]))
    slope, first = slopes[pools_above - 1], len(masses) - pools_above
    with np.errstate(over="ignore"):  # the lower one is wanted
        masses[s:first] = np.minimum(masses[s:first], slope * pools.draft[s:first])
    masses[first:] = slope * pools.draft[first:]
    tight[first + 1 : -1] = False
