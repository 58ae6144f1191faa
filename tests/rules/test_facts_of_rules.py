"""What a rule says where it has no formula, no number of drafts is asked, or its name is typed."""

from __future__ import annotations

import inspect
import math
import re
from fractions import Fraction

import numpy as np
import pytest
from instances import fractions

from otspec.display import card_of, fields_of
from otspec.ratios import Pair
from otspec.rules import (
    RULES,
    Bins,
    MaximalCoupling,
    NaiveSampling,
    NotExactError,
    PairRule,
    PooledSelection,
    PooledSelectionWithoutReplacement,
    RecursiveRejection,
    RecursiveRejectionWithoutReplacement,
    Rule,
)
from otspec.rules.base.accepted import by_position_or_estimate
from otspec.rules.base.counts import _BITS, _power_bounds, covers, crossing
from otspec.rules.rejection.rejected_paths import PathsEstimate

FALSE_ALARM = 1e-7
COIN = fractions("1/2", "1/2"), fractions("1/4", "3/4")
DRAFT, TARGET = fractions("1/2", "3/10", "1/5"), fractions("1/10", "3/5", "3/10")
FLOATS = [float(mass) for mass in DRAFT], [float(mass) for mass in TARGET]


def close(found, exact, size):
    """Whether means of ``size`` numbers from 0 to 1 are as near as Hoeffding lets them be."""
    exact = np.asarray(exact, dtype=float)
    most = math.sqrt(math.log(2 * exact.size / FALSE_ALARM) / (2 * size))
    return np.shape(found) == exact.shape and np.abs(found - exact).max() < most


class Unformulated(RecursiveRejection):
    """Has the program of its verification, and no formula."""

    def _by_position(self):
        raise NotExactError("no formula")


def test_a_rule_without_a_formula_is_estimated_in_floats_alone():
    exact = RecursiveRejection(DRAFT, TARGET, 3).accepted().by_position_and_token
    with pytest.raises(NotExactError, match="no formula"):
        by_position_or_estimate(Unformulated(DRAFT, TARGET, 3))
    found = by_position_or_estimate(Unformulated(*FLOATS, 3))
    assert close(found, exact, 2_000)
    assert not close(found + 0.1, exact, 2_000)
    assert by_position_or_estimate(RecursiveRejection(DRAFT, TARGET, 3)).tolist() == exact.tolist()


class ByToken(NaiveSampling):
    """Has no formula by position, but by token."""

    _by_position = Rule._by_position


class ByPosition(NaiveSampling):
    """Has the other one alone."""

    _by_token = Rule._by_token


class Neither(ByToken):
    """Has none."""

    _by_token = Rule._by_token


def test_one_draft_is_enumerated_where_there_is_no_formula_at_all():
    for rule, enumerates in (
        (NaiveSampling, (False, False)), (ByToken, (False, True)), (ByPosition, (False, False)),
        (Neither, (True, True)),
    ):  # fmt: skip
        assert tuple(rule(*COIN, k).enumerates_positions for k in (1, 2)) == enumerates


@pytest.mark.parametrize("rule", [PooledSelection, PooledSelectionWithoutReplacement])
def test_pools_that_are_not_optimal_are_estimated_draft_by_draft(rule):
    exact = rule(DRAFT, TARGET, 2, Bins(1)).accepted().by_position_and_token
    found = rule(*FLOATS, 2, Bins(1)).estimate(4_000, seed=1).by_position_and_token.value
    assert close(found, exact, 4_000)


def test_a_simulation_of_distinct_drafts_gives_each_token_one_hit_of_the_average():
    """0 is never accepted as the second draft, and in thousands of drawings often as the first."""
    exact = PooledSelectionWithoutReplacement(DRAFT, TARGET, 2)
    found = (
        PooledSelectionWithoutReplacement(*FLOATS, 2)
        .estimate(40_000, seed=1)
        .by_position_and_token.value
    )
    assert exact.accepted().by_position_and_token[1, 0] == 0
    assert 0 < found[1, 0] < found[0, 0] / 100
    assert found.sum(axis=0) == pytest.approx(exact.accepted().by_token.astype(float), rel=1e-12)


def test_a_rule_of_simulated_paths_has_their_acceptance():
    exact = RecursiveRejectionWithoutReplacement(DRAFT, TARGET, 2)
    paths = RecursiveRejectionWithoutReplacement(*FLOATS, 3).paths(4_000, 1)
    for k, acceptance in ((1, sum(map(min, DRAFT, TARGET))), (2, exact.acceptance())):
        found = PathsEstimate(paths, k)
        assert close([found.probability.value], [acceptance], 4_000)
        assert found.by_token.value.sum() == pytest.approx(found.probability.value, rel=1e-12)
    assert close(PathsEstimate(paths, 2).by_token.value, exact.accepted().by_token, 4_000)


def test_simulated_rejections_say_which_draft_is_accepted():
    exact = RecursiveRejectionWithoutReplacement(DRAFT, TARGET, 2).accepted().by_position
    paths = RecursiveRejectionWithoutReplacement(*FLOATS, 2).paths(4_000, 1)
    means, errors = paths.by_draft()
    assert close(means, exact, 4_000)
    assert (errors >= 0).all()
    assert errors.max() <= 1 / math.sqrt(4_000)
    assert (np.abs(means - exact.astype(float)) <= 5.4 * errors + 1e-12).all()


@pytest.mark.parametrize(
    "name", [name for name, rule in RULES.items() if issubclass(rule, PairRule)]
)
def test_no_number_of_drafts_has_no_acceptance(name):
    assert list(RULES[name].acceptances_of(Pair(DRAFT, TARGET), [])) == []


def test_a_rule_that_is_made_of_something_else_says_so():
    with pytest.raises(ValueError, match="Rule is not made from a draft, a target and k"):
        Rule.of_pair(DRAFT, TARGET, 2)


def test_a_card_says_what_is_accepted_and_what_could_be():
    """Of (0, 0) the output is 0, of all other drafts 1: that is the target, and always a draft."""
    rule = RecursiveRejection(*COIN, 2)
    assert fields_of(rule).title(rule) == "Recursive rejection, a rule for 2 drafts of 2 tokens"
    accepted = Fraction(3, 4) + Fraction(1, 4) * Fraction(1, 2)
    assert dict(fields_of(rule).more(rule)) == {
        "acceptance": accepted, "optimum": 1, "gap": 1 - accepted
    }  # fmt: skip
    masses = fields_of(rule).masses(rule)
    assert [list(masses[name]) for name in ("draft", "target")] == [list(law) for law in COIN]
    # 0 is kept if it is drafted first, with (1/4)/(1/2); the residual is 1.
    assert list(masses["accepted"]) == [Fraction(1, 4), accepted - Fraction(1, 4)]
    assert "1 draft of 2 tokens" in card_of(MaximalCoupling(*COIN)).title
    large = RecursiveRejection(np.full(3_000, 1 / 3_000), np.full(3_000, 1 / 3_000), 2)
    assert card_of(large).title == "Recursive rejection, a rule for 2 drafts of 3,000 tokens"
    assert dict(fields_of(large).more(large)) == {}
    assert fields_of(large).masses(large)["accepted"] is None


@pytest.mark.parametrize(
    "name", [name for name, rule in RULES.items() if issubclass(rule, PairRule)]
)
def test_a_rule_is_shown_as_what_it_is_made_of(name):
    rule = RULES[name].of_pair(*COIN, RULES[name].only_k or 2)
    shown = set(re.findall(r"(\w+)=", repr(rule)))
    assert shown <= set(inspect.signature(type(rule)).parameters)


@pytest.mark.parametrize("base", fractions(0, "1/3", "2/3", "999/1000", 1))
@pytest.mark.parametrize("k", [1, 2, 5, 64, 1_000])
def test_powers_have_close_bounds(base, k):
    least, most = _power_bounds(base, k)
    assert least <= base**k <= most
    # Each of at most 2 log₂ k steps rounds by one part, and the errors before it are multiplied.
    assert most - least <= Fraction(8 * k, 1 << _BITS)


@pytest.mark.parametrize("chance", fractions("1/3", "1/7", "9/10"))
@pytest.mark.parametrize("k", [1, 2, 7])
def test_a_factor_covers_what_is_drafted_at_least_once(chance, k):
    least = (1 - (1 - chance) ** k) / chance
    assert covers(least, chance, k)
    assert covers(least + Fraction(1, 10**200), chance, k)
    assert not covers(least - Fraction(1, 10**200), chance, k)
    assert covers(1 / chance, chance, k)


@pytest.mark.parametrize(
    ("above", "below", "high"), [fractions("1/2", "1/4", "3/2"), fractions("1/3", "1/3", 3)]
)
@pytest.mark.parametrize("k", [2, 5])
def test_a_crossing_is_the_first_step_at_which_enough_is_accepted(above, below, high, k):
    step = (high - 1) * Fraction(1, 2**200)
    found = crossing(above, below, Fraction(1), high, k)

    def enough(rho):
        beta = above + below / rho
        return rho * beta >= 1 - (1 - beta) ** k

    assert 0 < found < 2**200
    assert enough(1 + found * step)
    assert not enough(1 + (found - 1) * step)
