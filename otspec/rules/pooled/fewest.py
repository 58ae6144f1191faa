"""The fewest pools with an optimal law (Pooled, prop. 6).

An optimal law is tight at the cut s. Below s its slope in a pool is at least the highest ratio of
the pool, so that going down from B = G at s, a step over a pool loses at least that ratio times
the draft mass; B must stay at least G, and be at least 0 at the bottom. The best that can be
reached at each knot with t pools follows from that with t − 1. Above s it is the same, mirrored.
"""

import math
from typing import Any

import numpy as np

from otspec._base.arithmetic import Array, Number, is_exact, prefix_sums
from otspec.distributions import Distribution
from otspec.drafts.single import ByRatio
from otspec.optimum.pools.pools import Pools, by_ratio, by_thresholds, merged
from otspec.rules.pooled.inside_masses import inside_masses_of

MOST_STEPS = 512
"""Where more pools than this are needed on one side of the cut, floats stop looking."""


def fewest_pools(law: ByRatio, target: Distribution) -> Pools:
    """Return the fewest pools with an optimal law: one sort, and O(n) for every pool.

    In floats it is a pool for every ratio if one side of the cut takes more than
    :data:`MOST_STEPS`, as where the optimum is nearly 1. There B may fall below G by what rounding
    leaves uncertain of G, k √m ε, so that no pools are spent on roundings; so much is lost.
    """
    draft = law.draft
    if law.k == 1:  # always the draft itself
        return by_thresholds(draft, target, draft[:0])
    pools, ratios = by_ratio(draft, target)
    m = len(ratios)
    knots = pools.knots
    heights = inside_masses_of(law, pools).values
    s = int(np.argmax(heights - prefix_sums(pools.target)))
    slack = 0 if is_exact(draft) else law.k * math.sqrt(m) * np.finfo(float).eps
    least = heights - slack
    below = _fewest_steps(knots[: s + 1], least[: s + 1], heights[s], ratios[:s])
    lows, falls = (np.negative(part[s:][::-1], order="C") for part in (knots, ratios))
    above = _fewest_steps(lows, least[s:][::-1].copy(), heights[s], falls)
    if below is None or above is None:
        return pools
    inner = sorted({s, *below, *(m - j for j in above)} - {0, m})
    return merged(pools, ratios, inner)


def _fewest_steps(knots: Array, least: Array, highest: Number, slopes: Array) -> list[int] | None:
    """Return the knots (m + 1,) on the way with fewest steps from the last down to the first."""
    # The law is at least ``least`` at each knot, and ``highest`` at the last one.
    from otspec._base import compiling
    from otspec.rules.pooled import barrier_process  # imports Numba, if it is there

    m = len(slopes)
    if m == 0:
        return []
    plain = is_exact(knots) or not compiling.HAS_NUMBA
    step = barrier_process.best_steps if plain else barrier_process.fast_best_steps
    curve: list[Any] = [compiling.unwriteable(values) for values in (knots, least, slopes)]
    best, following = np.full((2, m + 1), -1, dtype=least.dtype)
    best[m] = highest
    lines = np.empty(m + 1, dtype=object if plain else np.intp)
    taken: list[Array] = []
    while best[0] < least[0]:
        if len(taken) == (m if is_exact(knots) else MOST_STEPS):
            return None
        source = np.empty_like(lines)
        with np.errstate(over="ignore", invalid="ignore"):  # slopes of hardly drafted tokens
            step(*[*curve, best, following, source, lines])
        best, following = following, best
        taken.append(source)
    way, knot = [], 0
    for source in reversed(taken):
        knot = int(source[knot])
        way.append(knot)
    return way
