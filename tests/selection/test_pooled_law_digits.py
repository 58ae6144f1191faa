"""The float law of pooled selection is what its lifetimes select with, at any number of drafts."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import accumulate

import numpy as np
import pytest
from instances import HEAVY_DRAFTS

from otspec.distributions import as_pair
from otspec.optimum.pools.knots import Knots, chain_sums, in_parts
from otspec.rules import PooledSelection

ROUNDOFF = 2.0**-53
PLACES = 256
ONE = 1 << PLACES
"""1 in fixed point."""


def fixed(value):
    numerator, denominator = float(value).as_integer_ratio()
    return numerator * ONE // denominator


def power(base, k):
    result = ONE
    while k:
        result = result * base >> PLACES if k & 1 else result
        base, k = base * base >> PLACES, k >> 1
    return result


def law_of_lifetimes(rule):
    """What the rule selects with, token by token, from its draft, pools and lifetimes alone.

    The chord between two knots is there from the last death between them to the first of theirs.
    """
    masses = [fixed(mass) for mass in rule.draft.tolist()]
    total = sum(masses)
    masses = [mass * ONE // total for mass in masses]
    capped, pool = np.minimum(rule.lifetimes, 1.0), rule.pool.tolist()
    m = len(capped) - 1
    pooled = [0] * m
    for mass, j in zip(masses, pool, strict=True):
        pooled[j] += mass
    knots = [0, *accumulate(pooled)]
    heights = [power(u, rule.k) for u in knots]
    slopes, chords = [0] * m, [(0, m, ONE, 0)]
    while chords:
        low, high, dies, slope = chords.pop()
        inner = capped[low + 1 : high]
        last = low + 1 + int(inner.argmax()) if inner.size else high
        born = fixed(capped[last]) if inner.size else 0
        rise = (heights[high] - heights[low]) * ONE // (knots[high] - knots[low])
        slope += (dies - born) * rise >> PLACES
        if inner.size:
            chords += [(low, last, born, slope), (last, high, born, slope)]
        else:
            slopes[low] = slope
    return [slopes[j] * mass >> PLACES for mass, j in zip(masses, pool, strict=True)]


def distance(rule):
    """Total variation of the stated law from that of the lifetimes."""
    pairs = zip(rule.law_of_selection.tolist(), law_of_lifetimes(rule), strict=True)
    return sum(abs(fixed(stated) - true) for stated, true in pairs) / ONE / 2


def bound(n, k):
    """As stated: for roundings of the slopes and their sums, and for knots of two floats."""
    return (32 + math.log2(n)) * ROUNDOFF + 4 * k * (n * ROUNDOFF) ** 2


def spread_pair(n, seed, spread):
    logarithms = np.random.default_rng(seed).uniform(-spread, 0, (2, n))
    return as_pair(*np.exp(logarithms), normalize=True)


def tied_pair(n, seed):
    """Three ratios in five are 2 or 1/2, and some tokens are never drafted or never wanted."""
    draft, target = (masses.copy() for masses in spread_pair(n, seed, 6.0))
    target[::5], target[1::5], target[2::5] = 2 * draft[::5], draft[1::5] / 2, 2 * draft[2::5]
    draft[::7], target[3::11] = 0, 0
    return as_pair(draft, target, normalize=True)


@pytest.mark.parametrize("k", [8, pytest.param(1_000, marks=pytest.mark.nightly), 10**6])
def test_at_full_vocabulary_with_a_pool_for_every_token(k):
    n = 50_000
    rule = PooledSelection(*spread_pair(n, 1, 20.0), k)
    assert bound(n, k) < 1e-14
    assert distance(rule) <= bound(n, k)
    assert abs(rule.law_of_selection.sum() - 1) <= 2 * bound(n, k)
    assert rule.knots[0] == 0
    assert rule.knots[-1] == 1


@pytest.mark.parametrize("pools", ["tokens", "fewest", 1, 256, (0.5, 1.3)])
@pytest.mark.parametrize("k", [1, 2, 5, 1_000, 10**6])
def test_whatever_the_pools_and_the_number_of_drafts(pools, k):
    n = 3_000
    for pair in (spread_pair(n, 2, 1.0), spread_pair(n, 3, 30.0), tied_pair(n, 4)):
        assert distance(PooledSelection(*pair, k, pools)) <= bound(n, k)


@pytest.mark.parametrize("pools", ["tokens", "fewest", 7])
@pytest.mark.parametrize("k", [1, 2, 3, 64, 1_000])
def test_heavy_drafts(pools, k):
    for draft in HEAVY_DRAFTS:
        for target in (draft, draft[::-1], np.arange(1.0, len(draft) + 1)):
            rule = PooledSelection(*as_pair(draft, target, normalize=True), k, pools)
            # Below 2^−256 fixed point shows nothing, and would divide by it.
            if min(mass for mass in rule.draft if mass > 0) > 1e-60:
                assert distance(rule) <= bound(len(draft), k)
            assert np.isfinite(rule.law_of_selection).all()
            assert abs(rule.law_of_selection.sum() - 1) <= 2 * bound(len(draft), k)


@pytest.mark.parametrize("k", [1, 2, 3, 19, 64])
def test_slopes_and_powers_of_knots_keep_their_digits(k):
    for masses in (*HEAVY_DRAFTS, (0.25, 1e-12, 1e-16, 0.5, 1e-300, 0.25 - 1e-12, 3e-17)):
        knots = Knots.of(np.array(masses))
        total = sum(map(Fraction, masses))
        true = [Fraction(0), *accumulate(Fraction(mass) / total for mass in masses)]
        low, high = np.triu_indices(len(true), 1)
        powers, slopes = knots.powers(k), knots.slopes(low, high, k)
        for u, found in zip(true, powers.tolist(), strict=True):
            assert abs(found - u**k) <= error(u, k) * u**k + 1e-300
        for i, j, found in zip(low.tolist(), high.tolist(), slopes.tolist(), strict=True):
            slope = (true[j] ** k - true[i] ** k) / (true[j] - true[i]) / total
            assert abs(found - slope) <= error(true[j], k) * slope + 1e-300


def error(u, k):
    """Relative: 50 roundings of a slope, and 15 of the exponent of the power of its upper knot."""
    exponent = k * abs(math.log(u)) if 1e-300 < u < 1 else 0
    return Fraction((50 + 15 * exponent) * ROUNDOFF)


def test_parts_of_masses_add_up_exactly():
    rng = np.random.default_rng(0)
    masses = np.concatenate([np.exp(rng.uniform(-40, 0, 2_000)), [0.0, 1.0, 5e-324, 2**-53.0]])
    masses /= 2 * masses.sum()
    whole, rest = in_parts(masses)
    assert [Fraction(a) + Fraction(b) for a, b in zip(whole, rest, strict=True)] == [
        Fraction(mass) for mass in masses
    ]
    assert Fraction(float(whole.sum())) == sum(map(Fraction, whole.tolist()))
    assert np.abs(rest).max() <= ROUNDOFF


def test_chains_are_added_up_from_each_of_their_members():
    rng = np.random.default_rng(1)
    for count in (1, 2, 3, 50, 257):
        heirs = np.array([rng.integers(c + 1, count + 1) for c in range(count)])
        heirs = np.where(heirs == count, -1, heirs)
        terms = np.array([Fraction(int(n), 7) for n in rng.integers(0, 99, count)], dtype=object)
        for c, found in enumerate(chain_sums(terms, heirs).tolist()):
            true, at = Fraction(0), c
            while at >= 0:
                true, at = true + terms[at], heirs[at]
            assert found == true
