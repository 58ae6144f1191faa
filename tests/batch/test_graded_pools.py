"""Graded pools: docs/pooled_proofs.md in fractions, and the batch rule against it."""

from fractions import Fraction

import numpy as np
import pytest
from barrier_lives import lifetimes_of
from graded_reference import FOR_EVER, Graded, grades
from hypothesis import given
from hypothesis import strategies as st

from otspec import batch, rules
from otspec.batch._array_api.library import library_of
from otspec.batch._array_api.pooled.graded_pools import even_grades, graded_pools

NEAR = {"rtol": 0, "atol": 1e-13}
ROW = [Fraction(1, 2), Fraction(3, 10), Fraction(1, 5)]
OTHER = [Fraction(1, 10), Fraction(3, 5), Fraction(3, 10)]

masses = st.lists(st.integers(0, 6), min_size=3, max_size=3).filter(any)


def distribution(counts):
    return [Fraction(count, sum(counts)) for count in counts]


def test_the_example_of_the_documentation():
    rule = Graded(ROW, OTHER, 2, 3)
    assert rule.grades == [0, Fraction(1, 2), Fraction(5, 4), 2]
    assert rule.masses == [Fraction(f) for f in ("3/10", "1/5", "2/15", "11/30")]
    assert (rule.tight, rule.lacking) == (2, Fraction(3, 20))
    assert rule.slopes == [Fraction(f) for f in ("1/2", "1/2", "5/4", "35/22")]
    assert rule.lifetimes == [FOR_EVER, 0, FOR_EVER, Fraction(15, 22), FOR_EVER]
    assert rule.law == [Fraction(f) for f in ("1/4", "21/44", "3/11")]
    assert sum(map(min, rule.law, OTHER)) == Fraction(17, 20)


@given(masses, masses, st.integers(1, 3), st.integers(2, 5))
def test_the_selected_token_has_the_law_that_is_claimed(draft, target, k, m):
    rule = Graded(distribution(draft), distribution(target), k, m)
    assert rule.selected() == rule.law
    assert sum(map(min, rule.law, rule.target)) >= 1 - rule.lacking


@given(masses, masses, st.integers(1, 5), st.integers(2, 8))
def test_the_exact_rule_has_the_same_law(draft, target, k, m):
    rule = Graded(distribution(draft), distribution(target), k, m)
    exact = rules.PooledSelection(rule.draft, rule.target, k, rules.Graded(m))
    assert list(exact.law_of_selection) == rule.law


@given(masses, masses, st.integers(1, 5), st.integers(2, 8))
@np.errstate(all="ignore")
def test_the_batch_rule_has_the_same_pools(draft, target, k, m):
    rule = Graded(distribution(draft), distribution(target), k, m)
    p, q = np.array(rule.draft, dtype=float), np.array(rule.target, dtype=float)
    library, count = library_of(p), np.full(1, float(k))
    pools = graded_pools(library, p, q, count, m)
    np.testing.assert_allclose(pools.grades, np.array(rule.grades, dtype=float), **NEAR)
    np.testing.assert_allclose(pools.widths, np.array(rule.masses, dtype=float), **NEAR)
    law = p * pools.over(pools.filled(p, q))
    np.testing.assert_allclose(law, np.array(rule.law, dtype=float), **NEAR)
    accepted = batch.acceptance.pooled_selection(p, q, k, grades=m)
    assert float(accepted) == pytest.approx(float(sum(map(min, rule.law, rule.target))), abs=1e-13)


@np.errstate(all="ignore")
def test_the_batch_rule_has_the_lifetimes_of_the_example():
    p, q = np.array(ROW, dtype=float), np.array(OTHER, dtype=float)
    pools = graded_pools(library_of(p), p, q, np.full(1, 2.0), 3)
    np.testing.assert_allclose(lifetimes_of(pools), [2, 0, 2, 15 / 22, 2], atol=1e-12)


@pytest.mark.parametrize("k", [1, 2, 3, 8, 10**6])
@pytest.mark.parametrize("m", [2, 6, 256])
def test_grades_are_even(k, m):
    count = np.full(1, float(k))
    found = even_grades(library_of(count), count, m)
    np.testing.assert_allclose(found, np.array(grades(k, m), dtype=float), rtol=1e-15)
