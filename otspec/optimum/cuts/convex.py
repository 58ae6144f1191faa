"""The best prefix of distinct drafts from P(all inside) at few prefixes (Theory, 2).

P(all inside) is convex over the draft mass of the prefix: between two prefixes it is at most their
chord. Where the least cost above the chord is below the least that is found, P is found there, too.
"""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from otspec._base.arithmetic import Array, is_exact, prefix_sums
from otspec.drafts.race.increments import inside_of_prefixes
from otspec.drafts.race.knots import Knots

_FEW = 1_000  # up to so many tokens all prefixes are as quick
_AT_FIRST = 16  # prefixes to begin with, by tokens and by mass
_MOST = 256
"""Where the target is nearly a selection law so many prefixes tie that all are looked at."""
_NEAR = 1e-14  # what is not looked for; rounding alone is as much


def least_excess(rates: Array, costs: Array, ks: Sequence[int]) -> Array:
    """Return the least of cost − P(all k drafts inside) over all prefixes, for each k."""
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
    masses, knots = prefix_sums(rates), Knots(rates, ks)
    asked = _evenly(masses)
    stretches, inside = list(pairwise(asked)), dict[int, Array]()
    least = np.full(len(ks), np.inf)
    while asked:
        if len(inside) > _MOST:
            return np.asarray((costs - inside_of_prefixes(rates, ks)).min(axis=1))
        # The cut values at the ends of the stretches that are left.
        found = knots.inside_at(np.array(asked))
        inside |= zip(asked, found.T, strict=True)
        least = np.minimum(least, (costs[asked] - found).min(axis=1))
        # A stretch is split where a lower bound by convexity is below the least value so far.
        asked, closed = [], stretches
        stretches = []
        for start, end in closed:
            lowest = _lowest(start, end, masses, costs, inside[start], inside[end], least - _NEAR)
            asked += lowest
            stretches += pairwise([start, *lowest, end]) if lowest else []
    return least


def _evenly(masses: Array) -> list[int]:
    """Return prefixes to begin with, evenly spaced by tokens and by mass, the ends among them."""
    by_token = np.linspace(0, len(masses) - 1, _AT_FIRST).astype(np.intp)
    by_mass = np.searchsorted(masses[1:], np.linspace(0, masses[-1], _AT_FIRST))
    return np.union1d(by_token, np.minimum(by_mass, len(masses) - 1)).tolist()


def _lowest(
    start: int, end: int, masses: Array, costs: Array, first: Array, last: Array, below: Array
) -> list[int]:
    """Return at which prefixes between two that are known cost − chord is the least for some k."""
    # None of those k where even that is not below a number.
    between, found = slice(start + 1, end), set()
    width = masses[end] - masses[start]
    # Of most stretches even the first cost is above what P is at the end.
    for row in np.flatnonzero(costs[start] - last < below) if end > start + 1 else ():
        slope = (last[row] - first[row]) / width if width > 0 else 0.0
        excess = costs[between] - slope * (masses[between] - masses[start])
        place = int(excess.argmin())
        if excess[place] - first[row] < below[row]:
            found.add(start + 1 + place)
    return sorted(found)
