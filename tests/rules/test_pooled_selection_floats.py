"""Pooled selection in floats and on a real language model, its samples, and what it refuses."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cache
from itertools import islice, product

import numpy as np
import pytest
from instances import EPS, HEAVY_DRAFTS, floats, fractions, pairs, shares, turn
from scipy.stats import binom
from searching import NIGHTLY, enough

import otspec
from otspec._base import compiling
from otspec.rules import PooledSelection

DRAFT, TARGET = fractions("1/2", "3/10", "1/5"), fractions("1/10", "3/5", "3/10")
NAMES = ("tokens", "fewest")
POOLS = (*NAMES, 1, 2, 7, 256, (0.7310585, 1.618))
"""The thresholds are no ratio of small numbers, so that rounding moves no token across."""
FALSE_ALARM = 1e-3
"""Of each statistical test; the seeds are fixed."""


# What is refused


@pytest.mark.parametrize(
    ("pools", "says"),
    [
        *[
            (pools, f"pools is {shown}: pass 'tokens', 'fewest', a number of bins such as 256")
            for pools, shown in (
                ("best", "'best'"),
                ("", "''"),
                (0, "0"),
                (-1, "-1"),
                (2.5, "2.5"),
                (True, "True"),
                (np.True_, "np.True_"),
                (None, "None"),
            )
        ],
        ([[1]], r"pools has shape \(1, 1\): thresholds are one-dimensional"),
        ([2, 1], r"pools\[1\] is 1 after 2: thresholds must increase"),
        ([1, 1.5, 1.5], r"pools\[2\] is 1.5 after 1.5: thresholds must increase"),
        ([-1], r"pools\[0\] is -1: a threshold is a finite number, at least 0"),
        ([1, -1], r"pools\[1\] is -1: a threshold is a finite number, at least 0"),
        ([1.0, math.inf], r"pools\[1\] is inf: a threshold is a finite number"),
        ([math.nan], r"pools\[0\] is nan: a threshold is a finite number"),
        ([0.5, Fraction(2)], r"pools mixes floats .*: write all as floats, or all as Fractions"),
        ([1, True], r"pools\[1\] is True: pass numbers"),
        (["half"], r"pools\[0\] is 'half', which is not a finite number: write a float"),
    ],
)
@pytest.mark.parametrize("arithmetic", [list, floats])
def test_unusable_pools_are_refused(pools, says, arithmetic):
    with pytest.raises(ValueError, match=says):
        PooledSelection(arithmetic(DRAFT), arithmetic(TARGET), 2, pools)


@pytest.mark.parametrize("loss", [-1, Fraction(-1, 9), -1e-9, math.nan])
@pytest.mark.parametrize("arithmetic", [list, floats])
def test_a_negative_loss_is_refused(loss, arithmetic):
    with pytest.raises(ValueError, match=f"loss is {loss}: it must be at least 0"):
        PooledSelection.within(arithmetic(DRAFT), arithmetic(TARGET), 2, loss)


def test_weights_are_scaled_on_request():
    for rule in (
        PooledSelection([5, 3, 2], [1, 6, 3], 2, pools="fewest", normalize=True),
        PooledSelection.within([5, 3, 2], [1, 6, 3], 2, 0, normalize=True),
    ):
        assert rule.draft.tolist() == list(DRAFT)
        assert rule.target.tolist() == list(TARGET)
        assert rule.acceptance() == Fraction(17, 20)


# Small vocabularies


def limit(n, k):
    """How far sums over tokens, and the law b token by token, may be off.

    A knot is a sum of up to n masses, so that it is off by n EPS/2 or, as masses are rounded too,
    n EPS; its power u^k by k times that, and one more rounding for each of its k factors. B at a
    knot is such a power and a target sum, off by n EPS; a mass of b is a difference of two B, or
    its draft's share of one.
    """
    return 2 * (k + 1) * (n + 2) * EPS


def check_floats(draft, target, k, pools, exact_pair):
    """Compare a rule in floats with the same one in exact arithmetic."""
    rule = PooledSelection(draft, target, k, pools)
    exact = PooledSelection(*exact_pair, k, pools)
    n, close = len(draft), limit(len(draft), k)
    for found, expected in (
        (rule.acceptance(), exact.acceptance()),
        (rule.residual_hits(), exact.residual_hits()),
        (rule.loss_bound(), exact.loss_bound()),
    ):
        assert type(found) is float
        # Residual hits leave out groups that reject less than 1e-14 in all.
        assert abs(found - expected) <= close + 1e-14
    by_draft = rule.accepted().by_position
    assert np.abs(by_draft - exact.accepted().by_position.astype(float)).max() <= close
    assert np.abs(rule.law_of_selection - exact.law_of_selection.astype(float)).max() <= close
    report, rng = otspec.audit(rule), np.random.default_rng(0)
    assert report.lossless
    assert abs(report.acceptance - exact.acceptance()) <= close
    for x in product(range(n), repeat=k):  # impossible drafts are no excuse
        joint = rule.joint_kernel(x)
        assert (joint >= 0).all()
        assert abs(joint.sum() - 1) <= (n + k + 1) * EPS
        assert (joint[:, rule.target == 0] == 0).all()
        token, accepted = rule.sample(x, rng)
        assert rule.target[token] > 0
        assert accepted is (token in x)


@pytest.mark.parametrize("pools", POOLS)
def test_floats_agree_with_exact_arithmetic(pools):
    for index, (draft, target) in enumerate(pairs(seed=230, count=160, most_tokens=4)):
        k = 1 + turn(index, 3)
        check_floats(floats(draft), floats(target), k, pools, (draft, target))


def hard_pairs():
    """Floats from 1 to the smallest subnormal, nearly and exactly equal ratios among them."""
    for draft in HEAVY_DRAFTS:
        for target in (draft, draft[::-1], np.full(len(draft), 1 / len(draft)).tolist()):
            yield list(draft), list(target)
    yield [1e-300, 1.0], [1.0, 0.0]
    yield [1e-300, 1e-300, 0.5, 0.5], [0.25, 0.0, 0.75, 0.0]
    rng = np.random.default_rng(231)
    for index in range(enough(60, 15)):
        n, octaves = int(rng.integers(2, 5)), rng.choice([1, 17, 160, 323], 2)
        draft, target = (10.0 ** (-rng.random(n) * most) for most in octaves)
        if index % 3 == 0:
            target = draft * (1 + EPS * rng.integers(-2, 3, n))
        yield (draft / draft.sum()).tolist(), (target / target.sum()).tolist()


@pytest.mark.parametrize("pools", POOLS)
def test_floats_of_very_different_sizes_agree_with_exact_arithmetic(pools):
    found = list(hard_pairs())
    if not NIGHTLY:  # every other one, in turn
        found = found[POOLS.index(pools) % 2 :: 2]
    for index, (draft, target) in enumerate(found):
        exact_pair = shares(draft), shares(target)
        check_floats(draft, target, 1 + index % 4, pools, exact_pair)


@pytest.mark.parametrize("pools", POOLS)
def test_equal_distributions_are_always_accepted(pools):
    rng = np.random.default_rng(232)
    for draft in (
        *HEAVY_DRAFTS,
        rng.dirichlet(np.ones(1_000)),
        rng.dirichlet(np.full(1_000, 0.01)),
    ):
        for k in (1, 2, 16):
            rule = PooledSelection(draft, draft, k, pools)
            assert abs(rule.acceptance() - 1) <= limit(len(draft), k)
            # Each of them is rejected with a probability of the order of EPS.
            for x in rule.law.sample(20, rng).tolist():
                assert rule.sample(x, rng)[1]


@pytest.mark.skipif(not compiling.HAS_NUMBA, reason="Numba is not installed")
@pytest.mark.parametrize("pools", POOLS)
def test_numba_changes_nothing(pools, monkeypatch):
    def answers():
        rng, found = np.random.default_rng(233), []
        for concentration, k in product((0.01, 1.0), (2, 7)):
            draft, target = rng.dirichlet(np.full(300, concentration), 2)
            rule = PooledSelection(draft, target, k, pools)
            found += [rule.knots, rule.lifetimes, rule.law_of_selection, [rule.acceptance()]]
        return [np.asarray(each).tolist() for each in found]

    compiled = answers()
    monkeypatch.setattr(compiling, "HAS_NUMBA", False)
    assert answers() == compiled


@pytest.mark.parametrize(
    ("pools", "arithmetic"), [("tokens", list), ("fewest", floats), (2, list), (2, floats)]
)
def test_samples_follow_the_kernel(pools, arithmetic):
    draft, target = fractions("5/12", "1/3", "1/6", "1/12"), fractions("1/12", "1/4", "1/3", "1/3")
    rule = PooledSelection(arithmetic(draft), arithmetic(target), 3, pools)
    tuples, masses = rule.law.tuples()
    # One cell for every draft tuple and output: the test sees any dependence between the two.
    cells = np.array([m * rule.kernel(x) for x, m in zip(tuples.tolist(), masses, strict=True)])
    n = len(target)

    def sampler(cell, rng):
        x = tuples[cell[0] // n].tolist()
        return cell[0] // n * n + rule.sample(x, rng)[0]

    law = otspec.IID(cells.ravel(), 1, normalize=True)
    found = otspec.audit_samples(sampler, law, law.draft, enough(40_000), 234)
    assert found.false_alarm == FALSE_ALARM
    assert found.consistent
    assert found.resolution < (0.03 if NIGHTLY else 0.06)


# A real language model


@cache
def real_pairs():
    pairs = islice(otspec.datasets.load_smollm2().pairs(), 12 if NIGHTLY else 6)
    found = [(draft, target) for _, draft, target in pairs]
    assert {len(draft) for draft, _ in found} == {49_152}
    return found


ROUNDING = 1e-10
"""Two cumulative sums of 49,152 masses, each within 49,152 EPS = 1.1e-11, one to a power of 2 to
16: their roundings are of either sign, so that nothing like the worst case of 2e-10 occurs."""


@pytest.mark.parametrize("k", [2, 4, 8, 16])
@pytest.mark.parametrize("pools", NAMES)
def test_named_pools_are_optimal_at_full_vocabulary(pools, k):
    for draft, target in real_pairs():
        rule = PooledSelection(draft, target, k, pools)
        optimum = otspec.optimal_acceptances(draft, target, [k])[0]
        assert abs(rule.acceptance() - optimum) <= ROUNDING
        assert abs(np.minimum(rule.law_of_selection, target).sum() - optimum) <= ROUNDING
        assert abs(rule.law_of_selection.sum() - 1) <= ROUNDING
        assert -ROUNDING <= rule.loss_bound() <= ROUNDING
        assert rule.residual_hits() == 0
        if pools == "fewest":
            assert len(rule.knots) - 1 < 200


@pytest.mark.parametrize(("k", "most"), [(2, 5e-4), (4, 5e-4), (8, 5e-4), (16, 1e-3)])
def test_bins_lose_little(k, most):
    losses = []
    for draft, target in real_pairs():
        rule = PooledSelection(draft, target, k, 256)
        losses.append(otspec.optimal_acceptances(draft, target, [k])[0] - rule.acceptance())
        assert -ROUNDING <= losses[-1] <= rule.loss_bound() + ROUNDING
    assert 0 < np.mean(losses) < most


@pytest.mark.parametrize("k", [2, 4, 8, 16])
def test_a_loss_is_kept_within_at_full_vocabulary(k):
    for draft, target in real_pairs()[k % 3 :: 3]:
        rule = PooledSelection.within(draft, target, k, 1e-4)
        optimum = otspec.optimal_acceptances(draft, target, [k])[0]
        assert -ROUNDING <= optimum - rule.acceptance() <= rule.loss_bound() + ROUNDING
        assert rule.loss_bound() <= 1e-4


def test_samples_at_full_vocabulary():
    draft, target = real_pairs()[0]
    rule, size, accepted = PooledSelection(draft, target, 4), 65_000 if NIGHTLY else 6_000, []

    def sampler(x, rng):
        token, flag = rule.sample(x, rng)
        accepted.append(flag)
        return token, flag

    found = otspec.audit_samples(sampler, rule.law, target, size, 235, false_alarm=FALSE_ALARM)
    assert found.consistent
    assert found.impossible is None
    assert found.resolution < (0.042 if NIGHTLY else 0.2)  # in total variation
    # How often a draft is accepted: an exact two-sided binomial test.
    chance, hits = rule.acceptance(), sum(accepted)
    tail = min(binom.cdf(hits, size, chance), binom.sf(hits - 1, size, chance))
    assert tail > FALSE_ALARM / 2
