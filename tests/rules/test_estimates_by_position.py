"""Estimates of which draft is accepted as a token, against the exact numbers."""

from __future__ import annotations

import numpy as np
import pytest

from otspec.drafts import WithoutReplacement
from otspec.drafts.without_replacement import WithOne
from otspec.rules import (
    PooledSelection,
    PooledSelectionWithoutReplacement,
    RecursiveRejectionWithoutReplacement,
)


def pairs(n, count):
    rng = np.random.default_rng(3_200 + n)
    yield from (rng.dirichlet(np.ones(n), 2) for _ in range(count))


@pytest.mark.parametrize(("n", "k"), [(3, 1), (4, 2), (4, 4), (5, 3)])
def test_the_place_of_one_draft_is_known_whatever_the_others_are(n, k):
    """Its chance times that of the others, drawn without it, is the chance of the whole tuple."""
    draft, _ = next(pairs(n, 1))
    for x, mass in zip(*WithoutReplacement(draft, k).tuples(), strict=True):
        for i, y in enumerate(x.tolist()):
            drafts = WithOne(draft, y, k)
            others = np.delete(x, i)
            left, chance = 1 - draft[y], 1.0
            for token in others:
                chance, left = chance * draft[token] / left, left - draft[token]
            weights = drafts.weights(others.tolist())
            assert chance * weights[i] == pytest.approx(mass, rel=1e-12)
            assert (np.array(weights) <= np.array(drafts.most) * (1 + 1e-12)).all()


def test_the_others_are_drawn_without_it():
    drawn = WithOne(np.array([0.5, 0.2, 0.2, 0.1]), 0, 3).sample(50, np.random.default_rng(5))
    assert drawn.shape == (50, 2)
    assert set(drawn.ravel().tolist()) == {1, 2, 3}
    assert (drawn[:, 0] != drawn[:, 1]).all()
    assert WithOne(np.array([0.5, 0.5]), 0, 1).sample(3, np.random.default_rng(5)).shape == (3, 0)


@pytest.mark.parametrize(
    "rule",
    [PooledSelection, PooledSelectionWithoutReplacement, RecursiveRejectionWithoutReplacement],
)
@pytest.mark.parametrize(("n", "k"), [(4, 1), (5, 2), (5, 3)])
def test_intervals_cover_the_exact_chances(rule, n, k):
    for draft, target in pairs(n, 2):
        made = rule(draft, target, k)
        exact = made.accepted().by_position_and_token
        for y in range(n):
            found = made.estimate(400, seed=6).of_token_by_position(y)
            assert len(found) == k
            for i, estimate in enumerate(found):  # each misses with probability at most 0.001
                assert estimate.low - 1e-12 <= exact[i, y] <= estimate.high + 1e-12
