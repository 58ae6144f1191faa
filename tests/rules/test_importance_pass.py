"""Stages of importance sampling in compiled passes find the same numbers as array by array."""

import numpy as np
import pytest

from otspec import compiling
from otspec.programs.truncated import places_in, surely_selected
from otspec.rules import ImportanceSampling, importance_pass
from otspec.rules.importance_stages import FEW

LOOPS = importance_pass.move_few, importance_pass.fast_move_few


def disturbed(rng, n, grid):
    """Tokens in an order that some left, with ties; masses are multiples of 1/grid."""
    tokens = rng.permutation(n)
    masses = rng.integers(0, grid, (3, n)) / grid
    order = np.lexsort([tokens, masses[0] * masses[1] - masses[2]])
    order = np.roll(order, int(rng.integers(-3, 4)))
    swaps = rng.integers(0, n - 1, n // 8)
    for i in swaps:
        order[[i, i + 1]] = order[[i + 1, i]]
    i, j = rng.integers(0, n, 2)
    order = np.insert(np.delete(order, i), min(j, n - 1), order[i])
    return tokens[order], masses[:, order].copy()


@pytest.mark.parametrize("loop", LOOPS, ids=("plain", "compiled"))
def test_few_tokens_are_moved_into_their_order(loop):
    rng, moved = np.random.default_rng(0), []
    for case in range(120):
        most, n = (3, 40)[case % 2], int(rng.integers(2, 90))
        tokens, masses = disturbed(rng, n, (4, 1000)[case % 3 == 0])
        expected = np.lexsort([tokens, masses[0] * masses[1] - masses[2]])
        rows = [tuple(row) for row in np.vstack([tokens, masses]).T.tolist()]
        moved.append(loop(tokens, masses, most))
        found = [tuple(row) for row in np.vstack([tokens, masses]).T.tolist()]
        assert sorted(found) == sorted(rows)  # each keeps its masses
        if moved[-1]:
            assert found == [rows[i] for i in expected]
    assert 10 < sum(moved) < 120


def test_a_token_that_moves_across_all_is_one_that_moves():
    for back in (False, True):
        tokens, masses = np.arange(300), np.zeros((3, 300))
        masses[2] = np.arange(300)[::-1]
        masses[2, -1 if back else 0] = 1_000.0 if back else -1.0
        assert importance_pass.move_few(tokens, masses, 1)
        assert tokens.tolist() == ([299, *range(299)] if back else [*range(1, 300), 0])


def test_sums_and_places_are_those_of_arrays():
    masses = np.random.default_rng(1).dirichlet(np.ones(50), size=3)
    order = np.random.default_rng(2).permutation(50)
    for free in (0, 1, 7, 50):
        certain = surely_selected(masses[0], masses[1], free)
        assert importance_pass.surely(masses, free).tolist() == certain.tolist()
    rank, law = importance_pass.in_places(order, masses[0])
    assert rank.tolist() == places_in(order).tolist()
    assert law[order].tolist() == masses[0].tolist()


def test_the_stages_are_the_same_without_numba(monkeypatch):
    rng = np.random.default_rng(3)
    weights = rng.integers(1, 60, (3, FEW)) ** 3.0  # ties
    first, second, target = weights / weights.sum(axis=1, keepdims=True)
    for others in ((), [second, first, first, second]):
        rule = ImportanceSampling(first, target, 5, others=others, free=9)
        found = rule.stages
        with monkeypatch.context() as plain:
            plain.setattr(compiling, "HAS_NUMBA", False)
            expected = ImportanceSampling(first, target, 5, others=others, free=9).stages
        for one, other in zip(found, expected, strict=True):
            assert (one.rank == other.rank).all()
            assert (one.shares == other.shares).all()
            assert (one.law_of_selection == other.law_of_selection).all()
