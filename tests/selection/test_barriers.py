"""Barriers (Pooled, propositions 2 and 4): lifetimes give the law that was wanted."""

from __future__ import annotations

from fractions import Fraction
from functools import reduce
from itertools import accumulate, pairwise

import numpy as np
import pytest
from instances import EPS, pairs
from searching import of_all

import otspec
from otspec._base import compiling
from otspec.distributions import as_distribution, as_pair
from otspec.optimum.pools.knots import power_slope
from otspec.optimum.pools.pools import SelectionLaw, by_thresholds, by_token, clipped_law
from otspec.rules.pooled.barriers import Barriers, PowerMasses, SummedMasses, find_barriers

needs_numba = pytest.mark.skipif(not compiling.HAS_NUMBA, reason="Numba is not installed")

PLACES = 256
ONE = 1 << PLACES
"""1 in fixed point: integers count units of 2^−256, far below any difference that matters here."""


def cumulative(masses):
    return [masses[0] * 0, *accumulate(masses)]


def clipped(draft, target, heights):
    pools = by_token(draft, target)
    return clipped_law(pools, heights(pools.knots))


def running_maximum(draft, target, heights):
    """B = Q + the maximum of G − Q on the far side of the cut; tight wherever that is attained."""
    pools = by_token(draft, target)
    wanted, above = cumulative(pools.target.tolist()), heights(pools.knots).tolist()
    excess = [g - q for g, q in zip(above, wanted, strict=True)]
    s = excess.index(max(excess))
    level = [max(excess[: j + 1] if j <= s else excess[j:]) for j in range(len(excess))]
    reached = [q + lift for q, lift in zip(wanted, level, strict=True)]
    tight = [lift == own for lift, own in zip(level, excess, strict=True)]
    return SelectionLaw(pools, np.diff(reached), np.array(tight), s)


def averaged(draft, target, heights):
    """The mean of three chord interpolations of G, over random sets of knots: none in another."""
    pools = by_token(draft, target)
    m, rng = len(pools.draft), np.random.default_rng(len(draft))
    kept = [[0, *(j for j in range(1, m) if rng.random() < 0.5), m] for _ in range(3)]
    slopes = [np.array(interpolated(pools.knots, heights(pools.knots), a)) for a in kept]
    tight = [all(j in alive for alive in kept) for j in range(m + 1)]
    return SelectionLaw(pools, sum(slopes) / 3 * pools.draft, np.array(tight), 0)


LAWS = (clipped, running_maximum, averaged)
POWERS = {f"u**{k}": k for k in range(1, 7)}
CURVES = {name: lambda u, k=k: u**k for name, k in POWERS.items()} | {
    "a mean of powers": lambda u: (u + u**3) / 2,
    "two straight pieces": lambda u: np.maximum(u / 4, (4 * u - 1) / 3),
}
STRAIGHT = ("u**1", "two straight pieces")


def assert_same(first, second):
    for name in ("lifetimes", "slopes", "starts", "ends", "spans"):
        one, other = getattr(first, name), getattr(second, name)
        assert one.dtype == other.dtype
        assert np.array_equal(one, other), name


def found_barriers(seed, law, curve, count=200):
    """Random exact laws of one sort beside G at the knots and the barriers."""
    for pair in pairs(seed, count, most_tokens=8):
        wanted = law(*as_pair(*pair), CURVES[curve])
        heights = CURVES[curve](wanted.pools.knots)
        found = find_barriers(wanted, SummedMasses(np.diff(heights)))
        yield wanted, heights, found


def interpolated(knots, heights, alive):
    """The slope in each pool of the chords between knots that are alive."""
    slopes = []
    for low, high in pairwise(alive):
        rise = (heights[high] - heights[low]) / (knots[high] - knots[low])
        slopes += [rise] * (high - low)
    return slopes


def integrated(knots, heights, lifetimes):
    """The slopes that lifetimes give, integrated over the uniform number piece by piece."""
    slopes, start = [Fraction(0)] * (len(knots) - 1), Fraction(0)
    for end in sorted({Fraction(1), *(life for life in lifetimes if 0 < life < 1)}):
        alive = [j for j, life in enumerate(lifetimes) if life >= end]  # from start to end
        during = interpolated(knots, heights, alive)
        slopes = [sofar + (end - start) * c for sofar, c in zip(slopes, during, strict=True)]
        start = end
    return slopes


@pytest.mark.parametrize("curve", CURVES)
@pytest.mark.parametrize("law", LAWS)
def test_lifetimes_give_exactly_the_slopes_that_are_wanted(law, curve):
    mortal = 0
    for wanted, heights, found in found_barriers(320, law, curve):
        slopes, mortals = wanted.slopes.tolist(), found.lifetimes[~wanted.tight]
        assert found.slopes.tolist() == slopes
        assert integrated(wanted.pools.knots, heights, found.lifetimes) == slopes
        assert (found.lifetimes[wanted.tight] == np.inf).all()
        assert all(0 <= life <= 1 for life in mortals)
        # Where G is straight around a knot, it need not die: nothing there burns its kink.
        assert all(life < 1 for life in mortals) or curve in STRAIGHT
        mortal += len(mortals) > 0
        if curve in POWERS:
            assert_same(found, find_barriers(wanted, PowerMasses(wanted.pools, POWERS[curve])))
    assert mortal > of_all(20) or (curve, law) == ("u**1", running_maximum)  # always tight


@pytest.mark.parametrize("curve", CURVES)
@pytest.mark.parametrize("law", LAWS)
def test_groups_tile_the_knots_at_every_uniform_number(law, curve):
    for _, _, found in found_barriers(321, law, curve):
        capped = [min(life, Fraction(1)) for life in found.lifetimes]
        groups, m = [], len(capped) - 1
        for start, end, span in zip(found.starts, found.ends, found.spans, strict=True):
            born = max(capped[start + 1 : end], default=Fraction(0))
            dies = min(capped[start], capped[end])
            assert span == dies - born
            groups += [(start, end, born, dies)] if span > 0 else []
        times = sorted({Fraction(0), Fraction(1), *capped})
        for now in ((a + b) / 2 for a, b in pairwise(times)):
            there = sorted((start, end) for start, end, born, dies in groups if born < now < dies)
            assert [0, *(end for _, end in there)] == [*(start for start, _ in there), m]


def lifetimes_of(m, kind):
    """Some knots are never barriers, some always; times tie."""
    rng = np.random.default_rng(m)
    lives = [
        Fraction(int(part), 8) for part in rng.integers(0, 8, m + 1) * (rng.random(m + 1) < 0.5)
    ]
    lifetimes = np.array([np.inf, *lives[1:-1], np.inf], dtype=object)
    return lifetimes if kind == "exact" else lifetimes.astype(float)


@pytest.mark.parametrize("kind", ["exact", "floats"])
@pytest.mark.parametrize("m", [1, 2, 31, 32, 33, 200])
def test_a_group_reaches_from_the_barrier_below_to_the_one_above(m, kind):
    masses = np.full(m, Fraction(1, m)) if kind == "exact" else np.full(m, 1 / m)
    pools = by_thresholds(as_distribution(masses), as_distribution(masses), masses[:0])
    none = np.zeros(0, dtype=np.intp)
    barriers = Barriers(
        pools,
        PowerMasses(pools, 2),
        lifetimes_of(m, kind),
        none,
        none,
        masses[:0],
        masses[:0],
        none,
        none,
    )
    lives, found = barriers.lifetimes.tolist(), []
    for top in range(0, m, 1 if m < 40 else 7):
        inside = list(barriers.groups(top))
        assert sum(span for _, _, span in inside) == 1
        for eighth in range(8):
            alive = [j for j, life in enumerate(lives) if life > eighth / 8]
            low, high = max(j for j in alive if j <= top), min(j for j in alive if j > top)
            assert barriers.group(top, eighth / 8) == (low, high)
            found.append((top, eighth / 8, low, high))
            spans = [sum(span for *_, span in inside[: place + 1]) for place in range(len(inside))]
            at = next(place for place, until in enumerate(spans) if until > eighth / 8)
            assert inside[at][:2] == (low, high)
    tops, uniforms, lows, highs = map(np.array, zip(*found, strict=True))
    at_once = barriers.groups_at(tops, uniforms)
    assert [each.tolist() for each in at_once] == [lows.tolist(), highs.tolist()]


ENDS = (0.0, 1e-300, 1e-12, 0.1, 0.5, np.nextafter(0.5, 1), 1 - 1e-12, np.nextafter(1, 0), 1.0)


@pytest.mark.parametrize("k", [*range(1, 20), 31, 32, 63, 64])
def test_the_slope_of_a_power_keeps_its_digits(k):
    # Term by term at most about k + 2 log₂ k < 2k roundings by eps/2, and nothing cancels. Below
    # the least normal number digits are lost, of terms that nobody will see.
    lost = k * np.finfo(float).tiny
    low, high = np.array([(a, b) for a in ENDS for b in ENDS if a <= b]).T
    found = power_slope(low, high, k)
    for a, b, slope in zip(low.tolist(), high.tolist(), found.tolist(), strict=True):
        u, v = Fraction(a), Fraction(b)
        true = k * u ** (k - 1) if u == v else (v**k - u**k) / (v - u)
        assert power_slope(u, v, k) == true
        assert power_slope(a, b, k) == slope
        assert abs(slope - true) <= k * EPS * true + lost


def fixed(value):
    numerator, denominator = value.as_integer_ratio()
    return numerator * ONE // denominator


def shares(masses):
    """Masses in fixed point, scaled to sum to 1: exact distributions, as floats hardly are."""
    exactly = [fixed(mass) for mass in masses.tolist()]
    total = sum(exactly)
    return [mass * ONE // total for mass in exactly]


def power(u, k):
    return reduce(lambda height, _: height * u >> PLACES, range(k), ONE)


def law_of_lifetimes(draft, lifetimes, k):
    """What lifetimes give to each of the pools with these masses, in fixed point.

    The chord between two knots is there from the last death between them to the first of theirs.
    """
    masses, capped = shares(draft), np.minimum(lifetimes, 1.0)
    knots = cumulative(masses)
    heights = [power(u, k) for u in knots]
    law, chords = [0] * len(masses), [(0, len(masses), ONE, 0)]
    while chords:
        low, high, dies, slope = chords.pop()
        inner = capped[low + 1 : high]
        last = low + 1 + int(inner.argmax()) if inner.size else high
        born = fixed(float(capped[last])) if inner.size else 0
        rise = (heights[high] - heights[low]) * ONE // (knots[high] - knots[low])
        slope += (dies - born) * rise >> PLACES
        if inner.size:
            chords += [(low, last, born, slope), (last, high, born, slope)]
        else:
            law[low] = slope * masses[low] >> PLACES
    return law


def ideal_law(draft, target, k):
    """The clipped law of pools by ascending ratio, in fixed point: its two slopes are tangents."""
    p, q = shares(draft), shares(target)
    knots, wanted = cumulative(p), cumulative(q)
    excess = [power(u, k) - b for u, b in zip(knots, wanted, strict=True)]
    most = max(excess)
    s, m = excess.index(most), len(p)
    low = min(((most + wanted[j]) * ONE // knots[j] for j in range(1, s + 1)), default=0)
    left = ((ONE - most - wanted[j]) * ONE // (ONE - knots[j]) for j in range(s, m))
    high = max(left, default=low)
    pairs_ = zip(p, q, strict=True)
    return [min(max(b, low * a >> PLACES), high * a >> PLACES) for a, b in pairs_]


def distance(law, fixed_law):
    """Total variation."""
    apart = sum(abs(fixed(mass) - own) for mass, own in zip(law.tolist(), fixed_law, strict=True))
    return apart / ONE / 2


def heavy_pair(n, seed, spread=20.0):
    """Masses of very different sizes, the draft's and the target's far from each other."""
    logarithms = np.random.default_rng(seed).uniform(-spread, 0, (2, n))
    return as_pair(*np.exp(logarithms), normalize=True)


def heights_of(pools, k, by):
    slopes = power_slope(pools.knots[:-1], pools.knots[1:], k)
    return PowerMasses(pools, k) if by == "power" else SummedMasses(pools.draft * slopes)


def test_fixed_point_is_as_good_as_fractions():
    pools = by_token(*heavy_pair(8, seed=0))
    lifetimes = find_barriers(clipped_law(pools, pools.knots**3), PowerMasses(pools, 3)).lifetimes
    masses = [Fraction(mass, ONE) for mass in shares(pools.draft)]
    masses[-1] += 1 - sum(masses)
    knots = np.array(cumulative(masses))
    slopes = integrated(knots, knots**3, [Fraction(min(life, 1.0)) for life in lifetimes])
    found = law_of_lifetimes(pools.draft, lifetimes, 3)
    for slope, mass, own in zip(slopes, masses, found, strict=True):
        assert abs(slope * mass - Fraction(own, ONE)) < Fraction(1, 2**180)


# How accurate a float law is. Knots are sums of at most n positive masses, off by n roundings of
# their own size; the slope of a chord has no difference in it, so that it is off by k times as
# much; spans are differences of exact times, and totals add up at most n positive products. So
# each pool's share keeps its relative accuracy, (k + 2)(n + 2) eps, whatever its size. Against
# the law that was wanted, lifetimes are off too, and only masses keep their accuracy. Of many
# roundings in a sum about as many go either way: hence √n at full vocabulary.
@pytest.mark.parametrize("by", ["power", "masses"])
@pytest.mark.parametrize(
    ("n", "seeds", "roundings", "k"),
    [
        *((60, range(6), 62, k) for k in (2, 4, 16, 64)),
        pytest.param(49_152, [6], 222, 2, marks=pytest.mark.nightly),
        (49_152, [6], 222, 16),
    ],
)
def test_floats_keep_their_digits(n, seeds, roundings, k, by):
    limit = min((k + 2) * roundings * EPS, 1e-12)
    for seed in seeds:
        pools = by_token(*heavy_pair(n, seed, spread=np.log(1e12)))
        wanted = clipped_law(pools, pools.knots**k)
        assert 0 < wanted.cut < n
        found = find_barriers(wanted, heights_of(pools, k, by))
        law = found.slopes * pools.draft
        had = law_of_lifetimes(pools.draft, found.lifetimes, k)
        relative = (k + 2) * (n + 2) * EPS
        assert all(abs(fixed(b) - own) <= relative * own for b, own in zip(law, had, strict=True))
        assert distance(law, had) <= limit
        assert distance(law, ideal_law(pools.draft, pools.target, k)) <= limit


@needs_numba
@pytest.mark.parametrize("by", ["power", "masses"])
@pytest.mark.parametrize("k", [2, 5, 64])
def test_numba_gives_the_same_floats(k, by, monkeypatch):
    draft, target = heavy_pair(5_000, seed=k)
    pools = by_token(*as_pair(draft, np.where(draft < 1e-5, target, 2 * draft), normalize=True))
    wanted = clipped_law(pools, pools.knots**k)
    heights = heights_of(pools, k, by)
    compiled = find_barriers(wanted, heights)
    monkeypatch.setattr(compiling, "HAS_NUMBA", False)
    assert_same(compiled, find_barriers(wanted, heights))


@pytest.mark.parametrize("sort", ["ties and zeros", "equal", "certain", "one token"])
@pytest.mark.parametrize("k", [*(pytest.param(k, marks=pytest.mark.nightly) for k in (1, 2)), 64])
def test_the_largest_vocabularies(k, sort):
    n = 262_144
    draft, target = (masses.copy() for masses in heavy_pair(n, seed=6))
    target[::3] = 2 * draft[::3]
    draft[::7], target[::5], target[0] = 0, 0, 0.1
    # The highest of k drafts, in whatever order, is a law of selection: then all is accepted.
    knots = np.cumsum(draft / draft.sum())
    highest = draft * power_slope(np.append(0, knots[:-1]), knots, k)
    targets = {"equal": draft, "certain": draft + highest, "one token": np.eye(1, n)[0]}
    p, q = as_pair(draft, targets.get(sort, target), normalize=True)
    pools = by_token(p, q)
    wanted = clipped_law(pools, pools.knots**k)
    found = find_barriers(wanted, PowerMasses(pools, k))
    limit, law = (k + 2) * n**0.5 * EPS, found.slopes * pools.draft
    assert abs(law - wanted.masses).sum() <= limit
    assert abs(law.sum() - 1) <= limit
    assert (found.lifetimes[wanted.tight] == np.inf).all()
    assert ((found.lifetimes >= 0) & (wanted.tight | (found.lifetimes <= 1))).all()
    best = otspec.optimal_acceptance(otspec.IID(p, k), q).acceptance
    assert abs(np.minimum(found.slopes[pools.index] * p, q).sum() - best) <= limit
    if sort in ("equal", "certain"):
        assert abs(best - 1) <= limit
