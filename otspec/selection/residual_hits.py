"""How often a residual token happens to be one of the i.i.d. drafts."""

from __future__ import annotations

import numpy as np

from otspec.arithmetic import Array, Number, is_exact, positive_part, sums_by
from otspec.distributions import Distribution
from otspec.selection.barriers import Barriers
from otspec.selection.loops import power_slope
from otspec.selection.pools import Pools

NEGLIGIBLE = 1e-14
"""Groups that reject less than this in total are left out in floats: rounding of b = q."""


def residual_hits(
    draft: Distribution,
    target: Distribution,
    law_of_selection: Distribution,
    pools: Pools,
    barriers: Barriers,
    power: int,
) -> Number:
    """Return the probability that the selected draft is rejected and the residual token a draft.

    Parameters
    ----------
    draft, target, law_of_selection : ndarray, shape (n,)
    pools : Pools
    barriers : Barriers
        Those that give the law of selection.
    power : int
        Number of drafts, k.

    Returns
    -------
    float or Fraction

    Notes
    -----
    A residual token y is never rejected itself. Given that no draft is y, the drafts come from
    the rest of the draft distribution, so that the same barriers select with the draft mass of y
    taken out of every knot above it; the difference to the whole is what happens with y among
    the drafts. The cost is the number of residual tokens times that of groups that reject.
    """
    residual = positive_part(target - law_of_selection)
    total = residual.sum()
    rejected = _rejected_per_slope(draft, target, law_of_selection, pools, barriers)
    below = np.concatenate([rejected[:1] * 0, np.cumsum(rejected)])
    weights = barriers.spans * (below[barriers.ends] - below[barriers.starts])
    knots = pools.knots
    low, high = knots[barriers.starts], knots[barriers.ends]
    slopes = power_slope(low, high, power)
    groups = _worth_counting(weights * slopes)
    hits: Number = total * 0
    if not groups.any() or total == 0:
        return hits
    starts, ends = barriers.starts[groups], barriers.ends[groups]
    weights, low, high, slopes = (part[groups] for part in (weights, low, high, slopes))
    tokens = np.flatnonzero((residual > 0) & (draft > 0))
    for pool in np.unique(pools.index[tokens]):
        above = ends > pool
        if not above.any():
            continue
        members = tokens[pools.index[tokens] == pool]
        # (tokens of the pool, groups): a group that begins above y loses it at both ends.
        missing = draft[members][:, None]
        bottom = low[above] - missing * (starts[above] > pool)
        without = power_slope(bottom, high[above] - missing, power)
        missed = ((slopes[above] - without) * weights[above]).sum(axis=1)
        hits += (residual[members] * missed).sum()
    share: Number = hits / total
    return share


def _rejected_per_slope(
    draft: Distribution,
    target: Distribution,
    law_of_selection: Distribution,
    pools: Pools,
    barriers: Barriers,
) -> Array:
    """Return what each pool rejects over its slope, shape (m,)."""
    excess = positive_part(law_of_selection - target)
    rejected = sums_by(pools.index[draft > 0], excess[draft > 0], len(pools.draft))
    slopes = np.where(rejected > 0, barriers.slopes, barriers.slopes * 0 + 1)
    per_slope: Array = rejected / slopes
    return per_slope


def _worth_counting(rejections: Array) -> Array:
    """Return which groups to count: in floats all but those that add up to nothing."""
    if is_exact(rejections):
        return np.asarray(rejections > 0, dtype=bool)
    order = np.argsort(rejections)
    counted = np.ones(len(rejections), dtype=bool)
    counted[order[np.cumsum(rejections[order]) <= NEGLIGIBLE]] = False
    return counted
