"""The probability of each output that is one of the drafts: formulas against enumeration."""

from fractions import Fraction

import numpy as np
import pytest
from instances import floats, pairs, turn
from searching import NIGHTLY, of_all

from otspec.estimate import Estimate
from otspec.rules import (
    NotExactError,
    PooledSelection,
    RecursiveRejectionWithoutReplacement,
    compared_rules,
)
from otspec.rules.base.accepted import acceptance_or_estimate, enumerated_law

EPS = np.finfo(float).eps


def built(rule_class, draft, target, k):
    """Return a rule with as many drafts as it can have."""
    if rule_class.only_k is not None:
        return rule_class(draft, target, rule_class.only_k)
    if rule_class.law_class.distinct:
        k = min(k, sum(mass > 0 for mass in draft))
    return rule_class(draft, target, k)


MOST_TUPLES = 625 if NIGHTLY else 128


def instances(rule_class, count):
    """Yield pairs with zeros, ties, equal and disjoint distributions, and k."""
    fewest = 2 if rule_class.__name__.endswith("SelectionWithoutReplacement") else 1
    for index, (draft, target) in enumerate(pairs(seed=77, count=count, most_tokens=5)):
        if sum(mass > 0 for mass in draft) >= fewest:
            k = 1 + turn(index, 4)  # of all kinds
            while len(draft) ** k > MOST_TUPLES:
                k -= 1
            yield draft, target, k


@pytest.mark.parametrize("rule_class", compared_rules())
def test_formulas_are_what_enumeration_gives(rule_class):
    seen = 0
    for draft, target, k in instances(rule_class, 160):
        rule = built(rule_class, draft, target, k)
        law = rule.accepted().by_token
        assert law.tolist() == enumerated_law(rule).tolist()
        assert law.sum() == rule.acceptance()
        assert all(type(mass) is Fraction for mass in law.tolist())
        seen += 1
    assert seen >= of_all(80)


@pytest.mark.parametrize("rule_class", compared_rules())
def test_floats_are_close_to_the_exact_law(rule_class):
    for draft, target, k in instances(rule_class, 80):
        exact = built(rule_class, draft, target, k)
        rule = built(rule_class, floats(draft), floats(target), k)
        # k rounds, each a few roundings of numbers of at most 1, and sums of n terms.
        slack = 16 * rule.k**2 * (len(draft) + 2) * EPS
        assert (
            np.abs(rule.accepted().by_token - exact.accepted().by_token.astype(float)).max()
            <= slack
        )
        assert (rule.accepted().by_token <= rule.target + slack).all()


@pytest.mark.parametrize("pools", [2, 4, [Fraction(1)]])
def test_pools_with_residual_hits_are_enumerated(pools):
    for draft, target in pairs(seed=78, count=40, most_tokens=4):
        rule = PooledSelection(draft, target, 2, pools)
        assert rule.accepted().by_token.sum() == rule.acceptance()


def test_distinct_drafts_beyond_the_sum_limit_are_refused_not_guessed():
    draft = np.full(5_000, 1 / 5_000)
    target = np.linspace(1, 2, 5_000) / np.linspace(1, 2, 5_000).sum()
    rule = RecursiveRejectionWithoutReplacement(draft, target, 3)
    for number in ("probability", "by_token", "by_position", "by_position_and_token"):
        with pytest.raises(NotExactError, match=r"estimate\(\)|too many to say"):
            getattr(rule.accepted(), number)
    assert isinstance(acceptance_or_estimate(rule), Estimate)
    pair = RecursiveRejectionWithoutReplacement(draft, target, 2)
    assert abs(pair.accepted().by_token.sum() - pair.acceptance()) <= 5_000 * EPS
