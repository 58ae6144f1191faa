"""The fewest pools with an optimal law (Pooled, prop. 6).

An optimal law is tight at the cut s. Below s its slope in a pool is at least the highest ratio of
the pool, so that going down from B = G at s, a step over a pool loses at least that ratio times
the draft mass; B must stay at least G, and be at least 0 at the bottom. The best that can be
reached at each knot with t pools follows from that with t − 1. Above s it is the same, mirrored.
"""

from __future__ import annotations

import math

import numpy as np

from otspec.arithmetic import Array, is_exact, prefix_sums
from otspec.distributions import Distribution
from otspec.drafts.single import ByRatio
from otspec.ratios import target_to_draft
from otspec.selection.heights import heights_of
from otspec.selection.pools import Pools, by_thresholds, by_token, merged

MOST_STEPS = 512
"""Where more pools than this are needed on one side of the cut, floats stop looking."""


def fewest_pools(law: ByRatio, target: Distribution) -> Pools:
    """Return the fewest pools with an optimal law.

    Parameters
    ----------
    law : ByRatio
        Of the drafts, i.i.d. or distinct.
    target : ndarray, shape (n,)

    Returns
    -------
    Pools
        In floats one for every ratio if more than :data:`MOST_STEPS` pools are needed on one side
        of the cut, which happens where the optimum is 1 or nearly so.

    Notes
    -----
    One sort, and O(n) for every pool that is needed. In floats B may fall below G by what
    rounding may leave uncertain of G, k √m ε, so that no pools are spent on rounding errors; the
    loss is of that order.
    """
    draft = law.draft
    if law.k == 1:  # always the draft itself
        return by_thresholds(draft, target, draft[:0])
    pools = by_token(draft, target)
    m = len(pools.draft)
    keys = target_to_draft(draft, target)
    ratios = np.empty(m, dtype=draft.dtype)
    ratios[pools.index] = keys
    ratios[0] = keys.min()  # tokens that are never drafted, of infinite ratio, are there, too
    knots = pools.knots
    heights = heights_of(law, pools).values
    s = int(np.argmax(heights - prefix_sums(pools.target)))
    slack = 0 if is_exact(draft) else law.k * math.sqrt(m) * np.finfo(float).eps
    below = _fewest_steps(knots[: s + 1].copy(), heights[: s + 1].copy(), ratios[:s], slack)
    lows, falls = -knots[s:][::-1].copy(), -ratios[s:][::-1].copy()
    above = _fewest_steps(lows, heights[s:][::-1].copy(), falls, slack)
    if below is None or above is None:
        return pools
    inner = sorted({s, *below, *(m - j for j in above)} - {0, m})
    return merged(pools, ratios, inner)


def _fewest_steps(knots: Array, heights: Array, slopes: Array, slack: float) -> list[int] | None:
    """Return the knots on the way with fewest steps from the last knot down to the first."""
    from otspec import compiling
    from otspec.selection import lowest_steps  # imports Numba, if it is there

    m = len(slopes)
    if m == 0:
        return []
    plain = is_exact(knots) or not compiling.HAS_NUMBA
    step = lowest_steps.best_steps if plain else lowest_steps.fast_best_steps
    sources = np.full(m + 1, m, dtype=object if plain else np.intp)
    least, best = heights - slack, np.full(m + 1, -1, dtype=heights.dtype)
    best[m] = heights[m]
    taken: list[Array] = []
    while best[0] < least[0]:
        if len(taken) == (m if is_exact(knots) else MOST_STEPS):
            return None
        with np.errstate(over="ignore", invalid="ignore"):  # slopes of hardly drafted tokens
            best, source = step(knots, least, slopes, best, sources)
        taken.append(source)
    way, knot = [], 0
    for source in reversed(taken):
        knot = int(source[knot])
        way.append(knot)
    return way
