"""Importance sampling where several maximum flows are equally large: floats follow fractions."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from searching import enough
from tied_pairs import tied_pair, tolerance

from otspec.rules import ImportanceSampling


def instances(seed, count):
    """Some tied pairs."""
    rng = np.random.default_rng(seed)
    return [tied_pair(rng, index) for index in range(enough(count))]


@pytest.mark.parametrize("k", [2, 3, 4])
def test_floats_select_what_fractions_select(k):
    """The accepted law is a sum over n^k drafts, each within the tolerance times its mass."""
    for draft, target in instances(900 + k, 240 if k < 4 else 60):
        n = len(draft)
        exact = ImportanceSampling(draft, target, k, free=n)
        close = ImportanceSampling(*(np.array(x, float) for x in (draft, target)), k, free=n)
        allowed = tolerance(n, k)
        expected = exact.law_of_selection.astype(float)
        assert np.abs(close.law_of_selection - expected).sum() <= allowed
        # What is accepted depends on the pairs of each stage, of which there are n².
        accepted = float(exact.acceptance())
        assert close.acceptance() == pytest.approx(accepted, abs=k * n**2 * allowed)


def test_pairs_are_shared_out_as_in_fractions():
    """The mass of each pair that goes to its first token, for two drafts: no more is tied."""
    for draft, target in instances(910, 400):
        n = len(draft)
        rules = [
            ImportanceSampling(draft, target, 2, free=n),
            ImportanceSampling(*(np.array(x, float) for x in (draft, target)), 2, free=n),
        ]
        exact, close = (
            np.array([
                rule.verified.selection.weights(np.array([[i, j]]))[0, 0] * draft[i] * draft[j]
                for i, j in product(range(n), repeat=2)
            ], float)
            for rule in rules
        )  # fmt: skip
        assert np.abs(exact - close).max() <= tolerance(n, 2)


def test_the_law_jumps_where_the_order_of_tokens_that_are_not_free_changes():
    """Two equal tokens: a pair of both selects the earlier, unless the other is wanted more."""
    half, step = Fraction(1, 2), Fraction(1, 10**9)
    tied = ImportanceSampling([half, half], [half, half], 2, free=0)
    moved = ImportanceSampling([half, half], [half - step, half + step], 2, free=0)
    assert tied.law_of_selection.tolist() == [Fraction(3, 4), Fraction(1, 4)]
    assert moved.law_of_selection.tolist() == [Fraction(1, 4), Fraction(3, 4)]
    free = [
        ImportanceSampling([half, half], target, 2).law_of_selection
        for target in ([half, half], [half - step, half + step])
    ]
    assert np.abs(free[1] - free[0]).sum() == 2 * step


def test_the_law_jumps_where_another_token_is_left_out_of_the_alphabet():
    half, step = Fraction(1, 2), Fraction(1, 10**9)
    tied = ImportanceSampling([half, half], [half, half], 2, alphabet=1)
    moved = ImportanceSampling([half, half], [half - step, half + step], 2, alphabet=1)
    assert tied.verified_target.tolist() == [1, 0]
    assert moved.verified_target.tolist() == [0, 1]
