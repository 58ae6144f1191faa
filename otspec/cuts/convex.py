"""The best prefix of distinct drafts from P(all inside) at few prefixes (Theory, 2).

P(all inside) is convex over the draft mass of the prefix, so that between two prefixes at which it
is known it is at most their chord. Prefixes that could only win above the chord are left out, and
it is found at some of the others, until none is left.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from otspec.arithmetic import Array, IntArray, is_exact, prefix_sums
from otspec.drafts.race_knots import Knots
from otspec.drafts.rises import inside_of_prefixes

_FEW = 1_000
"""Up to so many tokens all prefixes are as quick."""
_AT_ONCE = 16
"""Prefixes that are looked at in each round."""
_ROUNDS = 16
"""Where the target is nearly a selection law so many prefixes tie that all are looked at."""
_NEAR = 1e-14
"""What is not looked for; rounding alone is as much."""


def least_excess(rates: Array, costs: Array, ks: Sequence[int]) -> Array:
    """Return the least of cost − P(all k drafts inside) over all prefixes, for each k.

    Parameters
    ----------
    rates : ndarray, shape (n,)
        The draft distribution, in the order of the prefixes.
    costs : ndarray, shape (n + 1,)
        Of each prefix.
    ks : sequence of int

    Returns
    -------
    ndarray, shape (len(ks),)
    """
    many = [k for k in ks if k > 2]
    if is_exact(rates) or len(rates) <= _FEW or not many:
        return np.asarray((costs - inside_of_prefixes(rates, ks)).min(axis=1))
    few = [k for k in ks if k <= 2]
    found = dict(zip(many, _searched(rates, costs, many), strict=True))
    if few:
        closed = (costs - inside_of_prefixes(rates, few)).min(axis=1)
        found |= dict(zip(few, closed, strict=True))
    return np.array([found[k] for k in ks])


def _searched(rates: Array, costs: Array, ks: Sequence[int]) -> Array:
    known, knots, masses = _evenly(rates), Knots(rates, ks), prefix_sums(rates)
    inside = knots.inside_at(known)
    least = (costs[known] - inside).min(axis=1)
    # Of most stretches even the first cost is above what P is at the end.
    may = (costs[known[:-1]] - inside[:, 1:] < least[:, None] - _NEAR).any(axis=0)
    open_ = np.flatnonzero(np.repeat(may, np.diff(known)))
    for _ in range(_ROUNDS):
        # What is left out once is above any later chord, too.
        open_ = open_[_may_be_below(open_, masses, costs, known, inside, least - _NEAR)]
        if len(open_) == 0:
            return np.asarray(least)
        ends = open_[:: -(-len(open_) // _AT_ONCE)]
        known = np.append(known, ends)
        order = np.argsort(known)
        known, inside = known[order], np.hstack([inside, knots.inside_at(ends)])[:, order]
        least = (costs[known] - inside).min(axis=1)
    return np.asarray((costs - inside_of_prefixes(rates, ks)).min(axis=1))


def _evenly(rates: Array) -> IntArray:
    """Return prefixes to begin with, evenly spaced by tokens and by mass, the ends among them."""
    by_token = np.linspace(0, len(rates), _AT_ONCE).astype(np.intp)
    by_mass = np.searchsorted(np.cumsum(rates), np.linspace(0, rates.sum(), _AT_ONCE))
    return np.union1d(by_token, np.minimum(by_mass, len(rates)))


def _may_be_below(
    prefixes: IntArray, masses: Array, costs: Array, known: IntArray, inside: Array, below: Array
) -> Array:
    """Return at which prefixes between known ones some k may have an excess below a number."""
    after = np.searchsorted(known, prefixes)
    start, end = known[after - 1], known[after]
    share = np.zeros(len(prefixes))
    width = masses[end] - masses[start]
    np.divide(masses[prefixes] - masses[start], width, out=share, where=width > 0)
    may = np.zeros(len(prefixes), dtype=bool)
    for probabilities, number in zip(inside, below, strict=True):
        rises = np.diff(probabilities)[after - 1]
        may |= costs[prefixes] - probabilities[after - 1] - rises * share < number
    return np.asarray(may & (prefixes != end))
