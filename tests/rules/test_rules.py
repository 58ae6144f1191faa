"""The acceptance of every rule, against the enumeration of all draft tuples."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import oracles
import pytest
from each_case import each
from instances import EPS, floats, fractions, pair, pairs, shares, turn
from searching import of_all

import otspec
from otspec.rules import KSequential, MaximalCoupling, NaiveSampling, RecursiveRejection, SpecHub

IID_RULES = [NaiveSampling, RecursiveRejection, KSequential]
ALL_RULES = [MaximalCoupling, *IID_RULES, SpecHub]

ABOVE_THE_ROOT = Fraction(1, 2**64)
"""How far above an irrational rho* the exact rho may lie."""


def kernel_of(rule):
    """The rule's definition, for the rule's own numbers."""
    draft, target = rule.draft.tolist(), rule.target.tolist()
    if isinstance(rule, NaiveSampling):
        return oracles.naive_kernel(target)
    if isinstance(rule, KSequential):
        return oracles.k_sequential_kernel(draft, target, rule.k, rule.rho)
    if isinstance(rule, SpecHub):
        return oracles.spechub_kernel(draft, target)
    return oracles.recursive_rejection_kernel(draft, target)


def table_of(rule):
    draft = rule.draft.tolist()
    if isinstance(rule, SpecHub):
        return oracles.hub_table(draft)
    return oracles.iid_table(draft, rule.k)


def built(rule_class, draft, target, k):
    return rule_class(draft, target, **({} if rule_class.only_k else {"k": k}))


def instances(rule_class, seed, count, most_tokens=5, most_drafts=4):
    """Exact pairs with k running from 1 to ``most_drafts``, or the only k of the rule."""
    for index, (draft, target) in enumerate(pairs(seed, count, most_tokens)):
        yield draft, target, rule_class.only_k or 1 + turn(index, most_drafts)


@pytest.mark.parametrize("rule_class", ALL_RULES)
def test_acceptance_equals_the_enumeration_and_the_rule_is_lossless(rule_class):
    for draft, target, k in instances(rule_class, seed=60, count=320):
        rule = built(rule_class, draft, target, k)
        # Enumerating 625 tuples is slow where rho has hundreds of bits.
        if rule_class is KSequential and len(draft) ** k > 256:
            continue
        found, kernel, table = rule.acceptance(), kernel_of(rule), table_of(rule)
        assert type(found) is Fraction
        assert found == oracles.acceptance(table, kernel)
        assert oracles.output(table, kernel, len(target)) == list(target)


def test_k_seq_above_the_smallest_rho_counts_residual_hits():
    hits = 0
    for draft, target, k in instances(KSequential, seed=61, count=160, most_drafts=3):
        root = KSequential(draft, target, k).rho
        for rho in (root + Fraction(1, 7), root * 2, Fraction(50)):
            rule = KSequential(draft, target, k, rho=rho)
            kernel, table = kernel_of(rule), table_of(rule)
            assert rule.rho == rho
            assert rule.acceptance() == oracles.acceptance(table, kernel)
            assert oracles.output(table, kernel, len(target)) == list(target)
            hits += rule.acceptance() > oracles.k_sequential_residual(draft, target, k, rho)[0]
    assert hits > of_all(100)


def test_the_smallest_rho_is_valid_and_no_smaller_one_is():
    for draft, target, k in instances(KSequential, seed=62, count=400, most_tokens=7):
        rho = KSequential(draft, target, k).rho
        assert type(rho) is Fraction
        assert 1 <= rho <= k
        assert oracles.k_sequential_is_valid(draft, target, k, rho)
        if all(p == 0 or q == 0 for p, q in zip(draft, target, strict=True)):
            assert rho == 1
        elif rho > 1:
            smaller = rho - Fraction(1, 2**60)  # far more than the excess over the root
            accepted = oracles.k_sequential_residual(draft, target, k, smaller)[0]
            beta = sum(min(p, q / smaller) for p, q in zip(draft, target, strict=True))
            assert accepted > smaller * beta
            # Where every ratio in the target's support is above rho, a smaller rho changes
            # neither beta nor the rule, so that the residual stays non-negative.
            binding = any(0 < q < smaller * p for p, q in zip(draft, target, strict=True))
            assert oracles.k_sequential_is_valid(draft, target, k, smaller) is not binding


def test_an_irrational_root_is_approached_within_its_stated_excess():
    # beta = 1/3 + 1/(3 rho) for 1 <= rho <= 2; rho* solves 2 - beta = rho, which is
    # 3 rho^2 - 5 rho + 1 = 0: irrational.
    rho = KSequential(["2/3", "1/3"], ["1/3", "2/3"], 2).rho
    assert 3 * rho**2 - 5 * rho + 1 >= 0
    lower = rho - ABOVE_THE_ROOT
    assert 3 * lower**2 - 5 * lower + 1 < 0


@pytest.mark.parametrize(
    ("draft", "target", "k", "rho"),
    [
        (["1/2", "1/2"], [1, 0], 2, "3/2"),
        (["1/4"] * 4, ["1/2", "1/2", 0, 0], 2, "3/2"),
        (["1/12"] * 12, ["1/3"] * 3 + [0] * 9, 3, "37/16"),
        (["1/1000003", "1000002/1000003"], [1, 0], 3, "3000015000019/1000006000009"),
        (["1/3", "2/3"], ["1/3", "2/3"], 4, 1),
        ([1, 0], [0, 1], 4, 1),
    ],
)
def test_a_rational_root_is_recognized(draft, target, k, rho):
    assert KSequential(draft, target, k).rho == Fraction(rho)


@pytest.mark.parametrize("rule_class", ALL_RULES)
def test_no_rule_beats_the_optimum_of_its_law(rule_class):
    for draft, target, k in instances(rule_class, seed=63, count=200, most_tokens=7):
        rule = built(rule_class, draft, target, k)
        optimum = oracles.optimum(table_of(rule), target)
        assert rule.acceptance() <= optimum
        if rule_class in (SpecHub, MaximalCoupling):
            assert rule.acceptance() == optimum


def test_naive_sampling_never_beats_recursive_rejection():
    for draft, target, k in instances(NaiveSampling, seed=64, count=320, most_tokens=7):
        naive = NaiveSampling(draft, target, k).acceptance()
        assert naive <= RecursiveRejection(draft, target, k).acceptance()


@pytest.mark.parametrize("rule_class", ALL_RULES)
def test_equal_distributions_are_always_accepted_but_by_naive_sampling(rule_class):
    for draft, _, k in instances(rule_class, seed=65, count=60):
        found = built(rule_class, draft, draft, k).acceptance()
        assert found <= 1
        if rule_class is NaiveSampling:
            assert found == sum(p * (1 - (1 - p) ** k) for p in draft)
        else:
            assert found == 1


@pytest.mark.parametrize("rule_class", ALL_RULES)
def test_disjoint_distributions_are_never_accepted(rule_class):
    draft, target = fractions("1/2", "1/2", 0), fractions(0, 0, 1)
    assert built(rule_class, draft, target, 3).acceptance() == 0
    found = built(rule_class, floats(draft), floats(target), 3).acceptance()
    assert type(found) is float
    assert found == 0


@pytest.mark.parametrize("rule_class", ALL_RULES)
def test_floats_agree_with_exact_arithmetic(rule_class):
    for draft, target, k in instances(rule_class, seed=66, count=200, most_tokens=6):
        exact = built(rule_class, draft, target, k).acceptance()
        found = built(rule_class, floats(draft), floats(target), k).acceptance()
        n = len(draft)
        # Each round adds a sum of n terms, a product and a difference to what the round before
        # passes on, which a later round multiplies by at most k: k² (n + 2) roundings of eps/2
        # each way, and as many again for rho*.
        assert type(found) is float
        assert abs(found - exact) <= 2 * k**2 * (n + 2) * EPS


HARD_PAIRS = {
    "subnormal draft": ([5e-324, 1.0], [0.5, 0.5]),
    "subnormal target": ([0.5, 0.5], [5e-324, 1.0]),
    "subnormal both": ([5e-324, 1.0, 1e-310], [1e-310, 5e-324, 1.0]),
    "undrafted": ([0.0, 1.0], [1.0, 0.0]),
    "both zero": ([0.0, 0.5, 0.5], [0.0, 0.25, 0.75]),
    "certain": ([1.0, 0.0], [1.0, 0.0]),
    "certain draft": ([0.0, 1.0], [0.5, 0.5]),
    "nearly certain draft": ([1 - 1e-16, 1e-16], [0.5, 0.5]),
    "nearly equal": ([0.5, 0.5], [0.5 + EPS, 0.5 - EPS]),
    "many decades": ([1e-300, 1e-150, 1.0], [1e-150, 1.0, 1e-300]),
    "one token": ([1.0], [1.0]),
}


@each("name", HARD_PAIRS)
@each(
    ("rule_class", "k"),
    [(MaximalCoupling, 1), (SpecHub, 2)] + [(rule, k) for rule in IID_RULES for k in (1, 2, 7)],
)
def test_hard_floats_give_a_probability_close_to_the_exact_one(rule_class, name, k):
    draft, target = HARD_PAIRS[name]
    found = built(rule_class, draft, target, k).acceptance()
    assert 0 <= found <= 1 + EPS
    exact = built(rule_class, shares(draft), shares(target), k).acceptance()
    assert abs(found - exact) <= 2 * k**2 * (len(draft) + 2) * EPS


@pytest.mark.parametrize("rule_class", [MaximalCoupling, SpecHub])
def test_a_rule_for_one_number_of_drafts_refuses_others(rule_class):
    only = rule_class.only_k
    assert rule_class([1], [1], only).k == only
    with pytest.raises(ValueError, match=f"k is 3, but {rule_class.__name__} verifies exactly"):
        rule_class([1], [1], 3)


@pytest.mark.parametrize("rule_class", ALL_RULES)
def test_rules_refuse_what_distributions_refuse(rule_class):
    with pytest.raises(ValueError, match=r"target\[1\] is -0.5"):
        built(rule_class, [0.5, 0.5], [1.5, -0.5], 2)
    with pytest.raises(ValueError, match="target is exact but draft is float"):
        built(rule_class, [0.5, 0.5], ["1/2", "1/2"], 2)
    with pytest.raises(ValueError, match="k must be an integer"):
        rule_class([1], [1], 2.0)
    assert rule_class([2], [2], rule_class.only_k or 3, normalize=True).acceptance() == 1


def test_the_float_rho_is_accepted_when_passed_back():
    rng = np.random.default_rng(67)
    for index in range(200):
        draft, target = pair(rng, int(rng.integers(1, 9)), "dense")
        k = 1 + index % 5
        rho = KSequential(floats(draft), floats(target), k).rho
        assert KSequential(floats(draft), floats(target), k, rho=rho).rho == rho
        exact = KSequential(draft, target, k).rho
        # The excess over the sum of powers of 1 − beta has slope at least 1 in rho; beta carries
        # n + 2 roundings of eps/2, each of weight at most k²/2.
        assert abs(rho - exact) <= k**2 * (len(draft) + 2) * EPS


def test_rules_know_their_law():
    draft, target = ["1/2", "3/10", "1/5"], ["1/10", "3/5", "3/10"]
    assert isinstance(SpecHub(draft, target).law, otspec.Hub)
    for rule_class in (MaximalCoupling, *IID_RULES):
        law = built(rule_class, draft, target, 3).law
        assert isinstance(law, otspec.IID)
        assert law.k == (rule_class.only_k or 3)
