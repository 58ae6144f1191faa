"""What rules accept: in which order, by which formulas, and in floats of any size."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product

import numpy as np
import oracles
import pytest
from instances import EPS, floats, fractions, pairs, shares, turn, weights
from kept_drafts import kept_by_position
from searching import NIGHTLY, enough, of_all

import otspec
from otspec.rules import (
    DrawnDraft,
    GumbelCoupling,
    GumbelLists,
    ImportanceSampling,
    KSequential,
    MaximalCoupling,
    NaiveSampling,
    PooledSelection,
    PooledSelectionWithoutReplacement,
    RecursiveRejection,
    RecursiveRejectionWithoutReplacement,
    SpecHub,
    TargetOnly,
    compared_rules,
)
from otspec.rules.base.accepted import enumerated_acceptance

Distinct = RecursiveRejectionWithoutReplacement
# Distinct drafts need as many drafted tokens, which not all pairs here have; certain drafts have
# tests of their own.
OTHERS = (PooledSelectionWithoutReplacement, DrawnDraft, GumbelCoupling, TargetOnly)
RULES = [rule for rule in compared_rules() if rule not in OTHERS]


def built(rule_class, draft, target, k, **options):
    """The rule with k drafts, or with as many as it takes."""
    if rule_class is Distinct:
        k = min(k, int(np.count_nonzero(draft)))
    return rule_class(draft, target, rule_class.only_k or k, **options)


def table_of(rule):
    draft = rule.draft.tolist()
    if isinstance(rule, SpecHub):
        return oracles.hub_table(draft)
    if isinstance(rule, Distinct):
        return oracles.without_replacement_table(draft, rule.k)
    return oracles.iid_table(draft, rule.k)


def masses_of(rule):
    """The law of the drafts as the package tabulates it."""
    tuples, masses = rule.law.tuples()
    return dict(zip(map(tuple, tuples.tolist()), masses, strict=True))


def hub_pairs(seed, count, least):
    """Pairs whose likeliest draft token has at least the probability ``least``."""
    rng = np.random.default_rng(seed)
    for draft, target in pairs(seed, count, most_tokens=6):
        hub = least + (1 - least) * Fraction(int(rng.integers(0, 40)), 40)
        rest = weights(rng, len(draft), 12, 0.3)
        raised = [mass * (1 - hub) for mass in rest]
        raised[int(rng.integers(len(draft)))] += hub
        yield raised, target
        yield raised, raised
    # The hub is not wanted at all.
    for n in rng.integers(2, 6, count // 4).tolist():
        draft = [least, *(mass * (1 - least) for mass in weights(rng, n, 6))]
        yield draft, [Fraction(0), *weights(rng, n, 6, 0.4)]


# Ordering


@pytest.mark.parametrize("rule_class", RULES)
def test_rules_are_in_their_order(rule_class):
    attained = 0
    for index, (draft, target) in enumerate(pairs(seed=210, count=320, most_tokens=5)):
        rule = built(rule_class, draft, target, 1 + turn(index, 4))
        found, optimum = rule.acceptance(), oracles.optimum(table_of(rule), target)
        assert 0 <= found <= optimum
        attained += found == optimum
        if rule_class is NaiveSampling:
            assert found <= RecursiveRejection(draft, target, rule.k).acceptance()
        if rule_class is KSequential:
            assert found >= (1 - (1 - Fraction(1, rule.k)) ** rule.k) * optimum
        if rule_class in (SpecHub, MaximalCoupling):
            assert found == optimum
    assert attained > 0


@pytest.mark.parametrize("rule_class", RULES)
def test_equal_distributions_are_always_accepted_but_by_naive_sampling(rule_class):
    for index, (draft, _) in enumerate(pairs(seed=212, count=64, most_tokens=5)):
        rule = built(rule_class, draft, draft, 1 + index % 4)
        accepted = rule.accepted().by_position
        if rule_class is NaiveSampling:
            expected = sum(p * (1 - (1 - p) ** rule.k) for p in draft)
            assert rule.acceptance() == accepted.sum() == expected
            continue
        assert rule.acceptance() == accepted.sum() == 1
        if rule_class is PooledSelection:
            assert set(kept_by_position(rule)) == {Fraction(1, rule.k)}
        elif rule_class not in (SpecHub, ImportanceSampling, GumbelLists):
            assert accepted[0] == 1
        found = built(rule_class, floats(draft), floats(draft), rule.k).acceptance()
        assert abs(found - 1) <= 4 * rule.k**2 * (len(draft) + 2) * EPS


# SpecHub; the paper's q is the draft here and its p the target.


def accepted_by_spechub(draft, target):
    """Σ_{x≠a} min(q(x), p(x)/(1 − p(a))) + q(a), the optimum of its law."""
    hub = draft.index(max(draft))
    others = [x for x in range(len(draft)) if x != hub and draft[hub] < 1]
    return target[hub] + sum(min(target[x], draft[x] / (1 - draft[hub])) for x in others)


def test_spechub_accepts_what_the_formula_says_and_all_of_the_hub():
    """Theorem 2, corollary 1, and the acceptance rates in the proof of theorem 3."""
    for draft, target in pairs(seed=213, count=320, most_tokens=6):
        rule, hub = SpecHub(draft, target), draft.index(max(draft))
        table = oracles.hub_table(draft)
        assert rule.acceptance() == accepted_by_spechub(draft, target)
        assert rule.acceptance() == oracles.optimum(table, target)
        assert otspec.audit(rule).output.tolist() == list(target)
        accepted = {x: rule.joint_kernel(x)[:2] for x in table}
        of_hub = sum(mass * accepted[x][:, hub].sum() for x, mass in table.items())
        assert of_hub == target[hub]
        for token in set(range(len(draft))) - {hub}:
            first = table.get((token, hub), 0) * accepted.get((token, hub), [[0] * 9])[0][token]
            assert first == min(target[token], draft[token])
            if (hub, token) in table:
                second = table[hub, token] * accepted[hub, token][1][token]
                odds = draft[hub] / (1 - draft[hub])
                assert second == min(target[token] - first, odds * draft[token])


def first_acceptance(draft, target):
    return sum(map(min, draft, target))


def test_spechub_accepts_as_much_as_recursive_rejection_under_its_condition():
    """Theorem 3, with "higher" read as "at least as high": also of the second draft alone."""
    applies = higher = 0
    for draft, target in [*pairs(214, 400, 6), *hub_pairs(215, 200, Fraction(1, 4))]:
        largest = max(draft)
        hub, plain = SpecHub(draft, target), RecursiveRejection(draft, target, 2)
        if largest < (1 - first_acceptance(draft, target)) * (1 - largest):
            continue
        applies += 1
        assert hub.acceptance() >= plain.acceptance()
        if largest < 1:
            assert hub.accepted().by_position[1] >= plain.accepted().by_position[1]
        higher += hub.acceptance() > plain.acceptance()
    assert applies > of_all(300)
    assert higher > of_all(100)


def test_spechub_is_not_strictly_better_where_the_condition_holds_strictly():
    """Theorem 3 as printed, "a higher acceptance rate", fails where all is accepted at once."""
    draft = fractions("1/2", "1/2")
    assert draft[0] / (1 - draft[0]) > 1 - first_acceptance(draft, draft)
    for rule in (SpecHub(draft, draft), RecursiveRejection(draft, draft, 2)):
        assert rule.accepted().by_position.tolist() == [1, 0]


def test_the_condition_of_theorem_three_is_needed_when_the_hub_is_unwanted():
    # a = 0 has draft probability 1/4 and is never wanted: 1/3 < 1 − α = 3/4.
    draft, target = fractions(*["1/4"] * 4), fractions(0, 1, 0, 0)
    assert Fraction(1, 3) < 1 - first_acceptance(draft, target)
    assert SpecHub(draft, target).acceptance() == Fraction(1, 3)
    assert RecursiveRejection(draft, target, 2).acceptance() == Fraction(7, 16)


def test_spechub_accepts_as_much_as_any_rule_for_independent_drafts_if_the_hub_is_half():
    """Theorem 4, with "higher" read as "at least as high"."""
    higher = 0
    for draft, target in hub_pairs(216, 240, Fraction(1, 2)):
        optimum = oracles.optimum(oracles.iid_table(draft, 2), target)
        found = SpecHub(draft, target).acceptance()
        assert found >= optimum
        higher += found > optimum
    assert higher > of_all(100)


def test_the_condition_of_theorem_four_is_needed_and_strictness_fails():
    half = fractions("3/5", "2/5")
    assert SpecHub(half, half).acceptance() == 1
    assert otspec.optimal_acceptance(otspec.IID(half, 2), half).acceptance == 1
    # A token of draft probability 1/100 is met by a pair in 199/10000 of the cases, but by
    # SpecHub's in 1/100 / (1 − 49/100) = 1/51 of them, which is less.
    draft, target = fractions("49/100", "49/100", "1/100", "1/100"), fractions(0, 0, 1, 0)
    found = SpecHub(draft, target).acceptance()
    assert found == Fraction(1, 51)
    assert otspec.optimal_acceptance(otspec.IID(draft, 2), target).acceptance > found


# Floats

MAGNITUDES = (0.0, 0.0, 5e-324, 1e-310, 1e-160, 1e-17, EPS, 0.1, 1 / 3, 1 / 3, 0.5, 1.0)
FIXED = (
    ([5e-324, 1.0], [0.5, 0.5]),
    ([0.5, 0.5], [5e-324, 1.0]),
    ([5e-324, 1.0, 1e-310], [1e-310, 5e-324, 1.0]),
    ([1 - 2 * EPS, EPS, EPS], [EPS, 1 - 2 * EPS, EPS]),
    ([0.0, 0.5, 0.5], [0.5, 0.5, 0.0]),
    ([0.5, 0.5, 0.0], [0.5 + EPS, 0.5 - EPS, 0.0]),
    ([1.0], [1.0]),
    ([1.0, 0.0], [0.0, 1.0]),
)


def hard_pairs(count=80):
    """Floats from 0 and the smallest subnormal to 1, ties and equal distributions among them."""
    yield from FIXED
    rng = np.random.default_rng(217)
    for index in range(enough(count, 16)):
        n = 1 + index % 4
        draft, target = rng.choice(MAGNITUDES, (2, n))
        if draft.sum() and target.sum():
            yield (draft / draft.sum()).tolist(), (target / target.sum()).tolist()
            yield (draft / draft.sum()).tolist(), (draft / draft.sum()).tolist()


@pytest.mark.parametrize("rule_class", RULES)
def test_hard_floats_give_distributions_close_to_the_exact_ones(rule_class):
    rng = np.random.default_rng(218)
    # Lists of shared noise have k noises: their exact laws take ten times as long.
    pairs = hard_pairs(80 if NIGHTLY or rule_class is not GumbelLists else 2)
    for index, (draft, target) in enumerate(pairs):
        rule = built(rule_class, draft, target, 1 + index % 3)
        n, k = rule.law.n, rule.k
        # Every entry of P(x) times the joint kernel goes through at most k rounds of n + 2
        # operations, of weight at most k: rejections of x are part of what a residual is
        # normalized by, so that no quotient enlarges an error beyond the mass it is weighted by.
        limit = 4 * k**2 * (n + 2) * EPS
        exact = built(rule_class, shares(draft), shares(target), k)
        # Of nearly equal distributions rho* is nearly a double root, so that rounding moves it by
        # the square root; K-Seq then shares what it accepts otherwise among the drafts.
        split = math.sqrt(limit) if rule_class is KSequential else limit
        masses, exact_masses = masses_of(rule), masses_of(exact)
        for x in product(range(n), repeat=k):  # impossible drafts are no excuse either
            joint = rule.joint_kernel(x)
            assert (joint >= 0).all()
            assert abs(joint.sum() - 1) <= limit
            assert (rule.kernel(x) == joint.sum(axis=0)).all()
            assert rule.sample(x, rng)[0] in range(n)
            if x in masses and x in exact_masses:
                expected = (exact_masses[x] * exact.joint_kernel(x)).astype(float)
                assert np.abs(masses[x] * joint - expected).max() <= split
        assert -EPS <= rule.acceptance() <= 1 + limit
        assert abs(rule.acceptance() - exact.acceptance()) <= limit
        by_draft = rule.accepted().by_position
        assert np.abs(by_draft - exact.accepted().by_position.astype(float)).max() <= split
        report = otspec.audit(rule)
        assert report.lossless, (draft, target, k)
        assert abs(report.acceptance - rule.acceptance()) <= limit


@pytest.mark.parametrize("rule_class", RULES)
def test_floats_agree_with_exact_arithmetic(rule_class):
    for index, (draft, target) in enumerate(pairs(seed=219, count=160, most_tokens=4)):
        exact = built(rule_class, draft, target, 1 + turn(index, 3))
        rule = built(rule_class, floats(draft), floats(target), exact.k)
        limit = 4 * rule.k**2 * (len(draft) + 2) * EPS  # as above
        report = otspec.audit(rule)
        assert report.lossless
        assert type(rule.acceptance()) is float
        assert abs(rule.acceptance() - exact.acceptance()) <= limit
        assert abs(report.acceptance - exact.acceptance()) <= limit
        by_draft = exact.accepted().by_position.astype(float)
        split = math.sqrt(limit) if rule_class is KSequential else limit
        assert np.abs(rule.accepted().by_position - by_draft).max() <= split


# Without replacement: formulas against enumeration


@pytest.mark.parametrize("seed", [0, 1, 2])
@pytest.mark.parametrize("concentration", [0.1, 1.0])
def test_the_formulas_for_two_and_three_distinct_drafts_are_the_enumeration(seed, concentration):
    rng = np.random.default_rng(seed)
    draft, target = rng.dirichlet(np.full(16, concentration), 2)
    pair, three = Distinct(draft, target, 2), Distinct(draft, target, 3)
    # Sums of up to 16³ masses, which add up to 1, in two orders.
    limit = 16**2 * EPS
    assert abs(pair.acceptance() - enumerated_acceptance(pair)) <= limit
    if seed == 0:
        assert abs(three.acceptance() - enumerated_acceptance(three)) <= limit
