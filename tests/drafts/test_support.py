"""Rows and pairs of a draft law: all tuples, or their sets of distinct tokens."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations, product
from math import comb

import numpy as np
import oracles
import pytest
from instances import LAWS, fractions, law_case
from programs_table import instances, seen_table, set_key

import otspec
from otspec.drafts.base import support


@pytest.mark.parametrize("sets", [True, False])
@pytest.mark.parametrize("name", LAWS)
def test_rows_and_pairs_are_those_of_enumeration(name, sets):
    for case, _ in instances(name, seed=100, count=60):
        seen, expected = support(case.exact, sets=sets), seen_table(case.table, sets)
        keys = list(map(tuple, seen.keys.tolist()))
        assert len(keys) == len(set(keys))
        assert dict(zip(keys, seen.masses.tolist(), strict=True)) == expected
        assert all(type(mass) is Fraction for mass in seen.masses)
        assert seen.masses.sum() == 1
        pairs = list(zip(seen.rows.tolist(), seen.tokens.tolist(), strict=True))
        assert pairs == [(row, y) for row, x in enumerate(keys) for y in sorted(set(x))]
        if sets:
            assert keys == sorted(keys)
        else:
            assert keys == list(map(tuple, case.exact.tuples()[0].tolist()))


@pytest.mark.parametrize("sets", [True, False])
@pytest.mark.parametrize("name", LAWS)
def test_every_tuple_finds_its_row_and_impossible_ones_have_none(name, sets):
    for case, _ in instances(name, seed=101, count=30, most_tokens=3):
        law = case.exact
        seen = support(law, sets=sets)
        possible = seen_table(case.table, sets)
        for x in product(range(law.n), repeat=law.k):
            row, key = seen.row_of(x), set_key(x) if sets else x
            if key in possible:
                assert tuple(seen.keys[row].tolist()) == key
                tokens = seen.tokens[seen.pairs_of(row)]
                assert tokens.tolist() == sorted(set(x))
                assert set(seen.rows[seen.pairs_of(row)].tolist()) == {row}
            else:
                assert row is None


def test_permuted_and_repeated_drafts_share_the_row_of_their_set():
    draft = fractions("1/4", "1/4", "1/3", "1/6")
    sets, tuples = (support(otspec.IID(draft, 3), sets=sets) for sets in (True, False))
    same = [(0, 2, 2), (2, 0, 2), (2, 2, 0), (0, 0, 2), (0, 2, 0), (2, 0, 0)]
    assert len({sets.row_of(x) for x in same}) == 1
    assert len({tuples.row_of(x) for x in same}) == 6
    row = sets.row_of([2, 2, 0])
    assert sets.keys[row].tolist() == [0, 2, 2]
    # Three drafts that are all in {0, 2} and not all equal.
    assert sets.masses[row] == Fraction(7, 12) ** 3 - Fraction(1, 4) ** 3 - Fraction(1, 3) ** 3
    assert sets.row_of((3, 1, 0)) == sets.row_of((0, 1, 3)) != sets.row_of((0, 1, 2))


@pytest.mark.parametrize(("n", "k"), [(12, 1), (12, 2), (12, 4), (9, 5)])
def test_larger_full_supports_have_one_row_for_every_set_of_at_most_k_tokens(n, k):
    weights = range(1, n + 1)
    draft = [Fraction(weight, sum(weights)) for weight in weights]
    law = otspec.IID(draft, k)
    seen = support(law)
    expected = {s for j in range(1, k + 1) for s in combinations(range(n), j)}
    assert len(seen.masses) == len(expected) == sum(comb(n, j) for j in range(1, k + 1))
    by_set = dict(
        zip((tuple(sorted(set(x))) for x in seen.keys.tolist()), seen.masses, strict=True)
    )
    assert set(by_set) == expected
    assert sum(by_set.values()) == 1
    for tokens in list(expected)[:: max(1, len(expected) // 50)]:
        # Drafts inside A whose distinct tokens are all of A, by inclusion and exclusion.
        exactly = sum(
            (-1) ** (len(tokens) - j) * sum((draft[y] for y in part), Fraction(0)) ** k
            for j in range(len(tokens) + 1)
            for part in combinations(tokens, j)
        )
        assert by_set[tokens] == exactly


@pytest.mark.parametrize("name", LAWS)
def test_masses_of_floats_are_those_of_fractions_rounded(name):
    for case, _ in instances(name, seed=102, count=24, ks=(2, 3)):
        exact, inexact = support(case.exact), support(case.float)
        assert np.array_equal(exact.keys, inexact.keys)
        assert np.array_equal(exact.rows, inexact.rows)
        assert np.array_equal(exact.tokens, inexact.tokens)
        # Sums of at most 64 products and quotients of rounded masses, each sum at most 1.
        error = 64 * 8 * np.finfo(float).eps
        assert np.abs(inexact.masses - exact.masses.astype(float)).max() <= error


def test_a_table_that_is_too_large_is_refused():
    law = otspec.IID([0.01] * 100, 4)
    with pytest.raises(ValueError, match="100,000,000 draft tuples"):
        support(law)


def test_mass_inside_a_set_of_tokens_is_kept():
    for sets in (True, False):
        case = law_case("Joint", fractions(*["1/4"] * 4), 3, seed=5)
        seen = support(case.exact, sets=sets)
        inside = oracles.inside_every_set(case.table, 4)
        for mask, mass in enumerate(inside):
            within = np.isin(seen.keys, oracles.members(mask)).all(axis=1)
            assert sum(seen.masses[within]) == mass
