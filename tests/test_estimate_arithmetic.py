"""Sums, products and means of estimates keep intervals that hold what they say."""

from __future__ import annotations

import copy
import math
import operator
import pickle
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from light_drafts import FALSE_ALARM
from scipy.stats import binom
from searching import by_day, enough

from otspec.estimate import Estimate, Exact, average

OPERATIONS = (operator.add, operator.sub, operator.mul, operator.truediv)
BERNSTEIN = Estimate.of_mean(np.arange(10) / 10, 0.9)
BOUNDS = Estimate.between(0.25, 0.5)


@st.composite
def bounds(draw):
    """A true value, and certain bounds around it; eighths, so that sums are exact."""
    low, true, high = sorted(draw(st.lists(st.integers(-40, 40), min_size=3, max_size=3)))
    return Fraction(true, 8), Estimate.between(low / 8, high / 8)


@given(bounds(), bounds(), st.sampled_from(OPERATIONS))
def test_what_lies_within_bounds_lies_within_those_of_the_result(one, other, operation):
    (true, first), (also, second) = one, other
    for numbers, operands in (
        ((true, also), (first, second)),
        ((true, also), (first, also)),
        ((true, also), (true, second)),
    ):
        if operation is operator.truediv and 0 in (numbers[1], float(operands[1])):
            continue
        exact, found = operation(*numbers), operation(*operands)
        assert type(found) is Estimate
        assert (found.confidence, found.size) == (1, 0)
        slack = Fraction(abs(exact)) * Fraction(np.finfo(float).eps)  # of one rounded quotient
        below = found.low == -math.inf or Fraction(found.low) <= exact + slack
        assert below
        assert found.high == math.inf or Fraction(found.high) >= exact - slack
        assert found.low <= found <= found.high
        assert float(found) == operation(*map(float, operands))


@pytest.mark.parametrize(
    "number", [2, 2.0, Fraction(2), True, np.float64(2), np.float32(2), np.int64(2), np.uint8(2)]
)
def test_numbers_of_all_kinds_keep_the_interval_on_either_side(number):
    for operation in OPERATIONS:
        for found in (operation(BERNSTEIN, number), operation(number, BERNSTEIN + 1)):
            assert type(found) is Estimate
            assert (found.confidence, found.size) == (0.9, 10)
            assert found.low <= found <= found.high
    twice = BERNSTEIN * number
    assert (twice.low, twice.high) == (BERNSTEIN.low * number, BERNSTEIN.high * number)


def test_the_union_bound_leaves_the_confidence():
    assert (BERNSTEIN + BOUNDS).confidence == 0.9
    assert (BOUNDS * BOUNDS + 1).confidence == 1
    three = sum([Estimate.of_mean(np.arange(5) / 5, 0.999)] * 3)
    assert (three.confidence, three.size) == (0.997, 15)
    assert sum([BERNSTEIN] * 11).confidence == 0
    assert -BERNSTEIN == -0.45
    assert (-BERNSTEIN).low == -BERNSTEIN.high


def test_a_divisor_that_may_be_zero_leaves_no_bounds():
    found = 1 / (BOUNDS - 0.3)
    assert (found.low, found.high) == (-math.inf, math.inf)
    zero = found * 0
    assert (float(zero), zero.low, zero.high) == (0, -math.inf, math.inf)
    with pytest.raises(ZeroDivisionError):
        BERNSTEIN / 0


@pytest.mark.parametrize("other", ["1", None, [1.0]])
def test_what_is_no_real_number_is_no_operand(other):
    for operation in OPERATIONS:
        with pytest.raises(TypeError):
            operation(BERNSTEIN, other)


def test_results_copy_and_pickle_with_their_intervals():
    found = 1 + BERNSTEIN * 2
    for other in (copy.copy(found), copy.deepcopy(found), pickle.loads(pickle.dumps(found))):  # noqa: S301
        assert repr(other) == repr(found)
        assert type(other) is Estimate


def test_means_of_numbers_are_numbers_and_of_estimates_estimates():
    plain = average([Fraction(1, 2), 0.25])
    assert (type(plain), plain.value) == (Exact, 0.375)
    found = average([BERNSTEIN, 0.25, BOUNDS])
    assert float(found) == np.mean([float(BERNSTEIN), 0.25, 0.25])
    assert found.low == np.mean([BERNSTEIN.low, 0.25, 0.25])
    assert found.high == np.mean([BERNSTEIN.high, 0.25, 0.5])
    assert (found.confidence, found.size) == (0.9, 10)
    assert type(average(np.array([0.5, 1.0]))) is Exact
    assert average([Exact(Fraction(1, 2)), BOUNDS]).high == 0.5


def test_exact_numbers_stay_exact_until_an_estimate_joins_them():
    half = Exact(Fraction(1, 2))
    for found in (half + 1, 1 + half, 3 * half, half / Fraction(1, 3), 2 - half, -half + 2):
        assert type(found) is Exact
        assert found.value == found.low == found.high == Fraction(3, 2)
        assert (found.confidence, found.size) == (1, 0)
    assert type((half - half).value) is Fraction
    assert str(half) == "1/2"
    assert repr(half) == "Exact(1/2)"
    assert (half, BOUNDS) == (0.5, 0.25)
    assert sorted([half, BOUNDS, 0.3]) == [0.25, 0.3, 0.5]
    assert {half: 1}[Fraction(1, 2)] == 1
    third = Exact(Fraction(1, 3)) + BOUNDS - 0.25
    assert type(third) is Estimate
    assert third.low < Fraction(1, 3) < third.value + 1e-16
    assert (third.confidence, third.size) == (1, 0)


@pytest.mark.parametrize("chance", [1e-6, 1 / 300, 0.5, 299 / 300])
def test_combinations_of_simulations_cover_as_often_as_they_say(chance):
    """Rare values, for which an interval from their spread alone would be too short."""
    rng, trials, others = np.random.default_rng(11), 500, (0.2, chance, 1 - chance)
    exact = {
        "sum": 2 * sum(others) - 1,
        "product": math.prod(others),
        "quotient": others[0] / (1 + others[1]),
        "mean": np.mean(others),
    }
    covered = dict.fromkeys(exact, 0)
    for _ in range(trials):
        one, two, three = (
            Estimate.of_mean((rng.random(60) < other).astype(float), 0.95) for other in others
        )
        found = {
            "sum": 2 * (one + two + three) - 1,
            "product": one * two * three,
            "quotient": one / (1 + two),
            "mean": average([one, two, three]),
        }
        for name, value in found.items():
            left = {"quotient": 0.9, "mean": 0.95}.get(name, 0.85)
            assert value.confidence == pytest.approx(left, abs=1e-12)
            covered[name] += value.low <= exact[name] <= value.high
    # A coverage of exactly the confidence would fail here with probability FALSE_ALARM at most.
    assert min(covered.values()) >= binom.ppf(FALSE_ALARM, trials, 0.85)
    assert covered["mean"] >= binom.ppf(FALSE_ALARM, trials, 0.95)


@pytest.mark.parametrize("dependent", by_day([True, False], [True]))
def test_the_mean_of_very_many_estimates_is_known_as_well_as_each(dependent):
    rng, many, trials, covered = np.random.default_rng(5), 500, enough(100), 0
    chances = rng.random(many)
    for _ in range(trials):
        uniforms = rng.random((400, 1 if dependent else many))
        hits = (uniforms < chances).astype(float)
        estimates = [Estimate.of_mean(column, 0.9) for column in hits.T]
        found = average(estimates)
        assert found.confidence == 0.9
        assert 0 <= found.low < found.value < found.high <= 1
        # Each is wider by no more than the logarithms say, 4 · 500/0.1 to 4/0.1.
        factor = math.log(20_000) / math.log(40)
        widths = np.mean([each.high - each.low for each in estimates])
        assert found.high - found.low <= factor * widths * (1 + 1e-12)
        covered += found.low <= chances.mean() <= found.high
    assert covered >= binom.ppf(FALSE_ALARM, trials, 0.9)


def test_the_mean_of_means_is_widened_again():
    rng = np.random.default_rng(6)
    means = [Estimate.of_mean(rng.random(1_000), 0.99) for _ in range(12)]
    twice = average([average(means[:6]), average(means[6:])])
    assert twice.confidence == 0.99
    once = average(means)
    assert twice.low <= once.low < once.high <= twice.high
    mixed = average([means[0], means[1], Estimate.between(0.25, 0.5)])
    assert mixed.confidence == 0.99
    assert average([means[0] * means[1], means[2]]).confidence == pytest.approx(0.97)
