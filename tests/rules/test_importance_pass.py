"""Stages of importance sampling in compiled passes find the same numbers as array by array."""

import numpy as np
import pytest

from otspec._base import compiling
from otspec._base.compiling import unwriteable
from otspec.programs.truncated import places_in, surely_selected
from otspec.rules import ImportanceSampling
from otspec.rules.importance import numba_pass, stages
from otspec.rules.importance.stages import FEW, Stage

LOOPS = numba_pass.move_few, numba_pass.fast_move_few


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
        assert numba_pass.move_few(tokens, masses, 1)
        assert tokens.tolist() == ([299, *range(299)] if back else [*range(1, 300), 0])


def test_near_tokens_that_are_out_of_order_are_not_set_apart():
    """Groups of tokens in any order, but the groups in theirs: nothing has to move far."""
    rng = np.random.default_rng(4)
    values = np.sort(rng.random((100, 6)).ravel())[::-1].reshape(100, 6)
    values = rng.permuted(values, axis=1).ravel()
    tokens, masses = np.arange(600), np.array([0 * values, 0 * values, values])
    assert numba_pass.move_few(tokens, masses, 0)
    assert tokens.tolist() == np.argsort(-values).tolist()
    tokens, masses = np.arange(600), np.array([0 * values, 0 * values, np.sort(values)])
    assert not numba_pass.move_few(tokens, masses, 100)  # all the other way round
    assert sorted(zip(tokens.tolist(), masses[2], strict=True)) == list(enumerate(np.sort(values)))


def test_sums_and_places_are_those_of_arrays():
    masses = np.random.default_rng(1).dirichlet(np.ones(50), size=3)
    order = np.random.default_rng(2).permutation(50)
    for free in (0, 1, 7, 50):
        found, rank, law = masses.copy(), np.empty(50, np.intp), np.empty(50)
        certain = surely_selected(masses[0], masses[1], free)
        numba_pass.surely(order, found, free, rank, law)
        assert found.tolist() == [certain.tolist(), *masses[1:].tolist()]
        assert rank.tolist() == places_in(order).tolist()
        assert law[order].tolist() == certain.tolist()


@pytest.mark.parametrize("loop", [numba_pass.meet, numba_pass.fast_meet])
def test_drafts_meet_as_those_of_arrays(loop):
    rng = np.random.default_rng(5)
    for free in (0, 1, 6):
        rank, drafts = rng.permutation(20), rng.integers(0, 20, (4, 200))
        upper = np.triu(rng.random((free, free)), 1)
        shares = upper + np.tril(1 - upper.T, -1)
        weights = rng.dirichlet(np.ones(3), size=200).T
        stays = Stage(rank, rank, shares, stages._kept_of(shares), rank).keeps(
            drafts[:3], drafts[3]
        )
        found = np.vstack([weights, np.zeros(200)])
        loop(found, drafts, 3, unwriteable(rank), unwriteable(shares))
        assert found[:3].tolist() == (weights * stays).tolist()
        assert found[3].tolist() == (weights * (1 - stays)).sum(axis=0).tolist()


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


def test_estimates_are_the_same_without_numba_and_of_stages_that_are_known(monkeypatch):
    draft, target = np.random.default_rng(6).dirichlet(np.full(FEW, 0.2), size=2)
    ks = 1, 2, 3, 5
    found = ImportanceSampling.acceptances(draft, target, ks, free=9)
    rules = [ImportanceSampling(draft, target, k, free=9) for k in ks]
    assert all(len(rule.stages) == k - 1 for k, rule in zip(ks, rules, strict=True))
    assert found == [
        *(rule.acceptance() for rule in rules[:2]),
        *(r.estimate().probability for r in rules[2:]),
    ]
    monkeypatch.setattr(compiling, "HAS_NUMBA", False)
    assert found == ImportanceSampling.acceptances(draft, target, ks, free=9)
