"""Estimates cover what they estimate, and say with which probability."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import binom

from otspec.estimate import Estimate
from otspec.rules import ImportanceSampling, RecursiveRejectionWithoutReplacement
from otspec.rules.base.accepted import acceptance_or_estimate, enumerated_acceptance
from otspec.rules.base.rule import NotExactError
from otspec.rules.importance import acceptance as importance_laws


def test_an_estimate_is_no_float_and_shows_its_interval():
    values = np.array([0.25, 0.75, 0.5, 0.5])
    estimate = Estimate.of_mean(values, confidence=0.9)
    assert not isinstance(estimate, float)
    assert estimate == estimate.value == float(estimate) == 0.5
    assert estimate + 1 == 1.5
    assert f"{estimate:.2f}" == "0.50"
    assert estimate.size == 4
    assert estimate.confidence == 0.9
    assert repr(Estimate.of_mean(np.full(10_001, 0.25), 0.99)) == (
        f"Estimate(0.25, low={0.25 - 7 * math.log(400) / 30_000:.6g}, "
        f"high={0.25 + 7 * math.log(400) / 30_000:.6g}, confidence=0.99, size=10001)"
    )


def test_the_interval_is_the_empirical_bernstein_bound():
    values = np.random.default_rng(0).random(5_000)
    estimate = Estimate.of_mean(values, confidence=0.99)
    log = math.log(4 / 0.01)
    # Maurer and Pontil, theorem 4, for both sides at once: ln(2/δ) with δ halved.
    radius = math.sqrt(2 * np.var(values, ddof=1) * log / 5_000) + 7 * log / (3 * 4_999)
    assert estimate.low == pytest.approx(values.mean() - radius, rel=1e-12)
    assert estimate.high == pytest.approx(values.mean() + radius, rel=1e-12)


def test_a_known_part_shifts_the_interval_which_stays_in_the_unit_interval():
    values = np.random.default_rng(1).random(5_000) / 10
    bare, shifted = Estimate.of_mean(values), Estimate.of_mean(values, plus=0.5)
    assert shifted.value == pytest.approx(bare.value + 0.5)
    assert shifted.high - 0.5 == pytest.approx(bare.high)
    assert Estimate.of_mean(np.zeros(10)).low == 0
    assert Estimate.of_mean(np.ones(10)).high == 1
    assert Estimate.of_mean(np.ones(10)).low < 1


@pytest.mark.parametrize("mean", [0.003, 0.3])
@pytest.mark.parametrize("size", [20, 400])
def test_the_interval_covers_the_mean_as_often_as_it_says(mean, size):
    rng, trials, confidence = np.random.default_rng(2), 2_000, 0.9
    covered = 0
    for values in rng.random((trials, size)) < mean:
        estimate = Estimate.of_mean(values.astype(float), confidence)
        covered += estimate.low <= mean <= estimate.high
    # A coverage of exactly 0.9 would fail here with probability 1e-6.
    assert covered >= binom.ppf(1e-6, trials, confidence)


def pair(seed, n, concentration=0.3):
    return np.random.default_rng(seed).dirichlet(np.full(n, concentration), 2)


@pytest.mark.parametrize("concentration", [0.3, 3.0])
def test_the_estimate_without_replacement_covers_the_enumerated_acceptance(concentration):
    rule = RecursiveRejectionWithoutReplacement(*pair(3, 8, concentration), 4)
    exact = enumerated_acceptance(rule)
    assert type(rule.acceptance()) is float
    assert abs(rule.acceptance() - exact) < 1e-12
    estimates = [rule.estimate(seed=seed).probability for seed in range(20)]
    for estimate in estimates:  # each misses with probability at most 0.001
        assert estimate.low <= exact <= estimate.high
        assert estimate.confidence == 0.999
        assert estimate.size == 2_000
    # Unbiased: the mean of all, within five standard errors (false alarm below 1e-6); values in
    # [0, 1] have a standard deviation of at most one half.
    mean = np.mean([each.value for each in estimates])
    assert abs(mean - exact) <= 5 * 0.5 / math.sqrt(20 * 2_000)
    assert len(set(map(float, estimates))) == 20
    assert float(rule.estimate(seed=3).probability) == float(estimates[3])


def test_too_many_tuples_are_estimated():
    draft, target = pair(4, 30)
    rule = RecursiveRejectionWithoutReplacement(draft, target, 5)
    with pytest.raises(NotExactError, match=r"estimate\(\) follows"):
        rule.acceptance()
    estimate = acceptance_or_estimate(rule)
    assert isinstance(estimate, Estimate)
    assert float(estimate) == float(rule.estimate().probability)


@pytest.mark.parametrize("k", [2, 3, 4])
def test_the_estimate_covers_the_exact_sum_at_more_tokens(k):
    rule = RecursiveRejectionWithoutReplacement(*pair(4, 30), k)
    assert type(rule.acceptance()) is float
    simulated = rule.estimate().probability
    assert simulated.low <= rule.acceptance() <= simulated.high


def test_the_estimate_of_equal_distributions_is_one():
    draft, _ = pair(5, 30)
    for k in (1, 2, 4):
        estimate = RecursiveRejectionWithoutReplacement(draft, draft, k).estimate().probability
        assert abs(estimate.value - 1) < 1e-12


@pytest.mark.parametrize("options", [{}, {"free": 2}, {"free": 2, "alphabet": 3}])
@pytest.mark.parametrize("k", [1, 2, 3])
def test_the_estimate_of_importance_sampling_covers_the_enumerated_acceptance(options, k):
    rule = ImportanceSampling(*pair(6, 7), k, solver="highs", **options)
    exact = enumerated_acceptance(rule)
    assert type(rule.acceptance()) is float
    for seed in range(10):  # each misses with probability at most 0.001
        estimate = rule.estimate(seed=seed).probability
        assert estimate.low <= exact <= estimate.high


def test_importance_sampling_estimates_only_residual_hits(monkeypatch):
    draft, target = pair(7, 30)
    rule = ImportanceSampling(draft, target, 3, free=4, solver="highs")
    exact = rule.acceptance()
    monkeypatch.setattr(importance_laws, "MOST_STEPS", 0)
    with pytest.raises(NotExactError, match=r"estimate\(\) simulates them"):
        rule.acceptance()
    estimate = acceptance_or_estimate(rule)
    assert isinstance(estimate, Estimate)
    selected = np.minimum(rule.law_of_selection, target).sum()
    assert estimate >= selected - 1e-12
    assert estimate.low <= exact <= estimate.high


def test_importance_sampling_sums_what_enumeration_gives():
    rule = ImportanceSampling(*pair(7, 12), 3, free=4, solver="highs")
    assert rule.acceptance() == pytest.approx(enumerated_acceptance(rule), abs=1e-12)
