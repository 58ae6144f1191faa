"""The door through which every probability enters."""

from __future__ import annotations

import contextlib
import math
from collections import deque
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from each_case import each
from hypothesis import given, settings
from hypothesis import strategies as st

from otspec.distributions import (
    as_distribution,
    as_k,
    as_pair,
    complement,
    token_set,
)

EPS = float(np.finfo(float).eps)
SUBNORMAL = 5e-324

quiet = settings(max_examples=3 * settings().max_examples)


def assert_valid(distribution):
    assert isinstance(distribution, np.ndarray)
    assert distribution.ndim == 1
    assert distribution.size > 0
    assert not distribution.flags.writeable
    assert (distribution >= 0).all()
    if distribution.dtype == object:
        assert all(type(mass) is Fraction for mass in distribution)
        assert distribution.sum() == 1
    else:
        assert distribution.dtype == np.float64
        # Scaled sums are within the rounding of a sum of n terms of 1.
        assert abs(math.fsum(distribution) - 1) <= distribution.size * EPS


@pytest.mark.parametrize(
    "values",
    [
        [0.5, 0.25, 0.25],
        (0.5, 0.25, 0.25),
        deque([0.5, 0.25, 0.25]),
        np.array([0.5, 0.25, 0.25]),
        np.array([0.5, 0.25, 0.25], dtype=np.float16),
        np.array([0.5, 0.25, 0.25], dtype=np.float32),
        np.array([0.5, 0.25, 0.25], dtype=np.longdouble),
        np.array([0.5, 0.25, 0.25], dtype=">f8"),
        np.array([0.5, 9, 0.25, 9, 0.25])[::2],
        [np.float32(0.5), np.float16(0.25), np.longdouble(0.25)],
    ],
)
def test_floats_of_every_kind_become_float64(values):
    distribution = as_distribution(values)
    assert_valid(distribution)
    assert distribution.dtype == np.float64
    assert distribution.tolist() == [0.5, 0.25, 0.25]


@pytest.mark.parametrize(
    "values",
    [
        ["3/10", "0.3", "2/5"],
        [Fraction(3, 10), Fraction(3, 10), Fraction(2, 5)],
        [Decimal("0.3"), "3/10", Fraction(2, 5)],
        np.array(["3/10", "0.3", "0.4"]),
        np.array([Fraction(3, 10), Fraction(3, 10), Fraction(2, 5)]),
    ],
)
def test_exact_numbers_of_every_kind_become_fractions(values):
    distribution = as_distribution(values)
    assert_valid(distribution)
    assert distribution.tolist() == [Fraction(3, 10), Fraction(3, 10), Fraction(2, 5)]


@pytest.mark.parametrize(
    "values",
    [[0, 1], range(2), np.array([0, 1]), np.array([0, 1], np.uint8), [np.int64(0), "1"], ["0", 1]],
)
def test_integers_alone_or_next_to_exact_numbers_are_exact(values):
    distribution = as_distribution(values)
    assert_valid(distribution)
    assert distribution.dtype == object
    assert distribution.tolist() == [0, 1]


@pytest.mark.parametrize("values", [[0, 1.0], [0.0, 1], (np.int64(1), np.float32(0))])
def test_integers_next_to_floats_are_floats(values):
    distribution = as_distribution(values)
    assert_valid(distribution)
    assert distribution.dtype == np.float64


@pytest.mark.parametrize(
    ("values", "parts"),
    [
        ([0.5, float("nan")], [r"draft\[1\] is nan", "finite"]),
        ([float("inf"), 0.0], [r"draft\[0\] is inf", "finite"]),
        ([0.0, 1.0, -np.inf], [r"draft\[2\] is -inf", "finite"]),
        ([1.1, -0.1], [r"draft\[1\] is -0\.1", "negative", "softmax"]),
        (["11/10", "-1/10"], [r"draft\[1\] is -1/10", "negative"]),
        ([1, -SUBNORMAL], [r"draft\[1\] is -5e-324", "negative"]),
        ([0.5, 0.4], ["draft sums to 0.9", "divide it by its sum"]),
        ([0.5, 0.5 + 2e-9], ["draft sums to 1.000000002", "divide it by its sum"]),
        (["1/2", "2/5"], ["draft sums to 9/10", "exactly 1", "divide it by its sum"]),
        ([1e308, 1e308], ["draft sums to", "scale"]),
        ([], ["draft is empty", "at least one token"]),
        ([[0.5], [0.5]], ["one-dimensional", r"\(2, 1\)", "one row at a time"]),
        (np.full((1, 2), 0.5), ["one-dimensional", r"\(1, 2\)", "one row at a time"]),
        (1, ["one-dimensional", r"shape \(\)"]),
        ([[0.5, 0.5], [1.0]], ["draft is ragged", "one length"]),
        ([0.5, [0.5]], ["draft is ragged", "one length"]),
        ([0.5, [0.25, [0.25]]], ["draft", "ragged"]),
        ("0.5", ["draft must be a list or array", "'0.5'", r"\[0\.5, 0\.3, 0\.2\]"]),
        (b"1", ["draft must be a list or array", "pass for instance"]),
        (None, ["draft must be a list or array", "None"]),
        ({0: 0.5, 1: 0.5}, ["draft must be a list or array"]),
        ({0.25, 0.75}, ["draft must be a list or array"]),
        ([0, True], [r"draft\[1\] is True", "truth values"]),
        ([0.0, np.True_], [r"draft\[1\] is np.True_", "truth values"]),
        (np.array([False, True]), ["draft has dtype bool", "astype"]),
        ([0.5j, 1 - 0.5j], [r"draft\[0\] is 0\.5j", "finite number"]),
        ([0.5, 0.5j], [r"draft\[1\]", "0.5j"]),
        (np.array([0.5, 0.5j]), ["draft has dtype complex128", "astype"]),
        ([0.5, "1/2"], [r"draft\[0\] = 0\.5", r"draft\[1\] = '1/2'", "as floats, or all as Frac"]),
        ([Fraction(1, 2), 0.5], [r"draft\[1\] = 0\.5", r"draft\[0\] = 1/2"]),
        (["1/2", "half"], [r"draft\[1\] is 'half'", "such as '3/10'"]),
        (["1", "1/0"], [r"draft\[1\] is '1/0'", "such as '3/10'"]),
        (["nan", "1"], [r"draft\[0\] is 'nan'", "such as '3/10'"]),
        ([Decimal("NaN")], [r"draft\[0\] is Decimal\('NaN'\)", "such as '3/10'"]),
        ([np.timedelta64(1, "s")], [r"draft\[0\] is np.timedelta64", "such as '3/10'"]),
        ([10**400, 0.5], ["draft", "beyond the range of floats"]),
        (np.array(["1e4000"], dtype=np.longdouble), ["draft", "inf|range of floats"]),
    ],
)
def test_unusable_input_is_refused_with_place_value_and_fix(values, parts):
    with pytest.raises(ValueError, match=parts[0]) as refusal:
        as_distribution(values, "draft")
    assert all(refusal.match(part) for part in parts)


@pytest.mark.parametrize("values", [[0.5, 0.4], ["1/2", "2/5"]])
def test_a_function_that_may_scale_says_so(values):
    with pytest.raises(ValueError, match=r"^draft sums to .*: pass normalize=True to scale$"):
        as_distribution(values, "draft", normalize=False)


@pytest.mark.parametrize(
    ("draft", "target", "parts"),
    [
        ([0.5, 0.5], [1.0], ["draft has 2 tokens and target has 1", "same vocabulary"]),
        (["1/2", "1/2"], [0.5, 0.5], ["draft is exact but target is float", "both as floats"]),
        ([0.5, 0.5], ["1/2", "1/2"], ["target is exact but draft is float", "both as floats"]),
        ([0.5, 0.4], [0.5, 0.5], ["draft sums to 0.9"]),
        ([0.5, 0.5], [0.5, -0.5], [r"target\[1\] is -0\.5"]),
    ],
)
def test_a_pair_that_does_not_match_is_refused(draft, target, parts):
    with pytest.raises(ValueError, match=parts[0]) as refusal:
        as_pair(draft, target)
    assert all(refusal.match(part) for part in parts)


def test_a_pair_is_normalized_together():
    draft, target = as_pair([1, 3], [0, 5], normalize=True)
    assert draft.tolist() == [Fraction(1, 4), Fraction(3, 4)]
    assert target.tolist() == [0, 1]


@pytest.mark.parametrize("k", [0, -1, 2.0, "2", True, False, None, np.True_, Fraction(2), 2j, [2]])
def test_a_number_of_drafts_that_is_no_positive_integer_is_refused(k):
    with pytest.raises(ValueError, match=r"^k must be (an integer|at least 1), got"):
        as_k(k)


@pytest.mark.parametrize("k", [1, 7, np.int8(3), np.uint64(3)])
def test_integers_of_any_type_are_numbers_of_drafts(k):
    assert as_k(k) == k
    assert type(as_k(k)) is int


def test_normalizing_scales_exact_and_float_weights():
    quarters = [Fraction(3, 4), 0, Fraction(1, 4)]
    assert as_distribution([3, 0, 1], normalize=True).tolist() == quarters
    assert as_distribution(["1/3", "0", "1/9"], normalize=True).tolist() == quarters
    assert as_distribution([6.0, 0, 2.0], normalize=True).tolist() == [0.75, 0, 0.25]
    assert as_distribution([SUBNORMAL, SUBNORMAL], normalize=True).tolist() == [0.5, 0.5]


@pytest.mark.parametrize("values", [[0, 0], [0.0, 0.0], [-0.0], ["0"]])
def test_normalizing_nothing_is_refused(values):
    with pytest.raises(ValueError, match="target is zero everywhere: there is nothing to norm"):
        as_distribution(values, "target", normalize=True)


@pytest.mark.parametrize("values", [[1.5, -0.5], [math.nan, 1.0], [math.inf, 1.0], ["3/2", "-1/2"]])
def test_normalizing_does_not_hide_improper_entries(values):
    with pytest.raises(ValueError, match=r"distribution\[\d\] is"):
        as_distribution(values, normalize=True)


@pytest.mark.parametrize("error", [1e-15, 9e-10, -9e-10])
def test_float_sums_close_to_one_are_scaled(error):
    values = np.array([0.5, 0.25, 0.25 + error])
    distribution = as_distribution(values)
    assert_valid(distribution)
    assert distribution == pytest.approx(values / math.fsum(values), rel=4 * EPS, abs=0)


def test_exact_sums_are_never_scaled_silently():
    tiny = Fraction(1, 10**30)
    with pytest.raises(ValueError, match="not exactly 1"):
        as_distribution([Fraction(1, 2), Fraction(1, 2) - tiny])


@each("seed", range(40))
def test_checking_twice_changes_no_bit(seed):
    rng = np.random.default_rng(seed)
    weights = rng.exponential(size=int(rng.integers(1, 3000))) ** rng.integers(1, 9)
    once = as_distribution(weights, normalize=True)
    assert as_distribution(once).tobytes() == once.tobytes()
    assert as_distribution(once, normalize=True).tobytes() == once.tobytes()
    assert as_distribution(list(once)).tobytes() == once.tobytes()


@pytest.mark.parametrize("values", [np.array([0.5, 0.5]), np.array(["1/2", "1/2"], dtype=object)])
def test_the_caller_keeps_an_untouched_writeable_array(values):
    before = values.copy()
    distribution = as_distribution(values)
    assert values.tolist() == before.tolist()
    assert values.flags.writeable
    values[0] = values[1] * 0
    assert distribution[0] == Fraction(1, 2)
    with pytest.raises(ValueError, match="read-only"):
        distribution[0] = 1


def test_zeros_negative_zeros_and_subnormals_are_legal():
    assert as_distribution([0.0, 1.0, 0.0]).tolist() == [0, 1, 0]
    assert as_distribution([-0.0, 1.0]).tolist() == [0, 1]
    assert as_distribution([SUBNORMAL, 1.0])[0] == SUBNORMAL


junk = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.complex_numbers()
    | st.fractions()
    | st.decimals()
    | st.text(max_size=4)
    | st.binary(max_size=4),
    lambda inner: (
        st.lists(inner, max_size=4) | st.tuples(inner) | st.dictionaries(st.text(), inner)
    ),
)


@quiet
@given(values=junk, normalize=st.booleans())
def test_whatever_comes_in_is_a_distribution_or_a_value_error(values, normalize):
    with contextlib.suppress(ValueError):
        assert_valid(as_distribution(values, normalize=normalize))


@quiet
@given(weights=st.lists(st.floats(0, 1e300, allow_subnormal=True), min_size=1))
def test_any_usable_float_weights_can_be_normalized_once(weights):
    if not any(weights):
        weights = [*weights, 1.0]
    distribution = as_distribution(weights, normalize=True)
    assert_valid(distribution)
    assert as_distribution(distribution).tobytes() == distribution.tobytes()


@quiet
@given(weights=st.lists(st.integers(0, 10**30), min_size=1).filter(any))
def test_any_whole_number_weights_become_their_shares(weights):
    distribution = as_distribution(weights, normalize=True)
    assert distribution.tolist() == [Fraction(weight, sum(weights)) for weight in weights]
    assert as_distribution(distribution).tolist() == distribution.tolist()


def test_the_complement_keeps_the_digits_of_a_heavy_token():
    assert complement(np.array([1.0, 1e-30])).tolist() == [1e-30, 1.0]
    thirds = [Fraction(1, 3), Fraction(2, 3)]
    assert complement(np.array(thirds)).tolist() == thirds[::-1]


def test_token_sets_are_sorted_without_repetition():
    assert token_set([3, 1, np.int64(3)], 4).tolist() == [1, 3]
    assert token_set(iter([]), 4).tolist() == []


@pytest.mark.parametrize("tokens", [[0, 4], [-1], [0.0], ["a"], 3, None])
def test_token_sets_out_of_range_or_not_of_integers_are_refused(tokens):
    with pytest.raises(ValueError, match=r"^tokens "):
        token_set(tokens, 4)
