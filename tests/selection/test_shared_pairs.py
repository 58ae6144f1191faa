"""Pairs of tokens shared out: within their masses, and as much as the minimum cut allows."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations

import numpy as np
import oracles
import pytest
from instances import weights

from otspec.rules.importance.shared_pairs import quick_pairs, shared_pairs
from otspec.rules.importance.shared_pass import push_all

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
        push_all(got, got.sum(axis=1) - wanted.astype(float))
        assert got.tolist() == expected.tolist()
