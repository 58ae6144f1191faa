"""How often drafts are the selected token (Theory, 15), or the residual one (Pooled, prop. 2)."""

import numpy as np

from otspec._base import Array, IntArray, Number, arithmetic
from otspec.distributions import Distribution
from otspec.optimum.pools.knots import power_slope
from otspec.rules.base.counts import with_one_more
from otspec.rules.pooled.barriers import Barriers

MOST_AT_ONCE = 2**20
"""Most numbers that are computed together: those of so many groups as make them."""


def selected_counts(barriers: Barriers, k: int, tokens: IntArray | None = None) -> Array:
    """Return the probability that y is selected and c of k drafts are y, at (c − 1, y): (k, n)."""
    pools = barriers.pools
    own = np.arange(len(pools.tokens)) if tokens is None else tokens
    # Exact numbers become whole ones: masses over `unit`, lengths over `whole`.
    draft, knots, unit = arithmetic.over_one_denominator(pools.tokens[own], pools.knots)
    index = pools.index[own]
    spans, whole = arithmetic.as_whole(barriers.spans.tolist())
    weights = np.array(spans, dtype=draft.dtype)
    counts = np.zeros((k, len(draft)), dtype=draft.dtype)
    occurring = np.flatnonzero(weights > 0)
    at_once = max(MOST_AT_ONCE // (k * len(draft)), 1)
    for first in range(0, len(occurring), at_once):
        some = occurring[first : first + at_once]
        starts, ends = barriers.starts[some], barriers.ends[some]
        # One row for each pair of a group and a token in it.
        within = (index >= starts[:, None]) & (index < ends[:, None]) & (draft > 0)
        which, places = np.nonzero(within)
        below, masses = knots[starts][which], draft[places]
        # A draft is below the group, is y, or is another token of the group.
        others = np.maximum(knots[ends][which] - below - masses, 0)
        selected = _in_group(masses, others, below, k) * weights[some][which]
        for row, chances in zip(counts, selected, strict=True):
            np.add.at(row, places, chances)
    divided = np.frompyfunc(lambda count: arithmetic.quotient(count, whole * unit**k), 1, 1)(counts)
    return np.asarray(divided, dtype=draft.dtype)


def _in_group(tokens: Array, others: Array, below: Array, k: int) -> Array:
    """Return the same for tokens in a group that has no draft above: (t,) -> (k, t)."""
    # If m drafts are in the group and c of them are y, y is selected with probability c/m; in C(k,
    # m) C(m, c) orders, which makes C(k, m) C(m − 1, c − 1). Draft by draft, and for floats given
    # that they are in the group: powers and numbers of orders may be out of range.
    exact = arithmetic.is_exact(tokens)
    group = np.ones_like(tokens) if exact else tokens + others
    own, beside = (tokens, others) if exact else (tokens / group, others / group)
    inside, chances, counts = (
        np.zeros((k + more, len(tokens)), tokens.dtype) for more in (1, 0, 0)
    )
    inside[0], chances[0] = group**0, own
    for _ in range(k):
        inside = with_one_more(inside, group, below)
    for m in range(1, k + 1):
        counts += inside[m] * chances
        chances = with_one_more(chances, own, beside)
    return counts


NEGLIGIBLE = 1e-14
"""Groups that reject less than this in total are left out in floats: rounding of b = q."""


def residual_hits(target: Distribution, barriers: Barriers, power: int) -> Number:
    """Return the probability that the selected draft is rejected and the residual token a draft."""
    # A residual token y is never rejected itself. Given that no draft is y, the drafts come from
    # the rest of the draft distribution, so that the same barriers select with the draft mass of y
    # taken out of every knot above it; the difference to the whole is what happens with y among
    # the drafts. The cost is the number of residual tokens times that of groups that reject.
    pools, draft = barriers.pools, barriers.pools.tokens
    residual = arithmetic.positive_part(target - barriers.law)
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
    return hits / total


def _rejected_draft(target: Distribution, barriers: Barriers) -> Array:
    """Return the draft mass of each pool that is rejected when it is selected, shape (m,)."""
    law_of_selection, chances = barriers.law, arithmetic.zeros(len(target), like=target)
    excess = arithmetic.positive_part(law_of_selection - target)
    rejected = excess > 0
    chances[rejected] = excess[rejected] / law_of_selection[rejected]
    return barriers.pools.gathered(barriers.pools.tokens * chances)


def _worth_counting(rejections: Array) -> Array:
    """Return which groups to count: in floats all but those that add up to nothing."""
    if arithmetic.is_exact(rejections):
        return np.asarray(rejections > 0, dtype=bool)
    order = np.argsort(rejections)
    counted = np.ones(len(rejections), dtype=bool)
    counted[order[np.cumsum(rejections[order]) <= NEGLIGIBLE]] = False
    return counted
