"""How many of k i.i.d. drafts are the one that pooled selection selects (Theory, 15)."""

from __future__ import annotations

from math import comb

import numpy as np

from otspec._base.arithmetic import Array, IntArray, as_whole, over_one_denominator, quotient
from otspec.rules.pooled.barriers import Barriers

MOST_AT_ONCE = 2**20
"""Most numbers that are computed together: those of so many groups as make them."""


def selected_counts(barriers: Barriers, k: int, tokens: IntArray | None = None) -> Array:
    """Return the probability that y is selected and c of the drafts are y.

    ``barriers``: those that select. ``k``: number of drafts. ``tokens``: for which y; by default
    for all. Result, shape (k, n): entry (c − 1, y).
    """
    pools = barriers.pools
    own = np.arange(len(pools.tokens)) if tokens is None else tokens
    draft, knots, unit = over_one_denominator(pools.tokens[own], pools.knots)
    index = pools.index[own]
    spans, whole = as_whole(barriers.spans.tolist())
    weights = np.array(spans, dtype=draft.dtype)
    counts = np.zeros((k, len(draft)), dtype=draft.dtype)
    occurring = np.flatnonzero(weights > 0)
    at_once = max(MOST_AT_ONCE // (k * len(draft)), 1)
    for first in range(0, len(occurring), at_once):
        some = occurring[first : first + at_once]
        starts, ends = barriers.starts[some], barriers.ends[some]
        within = (index >= starts[:, None]) & (index < ends[:, None]) & (draft > 0)
        which, places = np.nonzero(within)
        below, masses = knots[starts][which], draft[places]
        others = np.maximum(knots[ends][which] - below - masses, 0)
        selected = _in_group(masses, others, below, k) * weights[some][which]
        for row, chances in zip(counts, selected, strict=True):
            np.add.at(row, places, chances)
    divided = np.frompyfunc(lambda count: quotient(count, whole * unit**k), 1, 1)(counts)
    return np.asarray(divided, dtype=draft.dtype)


def _in_group(tokens: Array, others: Array, below: Array, k: int) -> Array:
    """Return the same for tokens in a group that has no draft above: (t,) -> (k, t).

    If m drafts are in the group and c of them are y, y is selected with probability c/m; in
    C(k, m) C(m, c) orders, which makes C(k, m) C(m − 1, c − 1).
    """
    own, beside, lower = (_powers(values, k) for values in (tokens, others, below))
    counts = np.zeros((k, len(tokens)), dtype=tokens.dtype)
    for m in range(1, k + 1):
        ways = comb(k, m) * lower[k - m]
        for c in range(1, m + 1):
            counts[c - 1] += ways * comb(m - 1, c - 1) * beside[m - c]
    chances: Array = counts * own[1:]
    return chances


def _powers(values: Array, k: int) -> Array:
    """Return the powers of whole numbers or floats from 0 to k: (t,) -> (k + 1, t)."""
    powers = np.ones((k + 1, len(values)), dtype=values.dtype)
    for exponent in range(1, k + 1):
        powers[exponent] = powers[exponent - 1] * values
    return powers
