"""The selection law that is nearest to the target in every divergence (Theory, 30)."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import oracles
import pytest
from instances import LAWS, floats, law_cases, weights

import otspec
from otspec.optimum.cuts.levels import WaterFilling, level_selection
from otspec.optimum.cuts.minimum import shortfall

SIZES = {"most_tokens": 5, "most_drafts": 3}


def array(values):
    return np.array(values, dtype=object)


@pytest.mark.parametrize("name", LAWS)
def test_every_set_above_a_level_is_tight(name):
    """A feasible law whose upper sets are all tight is the lexicographically optimal one."""
    for case, target in law_cases(name, seed=2210, count=40, **SIZES):
        law, n = level_selection(case.exact, array(target)), len(target)
        assert law.sum() == 1
        assert law.min() >= 0
        inside = oracles.inside_every_set(case.table, n)
        missing = max(inside[mask] - sum(law[oracles.members(mask)]) for mask in range(2**n))
        assert missing == 0
        unwanted = [y for y in range(n) if target[y] == 0]
        for level in {law[y] / target[y] for y in range(n) if target[y] > 0}:
            above = [y for y in range(n) if target[y] > 0 and law[y] / target[y] >= level]
            tight = sum(1 << y for y in unwanted + above)
            assert inside[tight] == sum(law[unwanted + above])


@pytest.mark.parametrize("name", LAWS)
def test_no_feasible_law_is_nearer_in_any_divergence(name):
    """Against mixtures with other feasible laws, those of priority orders."""
    rng = np.random.default_rng(2211)
    for case, target in law_cases(name, seed=2212, count=8, fewest=3, **SIZES):
        n = len(target)
        q = array([(mass + Fraction(1, n)) / 2 for mass in target])
        law = level_selection(case.exact, q)
        order = rng.permutation(n)
        other = np.empty(n, dtype=object)
        other[order] = np.diff(case.exact.inside_prefixes(order))
        for share in (Fraction(1), Fraction(1, 2), Fraction(1, 100)):
            mixed = (1 - share) * law + share * other
            for power in (2, 3, 4):
                assert (q * (law / q) ** power).sum() <= (q * (mixed / q) ** power).sum()
            assert np.minimum(law, q).sum() >= np.minimum(mixed, q).sum()


@pytest.mark.parametrize("name", LAWS)
def test_floats_are_that_within_rounding(name):
    for case, target in law_cases(name, seed=2213, count=8, **SIZES):
        exact = level_selection(case.exact, array(target))
        law = level_selection(case.float, np.array(floats(target)))
        assert np.abs(law - exact.astype(float)).max() < 1e-14
        assert shortfall(case.float, law) < 1e-14


def test_two_independent_drafts_of_many_tokens_have_none():
    draft = np.full(101, 1 / 101)
    assert level_selection(otspec.Independent([draft, draft]), draft) is None


def test_what_vessels_hold_adds_up_and_is_level():
    rng = np.random.default_rng(2214)
    for _ in range(50):
        volumes = array(weights(rng, 6, 9, 0.2))
        vessels = WaterFilling(volumes, array(weights(rng, 6, 9)))
        for amount in (Fraction(0), Fraction(int(rng.integers(1, 20)), 20), Fraction(1)):
            held = vessels.filled(amount)
            assert held.sum() == amount
            assert (held <= volumes).all()
            heights = held / vessels.widths
            assert set(heights[held < volumes]) in (set(), {max(heights)})
