"""The fewest pools (Pooled, proposition 6): no fewer do, by trying all partitions."""

from __future__ import annotations

from fractions import Fraction
from itertools import chain, combinations, pairwise, product

import numpy as np
import oracles
import pytest
from instances import EPS, HEAVY_DRAFTS, floats, pairs, turn
from programs_table import INF, dense_program

import otspec
from otspec._base import compiling
from otspec.distributions import as_pair
from otspec.optimum.pools.pools import by_thresholds, by_token
from otspec.ratios import target_to_draft
from otspec.rules import PooledSelection
from otspec.rules.pooled.partitions import MOST_STEPS, fewest_pools
from otspec.solvers import SOLVERS, Sense

needs_numba = pytest.mark.skipif(not compiling.HAS_NUMBA, reason="Numba is not installed")


def instances(seed, count, most_tokens, ks=(1, 2, 3, 4)):
    """Exact pairs, all kinds with all k."""
    for index, (draft, target) in enumerate(pairs(seed, count, most_tokens)):
        yield draft, target, ks[turn(index, len(ks))]


def fewest_of(draft, target, k):
    """The lowest ratio of each pool but the lowest: thresholds between them."""
    pools, ratios = fewest_pools(otspec.IID(draft, k), target), target_to_draft(draft, target)
    lowest = [
        min(ratios[(pools.index == j) & (draft > 0)].tolist()) for j in range(len(pools.draft))
    ]
    return np.array(lowest[1:], dtype=draft.dtype)


def stretches(draft, target):
    """The drafted tokens by ascending ratio; those of one ratio together."""
    ratios = {token: q / p for token, (p, q) in enumerate(zip(draft, target, strict=True)) if p}
    return [
        [token for token in ratios if ratios[token] == ratio]
        for ratio in sorted(set(ratios.values()))
    ]


def partitions(m):
    """All ways to cut m things in a row, as boundaries from 0 to m, the fewest pieces first."""
    for inner in range(m):
        for cuts in combinations(range(1, m), inner):
            yield 0, *cuts, m


def most_accepted(draft, target, k, pools):
    """Σ min(b, q) at most, of laws b = c_j p in pool j that drafts can be selected with.

    Variables: c_j for each pool, then min(b, q) for each token. Every set A must get at least
    p(A)^k. The least of b(A) − p(A)^k, which is concave in how much of each pool is in A, is where
    all or nothing of each is, so that the sets of whole pools are enough.
    """
    tokens = [token for pool in pools for token in pool]
    masses = [sum(draft[token] for token in pool) for pool in pools]
    rows = []
    for chosen in product((0, 1), repeat=len(pools)):
        given = [mass * taken for mass, taken in zip(masses, chosen, strict=True)]
        most = 1 if all(chosen) else INF
        rows.append((given + [0] * len(tokens), sum(given) ** k, most))
    for i, token in enumerate(tokens):
        row = [-draft[token] * (token in pool) for pool in pools] + [0] * len(tokens)
        row[len(pools) + i] = 1
        rows.append((row, -INF, 0))
    objective = [0] * len(pools) + [1] * len(tokens)
    bounds = [(0, INF)] * len(pools) + [(0, target[token]) for token in tokens]
    return SOLVERS["rational"](dense_program(Sense.MAXIMIZE, objective, rows, bounds)).value


def fewest_by_program(draft, target, k):
    """The least number of pools with which the exact program reaches the optimum."""
    best = oracles.optimum(oracles.iid_table(draft, k), target)
    units = stretches(draft, target)
    for cuts in partitions(len(units)):
        pools = [list(chain(*units[start:end])) for start, end in pairwise(cuts)]
        if most_accepted(draft, target, k, pools) == best:
            return len(pools)
    raise AssertionError("a pool for every ratio is optimal")


@pytest.mark.parametrize("k", [1, 2, 3, 4])
def test_no_fewer_pools_can_be_optimal(k):
    counts = []
    for draft, target in pairs(330 + k, 160, 7):
        thresholds = fewest_of(*as_pair(draft, target), k)
        assert len(thresholds) + 1 == fewest_by_program(draft, target, k)
        counts.append(len(thresholds) + 1)
    assert len(set(counts)) > 3 or k == 1  # then the draft is the only law


def test_the_rule_with_the_fewest_pools_is_optimal():
    for draft, target, k in instances(332, 400, 9):
        rule = PooledSelection(draft, target, k, pools="fewest")
        best = otspec.optimal_acceptance(otspec.IID(draft, k), target).acceptance
        assert rule.acceptance() == best
        assert sum(map(min, rule.law_of_selection, target)) == best
        # Of one pool, as for k = 1, the knots do not show that it is optimal.
        assert rule.loss_bound() == 0 or k == 1


def test_thresholds_are_ratios_and_leave_no_pool_empty():
    for draft, target, k in instances(333, 240, 9):
        p, q = as_pair(draft, target)
        thresholds = fewest_of(p, q, k)
        assert all(before < after for before, after in pairwise(thresholds))
        ratios = {b / a for a, b in zip(draft, target, strict=True) if a}
        assert set(thresholds) <= ratios
        assert len(by_thresholds(p, q, thresholds).draft) == len(thresholds) + 1


def test_rounding_does_not_take_more_pools():
    for draft, target, k in instances(334, 400, 9):
        needed = fewest_of(*as_pair(draft, target), k)
        assert len(fewest_of(*as_pair(floats(draft), floats(target)), k)) <= len(needed)


def heavy_pair(n, seed, spread=1.0):
    draft, noise = np.random.default_rng(seed).standard_normal((2, n))
    return as_pair(np.exp(3 * draft), np.exp(2.7 * draft + spread * noise), normalize=True)


def all_accepted(n, k):
    """Where the optimum is 1 and the target itself the only optimal law: a pool for each ratio."""
    draft = np.random.default_rng(n).dirichlet(np.ones(n))
    knots = np.append(0, np.cumsum(draft))
    highest = np.diff(knots**k)
    return as_pair(draft, draft + highest, normalize=True)


def fewest(draft, target, k, monkeypatch, numba):
    monkeypatch.setattr(compiling, "HAS_NUMBA", numba)
    return fewest_of(draft, target, k)


@needs_numba
@pytest.mark.parametrize("k", [1, 2, 4, 64])
@pytest.mark.parametrize("n", [1, 2, 30, 200, pytest.param(1_000, marks=pytest.mark.nightly)])
def test_numba_gives_the_same_thresholds(n, k, monkeypatch):
    some = [heavy_pair(n, seed, spread=3.0) for seed in range(3)]
    for draft, target in [*some, all_accepted(n, k)]:
        compiled = fewest(draft, target, k, monkeypatch, numba=True)
        plain = fewest(draft, target, k, monkeypatch, numba=False)
        assert compiled.dtype == plain.dtype == np.float64
        assert np.array_equal(compiled, plain)


@needs_numba
@pytest.mark.parametrize("target", [(1.0, 0.0, 0.0), (0.2, 0.3, 0.5), (0.5, 0.5, 0.0)])
@pytest.mark.parametrize("draft", [(5e-324, 0.5, 0.5), (0.5, 1e-310, 0.5), (1e-310, 5e-324, 1.0)])
def test_ratios_that_overflow(draft, target, monkeypatch):
    p, q = as_pair(np.array(draft), np.array(target))
    for k in (1, 2, 64):
        compiled = fewest(p, q, k, monkeypatch, numba=True)
        assert np.array_equal(compiled, fewest(p, q, k, monkeypatch, numba=False))
        rule = PooledSelection(p, q, k, pools="fewest")
        best = otspec.optimal_acceptance(rule.law, q).acceptance
        assert abs(rule.acceptance() - best) <= 5 * (k + 2) * EPS


@pytest.mark.parametrize("draft", HEAVY_DRAFTS)
def test_drafts_of_very_different_sizes(draft):
    p, q = as_pair(np.array(draft), np.full(len(draft), 1 / len(draft)))
    for k in (1, 2, 64):
        rule = PooledSelection(p, q, k, pools="fewest")
        best = otspec.optimal_acceptance(rule.law, q).acceptance
        assert abs(rule.acceptance() - best) <= (k + 2) * (len(p) + 2) * EPS


@pytest.mark.parametrize("k", [2, 8])
def test_an_optimum_of_one_takes_a_pool_for_every_ratio(k):
    n = 4 * MOST_STEPS
    draft, target = all_accepted(n, k)
    thresholds = fewest_of(draft, target, k)
    # The search is given up, and all pools are used.
    assert len(thresholds) == len(by_token(draft, target).draft) - 1 > MOST_STEPS
    rule = PooledSelection(draft, target, k, pools="fewest")
    assert abs(rule.acceptance() - 1) <= (k + 2) * n * EPS


@pytest.mark.parametrize("k", [2, 4, 8, 16])
def test_a_real_position_needs_few_pools(k):
    _, draft, target = next(iter(otspec.datasets.load_smollm2().pairs()))
    rule = PooledSelection(draft, target, k, pools="fewest")
    best = otspec.optimal_acceptance(rule.law, target).acceptance
    # The law may be lower than what rounding leaves uncertain of the k-th powers of sums.
    assert abs(rule.acceptance() - best) <= (k + 2) * len(draft) ** 0.5 * EPS
    assert len(rule.knots) - 1 < 100
    assert abs(rule.law_of_selection.sum() - 1) <= (k + 2) * len(draft) ** 0.5 * EPS


def test_by_hand():
    # G − Q is most at the knot 1/2. One pool on each side does for k = 2: slopes 1/2 and 3/2.
    draft, target = as_pair(["1/4", "1/4", "1/4", "1/4"], ["0", "1/16", "7/16", "1/2"])
    assert fewest_of(draft, target, 2).tolist() == [Fraction(7, 4)]
