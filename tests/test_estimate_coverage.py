"""Intervals of estimates on pairs made to break them, against the exact value."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import oracles
import pytest
from instances import shares
from light_drafts import DRAFTS, FALSE_ALARM, adversarial, check_coverage, targets
from scipy.stats import binom
from searching import NIGHTLY

import otspec
from otspec.estimate import Estimate
from otspec.rules import ImportanceSampling, RecursiveRejectionWithoutReplacement
from otspec.rules.base.accepted import enumerated_acceptance

SEEDS = range(12 if NIGHTLY else 4)


def exact_acceptance(draft, target, k):
    """The rule as the paper writes it, over all tuples of drafts, in fractions."""
    p, q = shares(draft.tolist()), shares(target.tolist())
    table = oracles.without_replacement_table(p, k)
    joint = oracles.in_turn_joint(p, q, k, distinct=True)
    return sum(oracles.accepted_by_draft(table, joint, k))


def test_intervals_of_distinct_drafts_cover_when_little_is_left():
    seen, summed, missed = 0, 0, 0
    for draft, target, k in adversarial():
        rule = RecursiveRejectionWithoutReplacement(draft, target, k)
        exact = exact_acceptance(draft, target, k)
        estimates = [rule.estimate(200, seed).probability for seed in SEEDS]
        check_coverage(estimates, exact)
        missed += sum(not each.low <= exact <= each.high for each in estimates)
        many = Estimate.of_mean(1 - rule.paths(4_000, 99).rejected[k], 1 - FALSE_ALARM)
        assert many.low <= exact <= many.high
        # Every path is a sum over tokens, k rounds each.
        assert abs(rule.acceptance() - exact) <= 64 * k * len(draft) * np.finfo(float).eps
        seen, summed = seen + 1, summed + rule._summable
    assert seen > 150
    assert missed <= binom.isf(FALSE_ALARM, seen * len(SEEDS), 1 - estimates[0].confidence)
    assert summed == seen


def test_the_law_of_distinct_drafts_is_estimated_when_little_is_left():
    for draft, target, k in adversarial():
        rule = RecursiveRejectionWithoutReplacement(draft, target, k)
        law, exact = rule.estimate(2_000).by_token.value, rule.accepted().by_token
        # Hoeffding's bound for each of at most six tokens.
        assert np.abs(law - exact).max() <= np.sqrt(np.log(2 * 6 / FALSE_ALARM) / 4_000)


def test_paths_are_distinct_tokens_whatever_is_left():
    for draft, target, k in adversarial():
        paths = RecursiveRejectionWithoutReplacement(draft, target, k).paths(100, 0)
        assert ((paths.rejected >= 0) & (paths.rejected <= 1 + 1e-12)).all()
        going = paths.rejected[-1] > 1e-9  # others are drawn with a probability of about nothing
        drafts = paths.drafts[:, going]
        assert (np.diff(np.sort(drafts, axis=0), axis=0) > 0).all()
        assert (draft[drafts] > 0).all()


@pytest.mark.parametrize("k", [3, 4])
def test_intervals_of_importance_sampling_cover_on_the_same_pairs(k):
    for draft in DRAFTS[::3]:
        for target in targets(draft):
            pair = otspec.distributions.as_pair(draft, target, normalize=True)
            rule = ImportanceSampling(*pair, k, free=2, solver="highs")
            estimates = [rule.estimate(200, seed).probability for seed in range(10)]
            exact = min(enumerated_acceptance(rule), 1.0)  # sums of floats may be above
            check_coverage(estimates, exact)


@pytest.mark.parametrize("chance", [Fraction(1, 10**6), Fraction(1, 300), Fraction(299, 300)])
def test_rare_values_are_within_the_interval_whether_seen_or_not(chance):
    rng, trials = np.random.default_rng(5), 1_000
    found = [
        Estimate.of_mean((rng.random(100) < float(chance)).astype(float), 0.9)
        for _ in range(trials)
    ]
    check_coverage(found, chance)
    assert all(each.high - each.low > 0 for each in found)


@pytest.mark.parametrize(
    ("values", "options", "says"),
    [
        ([0.5], {}, "size is 1: an interval needs at least 2 values"),
        ([], {}, "size is 0: an interval needs at least 2 values"),
        ([0.5, 1.5], {}, r"values\[1\] is 1.5, outside the range from 0 to 1.0"),
        ([-0.1, 0.5], {}, r"values\[0\] is -0.1, outside the range"),
        ([0.5, np.nan], {}, r"values\[1\] is nan, outside the range"),
        ([0.5, 5.0], {"most": 4.0}, r"values\[1\] is 5.0, outside the range from 0 to 4.0"),
        ([0.5, 0.5], {"confidence": 1.0}, "confidence is 1.0: it must be between 0 and 1"),
        ([0.5, 0.5], {"confidence": 0}, "confidence is 0: it must be between 0 and 1"),
        ([0.5, 0.5], {"confidence": np.nan}, "confidence is nan: it must be between 0 and 1"),
    ],
)
def test_values_without_an_interval_are_refused(values, options, says):
    with pytest.raises(ValueError, match=says):
        Estimate.of_mean(np.array(values), **options)


@pytest.mark.parametrize(("low", "high"), [(0.5, 0.4), (np.nan, 1.0), (0.0, np.nan)])
def test_bounds_that_are_no_interval_are_refused(low, high):
    with pytest.raises(ValueError, match="pass the smaller bound first"):
        Estimate.between(low, high)


def test_the_estimate_is_within_its_interval_when_sums_round_up():
    for values, plus in ((np.full(10, 0.1 + 1e-16), 0.9 + 1e-16), (np.full(3, 1 + 1e-15), 0.0)):
        estimate = Estimate.of_mean(values, plus=plus)
        assert estimate.low <= estimate <= estimate.high == 1
    known = Estimate.of_mean(np.zeros(5), plus=1 + 2**-52)
    assert known.low <= known <= known.high == 1
    assert Estimate.of_mean(np.array([-1e-16, 0.0])).low == 0


def test_a_single_path_is_refused():
    rule = RecursiveRejectionWithoutReplacement([0.5, 0.3, 0.2], [0.2, 0.3, 0.5], 3)
    with pytest.raises(ValueError, match="size must be at least 2, got 1"):
        rule.estimate(size=1)
