"""Which ρ of k-Seq are lossless: all that the enumeration says, and no other (Theory, 31)."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction

import numpy as np
import oracles
import pytest
from instances import floats, fractions, pairs, turn
from searching import of_all

from otspec.rules import KSequential
from otspec.rules.base.counts import HALVINGS
from otspec.rules.rejection.k_sequential_rho import _exact_root

EVERY = ["1/2", "1/2"], [1, 0]
"""With two drafts every positive ρ is lossless, since ρ* = 3/2 is below the only ratio, 2."""
BINDING = ["1/2", "1/2"], ["3/4", "1/4"]
"""With two drafts ρ* is (3 + √5)/4, about 1.309, and no smaller ρ is lossless."""


@pytest.mark.parametrize("off", [0, 1, -1, 2, -5])
def test_a_guess_that_is_nearly_right_saves_halvings(off):
    """The root of x² = 2 from 1 to 2, in 2^200 steps."""
    asked, root = [], math.isqrt(2 * 4**HALVINGS) - 2**HALVINGS  # the last step below it

    def suffices(number):
        asked.append(number)
        return number**2 >= 2

    found = _exact_root(suffices, Fraction(1), Fraction(2), root + 1 + off)
    assert 0 <= found**2 - 2 < Fraction(1, 2**60)
    assert len(asked) <= 7 if abs(off) <= 1 else len(asked) > HALVINGS


def tried(draft, target, k):
    """ρ around all that could matter: the ratios, ρ*, and far below and above."""
    ratios = {q / p for p, q in zip(draft, target, strict=True) if p > 0 and q > 0}
    root = KSequential(draft, target, k).rho
    near = Fraction(1, 2**50)
    return sorted(
        {*ratios, *(ratio / 2 for ratio in ratios), root, root - near, root + near}
        | {Fraction(1, 10**9), Fraction(1), Fraction(k), Fraction(10**9)}
    )


def refused(draft, target, k, rho):
    """The message that refuses ρ, or nothing."""
    try:
        rule = KSequential(draft, target, k, rho=rho)
    except ValueError as error:
        return str(error)
    assert rule.rho == rho
    return ""


def test_a_rho_is_refused_exactly_if_a_token_is_put_out_too_often():
    lossless, lossy = 0, 0
    for index, (draft, target) in enumerate(pairs(68, 240, 5)):
        k = 1 + turn(index, 4)
        for rho in tried(draft, target, k):
            message = refused(draft, target, k, rho)
            _, residual = oracles.k_sequential_residual(draft, target, k, rho)
            assert bool(message) == (min(residual) < 0)
            if message:
                token = residual.index(min(residual))
                assert f"it puts token {token} out with probability" in message
                assert "raise rho to at least rho* = " in message
            lossless, lossy = lossless + (not message), lossy + bool(message)
    assert lossless > of_all(700)
    assert lossy > of_all(250)


def test_lossless_from_is_nothing_or_the_root():
    of_both = Counter()
    for index, (draft, target) in enumerate(pairs(69, 200, 5)):
        k = 1 + turn(index, 4)
        rule = KSequential(draft, target, k)
        oracle = all(
            oracles.k_sequential_is_valid(draft, target, k, rho) for rho in tried(draft, target, k)
        )
        assert type(rule.lossless_from) is Fraction
        assert rule.lossless_from == (0 if oracle else rule.rho)
        assert KSequential(floats(draft), floats(target), k).lossless_from == pytest.approx(
            float(rule.lossless_from), rel=1e-9
        )
        of_both[oracle] += 1
    assert min(of_both[True], of_both[False]) > of_all(20)


def test_below_every_ratio_the_rule_is_one_and_accepts_the_optimum():
    seen = 0
    for index, (draft, target) in enumerate(pairs(70, 240, 4)):
        k = 1 + turn(index, 3)
        if KSequential(draft, target, k).lossless_from == 0:
            table = oracles.iid_table(draft, k)
            rules = [KSequential(draft, target, k, rho=Fraction(1, n)) for n in (3, 100)]
            for rule in rules:
                kernels = {x: rule.kernel(x).tolist() for x in table}
                kernel = kernels.__getitem__
                assert oracles.output(table, kernel, len(target)) == list(target)
                assert rule.acceptance() == oracles.acceptance(table, kernel)
            assert rules[0].acceptance() == oracles.optimum(table, target)
            assert rules[0].accepted().by_token.tolist() == rules[1].accepted().by_token.tolist()
            seen += 0 < rules[0].acceptance() < 1
    assert seen >= of_all(5)


@pytest.mark.parametrize("rho", [Fraction(3, 2), "3/2", "1.5", "5/4", "1/1000", 2, 10**30, 10**400])
def test_any_exact_rho_is_kept_where_none_is_lossy(rho):
    assert KSequential(*EVERY, 2, rho=rho).rho == Fraction(rho)


@pytest.mark.parametrize("rho", [1.49, 1e-9, 1e-320, 1e300])
def test_any_float_rho_is_kept_where_none_is_lossy(rho):
    rule = KSequential([0.5, 0.5], [1.0, 0.0], 2, rho=rho)
    assert rule.rho == rho
    assert rule.kernel([1, 1]).tolist() == [1, 0]
    assert abs(rule.acceptance() - 0.75) < 1e-15


def test_the_smallest_pairs_have_their_lossless_rho():
    same, apart = fractions("1/3", "2/3"), fractions(0, 1)
    assert KSequential(same, same, 3).lossless_from == 0
    assert KSequential(fractions(1), fractions(1), 2, rho="1/7").acceptance() == 1
    assert KSequential(fractions(1, 0), apart, 4).lossless_from == 0
    assert KSequential(fractions(1, 0), apart, 4, rho="1/7").acceptance() == 0
    assert KSequential(*BINDING, 1).lossless_from == 1
    with pytest.raises(ValueError, match=r"token 1 out with probability 1/2 at least, .* 1/4"):
        KSequential(*BINDING, 1, rho="1/2")


@pytest.mark.parametrize(
    ("rho", "message"),
    [
        (0, r"rho is 0: .*positive finite.*rho\* = 1\.309"),
        ("-2", r"rho is -2.*rho\* = 1\.309"),
        ("6/5", r"rho is 6/5.*token 1 out with probability 155/576 .*1/4; .*rho\* = 1\.309"),
        (1.5, "rho is 1.5, in another arithmetic"),
        (np.nan, "another arithmetic"),
        ("high", "rho is 'high'"),
        (True, "rho is True"),
    ],
)
def test_an_unusable_exact_rho_is_refused(rho, message):
    with pytest.raises(ValueError, match=message):
        KSequential(*BINDING, 2, rho=rho)


@pytest.mark.parametrize("rho", [0.0, -2.0, np.nan, np.inf, -np.inf])
def test_a_float_rho_that_is_not_positive_and_finite_is_refused(rho):
    with pytest.raises(ValueError, match=r"rho is .*positive finite number, .*rho\* = 1\.5"):
        KSequential([0.5, 0.5], [1.0, 0.0], 2, rho=rho)


@pytest.mark.parametrize("rho", [1e-320, 0.25, 1.2, 1.309])
def test_a_lossy_float_rho_is_refused(rho):
    with pytest.raises(ValueError, match=r"lossy: it puts token 1 out with .* 0\.25; .* 1\.309"):
        KSequential([0.5, 0.5], [0.75, 0.25], 2, rho=rho)
