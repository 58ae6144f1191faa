"""Optima and bounds of i.i.d. drafts, and what is kept of bits, exactly (Theory, 1, 7 and 8)."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import prod

import numpy as np
import oracles
import pytest
import sympy
from instances import EPS, floats, fractions, pairs, turn
from searching import of_all

import otspec
from otspec import closed_forms
from otspec.blocks import BlockVerification, BlockVerificationPreprint, TokenVerification
from otspec.models import memoryless
from otspec.optimum.plan import optimal_plan

SIXTHS = [Fraction(i, 6) for i in range(7)]
DEGENERATE = (
    (fractions(1), fractions(1)),
    (fractions("1/3", "2/3"), fractions("1/3", "2/3")),
    (fractions(1, 0), fractions(0, 1)),
    (fractions(0, "1/2", "1/2"), fractions(1, 0, 0)),
    (fractions("1/2", "1/2"), fractions(1, 0)),
    (fractions(0, 1), fractions(0, 1)),
)
"""One token, draft = target, disjoint supports, and tokens that one or both lack."""


def instances(seed, count, most_tokens, most_drafts=3):
    """Degenerate pairs, then random ones, each with k."""
    for draft, target in DEGENERATE:
        for k in range(1, most_drafts + 1):
            yield draft, target, k
    for index, (draft, target) in enumerate(pairs(seed, count, most_tokens)):
        yield draft, target, 1 + turn(index, most_drafts)


def named(draft, target, **values):
    """A pair and more, by the names of symbols."""
    values |= {f"draft_{i}": mass for i, mass in enumerate(draft)}
    return values | {f"target_{i}": mass for i, mass in enumerate(target)}


def put(expression, values):
    """Put numbers into an expression."""
    symbols = {symbol.name: symbol for symbol in expression.free_symbols}
    assert symbols.keys() <= values.keys()
    return expression.xreplace({symbols[name]: sympy.Rational(values[name]) for name in symbols})


def number(value):
    assert value.is_Rational
    return Fraction(int(value.p), int(value.q))


def masses_by_set(draft, target, k):
    """All token sets, with q(A) and the mass of all tuples inside, by the definition."""
    table = oracles.iid_table(draft, k)
    for mask in range(2 ** len(draft)):
        tokens = oracles.members(mask)
        inside = sum(mass for x, mass in table.items() if set(x) <= set(tokens))
        yield tokens, sum(target[y] for y in tokens), inside


def test_the_optimum_of_iid_drafts_is_the_closed_form():
    for draft, target, k in instances(56, 160, 5):
        found = closed_forms.iid_acceptance(draft, target, k)
        assert type(found) is Fraction
        assert found == oracles.optimum(oracles.iid_table(draft, k), target)
        expression = closed_forms.iid_expression(len(draft))
        assert number(put(expression, named(draft, target, k=k))) == found


def test_the_linear_program_has_the_closed_form_as_its_optimum():
    for draft, target, k in instances(62, 24, 3, most_drafts=2):
        plan = optimal_plan(otspec.IID(draft, k), target, program="membership", solver="rational")
        assert plan.acceptance == closed_forms.iid_acceptance(draft, target, k)


def test_two_drafts_have_theorem_3_as_it_is_printed():
    for draft, target in pairs(57, 120, 5):
        printed = []
        for tokens, cost, _ in masses_by_set(draft, target, 1):
            p = sum(draft[y] for y in tokens)
            printed.append(cost + (1 - p) ** 2 + 2 * p * (1 - p))
        assert closed_forms.iid_acceptance(draft, target, 2) == min(printed)


def test_all_is_accepted_if_and_only_if_every_set_has_enough():
    certain = 0
    for draft, target, k in instances(58, 240, 4):
        enough = all(cost >= inside for _, cost, inside in masses_by_set(draft, target, k))
        assert closed_forms.always_accepted(draft, target, k) is enough
        assert enough == (oracles.optimum(oracles.iid_table(draft, k), target) == 1)
        condition = put(
            closed_forms.always_accepted_expression(len(draft)), named(draft, target, k=k)
        )
        assert bool(condition) is enough
        assert closed_forms.always_accepted(floats(draft), floats(target), k) is enough
        certain += enough and draft != target
    assert certain > of_all(10)


def test_for_two_tokens_only_single_tokens_matter():
    assert str(closed_forms.always_accepted_expression(2)) == (
        "(target_0 >= draft_0**k) & (target_1 >= draft_1**k)"
    )
    for q in SIXTHS:
        assert closed_forms.always_accepted(["1/2", "1/2"], [q, 1 - q], 2) is (
            Fraction(1, 4) <= q <= Fraction(3, 4)
        )


@pytest.mark.parametrize("k", [10**3, 10**17, 10**90])
def test_floats_tell_whether_all_is_accepted_for_any_number_of_drafts(k):
    assert not closed_forms.always_accepted([1.0, 0.0], [0.5, 0.5], k)
    assert closed_forms.always_accepted([0.5, 0.5], [1e-6, 1 - 1e-6], k)
    tiny = 1e-18
    heavy, light = [1 - tiny, tiny], [0.5, 0.5]
    # 1 − (1 − 1e-18)^k with the digits that 1 − 1e-18 has lost
    assert closed_forms.iid_acceptance(heavy, light, k) == pytest.approx(
        min(1, 0.5 - np.expm1(-k * tiny)), abs=1e-12
    )


def test_float_optima_agree_with_exact_ones():
    for draft, target, k in instances(59, 200, 6, most_drafts=6):
        found = closed_forms.iid_acceptance(floats(draft), floats(target), k)
        assert type(found) is float
        exact = closed_forms.iid_acceptance(draft, target, k)
        assert abs(found - exact) <= 2 * (len(draft) + 4) * EPS


def bound_by_definition(draft, target, k, chosen):
    """Lemma 3's terms, tuple by tuple."""
    inside = sum(min(target[y], 1 - (1 - draft[y]) ** k) for y in chosen)
    tuples = oracles.iid_table(draft, k).items()
    return inside + sum(
        min(mass, sum(target[y] for y in set(x) - set(chosen))) for x, mass in tuples
    )


def test_the_bound_of_a_set_is_between_the_optimum_and_its_cut():
    above = 0
    for draft, target, k in instances(64, 80, 4):
        bounds, best = [], oracles.optimum(oracles.iid_table(draft, k), target)
        for tokens, cost, inside in masses_by_set(draft, target, k):
            bound = closed_forms.set_bound(draft, target, k, tokens)
            assert type(bound) is Fraction
            assert bound == bound_by_definition(draft, target, k, tokens)
            assert best <= bound <= cost + 1 - inside
            bounds.append(bound)
            # It is no lower bound, not even with the paper's factor.
            above += bound * closed_forms.k_sequential_guarantee(k) > best
        assert min(bounds) == best
        cut = otspec.optimal_acceptance(otspec.IID(draft, k), target).cut
        assert closed_forms.set_bound(draft, target, k, cut) == best
    assert above > 10


@pytest.mark.parametrize(
    ("n", "k", "tokens"), [(1, 2, []), (2, 3, [1]), (3, 2, [0, 2]), (3, 1, [])]
)
def test_the_bound_of_a_set_in_symbols_is_the_same(n, k, tokens):
    expression = closed_forms.set_bound_expression(n, k, tokens)
    seen = 0
    for draft, target in pairs(65, 400, n):
        if len(draft) == n:
            bound = closed_forms.set_bound(draft, target, k, tokens)
            assert number(put(expression, named(draft, target))) == bound
            in_floats = closed_forms.set_bound(floats(draft), floats(target), k, tokens)
            # n^k products of k numbers, and sums of them
            assert abs(in_floats - bound) <= (n**k + 4 * k) * EPS
            seen += 1
        if seen == 12:
            break
    assert seen >= 4


def kept_by_texts(draft, target, length):
    """What token and block verification keep, over all texts of bits."""
    pair = (1 - draft, draft), (1 - target, target)
    by_token, by_block = Fraction(0), Fraction(0)
    for size in range(1, length + 1):
        for text in product(range(2), repeat=size):
            masses = [prod((law[bit] for bit in text), start=Fraction(1)) for law in pair]
            by_block += min(masses)
            by_token += prod((min(law[bit] for law in pair) for bit in text), start=Fraction(1))
    return by_token, by_block


@pytest.mark.parametrize("length", [1, 2, 3, 5])
def test_blocks_of_bits_keep_what_all_texts_say(length):
    expressions = [
        closed_forms.token_verification_tokens_expression(length),
        closed_forms.block_verification_tokens_expression(length),
    ]
    for draft in SIXTHS:
        for target in SIXTHS:
            by_token = closed_forms.token_verification_tokens(draft, target, length)
            by_block = closed_forms.block_verification_tokens(draft, target, length)
            assert (by_token, by_block) == kept_by_texts(draft, target, length)
            assert type(by_token) is type(by_block) is Fraction
            inside = 0 < draft < 1 and 0 < target < 1
            assert (by_block > by_token) == (length >= 2 and draft != target and inside)
            values = {"draft": draft, "target": target}
            assert [number(put(each, values)) for each in expressions] == [
                by_token, by_block,
            ]  # fmt: skip
            in_floats = [
                formula(float(draft), float(target), length)
                for formula in (
                    closed_forms.token_verification_tokens,
                    closed_forms.block_verification_tokens,
                )
            ]
            # At most L sums of probabilities, of 2 L roundings each
            assert np.abs(np.array(in_floats) - [float(by_token), float(by_block)]).max() <= (
                2 * length**2 * EPS
            )


@pytest.mark.parametrize(("draft", "target"), [("1/4", "3/4"), ("1/3", "2/5"), (0, "1/2"), (1, 1)])
def test_blocks_of_bits_keep_what_the_rules_for_blocks_keep(draft, target):
    p, q = Fraction(draft), Fraction(target)
    small, large = memoryless([1 - p, p]), memoryless([1 - q, q])
    for length in (1, 2, 4):
        by_token, by_block = (
            rule(small, large, length).expected()
            for rule in (TokenVerification, BlockVerificationPreprint)
        )
        assert closed_forms.token_verification_tokens(draft, target, length) == by_token
        assert closed_forms.block_verification_tokens(draft, target, length) == by_block
        published = BlockVerification(small, large, length).expected()
        assert by_token <= published <= by_block


def test_long_blocks_of_bits_end_in_what_is_kept_for_ever():
    # 1/2 at every bit: 1/2 + 1/4 + … = 1; equal sources keep all.
    assert closed_forms.token_verification_tokens("1/4", "3/4", 2_000) == 1 - Fraction(1, 2**2_000)
    assert closed_forms.block_verification_tokens("1/3", "1/3", 300) == 300
    assert closed_forms.block_verification_tokens(1 / 3, 1 / 3, 2_000) == pytest.approx(2_000)
    assert closed_forms.block_verification_tokens(0, 1, 2_000) == 0


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: closed_forms.iid_acceptance([1], [1], 0), "k must be at least 1"),
        (lambda: closed_forms.iid_acceptance([0.5, 0.5], ["1/2", "1/2"], 1), "target is exact but"),
        (lambda: closed_forms.always_accepted([1], [1], 2.0), "k must be an integer"),
        (lambda: closed_forms.iid_expression(11), "n must be at most 10, got 11"),
        (lambda: closed_forms.always_accepted_expression(0), "n must be at least 1"),
        (lambda: closed_forms.set_bound([1, 0], [1, 0], 2, [2]), "token ids run from 0 to 1"),
        (lambda: closed_forms.set_bound([1, 0], [1, 0], 10**6, []), "k is 1,000,000 and there are"),
        (lambda: closed_forms.set_bound_expression(100, 2, []), "hold more than 2,000 drafts"),
        (
            lambda: closed_forms.token_verification_tokens("1/2", "1/2", 0),
            "length must be at least",
        ),
        (lambda: closed_forms.block_verification_tokens(0.5, 0.5, 2_001), "length must be at most"),
        (
            lambda: closed_forms.block_verification_tokens(0.5, "1/2", 2),
            "target is exact but draft",
        ),
        (lambda: closed_forms.token_verification_tokens(2, 1, 2), "draft is 2.*between 0 and 1"),
        (
            lambda: closed_forms.block_verification_tokens(Fraction(1, 3**999), 1, 2_000),
            "length is 2000: with exact probabilities of 15.. bits",
        ),
        (
            lambda: closed_forms.block_verification_tokens_expression(21),
            "length must be at most 20",
        ),
    ],
)
def test_unusable_arguments_are_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()
