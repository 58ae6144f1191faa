"""Pairs of tokens shared out: within their masses, and as much as the minimum cut allows."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations

import numpy as np
import oracles
import pytest
from instances import weights
from scipy.optimize import linprog

from otspec.rules.importance.numba_pass import quick_pairs
from otspec.rules.importance.shared_pairs import push_all, settle_all, shared_pairs

CRUMB = 5e-324
"""The smallest float."""


def by_cuts(masses, wanted):
    """The least of what some tokens want and of the pairs that are not all theirs."""
    size, values = len(wanted), []
    for mask in range(2**size):
        chosen = set(oracles.members(mask))
        others = [masses[i][j] for i, j in combinations(range(size), 2) if not {i, j} <= chosen]
        values.append(sum((wanted[i] for i in chosen), Fraction(0)) + sum(others, Fraction(0)))
    return min(values)


def cases(seed, count, most=6):
    """Masses as of two equal drafts, of two others, of anything; tokens that want nothing."""
    rng = np.random.default_rng(seed)
    for index in range(count):
        size = int(rng.integers(1, most + 1))
        first, wanted = (weights(rng, size, 12, 0.3) for _ in range(2))
        second = first if index % 3 == 0 else weights(rng, size, 12, 0.3)
        masses = np.multiply.outer(np.array(first, object), np.array(second, object))
        if index % 3 == 2:
            masses = masses * rng.integers(0, 4, masses.shape)
        masses = masses + masses.T
        np.fill_diagonal(masses, Fraction(0))
        yield masses, np.array(wanted, object) / (1 + index % 4)


def test_as_much_is_wanted_as_the_minimum_cut_allows():
    short = 0
    for masses, wanted in cases(700, 150):
        got = shared_pairs(masses, wanted)
        assert all(type(share) is Fraction for share in got.ravel())
        assert (got >= 0).all()
        assert (got + got.T == masses).all()
        value = np.minimum(got.sum(axis=1), wanted).sum()
        assert value == by_cuts(masses.tolist(), wanted.tolist())
        short += value < wanted.sum()
        close = shared_pairs(masses.astype(float), wanted.astype(float))
        assert (close >= 0).all()
        assert close + close.T == pytest.approx(masses.astype(float), abs=1e-15)
        served = np.minimum(close.sum(axis=1), wanted.astype(float)).sum()
        assert served == pytest.approx(float(value), abs=1e-14)
    assert 40 < short < 140


def test_ways_of_several_pushes_are_found():
    """Each token can hand on to the next one only, and only the last lacks something."""
    size = 6
    masses = np.zeros((size, size))
    for i in range(size - 1):
        masses[i, i + 1] = masses[i + 1, i] = 1
    got = shared_pairs(masses, np.array([0.0, 1, 1, 1, 1, 1]))
    assert got.sum(axis=1).tolist() == [0, 1, 1, 1, 1, 1]


@pytest.mark.parametrize("crumb", [CRUMB, 1e-310, 1e-160, 1e-17])
def test_crumbs_come_to_an_end(crumb):
    rng = np.random.default_rng(7)
    for _ in range(40):
        size = int(rng.integers(2, 9))
        masses = rng.choice([0, crumb, 3 * crumb, 1e-9, 0.1], (size, size))
        masses = np.triu(masses, 1) + np.triu(masses, 1).T
        wanted = rng.choice([0, crumb, 2 * crumb, 1e-9, 0.1, 0.3], size)
        got = shared_pairs(masses, wanted)
        assert (got >= 0).all()
        assert got + got.T == pytest.approx(masses, abs=1e-15)


def test_nothing_to_share_is_nothing():
    assert shared_pairs(np.zeros((0, 0)), np.zeros(0)).shape == (0, 0)
    assert shared_pairs(np.zeros((1, 1)), np.ones(1)).tolist() == [[0]]


def test_pushes_one_by_one_share_the_same():
    rng = np.random.default_rng(702)
    for masses, wanted in cases(701, 60, most=9):
        floats = masses.astype(float) * rng.random()
        expected = shared_pairs(floats, wanted.astype(float))
        assert quick_pairs(floats, wanted.astype(float)).tolist() == expected.tolist()
        got = np.triu(floats)
        surplus = got.sum(axis=1) - wanted.astype(float)
        push_all(got, surplus)
        settle_all(got, surplus)
        assert got.tolist() == expected.tolist()


def first_flow(masses, wanted):
    """The lexicographically first maximum flow by a linear program for each pair, in integers.

    All corners of these polytopes are integers, so that a solution is known once it is rounded.
    """
    pairs = list(combinations(range(len(wanted)), 2))
    # Columns: what the earlier token gets of each pair, then what each token keeps.
    size, most = len(wanted), [int(masses[pair]) for pair in pairs]
    keeps = np.hstack([np.zeros((size, len(pairs))), np.eye(size)])
    given = np.zeros(size)
    for column, (i, j) in enumerate(pairs):
        keeps[i, column], keeps[j, column] = -1, 1
        given[j] += most[column]
    ranges = [(0, each) for each in [*most, *map(int, wanted)]]
    goals = [np.repeat([0.0, 1.0], [len(pairs), size]), *np.eye(len(pairs), len(pairs) + size)]
    found = []
    for column, goal in enumerate(goals, start=-1):
        rows = np.array(goals[:1] if column >= 0 else []).reshape(-1, len(goal))
        solved = linprog(
            -goal, A_ub=keeps, b_ub=given, A_eq=rows, b_eq=found[:1] if column >= 0 else [],
            bounds=ranges,
        )  # fmt: skip
        found.append(round(-solved.fun))
        if column >= 0:
            ranges[column] = found[-1], found[-1]
    got = np.zeros((size, size), int)
    for pair, share in zip(pairs, found[1:], strict=True):
        got[pair], got[pair[::-1]] = share, masses[pair] - share
    return got.tolist()


def test_of_maximum_flows_the_lexicographically_first_is_taken():
    rng, others = np.random.default_rng(703), 0
    for _ in range(60):
        size = int(rng.integers(2, 6))
        masses = np.triu(rng.integers(0, 4, (size, size)), 1)
        masses += masses.T
        wanted = rng.integers(0, 7, size)
        exact = [np.array([*map(Fraction, row.ravel())]).reshape(row.shape)
                 for row in (masses.astype(object), wanted.astype(object))]  # fmt: skip
        expected = first_flow(masses, wanted)
        assert shared_pairs(*exact).tolist() == expected
        assert quick_pairs(masses.astype(float), wanted.astype(float)).tolist() == expected
        got = np.triu(masses.astype(float))
        push_all(got, got.sum(axis=1) - wanted)
        others += got.tolist() != expected
    assert others > 10  # another maximum flow was found first


def test_roundings_change_no_share_by_more_than_all_of_them():
    """Tied numbers of which floats have no exact copies: thirds, fifths and zeros."""
    rng = np.random.default_rng(704)
    for index in range(200):
        size, unit = int(rng.integers(2, 9)), Fraction(1, (3, 5, 7)[index % 3])
        masses = np.triu(rng.integers(0, 3, (size, size)), 1).astype(object) * unit
        masses = masses + masses.T
        wanted = rng.integers(0, 4, size).astype(object) * unit
        expected = shared_pairs(masses, wanted).astype(float)
        # The data are rounded once, and each of at most s² moves over s pairs twice.
        total = float(masses.sum() + wanted.sum())
        allowed = total * 2.0**-53 * (2 + 2 * size**3)
        for share in (shared_pairs, quick_pairs):
            close = share(masses.astype(float), wanted.astype(float))
            assert np.abs(close - expected).max() <= allowed
