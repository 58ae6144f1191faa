"""Mixtures of priority orders: exactly lossless and optimal, and certified intervals in floats."""

from __future__ import annotations

from fractions import Fraction
from functools import cache

import numpy as np
import oracles
import pytest
from instances import EPS, LAWS, LawCase, floats, fractions, law_cases
from kept_drafts import kept_by_position
from searching import NIGHTLY, enough

import otspec
from otspec.estimate import Estimate
from otspec.rules import NotExactError, PriorityMixture

DRAFTS = fractions(0, "1/3", "1/6", "1/2"), fractions("4/5", "1/5", 0, 0)
TARGET = fractions(0, "3/8", "1/8", "1/2")
"""Two drafts whose minimum cut is no prefix of an order by ratio."""

LOST = 2e-9
"""What a float weighing may be below the best: 1e-9 for each share that the program leaves out as
too small, times the target, which sums to 1; and ten times the 1e-10 that the solver works to."""


def known():
    case = LawCase(
        "Independent",
        lambda to: otspec.Independent([to(draft) for draft in DRAFTS]),
        oracles.independent_table(DRAFTS),
    )
    return case, TARGET


def cases(name):
    """Cases of one law over 2 to 5 tokens (by day 4), k from 1 to 3."""
    found = list(
        law_cases(
            name, seed=265, count=24, most_tokens=5 if NIGHTLY else 4, most_drafts=3, fewest=2
        )
    )
    return found + [known()] * (name == "Independent")


@cache
def rules(name, most=100):
    """The rules of the cases of one law, of so many orders: cases, targets and rules."""
    return [
        (case, target, PriorityMixture(case.exact, target, gap=0, most=most))
        for case, target in cases(name)
    ]


def similar(seed, count, n=2_000):
    """A target and drafts: softmax of logits that are alike but for noise."""
    rng = np.random.default_rng(seed)
    rows = np.exp(2 * rng.standard_normal(n) + rng.standard_normal((1 + count, n)))
    target, *drafts = rows / rows.sum(axis=1, keepdims=True)
    return target, drafts


# Exactly


@pytest.mark.parametrize("name", LAWS)
def test_a_gap_of_nothing_ends_at_the_optimum(name):
    for case, target, rule in rules(name):
        report = otspec.audit(rule)
        assert report.lossless
        assert report.output.tolist() == list(target)
        optimum = oracles.optimum(case.table, target)
        assert rule.acceptance() == rule.mixture.accepted == rule.bound == optimum
        assert report.acceptance == report.optimum == optimum
        assert type(rule.acceptance()) is type(rule.bound) is Fraction


def test_the_minimum_cut_of_the_known_instance_is_no_prefix():
    case, target = known()
    for draft in DRAFTS:
        found = oracles.best_prefix(case.table, target, oracles.by_ratio(draft, target))
        assert found > oracles.optimum(case.table, target)


@pytest.mark.parametrize("most", [1, 2])
@pytest.mark.parametrize("name", LAWS)
def test_few_orders_are_lossless_and_bounded(name, most):
    below = hitting = 0
    for case, target, rule in rules(name, most):
        mixture, report = rule.mixture, otspec.audit(rule)
        assert len(mixture.orders) <= most
        assert report.lossless
        assert report.output.tolist() == list(target)
        assert rule.acceptance() == report.acceptance
        optimum = oracles.optimum(case.table, target)
        assert mixture.accepted <= rule.acceptance() <= optimum <= rule.bound
        assert kept_by_position(rule).sum() == mixture.accepted
        below += mixture.accepted < optimum
        hitting += mixture.accepted < rule.acceptance()
    assert below > 0
    assert hitting > 0 or most > 1


@pytest.mark.parametrize("most", [1, 2, 100])
@pytest.mark.parametrize("name", LAWS)
def test_the_law_of_selection_is_that_of_the_orders(name, most):
    for case, target, rule in rules(name, most):
        mixture, n = rule.mixture, len(target)
        assert (mixture.weights > 0).all()
        assert mixture.weights.sum() == 1
        law = [Fraction(0)] * n
        for x, mass in case.table.items():
            chances = [Fraction(0)] * n
            for order, weight in zip(mixture.orders.tolist(), mixture.weights, strict=True):
                assert sorted(order) == list(range(n))
                chances[min(x, key=order.index)] += weight
            selection = mixture.shares(x)
            for token in range(n):
                of_token = [chance for y, chance in zip(x, selection, strict=True) if y == token]
                assert sum(of_token) == chances[token]
                law[token] += mass * chances[token]
        assert rule.law_of_selection.tolist() == law
        inside = oracles.inside_every_set(case.table, n)
        assert all(sum(law[y] for y in oracles.members(A)) >= inside[A] for A in range(2**n))
        assert sum(law) == inside[-1] == 1


def test_a_gap_is_kept_in_exact_arithmetic():
    kept = 0
    for case, target in cases("WithoutReplacement"):
        mixture = PriorityMixture(case.exact, target, gap=0.05).mixture
        assert mixture.bound - mixture.accepted <= 0.05
        kept += mixture.bound > mixture.accepted
    assert kept > 0


# Floats


@cache
def large(name):
    """Rules over 2,000 tokens, as far as their orders take them."""
    target, drafts = similar(seed=1, count=3)
    if name == "distinct":
        return PriorityMixture(otspec.WithoutReplacement(drafts[0], 4), target, most=40)
    return PriorityMixture(otspec.Independent(drafts[: int(name)]), target, most=40)


@pytest.mark.parametrize(("name", "gap"), [("2", 1e-6), ("3", 1e-4), ("distinct", 1e-3)])
def test_the_gap_is_small_at_a_large_vocabulary(name, gap):
    rule = large(name)
    mixture = rule.mixture
    with pytest.raises(NotExactError, match=r"estimate\(\) simulates them"):
        rule.acceptance()
    accepted = rule.estimate(100).probability
    assert 0 <= mixture.bound - mixture.accepted <= gap
    assert abs(rule.law_of_selection.sum() - 1) <= rule.law.n * EPS
    assert mixture.accepted <= accepted.low <= accepted <= accepted.high <= mixture.bound
    assert (accepted.size, accepted.confidence) == (100, 0.999)


@pytest.mark.parametrize("name", ["2", "distinct"])
def test_the_optimum_is_in_the_interval(name):
    rule = large(name)
    optimum = otspec.optimal_acceptance(rule.law, rule.target).acceptance
    rounding = 4 * rule.law.n * EPS  # a few sums of n masses, which are at most 1
    assert rule.mixture.accepted - rounding <= optimum <= rule.bound + rounding


def test_three_drafts_have_no_other_interval():
    rule = large("3")
    with pytest.raises(ValueError, match=r"is too large: .* pools=256\) certifies an interval"):
        otspec.optimal_acceptance(rule.law, rule.target)


def test_more_orders_never_accept_less():
    target, drafts = similar(seed=2, count=3, n=1_000)
    law = otspec.Independent(drafts)
    found = [PriorityMixture(law, target, most=most).mixture for most in (5, 20, 40)]
    accepted, bounds = [m.accepted for m in found], [m.bound for m in found]
    assert accepted[0] < accepted[1]
    assert accepted[1] <= accepted[2] + LOST
    assert bounds == sorted(bounds, reverse=True)  # of more cuts


def hard_floats():
    """Heavy tokens, targets far below the drafts, and tiny probabilities that rounding meets."""
    yield otspec.IID([0.5, 0.5], 2), [1e-17, 1.0]
    yield otspec.IID([0.25, 0.75, 7.5e-161], 2), [1e-17, 1e-17, 1.0]
    yield otspec.Independent([[1e-16, 0.5, 0.5]] * 3), [1e-16, 0.5, 0.5]
    yield otspec.Hub([1e-300, 0.3, 0.7]), [0.7, 0.3, 1e-300]
    for seed in range(enough(90)):
        rng, k = np.random.default_rng(seed), 2 + seed % 3
        draft, target = rng.dirichlet(np.full(k + 1, (1.0, 0.1, 0.02)[seed // 3 % 3]), 2)
        if np.count_nonzero(draft) >= k:
            yield otspec.WithoutReplacement(draft, k), target
        yield otspec.Independent([draft, target, draft[::-1]]), target[::-1]


def test_hard_floats_give_lossless_rules_close_to_the_optimum():
    for law, target in hard_floats():
        rule = PriorityMixture(law, target)
        report = otspec.audit(rule)
        assert report.lossless
        assert rule.mixture.accepted <= rule.bound
        # As many roundings as tuples; the law's own quadrature is within 1e-13.
        rounding = 1e-13 + law.n**law.k * EPS
        assert abs(rule.acceptance() - report.acceptance) <= rounding
        assert rule.bound >= report.optimum - rounding
        assert report.gap <= rule.gap + LOST


def test_a_cold_target_is_served():
    """Over 49,152 tokens, down to probabilities of 1e-61."""
    (_, draft, target), *_ = otspec.datasets.load_smollm2().pairs(temperature=0.3)
    law = otspec.WithoutReplacement(draft, 2)
    mixture = PriorityMixture(law, target, most=20).mixture
    optimum = otspec.optimal_acceptance(law, target).acceptance
    rounding = 4 * law.n * EPS  # as above
    assert mixture.accepted - rounding <= optimum <= mixture.bound + rounding
    assert mixture.bound - mixture.accepted <= 1e-6


# Samples

LAW = otspec.Independent([[0.4, 0.3, 0.3, 0.0], [0.2, 0.1, 0.5, 0.2]])
WANTED = [0.4, 0.3, 0.0, 0.3]


def test_outputs_are_distributed_as_the_target():
    rule = PriorityMixture(LAW, WANTED)
    found = otspec.audit_samples(rule.sample, LAW, WANTED, enough(24_000), 0)
    assert found.consistent  # fails with probability 1e-3 at other seeds
    assert found.impossible is None  # token 2 never came out
    assert all(rule.kernel(x)[2] == 0 for x in LAW.tuples()[0].tolist())


def test_samples_agree_with_the_kernel_for_each_tuple():
    rule = PriorityMixture(LAW, WANTED)
    assert len(rule.mixture.orders) > 1
    for seed, x in enumerate(LAW.tuples()[0].tolist()):
        certain = np.zeros((4, 4))
        certain[tuple(x)] = 1.0
        drafts = otspec.Joint(certain)
        assert otspec.audit_samples(
            rule.sample, drafts, rule.kernel(x), enough(3_000), seed
        ).consistent


# Errors


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"gap": -1e-9}, "gap is -1e-09: it must be at least 0"),
        ({"gap": float("nan")}, "gap is nan: it must be at least 0"),
        ({"most": 0}, "most must be at least 1, got 0"),
        ({"most": 2.5}, "most must be an integer, got 2.5"),
        ({"target": [0.5, 0.5]}, "law has 4 tokens and target has 2: both must be over the same"),
        ({"target": TARGET}, "target is exact but law is float: write both as"),
        ({"target": [0.5, 0.5, 0.5, 0.5]}, "pass normalize=True"),
    ],
)
def test_unusable_input_is_refused(given, says):
    with pytest.raises(ValueError, match=says):
        PriorityMixture(**({"draft_law": LAW, "target": WANTED} | given))


def test_a_float_target_of_exact_drafts_is_refused():
    with pytest.raises(ValueError, match="law is exact but target is float: write both as"):
        PriorityMixture(otspec.Independent(DRAFTS), floats(TARGET))


# Estimates


def test_an_estimate_between_two_bounds_is_certain():
    estimate = Estimate.between(Fraction(1, 4), np.float64(0.5))
    assert type(estimate.value) is float
    assert estimate == 0.25
    assert estimate + 1 == 1.25
    assert (estimate.low, estimate.high) == (0.25, 0.5)
    assert type(estimate.low) is type(estimate.high) is float
    assert (estimate.confidence, estimate.size) == (1, 0)
    assert repr(estimate) == "Estimate(0.25, low=0.25, high=0.5, confidence=1, size=0)"
