"""Formulas against the optimum, exactly, as numbers and as sympy expressions."""

from __future__ import annotations

import math
from fractions import Fraction

import oracles
import pytest
import sympy
from instances import EPS, floats, fractions, pairs, turn

import otspec
from otspec import closed_forms

SIXTHS = [Fraction(i, 6) for i in range(7)]


def value_of(expression, **values):
    """Put exact numbers into an expression."""
    symbols = {symbol.name: symbol for symbol in expression.free_symbols}
    assert symbols.keys() <= values.keys()
    number = expression.subs(
        {symbols[name]: sympy.Rational(value) for name, value in values.items() if name in symbols}
    )
    assert number.is_Rational
    return Fraction(int(number.p), int(number.q))


def uniform_pair(size, ratio):
    """Uniform over ``size`` tokens, and over the first ``size / ratio`` of them."""
    kept = size // ratio
    draft = [Fraction(1, size)] * size
    return draft, [Fraction(1, kept)] * kept + [Fraction(0)] * (size - kept)


@pytest.mark.parametrize("k", [1, 2, 3, 4])
def test_bernoulli_formula_and_expression_equal_the_optimum(k):
    expression = closed_forms.bernoulli_expression()
    for draft in SIXTHS:
        for target in SIXTHS:
            optimum = oracles.optimum(
                oracles.iid_table([1 - draft, draft], k), [1 - target, target]
            )
            found = closed_forms.bernoulli_acceptance(draft, target, k)
            assert type(found) is Fraction
            assert found == optimum
            law = otspec.IID([1 - draft, draft], k)
            assert otspec.optimal_acceptance(law, [1 - target, target]).acceptance == optimum
            assert value_of(expression, draft=draft, target=target, k=k) == optimum


@pytest.mark.parametrize("ratio", [1, 2, 3, 4, 6, 12])
@pytest.mark.parametrize("k", [1, 2, 3, 5])
def test_uniform_formulas_and_expressions_equal_the_optimum_which_k_seq_attains(ratio, k):
    draft, target = uniform_pair(12, ratio)
    found = closed_forms.uniform_acceptance(ratio, k)
    rho = closed_forms.uniform_rho(ratio, k)
    assert type(found) is type(rho) is Fraction
    assert found == otspec.optimal_acceptance(otspec.IID(draft, k), target).acceptance
    # A set of j supported and all unsupported tokens: by symmetry these are all the cuts.
    kept, rest = 12 // ratio, 12 - 12 // ratio
    cuts = [Fraction(j, kept) + 1 - Fraction(j + rest, 12) ** k for j in range(kept + 1)]
    assert found == min(cuts)
    rule = otspec.rules.KSequential(draft, target, k)
    assert rule.rho == rho
    assert rule.acceptance() == found
    assert value_of(closed_forms.uniform_expression(), ratio=ratio, k=k) == found
    assert value_of(closed_forms.uniform_rho_expression(), ratio=ratio, k=k) == rho


def test_single_draft_formula_and_expression_equal_the_optimum():
    for draft, target in pairs(50, 80, 5):
        optimum = oracles.optimum(oracles.iid_table(draft, 1), target)
        assert closed_forms.single_draft_acceptance(draft, target) == optimum
        values = {f"draft_{i}": mass for i, mass in enumerate(draft)}
        values |= {f"target_{i}": mass for i, mass in enumerate(target)}
        expression = closed_forms.single_draft_expression(len(draft))
        assert value_of(expression, **values) == optimum


def test_hub_and_top_plus_one_formulas_equal_the_optimum():
    for index, (draft, target) in enumerate(pairs(51, 240, 6)):
        found = closed_forms.hub_acceptance(draft, target)
        assert type(found) is Fraction
        assert found == oracles.optimum(oracles.hub_table(draft), target)
        k = 1 + turn(index, 4)
        if sum(mass > 0 for mass in draft) >= k:
            found = closed_forms.top_plus_one_acceptance(draft, target, k)
            assert type(found) is Fraction
            assert found == oracles.optimum(oracles.top_plus_one_table(draft, k), target)


def test_floats_agree_with_exact_formulas():
    for draft, target in pairs(52, 100, 6):
        # Sums of n quotients at most 1 of rounded inputs and sums: 2n + 4 roundings of eps/2.
        allowed = (len(draft) + 2) * EPS
        for formula in (
            closed_forms.single_draft_acceptance,
            closed_forms.hub_acceptance,
            closed_forms.limit_acceptance,
        ):
            found = formula(floats(draft), floats(target))
            assert type(found) is float
            assert abs(found - formula(draft, target)) <= allowed


def test_the_limit_is_the_target_mass_on_the_support():
    for draft, target in pairs(53, 60, 6):
        limit = closed_forms.limit_acceptance(draft, target)
        assert type(limit) is Fraction
        assert limit == sum(q for p, q in zip(draft, target, strict=True) if p > 0)


def test_k_seq_attains_its_guaranteed_share_of_the_optimum_and_not_more_than_the_optimum():
    for index, (draft, target) in enumerate(pairs(54, 320, 6)):
        k = 1 + turn(index, 5)
        optimum = otspec.optimal_acceptance(otspec.IID(draft, k), target).acceptance
        attained = otspec.rules.KSequential(draft, target, k).acceptance()
        guarantee = closed_forms.k_sequential_guarantee(k)
        # rho may lie 2^-64 above rho*; p_acc is Lipschitz in rho with constant at most k.
        assert guarantee * optimum <= attained + k * Fraction(1, 2**64)
        assert attained <= optimum


@pytest.mark.parametrize("k", [*range(1, 12), 100])
def test_the_guarantee_exceeds_one_minus_one_over_e(k):
    guarantee = closed_forms.k_sequential_guarantee(k)
    assert type(guarantee) is Fraction
    assert guarantee == 1 - Fraction(k - 1, k) ** k
    assert value_of(closed_forms.k_sequential_guarantee_expression(), k=k) == guarantee
    assert guarantee > Fraction(1 - 1 / math.e)
    if k > 1:
        assert guarantee < closed_forms.k_sequential_guarantee(k - 1)


@pytest.mark.parametrize("value", [0.25, 0, "1/4"])
def test_arithmetic_follows_the_input(value):
    other = 0.75 if isinstance(value, float) else "3/4"
    kind = float if isinstance(value, float) else Fraction
    assert type(closed_forms.bernoulli_acceptance(value, other, 2)) is kind
    assert type(closed_forms.uniform_acceptance(2.0 if kind is float else 2, 2)) is kind
    assert type(closed_forms.uniform_rho(2.0 if kind is float else "2", 2)) is kind


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: closed_forms.bernoulli_acceptance("3/2", "1/2", 2), "draft is '3/2'.*between 0"),
        (lambda: closed_forms.bernoulli_acceptance(0.5, -0.5, 2), "target is -0.5.*between 0 and"),
        (lambda: closed_forms.bernoulli_acceptance(0.5, math.nan, 2), "target is nan"),
        (lambda: closed_forms.bernoulli_acceptance(0.5, "1/2", 2), "target is exact but draft is"),
        (lambda: closed_forms.bernoulli_acceptance("1/2", "1/2", 0), "k must be at least 1"),
        (lambda: closed_forms.bernoulli_acceptance("1/2", None, 2), "target is None"),
        (lambda: closed_forms.uniform_acceptance("1/2", 2), "ratio is '1/2'.*at least 1"),
        (lambda: closed_forms.uniform_acceptance(math.inf, 2), "ratio is inf.*finite"),
        (lambda: closed_forms.uniform_acceptance(math.nan, 2), "ratio is nan"),
        (lambda: closed_forms.uniform_rho(2, 2.0), "k must be an integer"),
        (lambda: closed_forms.k_sequential_guarantee(0), "k must be at least 1"),
        (lambda: closed_forms.k_sequential_guarantee(True), "k must be an integer"),
        (lambda: closed_forms.single_draft_expression(0), "n must be at least 1"),
        (lambda: closed_forms.single_draft_acceptance([0.5, 0.5], [1.0]), "draft has 2 tokens"),
        (lambda: closed_forms.limit_acceptance([0.5, 0.4], [1, 0]), "draft sums to 0.9"),
        (lambda: closed_forms.hub_acceptance(["1"], [1.0]), "draft is exact but target is float"),
        (
            lambda: closed_forms.top_plus_one_acceptance([1, 0], [1, 0], 2),
            "draft has 1 token of positive probability",
        ),
    ],
)
def test_unusable_arguments_are_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_weights_are_normalized_on_request():
    weights, others = [3, 1], [1, 1]
    draft, target = fractions("3/4", "1/4"), fractions("1/2", "1/2")
    for formula in (
        closed_forms.single_draft_acceptance,
        closed_forms.limit_acceptance,
        closed_forms.hub_acceptance,
    ):
        assert formula(weights, others, normalize=True) == formula(draft, target)
    assert closed_forms.top_plus_one_acceptance(weights, others, 2, normalize=True) == 1
