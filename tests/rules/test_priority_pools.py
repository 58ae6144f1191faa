"""Priority mixtures of pools of tokens, for drafts that differ (Different, prop. 1 and 3)."""

from __future__ import annotations

from fractions import Fraction
from functools import cache

import numpy as np
import oracles
import pytest
from instances import EPS, fractions, pair
from searching import enough, of_all

import otspec
from otspec.rules import PriorityMixture
from otspec.rules.priority import pooled_mixtures
from otspec.rules.priority.cut_pools import cut_by_moves

HALF = Fraction(1, 2)
KINDS = ("dense", "sparse", "tied", "proportional", "undrafted", "equal", "disjoint", "certain")


def instances(count, seed=771):
    """Different drafts and a target over 1 to 5 tokens; every kind of pair gives some of each."""
    rng = np.random.default_rng(seed)
    for index in range(enough(count)):
        n, k = 1 + index % 5, 1 + index % 3
        kind = KINDS[index % len(KINDS)]
        first, target = pair(rng, n, kind)
        others = [pair(rng, n, kind)[index % 2] for _ in range(k - 1)]
        yield [first, *others], target


def pools_of(index, n):
    """A number of pools, or labels: one pool, own pools, two pools, numbers that leave some out."""
    two, gaps = [y % 2 for y in range(n)], [7 * (y > 1) for y in range(n)]
    return [2, 3, 64, [0] * n, list(range(n)), two, gaps][index % 7]


def law_by_enumeration(mixture, table, n):
    """The law of the selected token, from what a mixture says of itself."""
    law = [Fraction(0)] * n
    for x, mass in table.items():
        for order, weight in zip(mixture.orders.tolist(), mixture.weights, strict=True):
            places = [order.index(mixture.pools[y]) for y in x]
            first = [y for y, place in zip(x, places, strict=True) if place == min(places)]
            for y in first:
                law[y] += mass * weight / len(first)
    return law


def test_pools_of_any_kind_are_lossless_and_bounded():
    below = attained = 0
    for index, (drafts, target) in enumerate(instances(105)):
        n = len(target)
        table = oracles.independent_table(drafts)
        law = otspec.Independent(drafts)
        most = (1, 2, 14)[index % 3]
        rule = PriorityMixture(law, target, gap=0, most=most, pools=pools_of(index, n))
        mixture = rule.mixture
        rows = {x: rule.kernel(x).tolist() for x in table}
        assert oracles.output(table, rows.__getitem__, n) == list(target)
        assert mixture.law.tolist() == law_by_enumeration(mixture, table, n)
        accepted = oracles.acceptance(table, rows.__getitem__)
        assert accepted == rule.acceptance()
        optimum = oracles.optimum(table, target)
        assert mixture.accepted <= accepted <= optimum <= rule.bound
        inside = oracles.inside_every_set(table, n)[sum(1 << y for y in rule.cut)]
        assert rule.bound == sum(target[y] for y in rule.cut) + 1 - inside
        assert mixture.weights.sum() == 1
        assert len(mixture.orders) <= most
        assert all(set(mixture.pools) <= set(order) for order in mixture.orders)
        below += mixture.accepted < optimum
        attained += mixture.accepted == optimum
    assert below > of_all(10)
    assert attained > of_all(30)


def test_pools_of_one_token_each_reach_the_optimum():
    for drafts, target in instances(40, seed=772):
        law = otspec.Independent(drafts)
        rule = PriorityMixture(law, target, gap=0, pools=list(range(len(target))))
        assert rule.acceptance() == rule.bound
        assert rule.bound == oracles.optimum(oracles.independent_table(drafts), target)


def test_a_cut_by_moves_is_a_local_minimum_and_between_all_minimizers():
    """No token improves it; all tokens shrink to a set that holds every minimizer."""
    best = 0
    for drafts, target in instances(120, seed=773):
        n, table = len(target), oracles.independent_table(drafts)
        values = oracles.cut_values(table, target)
        found = cut_by_moves(np.array(drafts, dtype=object), np.array(target, dtype=object))
        here = sum(1 << y for y in range(n) if found[y])
        assert all(values[here] <= values[here ^ 1 << y] for y in range(n))
        best += values[here] == min(values)
    assert best >= of_all(100)


def test_equal_drafts_are_those_of_an_iid_law():
    draft, target = fractions("1/2", "3/10", "1/5"), fractions("1/10", "3/5", "3/10")
    of_each, of_one = (
        PriorityMixture(law, target, gap=HALF, most=1, pools=2)
        for law in (otspec.Independent([draft, draft]), otspec.IID(draft, 2))
    )
    assert of_each.law_of_selection.tolist() == of_one.law_of_selection.tolist()
    assert of_each.acceptance() == of_one.acceptance()


# Full vocabulary


@cache
def models(count):
    """Drafts at several temperatures and the target, at the positions of one text."""
    trace = otspec.datasets.load_smollm2()
    found = [trace.pairs(draft_temperature=t) for t in (0.6, 1.5, 1.0)[:count]]
    positions = [next(zip(*found, strict=True)) for _ in range(4)]
    return [([draft for _, draft, _ in rows], rows[0][2]) for rows in positions]


@pytest.mark.parametrize("count", [2, 3])
def test_a_hundred_pools_certify_a_full_vocabulary(count):
    for drafts, target in models(count)[3:4]:
        law = otspec.Independent(drafts)
        rule = PriorityMixture(law, target, gap=1e-3, pools=128)
        assert 0 <= rule.bound - rule.mixture.accepted <= 1e-3
        # Sums of n masses, which are at most 1, of k drafts.
        rounding = 4 * count * law.n * EPS
        assert abs(otspec.optimum.cut_bound(law, target, rule.cut) - rule.bound) <= rounding
        assert abs(rule.law_of_selection.sum() - 1) <= rounding
        estimate = rule.estimate(100).probability
        assert rule.mixture.accepted <= estimate.low <= estimate.high <= rule.bound


@pytest.mark.parametrize("pools", [2, 20, 36])
def test_pools_are_split_up_to_the_number_that_was_asked_for(pools):
    """Two pools leave a gap, which more of them would close."""
    *drafts, target = np.random.default_rng(3).dirichlet(np.full(60, 0.5), 3)
    rule = PriorityMixture(otspec.Independent(drafts), target, gap=0, pools=pools, most=60)
    assert len(set(rule.mixture.pools.tolist())) <= pools


def test_pools_are_split_until_the_gap_is_closed():
    """As many pools as tokens reach the optimum; the search begins with fewer."""
    draft, target = np.random.default_rng(1).dirichlet(np.full(40, 0.5), 2)
    rule = PriorityMixture(otspec.IID(draft, 3), target, gap=1e-9, pools=40)
    optimum = otspec.optimal_acceptance(otspec.IID(draft, 3), target).acceptance
    assert rule.mixture.accepted == pytest.approx(optimum, abs=1e-8)
    assert pooled_mixtures.FIRST_POOLS < len(set(rule.mixture.pools.tolist())) <= 40


def test_no_orders_are_added_where_the_gap_is_closed(monkeypatch):
    """Any mixture is within 1 of the optimum."""
    asked, by_rounds = [], pooled_mixtures._round

    def counted(*given):
        asked.append(given)
        return by_rounds(*given)

    monkeypatch.setattr(pooled_mixtures, "_round", counted)
    *drafts, target = np.random.default_rng(3).dirichlet(np.full(60, 0.5), 3)
    rule = PriorityMixture(otspec.Independent(drafts), target, gap=1, pools=60, most=60)
    assert 0 <= rule.bound - rule.mixture.accepted <= 1
    assert len(asked) == 1


def test_floats_are_as_the_fractions_that_they_stand_for():
    """The law of fixed pools and one order is a formula in both arithmetics."""
    for drafts, target in instances(24, seed=774):
        pools = [y % 2 for y in range(len(target))]
        exact = PriorityMixture(otspec.Independent(drafts), target, gap=1, most=1, pools=pools)
        rows = [[float(mass) for mass in row] for row in (*drafts, target)]
        rule = PriorityMixture(otspec.Independent(rows[:-1]), rows[-1], gap=1, most=1, pools=pools)
        if rule.mixture.orders.tolist() == exact.mixture.orders.tolist():
            off = rule.law_of_selection - exact.law_of_selection.astype(float)
            assert abs(off).max() <= 30 * EPS  # some 15 roundings of numbers up to 1


@pytest.mark.parametrize("pools", [2, 40, [0, 0, 1, 1]])
def test_extreme_floats_are_lossless(pools):
    drafts = [[1e-310, 0.5, 0.5, 0.0], [1.0, 0.0, 0.0, 0.0], [5e-324, 1e-300, 1.0, 0.0]]
    for target in ([0.5, 1e-320, 0.5, 0.0], [0.0, 0.0, 0.0, 1.0], [1e-300, 1e-16, 1.0, 0.0]):
        rule = PriorityMixture(otspec.Independent(drafts), target, pools=pools)
        report = otspec.audit(rule)
        assert report.lossless
        assert rule.mixture.accepted <= rule.bound
        assert rule.bound >= report.optimum - 30 * EPS


# Samples and errors


def test_samples_agree_with_the_kernel_for_each_tuple():
    law = otspec.Independent([[0.4, 0.3, 0.3, 0.0], [0.2, 0.1, 0.5, 0.2]])
    rule = PriorityMixture(law, [0.4, 0.3, 0.0, 0.3], pools=[0, 0, 1, 1])
    assert rule.kernel([0, 1])[:2].all()  # both are in the first pool
    for seed, x in enumerate(law.tuples()[0].tolist()[::4]):
        certain = np.zeros((4, 4))
        certain[tuple(x)] = 1.0
        drafts = otspec.Joint(certain)
        assert otspec.audit_samples(
            rule.sample, drafts, rule.kernel(x), enough(3_000), seed + 20
        ).consistent


@pytest.mark.parametrize(
    ("pools", "says"),
    [
        ("bins", "pools is 'bins': pass 'tokens', how many pools at most, such as 256"),
        (1, "pools must be at least 2, got 1: pass how many pools, such as 256"),
        (5_000, "pools must be at most 4,096, got 5000: pass a smaller one"),
        ([0, 1], "pools has 2 entries for 3 tokens: pass the pool of each"),
        ([0.5, 1.0, 2.0], "one integer for each token"),
    ],
)
def test_unusable_pools_are_refused(pools, says):
    with pytest.raises(ValueError, match=says):
        PriorityMixture(otspec.IID([0.5, 0.3, 0.2], 2), [0.1, 0.6, 0.3], pools=pools)


def test_pools_are_for_independent_drafts():
    law = otspec.WithoutReplacement([0.5, 0.3, 0.2], 2)
    with pytest.raises(ValueError, match="draft_law is WithoutReplacement: pools are for indep"):
        PriorityMixture(law, [0.1, 0.6, 0.3], pools=2)
