"""The law of clipped slopes in one loop, for Numba if it is there (Pooled, prop. 3 and 5)."""

import numpy as np

from otspec._base import Array, Number
from otspec._base.compiling import compiled, jitable


def clip(
    draft: Array,
    target: Array,
    floor: Array,
    ceiling: Array,
    heights: Array,
    one: Number,
    rounding: Number,
) -> tuple[Array, Array, int]:
    """Return ``masses``, ``tight`` and ``cut`` of :class:`otspec.optimum.pools.pools.SelectionLaw`.

    The first four, (m,), are those of ``Pools``; ``heights``, (m + 1,), are G. ``one``: 1 in this
    arithmetic; ``rounding``: the error of a sum for each of its terms.
    """
    m, zero = len(draft), one - one
    excess, below, s = heights.copy(), zero, 0  # G − Q, and the knot of its maximum
    for j in range(1, m + 1):
        below += target[j - 1]
        excess[j] -= below
        if excess[j] > excess[s]:
            s = j
    # Q + level is the least law that is at least the target below s and at most above, pool by
    # pool: running maxima of G − Q towards its maximum.
    level = excess.copy()
    for j in range(1, s + 1):
        level[j] = max(level[j], level[j - 1])
    for j in range(m - 1, s - 1, -1):
        level[j] = max(level[j], level[j + 1])
    masses, tight = np.full(m, zero, heights.dtype), np.full(m + 1, True)
    # Below s: B_{j−1} = max(Q + level at j − 1, B_j − ceiling_j), going down from s. B = G where it
    # is Q + level and that is G.
    surplus, lifted = zero, level[s]
    for j in range(s - 1, -1, -1):
        surplus += ceiling[j] - target[j]
        own, before = level[j] + surplus, lifted
        lifted = max(lifted, own)
        masses[j] = max(ceiling[j] + (before - lifted), zero)
        tight[j] = j == 0 or (lifted == own and level[j] == excess[j])
    # Above s: B_j = max(Q + level at j, B_{j−1} + floor_j), going up.
    deficit, raised = zero, level[s]
    for j in range(s, m):
        deficit += target[j] - floor[j]
        own, before = level[j + 1] + deficit, raised
        raised = max(raised, own)
        masses[j] = max(floor[j] + (raised - before), zero)
        tight[j + 1] = j + 1 == m or (raised == own and level[j + 1] == excess[j + 1])
    flatten_bottom(draft, masses, tight, s, lifted - surplus)
    flatten_top(draft, masses, tight, s, raised - deficit - level[m], rounding)
    return masses, tight, s


@jitable
def flatten_bottom(draft: Array, masses: Array, tight: Array, s: int, left: Number) -> None:
    """Give the lowest pools one slope, so that what is left at the bottom is used up there."""
    # B starts at `left` instead of 0; the tangent from 0 keeps it convex.
    zero = left - left
    if s == 0 or left <= zero:
        return
    mass, width, lowest, last = masses[0], draft[0], (left + masses[0]) / draft[0], 0
    for j in range(1, s):
        mass += masses[j]
        width += draft[j]
        slope = (left + mass) / width
        if slope < lowest:
            lowest, last = slope, j
    # Above the tangent point slopes are higher; by rounding those of light pools may not be.
    for j in range(s):
        straight = lowest * draft[j]
        masses[j] = straight if j <= last else max(masses[j], straight)
        tight[j] = tight[j] and (j == 0 or j > last)


@jitable
def flatten_top(
    draft: Array, masses: Array, tight: Array, s: int, excess: Number, rounding: Number
) -> None:
    """Give the highest pools one slope, so that the law's mass ends at 1 without ``excess``."""
    m, zero = len(masses), excess - excess
    if s == m or excess <= zero:
        return
    mass, width, highest, first = zero, zero, zero, s
    for j in range(m - 1, s - 1, -1):
        mass += masses[j]
        width += draft[j]
        # What is only rounding must not be divided by the mass of a token that is hardly drafted.
        rest = mass - excess
        slope = zero if rest <= rounding * (m - j) else max(rest, zero) / width
        # Of equal slopes the one from furthest down: nothing but zeros means all the pools above s.
        if slope >= highest:
            highest, first = slope, j
    for j in range(s, m):
        straight = highest * draft[j]
        masses[j] = straight if j >= first else min(masses[j], straight)
        tight[j] = tight[j] and j <= first


fast_clip = compiled(clip)
