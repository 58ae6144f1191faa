"""Pools by token, bins and thresholds (Pooled, proposition 5), against grouping one at a time."""

from __future__ import annotations

from bisect import bisect_right
from fractions import Fraction

import numpy as np
import pytest
from instances import EPS, floats, pairs
from searching import of_all

from otspec._base import compiling
from otspec.distributions import as_distribution, as_pair
from otspec.optimum.pools.knots import OCTAVES, Histogram, equal_bins
from otspec.optimum.pools.pools import by_bins, by_thresholds, by_token

needs_numba = pytest.mark.skipif(not compiling.HAS_NUMBA, reason="Numba is not installed")

SMALLEST = 5e-324
LARGEST = 1.7e308

# Weights, not distributions: masses need not add up to 1. All ratios are exact, or overflow.
CORNERS = (
    (0.5, 0.0),
    (0.25, 0.25),
    (0.25, 0.5),
    (SMALLEST, 0.25),  # the ratio overflows
    (SMALLEST, 0.0),
    (SMALLEST, SMALLEST),
    (1e-310, 1e-310),
    (2.0**-1000, 2.0**-1000 * 1.5),
    (0.125, SMALLEST),  # the ratio is rounded to the least double
    (0.5, -0.0),
    (0.0, 0.5),
    (0.0, 0.0),
)

THRESHOLDS = {
    "none": [],
    "zero": [0.0],
    "one": [1.0],
    "beyond nearly all": [1e308],
    "both ends": [0.0, 1e308],
    "least and largest": [SMALLEST, LARGEST],
    "subnormal": [SMALLEST, 2e-323, 1e-310, 1e-308],
    "in one cell": [1.0, 1.0 + EPS, 1.0 + 2 * EPS, 1.0 + 3 * EPS],
    "around the cells' ends": [np.nextafter(1, 0), 1.0, 1 + 1 / 64, np.nextafter(1 + 1 / 64, 2)],
    "powers": [2.0**e for e in range(-1074, 1024)],
}


def ratio(p, q):
    """In floats as one rounded division, in fractions exactly."""
    if isinstance(p, Fraction):
        return q / p
    with np.errstate(over="ignore"):
        return float(np.float64(q) / np.float64(p))


def grouped(draft, target, key):
    """{key: (tokens, draft mass, target mass)} of the drafted tokens, keys ascending."""
    groups = {}
    for token, (p, q) in enumerate(zip(draft, target, strict=True)):
        if p > 0:
            at = key(p, q)
            tokens, drafted, wanted = groups.get(at, ([], p * 0, p * 0))
            groups[at] = ([*tokens, token], drafted + p, wanted + q)
    return dict(sorted(groups.items()))


def assert_pools_are(pools, groups, error=0):
    """Compare with :func:`grouped`: indices exactly, masses within a number of roundings."""
    assert len(pools.draft) == len(pools.target) == len(groups)
    for j, (tokens, drafted, wanted) in enumerate(groups.values()):
        assert pools.index[tokens].tolist() == [j] * len(tokens)
        assert abs(pools.draft[j] - drafted) <= error * drafted
        assert abs(pools.target[j] - wanted) <= error * wanted


def assert_same(first, second):
    for name in ("draft", "target", "floor", "ceiling", "index", "knots"):
        one, other = getattr(first, name), getattr(second, name)
        assert one.dtype == other.dtype
        assert np.array_equal(one, other), name


def heavy_pair(n, seed, zeros=0.1):
    """Heavy-tailed masses, each zero with some probability, and some tokens of one ratio."""
    rng = np.random.default_rng(seed)
    draft = np.exp(3 * rng.standard_normal(n)) * (rng.random(n) >= zeros)
    target = draft * np.exp(rng.standard_normal(n)) * (rng.random(n) >= zeros)
    target[::5] = 2 * draft[::5]
    target += (draft == 0) * rng.random(n) * (rng.random(n) >= zeros)
    return as_pair(draft, target, normalize=True)


@pytest.mark.parametrize("arithmetic", [list, floats])
def test_by_token_gives_one_pool_to_each_ratio(arithmetic):
    ties = 0
    for draft, target in pairs(300, 240, 9):
        p, q = as_pair(arithmetic(draft), arithmetic(target))
        groups = grouped(p.tolist(), q.tolist(), ratio)
        pools = by_token(p, q)
        # Both add up the at most 9 tokens of a pool, in two orders.
        assert_pools_are(pools, groups, error=0 if p.dtype == object else 18 * EPS)
        assert (pools.floor == pools.target).all()
        assert (pools.ceiling == pools.target).all()
        assert len(pools.index) == len(p)
        ties += any(len(tokens) > 1 for tokens, _, _ in groups.values())
    assert ties > of_all(50)


@pytest.mark.parametrize("arithmetic", [list, floats])
@pytest.mark.parametrize("count", [1, 2, 3, 16, 64, 1000])
def test_by_bins_groups_by_the_logarithm_of_the_ratio(arithmetic, count):
    edges = [2.0 ** (OCTAVES * (2 * j / count - 1)) for j in range(1, count)]
    for draft, target in pairs(301, 48, 9):
        p, q = as_pair(arithmetic(draft), arithmetic(target))
        # Edges that are powers of 2 are exact on both sides, and some ratios lie on them. Others
        # may be rounded differently; no ratio of such small weights is that close to them.
        groups = grouped(p.tolist(), q.tolist(), lambda a, b: bisect_right(edges, ratio(a, b)))
        assert_pools_are(by_bins(p, q, count), groups, error=0 if p.dtype == object else 18 * EPS)


@pytest.mark.parametrize("arithmetic", [list, floats])
def test_by_thresholds_puts_a_ratio_on_a_threshold_above_it(arithmetic):
    on_thresholds = 0
    for draft, target in pairs(302, 240, 9):
        p, q = as_pair(arithmetic(draft), arithmetic(target))
        found = sorted({ratio(a, b) for a, b in zip(p.tolist(), q.tolist(), strict=True) if a > 0})
        thresholds = np.array(found[::2], dtype=p.dtype)
        on_thresholds += len(thresholds)
        groups = grouped(
            p.tolist(), q.tolist(), lambda a, b, t=thresholds: bisect_right(t, ratio(a, b))
        )
        pools = by_thresholds(p, q, thresholds)
        assert_pools_are(pools, groups, error=0 if p.dtype == object else 18 * EPS)
        for j, (tokens, _, wanted) in enumerate(groups.values()):
            ratios = [ratio(p[token], q[token]) for token in tokens]
            # Bounds on the masses, from the ratios that occur; the pool's own mass is inside.
            assert pools.floor[j] == min(min(ratios) * pools.draft[j], pools.target[j])
            assert pools.ceiling[j] == max(min(max(ratios) * pools.draft[j], 1), pools.target[j])
            assert abs(pools.target[j] - wanted) <= 18 * EPS
    assert on_thresholds > of_all(240)


def test_the_bounds_of_bins_are_their_edges():
    edges = [0, Fraction(1, 16), 1, 16, np.inf]
    for draft, target in pairs(303, 120, 9):
        p, q = as_pair(draft, target)
        pools = by_bins(p, q, 4)
        groups = grouped(draft, target, lambda a, b: bisect_right(edges[1:-1], b / a))
        for j, (bin_, (_, drafted, wanted)) in enumerate(groups.items()):
            assert pools.floor[j] == edges[bin_] * drafted
            assert pools.ceiling[j] == min(edges[bin_ + 1] * drafted, 1)
            assert pools.floor[j] <= wanted <= pools.ceiling[j]


@pytest.mark.parametrize("name", THRESHOLDS)
def test_corners_of_the_floats_are_binned_as_by_comparing_them(name):
    thresholds = np.array(THRESHOLDS[name])
    bins = Histogram(thresholds)
    # Each corner alone, and all of them next to ratios exactly on and beside the thresholds.
    near = thresholds[(thresholds > 1e-300) & (thresholds < 1e300)][:200]
    beside = np.concatenate([near, np.nextafter(near, 0), np.nextafter(near, np.inf)])
    everything = [*CORNERS, *((1.0, float(value)) for value in beside)]
    for tokens in ([corner] for corner in CORNERS if corner[0] > 0):
        check_binned(tokens, bins)
    check_binned(everything, bins)


def check_binned(tokens, bins):
    draft, target = np.array(tokens).T.copy()
    edges = bins.thresholds.tolist()
    groups = grouped(draft, target, lambda p, q: bisect_right(edges, ratio(p, q)))
    index, filled, drafted, wanted = bins.binned(draft, target)
    expected = np.zeros((2, len(edges) + 1))
    for bin_, (members, p, q) in groups.items():
        expected[:, bin_] = p, q
        assert filled[index[members]].tolist() == [bin_] * len(members)
    # Both add up in the order of the tokens.
    assert drafted.tolist() == expected[0, filled].tolist()
    assert wanted.tolist() == expected[1, filled].tolist()
    assert filled.tolist() == sorted(groups)
    assert_pools_are(by_thresholds(draft, target, bins.thresholds), groups)


@needs_numba
@pytest.mark.parametrize("name", THRESHOLDS)
def test_numba_bins_corners_as_numpy_does(name, monkeypatch):
    draft, target = np.array(CORNERS).T.copy()
    thresholds = np.array(THRESHOLDS[name])
    compiled = by_thresholds(draft, target, thresholds)
    monkeypatch.setattr(compiling, "HAS_NUMBA", False)
    assert_same(compiled, by_thresholds(draft, target, thresholds))


@needs_numba
@pytest.mark.parametrize("count", [1, 2, 7, 256, 1000, 70_000])
@pytest.mark.parametrize("n", [1, 30, 262_144])
def test_numba_gives_the_same_bins(count, n, monkeypatch):
    draft, target = heavy_pair(n, seed=n, zeros=0.1 if n > 1 else 0)
    compiled = by_bins(draft, target, count)
    monkeypatch.setattr(compiling, "HAS_NUMBA", False)
    assert_same(compiled, by_bins(draft, target, count))


@pytest.mark.parametrize("count", [1, 64, 1000])
def test_bins_at_the_largest_vocabularies_against_numpys_histogram(count):
    draft, target = heavy_pair(262_144, seed=2)
    drafted = draft > 0
    assert not drafted.all()
    pools = by_bins(draft, target, count)
    edges = [0, *equal_bins(count).thresholds, np.inf]
    keys = target[drafted] / draft[drafted]
    for found, masses in ((pools.draft, draft), (pools.target, target)):
        expected, _ = np.histogram(keys, edges, weights=masses[drafted])
        occupied, _ = np.histogram(keys, edges)
        assert len(found) == (occupied > 0).sum()
        # Sums of up to n masses that add up to 1, one by one.
        assert abs(found - expected[occupied > 0]).max() <= len(draft) * EPS
    # Whatever bin is found, the masses are those of its tokens.
    again = np.bincount(pools.index[drafted], draft[drafted], len(pools.draft))
    assert abs(again - pools.draft).max() <= len(draft) * EPS
    assert (np.diff(pools.index[drafted][np.argsort(keys)]) >= 0).all()


def test_equal_bins_have_one_width_in_logarithms():
    for count in (1, 2, 7, 64, 256, 1000):
        thresholds = equal_bins(count).thresholds
        assert len(thresholds) == count - 1
        steps = np.diff(np.log2(thresholds))
        # Logarithms up to 8 are rounded by 4 eps; the powers of 2 have a few more roundings.
        assert abs(steps - 2 * OCTAVES / count).max(initial=0) <= 20 * EPS
    assert equal_bins(64).thresholds[31] == 1


def test_empty_bins_are_left_out_and_tokens_that_are_never_drafted_get_some_pool():
    draft = as_distribution(["1/2", "0", "1/4", "0", "1/4"])
    target = as_distribution(["1/4", "1/4", "1/4", "0", "1/4"])
    thresholds = np.array([Fraction(1, 4), Fraction(3, 4), Fraction(7, 8), Fraction(2)])
    pools = by_thresholds(draft, target, thresholds)
    assert pools.draft.tolist() == [Fraction(1, 2), Fraction(1, 2)]
    assert pools.target.tolist() == [Fraction(1, 4), Fraction(1, 2)]
    assert pools.index[[0, 2, 4]].tolist() == [0, 1, 1]
    assert pools.knots.tolist() == [0, Fraction(1, 2), 1]
    assert set(pools.index.tolist()) <= {0, 1}


@pytest.mark.parametrize("arithmetic", [list, floats])
def test_every_token_has_a_pool_that_exists(arithmetic):
    for draft, target in pairs(304, 160, 9):
        p, q = as_pair(arithmetic(draft), arithmetic(target))
        for pools in (by_token(p, q), by_bins(p, q, 7), by_thresholds(p, q, p[:0])):
            assert pools.index.shape == p.shape
            assert pools.index.dtype == np.intp
            assert 0 <= pools.index.min() <= pools.index.max() < len(pools.draft)
            assert (pools.draft > 0).all()
            assert abs(pools.knots[-1] - 1) <= (0 if p.dtype == object else 9 * EPS)
