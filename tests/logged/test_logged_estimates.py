"""E[τ] of trees on logged blocks keeps the interval of a rule that is simulated."""

from __future__ import annotations

import numpy as np
import pytest
from light_drafts import FALSE_ALARM, adversarial
from scipy.stats import binom
from searching import NIGHTLY, enough, of_all

from otspec.estimate import Estimate, Exact
from otspec.logged import LoggedBlock, compare_trees_on_blocks
from otspec.rules import (
    PooledSelection,
    PooledSelectionWithoutReplacement,
    RecursiveRejectionWithoutReplacement,
)
from otspec.rules.base import accepted
from otspec.rules.rejection import without_replacement

RRSWOR = RecursiveRejectionWithoutReplacement


def blocks():
    """Logged blocks of two tokens after which little is left: the heaviest token, the lightest."""
    for draft, target, k in adversarial():
        possible = np.flatnonzero(draft)
        by_mass = possible[np.argsort(draft[possible], kind="stable")]
        for token in (by_mass[-1], by_mass[0]):
            if draft[token] > 1e-250:  # else the weight may be beyond the floats
                yield LoggedBlock([draft, draft], [target, target], [token, token]), f"{k}x{k}"


def test_intervals_cover_the_exact_sum_when_little_is_left(monkeypatch):
    every = list(blocks())
    chosen = np.random.default_rng(5).choice(len(every), enough(len(every)), replace=False)
    logged = [every[index] for index in chosen]
    exact = [block.expected_of_tree(tree, RRSWOR) for block, tree in logged]
    assert {type(value) for value in exact} == {Exact}
    exact = [value.value for value in exact]
    monkeypatch.setattr(without_replacement, "SUM_LIMIT", 0)
    found = [block.expected_of_tree(tree, RRSWOR) for block, tree in logged]
    assert {type(value) for value in found} == {Estimate}
    assert all(value.confidence == pytest.approx(0.997, abs=1e-12) for value in found)
    covered = 0
    for value, true in zip(found, exact, strict=True):
        slack = 1e-12 * max(abs(true), 1)  # of the exact sum in floats
        covered += value.low - slack <= true <= value.high + slack
    # A coverage of exactly the confidence would fail here with probability FALSE_ALARM at most.
    assert covered >= binom.ppf(FALSE_ALARM, len(found), 0.997)
    assert len(found) > of_all(200)
    assert np.median([value.high - value.low for value in found]) < 0.5


@pytest.mark.parametrize("rule", [RRSWOR, PooledSelectionWithoutReplacement])
@pytest.mark.parametrize("tree", ["[[]][][]", "[][[]][[][]]", "[][[top[]][]][]"])
def test_trees_whose_siblings_differ_are_simulated_too(monkeypatch, rule, tree):
    rng = np.random.default_rng(4)
    logged = [LoggedBlock(rng.dirichlet(np.ones(6), 3), rng.dirichlet(np.ones(6), 3), tokens)
              for tokens in ([0, 1, 2], [5, 3, 3], [2, 2, 2])[: 3 if NIGHTLY else 2]]  # fmt: skip
    exact = [block.expected_of_tree(tree, rule) for block in logged]
    monkeypatch.setattr(without_replacement, "SUM_LIMIT", 0)
    monkeypatch.setattr(accepted, "FEW", 0)
    for value, block in zip(exact, logged, strict=True):
        found = block.expected_of_tree(tree, rule)
        assert type(value) is Exact
        assert type(found) is Estimate
        assert found.low - 1e-12 <= value <= found.high + 1e-12
        assert found.high - found.low < 0.5


def test_the_mean_over_blocks_keeps_the_intervals(monkeypatch):
    monkeypatch.setattr(without_replacement, "SUM_LIMIT", 1)
    rng = np.random.default_rng(3)
    logged = [LoggedBlock(rng.dirichlet(np.ones(5), 2), rng.dirichlet(np.ones(5), 2), [0, 1])
              for _ in range(3)]  # fmt: skip
    rows = {row.rule: row for row in compare_trees_on_blocks(logged, ["3x1"])}
    simulated = [block.expected_of_tree("3x1", RRSWOR) for block in logged]
    row = rows[RRSWOR.title]
    assert type(row.expected) is type(row.efficiency) is Estimate
    assert row.expected == np.mean(np.array(simulated, float))
    assert row.expected.low == np.mean([value.low for value in simulated])
    assert row.efficiency.high == row.expected.high + 1
    assert row.error == np.array(simulated, float).std(ddof=1) / np.sqrt(3)
    assert row.expected.confidence == pytest.approx(1 - 6 * 0.001, abs=1e-12)
    assert type(rows[PooledSelection.title].expected) is Exact
