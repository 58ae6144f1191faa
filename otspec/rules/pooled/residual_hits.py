"""How often a residual token happens to be one of the i.i.d. drafts (Pooled, prop. 2)."""

from __future__ import annotations

import numpy as np

from otspec._base.arithmetic import Array, Number, is_exact, positive_part, zeros
from otspec.distributions import Distribution
from otspec.optimum.pools.knots import power_slope
from otspec.rules.pooled.barriers import Barriers

NEGLIGIBLE = 1e-14
"""Groups that reject less than this in total are left out in floats: rounding of b = q."""


def residual_hits(target: Distribution, barriers: Barriers, power: int) -> Number:
    """Return the probability that the selected draft is rejected and the residual token a draft.

    Parameters
    ----------
    target : ndarray, shape (n,)
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
    pools, draft = barriers.pools, barriers.pools.tokens
    residual = positive_part(target - barriers.law)
    total = residual.sum()
    rejected = _rejected_draft(target, barriers)
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
        bottom = low[above] - missing * pools.below(members, starts[above])
        top = high[above] - missing * pools.below(members, ends[above])
        without = power_slope(bottom, top, power)
        missed = ((slopes[above] - without) * weights[above]).sum(axis=1)
        hits += (residual[members] * missed).sum()
    share: Number = hits / total
    return share


def _rejected_draft(target: Distribution, barriers: Barriers) -> Array:
    """Return the draft mass of each pool that is rejected when it is selected, shape (m,)."""
    law_of_selection, chances = barriers.law, zeros(len(target), like=target)
    excess = positive_part(law_of_selection - target)
    rejected = excess > 0
    chances[rejected] = excess[rejected] / law_of_selection[rejected]
    return barriers.pools.gathered(barriers.pools.tokens * chances)


def _worth_counting(rejections: Array) -> Array:
    """Return which groups to count: in floats all but those that add up to nothing."""
    if is_exact(rejections):
        return np.asarray(rejections > 0, dtype=bool)
    order = np.argsort(rejections)
    counted = np.ones(len(rejections), dtype=bool)
    counted[order[np.cumsum(rejections[order]) <= NEGLIGIBLE]] = False
    return counted
