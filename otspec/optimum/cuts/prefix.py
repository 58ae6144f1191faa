"""Laws whose minimum cut is a prefix of the tokens by ascending target/draft (Theory, 2 and 32).

For i.i.d. drafts and one k a histogram of the ratios is enough. Inside a bin of ratios from a to b
the target mass of prefixes is convex over their draft mass, with slopes from a to b: above two
lines. Few bins can hold the optimum by that: only their tokens are sorted.

Of distinct drafts P(all inside) is convex over the draft mass of the prefix: between two prefixes
it is at most their chord. Where the least cost above the chord is below the least that is found, P
is found there, too.
"""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from otspec import ratios
from otspec._base import Array, IntArray, Number, as_number, is_exact, power, prefix_sums
from otspec.distributions import Distribution
from otspec.drafts import DraftLaw
from otspec.drafts.race.increments import inside_of_prefixes
from otspec.drafts.race.knots import Knots
from otspec.drafts.single import ByRatio
from otspec.ratios import Pair

_FEW_PREFIXES = 1_000  # up to so many tokens all prefixes are as quick
_AT_FIRST = 16  # prefixes to begin with, by tokens and by mass
_MOST_PREFIXES = 256
"""Where the target is nearly a selection law so many prefixes tie that all are looked at."""
_NEAR = 1e-14  # what is not looked for; rounding alone is as much


def least_excess(rates: Array, costs: Array, ks: Sequence[int]) -> Array:
    """Return the least of cost − P(all k drafts inside) over all prefixes, for each k."""
    many = [k for k in ks if k > 2]
    if is_exact(rates) or len(rates) <= _FEW_PREFIXES or not many:
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
        if len(inside) > _MOST_PREFIXES:
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


_FEWEST = 1 << 12  # fewer tokens are all sorted
_MOST = 2**53  # up to here every number of drafts is a float
_DROPPED = 46  # bits of a ratio that a bin does not tell: 64 bins from a power of two to the next
_LOWEST = 2.0**-20  # below is one bin


def histogram_serves(draft: Distribution, k: int) -> bool:
    """Return whether this is the way: for floats, of which a sort takes longer."""
    return len(draft) >= _FEWEST and k <= _MOST and not is_exact(draft)


def iid_acceptance_by_histogram(draft: Distribution, target: Distribution, k: int) -> float:
    """Return the optimum for k i.i.d. drafts, for floats."""
    # What is inside a prefix is taken as 1 less what is outside.
    if k == 1:
        return min(float(np.minimum(draft, target).sum()), 1.0)
    keys = ratios.target_to_draft(draft, target)
    low, high = _bin(_LOWEST), _bin(float(k)) + 1
    bins = np.clip(_bins(keys), low, high)
    bins -= low
    edges = (np.arange(low, high + 1) << _DROPPED).view(np.float64)
    edges[0] = 0
    drafted, wanted = (np.bincount(bins, part, len(edges)) for part in (draft, target))
    outside = np.cumsum(drafted[::-1])[::-1]
    before = np.append(0, np.cumsum(wanted[:-1]))
    best: float = (before - _inside(outside, k)).min()
    # A prefix ends at a ratio of at most k: the last bin is never cut.
    width = edges[1:] - edges[:-1]
    meet = np.clip((edges[1:] * drafted[:-1] - wanted[:-1]) / width, 0, drafted[:-1])
    bounds = before[:-1] + edges[:-1] * meet - _inside(outside[:-1] - meet, k)
    flags = np.append(bounds < best, False)
    tokens = np.flatnonzero(flags[bins])
    tokens = tokens[ratios.order(draft[tokens], target[tokens])]
    looked = np.flatnonzero(flags)
    ends = np.searchsorted(bins[tokens], looked, side="right").tolist()
    for i, part in zip(looked.tolist(), np.split(tokens, ends)[:-1], strict=True):
        left = outside[i + 1] + drafted[i] - np.cumsum(draft[part])
        best = min(best, (before[i] + np.cumsum(target[part]) - _inside(left, k)).min())
    return min(1 + best, 1.0)


def _inside(outside: Array, k: int) -> Array:
    """Return the probability that k drafts are inside, where nothing less than 0 is outside."""
    return np.exp(k * np.log1p(-np.clip(outside, 0, 1 - 2.0**-53)))


def _bins(keys: Array) -> IntArray:
    """Return the leading bits of numbers from 0 to infinity, which ascend with them."""
    return keys.view(np.int64) >> _DROPPED


def _bin(key: float) -> int:
    return int(_bins(np.array([key]))[0])


_STEPS = 32  # more factors than these are slower than a power
_STRETCH = 1 << 10  # tokens between the places that are looked at first


def by_ratio(law: ByRatio, target: Distribution) -> IntArray:
    """Return the minimum cut of a law over one draft distribution: ascending target/draft."""
    order = ratios.order(law.draft, target)
    return order[: int(np.argmin(_excess(law, target, order)))]


def by_ratio_with_bound(law: ByRatio, target: Distribution) -> tuple[IntArray, Number]:
    """Return that cut and its bound, where P(all drafts inside) is costly: of prefixes, once."""
    order = ratios.order(law.draft, target)
    excess = _excess(law, target, order)
    least = int(np.argmin(excess))
    return order[:least], as_number(1 + excess[least], like=target)


def iid_acceptances(pair: Pair, ks: Sequence[int]) -> Array:
    """Return the optimum for i.i.d. drafts and every k: one sort, two cumulative sums."""
    # For a single k and many tokens a histogram instead of the sort.
    #
    # The result has shape (len(ks),).
    numbers = sorted(set(ks))
    if len(numbers) == 1 and histogram_serves(pair.draft, numbers[0]):
        return np.full(len(ks), iid_acceptance_by_histogram(pair.draft, pair.target, numbers[0]))
    inside, cost = pair.below
    optimum = dict(zip(numbers, _least_differences(cost, inside, numbers), strict=True))
    return np.array([1 + optimum[k] for k in ks], dtype=pair.draft.dtype)


def _least_differences(cost: Array, inside: Array, ks: Sequence[int]) -> list[Number]:
    """Return the least of cost − inside^k for each of ascending k; both arrays ascend."""
    # Between two places it is nowhere below the cost at the first less the power at the second, in
    # floats too, since rounding keeps the order. So few stretches are looked at, in full.
    ends = np.append(np.arange(0, len(inside) - 1, _STRETCH), len(inside) - 1)
    at_ends, stretches = _Powers(inside[ends]), dict[int, _Powers]()
    least: list[Number] = []
    for k in ks:
        raised = at_ends.to(k)
        best = (cost[ends] - raised).min()
        # Only a stretch whose lower bound is below the least value so far may have a lower one.
        for i in np.flatnonzero(cost[ends[:-1]] - raised[1:] < best).tolist():
            part = slice(ends[i], ends[i + 1])
            if i not in stretches:
                stretches[i] = _Powers(inside[part])
            best = min(best, (cost[part] - stretches[i].to(k)).min())
        least.append(best)
    return least


class _Powers:
    """Powers of numbers, asked for in ascending order."""

    def __init__(self, values: Array) -> None:
        self._values, self._raised, self._reached = values, values, 1

    def to(self, k: int) -> Array:
        """Return the k-th powers."""
        # A power of a fraction in lowest terms is in lowest terms; in floats one multiplication
        # is less where ks follow each other.
        if is_exact(self._values) or k - self._reached > _STEPS:
            self._raised = power(self._values, k)
        else:
            for _ in range(k - self._reached):
                self._raised = self._raised * self._values
        self._reached = k
        return self._raised


def distinct_acceptances(pair: Pair, ks: Sequence[int]) -> Array:
    """Return the optimum for distinct drafts and every k: one sort, one quadrature."""
    return 1 + least_excess(pair.by_ratio.draft, pair.below[1], ks)


def _excess(law: DraftLaw, target: Distribution, order: IntArray) -> Array:
    """Return q(A) − P(all drafts inside A) for every prefix A of an order: (n + 1,)."""
    return prefix_sums(target[order]) - law.inside_prefixes(order)
