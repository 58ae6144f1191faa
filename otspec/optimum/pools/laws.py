"""Laws of the selected draft, for any pools (Pooled, prop. 3 and 5).

Over the knots the cumulative law B is at least G, the chance that all drafts are below, and Q is
the target's. The minimum cut is at the knot s that maximizes G − Q: a law is optimal if it is at
least q below s and at most q above it, token by token.
"""

from dataclasses import dataclass

import numpy as np

from otspec._base.arithmetic import Array, Number, is_exact, positive_part, prefix_sums, suffix_sums
from otspec._base.frozen import Frozen, cached_property
from otspec.optimum.pools.pools import Pools


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
    surplus = suffix_sums(pools.ceiling[:s] - pools.target[:s])
    below = level[: s + 1] + surplus
    lifted = np.maximum.accumulate(below[::-1])[::-1]
    # Above s: B_j = max(Q + level at j, B_{j−1} + floor_j), going up.
    deficit = prefix_sums(pools.target[s:] - pools.floor[s:])
    above = level[s:] + deficit
    raised = np.maximum.accumulate(above)
    masses = positive_part(
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
    excess = heights - prefix_sums(pools.target)
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
    if not is_exact(rest):
        # What is only rounding must not be divided by the mass of a token that is hardly drafted.
        rest[rest <= np.finfo(float).eps * np.arange(1, len(rest) + 1)] = 0
    slopes = positive_part(rest) / np.cumsum(pools.draft[s:][::-1])
    # Of equal slopes the one from furthest down: nothing but zeros means all the pools above s.
    pools_above = len(slopes) - int(np.argmax(slopes[::-1]))
    slope, first = slopes[pools_above - 1], len(masses) - pools_above
    with np.errstate(over="ignore"):  # the lower one is wanted
        masses[s:first] = np.minimum(masses[s:first], slope * pools.draft[s:first])
    masses[first:] = slope * pools.draft[first:]
    tight[first + 1 : -1] = False
