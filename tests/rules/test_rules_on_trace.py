"""Every rule at full vocabulary, on distributions of a real language model."""

from __future__ import annotations

from functools import cache
from itertools import islice

import numpy as np
import pytest
from instances import EPS
from searching import NIGHTLY

import otspec
from otspec.estimate import Estimate
from otspec.rules import (
    ImportanceSampling,
    KSequential,
    MaximalCoupling,
    NaiveSampling,
    NotExactError,
    PooledSelection,
    PooledSelectionWithoutReplacement,
    RecursiveRejection,
    RecursiveRejectionWithoutReplacement,
    SpecHub,
)

POSITIONS = 3
FORMULAS = [
    (MaximalCoupling, 1),
    (NaiveSampling, 8),
    (RecursiveRejection, 8),
    (KSequential, 8),
    (RecursiveRejectionWithoutReplacement, 2),
    (SpecHub, 2),
]


@cache
def real_pairs():
    found = otspec.datasets.load_smollm2().pairs()
    return [(draft, target) for _, draft, target in islice(found, POSITIONS)]


def limit(rule):
    """Sums of n masses that add up to 1, pairwise or cumulative, in k rounds."""
    return rule.k**2 * len(rule.target) * EPS


@pytest.mark.parametrize(("rule_class", "k"), FORMULAS)
def test_acceptance_is_between_nothing_and_the_optimum(rule_class, k):
    for draft, target in real_pairs():
        rule = rule_class(draft, target, k)
        found = rule.acceptance()
        optimum = otspec.optimal_acceptance(rule.law, target).acceptance
        assert type(found) is float
        assert 0 < found <= optimum + limit(rule)
        if rule_class in (MaximalCoupling, SpecHub):
            assert abs(found - optimum) <= limit(rule)
        by_draft = rule.accepted().by_position
        assert by_draft.shape == (k,)
        assert (by_draft >= 0).all()
        assert by_draft.sum() <= found + limit(rule)


@pytest.mark.parametrize(("rule_class", "k"), FORMULAS)
def test_kernels_and_samples_work_at_full_vocabulary(rule_class, k):
    draft, target = real_pairs()[0]
    rule, rng = rule_class(draft, target, k), np.random.default_rng(0)
    for x in rule.law.sample(3, rng).tolist():
        joint = rule.joint_kernel(x)
        assert joint.shape == (k + 1, len(target))
        assert (joint >= 0).all()
        assert abs(joint.sum() - 1) <= limit(rule)
        token, accepted = rule.sample(x, rng)
        assert accepted is (token in x)
        assert rule.kernel(x)[token] > 0


POOLED = [PooledSelection, PooledSelectionWithoutReplacement]
MOST_POSITIONS = 24 if NIGHTLY else 8
"""Of the bundled trace; of a longer one they are evenly spaced. The full trace is tested whole."""


def short_of_the_optimum(rule_class, trace, step=1):
    """Return how far a rule is from the optimum of its law at most, at every step-th position.

    By the law of the drafts that it accepts, which is found without the optimum; with two numbers
    of drafts at a position, and the others at the next.
    """
    far = 0.0
    for number, (_, draft, target) in enumerate(islice(trace.pairs(), 0, None, step)):
        ks = ((2, 16), (4, 8))[number % 2]
        best = otspec.optimal_acceptances(draft, target, ks, law=rule_class.law_class.name)
        rules = [rule_class(draft, target, k) for k in ks]
        accepted = [rule.accepted().by_token.sum() for rule in rules]
        said = rules[number // 2 % len(rules)].acceptance()
        far = max(far, np.abs(best - accepted).max(), abs(best[number // 2 % len(best)] - said))
    return far


@pytest.mark.parametrize("rule_class", POOLED)
def test_pooled_selection_is_the_optimum_of_its_law_at_every_position(rule_class):
    trace = otspec.datasets.load_smollm2()
    step = -(-trace.positions // MOST_POSITIONS)
    assert short_of_the_optimum(rule_class, trace, step) <= 1e-10


@pytest.mark.parametrize("rule_class", POOLED)
def test_pooled_selection_is_the_optimum_of_its_law_on_the_full_trace(rule_class, full_trace_path):
    assert short_of_the_optimum(rule_class, otspec.datasets.load_smollm2(full_trace_path)) <= 1e-10


def test_rules_are_in_their_order():
    for draft, target in real_pairs():
        naive, recursive, sequential = (
            rule(draft, target, 8).acceptance()
            for rule in (NaiveSampling, RecursiveRejection, KSequential)
        )
        optimum = otspec.optimal_acceptances(draft, target, [8])[0]
        assert naive <= recursive
        assert sequential >= (1 - (1 - 1 / 8) ** 8) * optimum
        once = MaximalCoupling(draft, target).acceptance()
        assert once <= RecursiveRejectionWithoutReplacement(draft, target, 2).acceptance()
        assert once <= SpecHub(draft, target).acceptance()


@pytest.mark.parametrize("options", [{}, {"free": 8, "alphabet": 256}])
def test_importance_sampling_estimates_its_acceptance(options):
    for draft, target in real_pairs()[: 2 if NIGHTLY else 1]:
        rule = ImportanceSampling(draft, target, 8, solver="highs", **options)
        with pytest.raises(NotExactError, match=r"estimate\(\) simulates them"):
            rule.acceptance()
        found = rule.estimate().probability
        optimum = otspec.optimal_acceptance(rule.law, target).acceptance
        # The interval meets [0, optimum].
        assert 0 <= found.low <= found <= found.high <= 1
        assert found.low <= optimum + limit(rule)
        assert abs(rule.law_of_selection.sum() - 1) <= limit(rule)
        if not options:
            assert found.high >= MaximalCoupling(draft, target).acceptance()


def test_many_distinct_drafts_are_estimated():
    draft, target = real_pairs()[1]
    rule = RecursiveRejectionWithoutReplacement(draft, target, 8)
    found = rule.estimate(size=200).probability
    assert isinstance(found, Estimate)
    assert 0 <= found.low <= found <= found.high <= 1
    pair = RecursiveRejectionWithoutReplacement(draft, target, 2)
    assert found.high >= pair.acceptance()  # eight drafts begin with two
    simulated = pair.estimate(size=200).probability
    assert simulated.low <= pair.acceptance() <= simulated.high  # misses with probability 0.001
