"""Searches for barriers, and grades, against what they are defined as."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from instances import fractions

from otspec import IID, WithoutReplacement
from otspec.rules.pooled.barriers import _first_beyond, _firsts_beyond, nearest_longer
from otspec.rules.pooled.graded import by_grade, grades, heaviest, highest_grade


@pytest.mark.parametrize("length", [1, 5, 36, 37, 101, 300])
def test_the_first_value_beyond_a_bound_is_found_from_any_place(length):
    """A value that is the bound is not beyond it."""
    values = np.random.default_rng(length).integers(0, 3, length).astype(float)
    values[: length - 1] *= np.arange(length - 1) % 60 == 0
    values[-1] = 9
    starts = np.arange(length)
    for bound in (0.0, 1.0, 2.0, 3.0):
        wanted = [next(i for i in range(start, length) if values[i] > bound) for start in starts]
        assert [_first_beyond(values, start, bound) for start in starts] == wanted
        bounds = np.full(length, bound)
        assert _firsts_beyond(values, starts, bounds).tolist() == wanted


def test_the_nearest_knot_that_lives_longer_is_before():
    rng = np.random.default_rng(4)
    for _ in range(20):
        lifetimes = [9, *rng.integers(1, 6, 12).tolist()]
        longer = [
            max(i for i in range(j) if lifetimes[i] > lifetimes[j])
            for j in range(1, len(lifetimes))
        ]
        assert nearest_longer(lifetimes) == [0, *longer]


def test_grades_are_steps_from_a_half():
    exact = np.array([Fraction(1)])
    assert grades(exact, 3, 2).tolist() == [0, Fraction(1, 2), 3]
    assert grades(exact, 3, 6).tolist() == [0, *fractions("1/2", 1, "3/2", 2, "5/2", 3)]
    assert grades(np.ones(1), 2, 4).tolist() == [0, 0.5, 1, 1.5, 2]


def test_the_highest_grade_counts_a_heavy_token_once():
    draft = fractions("1/2", "1/4", "1/8", "1/8")
    heavy = np.array([True, True, False, False])
    assert highest_grade(IID(draft, 3), heavy) == 3
    # 1/1 + 1/(1/2) + 1/(1/4), and then the light ones are left.
    for k, wanted in ((1, 1), (2, 3), (3, 7), (4, 11)):
        assert highest_grade(WithoutReplacement(draft, k), heavy) == wanted
        floats = WithoutReplacement([float(mass) for mass in draft], k)
        assert highest_grade(floats, heavy) == wanted
    assert highest_grade(WithoutReplacement(draft, 3), ~heavy) == 1 + Fraction(8, 7) + Fraction(
        4, 3
    )
    assert highest_grade(WithoutReplacement(draft, 3), heavy & False) == 3


def test_tokens_as_heavy_as_the_next_one_are_not_among_the_heaviest():
    draft = np.array([0.25, 0.125, 0.0, 0.5, 0.125])
    found = [np.flatnonzero(heaviest(draft, count)).tolist() for count in range(7)]
    # Of 1/8 there are two, and nothing of one is left out.
    assert found == [[], [3], [0, 3], [0, 3], [0, 1, 3, 4], [0, 1, 3, 4], [0, 1, 3, 4]]


def test_a_draft_goes_to_the_grades_around_its_ratio():
    """Grades 0, 1/2, 1, 3/2, 2; ratios 0, 1/4, 1, 7/4, 9, and none of a token without a draft."""
    draft = np.array(fractions("1/4", "1/4", "1/8", "1/4", "1/8", 0))
    target = draft * np.array(fractions(0, "1/4", 1, "7/4", 9, 1))
    target[-1] = Fraction(1, 8)
    pools = by_grade(draft, target, 2, 4)
    # All grades but none are filled: 0 by 1/4 and half of 1/4, and so on.
    assert pools.index.tolist() == [0, 0, 2, 3, 4, 0]
    assert pools.upper.tolist() == [0, 1, 2, 4, 4, 0]
    assert pools.part.tolist() == list(fractions(0, "1/2", 0, "1/2", 0, 0))
    assert pools.draft.tolist() == list(fractions("3/8", "1/8", "1/8", "1/8", "1/4"))
    assert pools.heavy.all()
    both = pools.between(np.array([0, 1, 3]), 1, 4)
    assert both.tolist() == list(fractions(0, "1/2", "1/2"))
    ways = dict(pools.placements([1, 3]))
    quarter = Fraction(1, 4)
    assert ways == {(0, 3): quarter, (0, 4): quarter, (1, 3): quarter, (1, 4): quarter}
    assert dict(pools.placements([0, 2])) == {(0, 2): 1}
