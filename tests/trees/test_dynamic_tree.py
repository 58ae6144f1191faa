"""Dynamic trees: lossless, what they keep, and the most that certain trees can keep."""

from __future__ import annotations

import numpy as np
import pytest
from drafted_trees import as_floats, certain_trees, models, path_mass

import otspec
from otspec.blocks import BlockRule, DraftSelection, DynamicTree, simulate
from otspec.models import memoryless, random_pair
from otspec.rules import TargetOnly


@pytest.mark.parametrize("by", ["draft", "target"])
def test_the_nodes_are_those_of_greatest_path_probability(by):
    for draft, target in models(1_010, 16, 2, 3):
        guide = draft if by == "draft" else target
        for nodes in (1, 3, 5):
            rule = DynamicTree(draft, target, nodes, 3, by=by)
            paths = [path for path, _ in rule.grown]
            assert all(path[:-1] in paths[:i] for i, path in enumerate(paths) if len(path) > 1)
            assert [worth for _, worth in rule.grown] == [path_mass(guide, x) for x in paths]
            most = max(
                sum(path_mass(guide, path) for path in tree) for tree in certain_trees(2, nodes, 3)
            )
            assert sum(path_mass(guide, path) for path in paths) == most
            if by == "target":  # which is what certain trees keep at most
                assert rule.expected() == most


def test_dynamic_trees_are_lossless_and_keep_what_is_enumerated():
    for draft, target in models(1_011, 24, 2, 3):
        for change in ({}, {"widest": 1}, {"widest": 2}, {"by": "target"}):
            rule = DynamicTree(draft, target, 4, 3, **change)
            report = otspec.audit_blocks(rule, tokens=3)
            assert report.lossless
            assert rule.expected() == BlockRule.expected(rule)
            assert rule.expected() == sum(path_mass(target, path) for path, _ in rule.grown)
            rounded = DynamicTree(as_floats(draft), as_floats(target), 4, 3, **change).expected()
            assert rounded == pytest.approx(float(rule.expected()), abs=1e-12) or change != {}


def test_a_level_goes_on_with_the_widest_number_of_nodes():
    draft = memoryless(["1/2", "3/10", "1/5"])
    paths = [path for path, _ in DynamicTree(draft, draft, 12, 2, widest=2).grown]
    assert paths == [(0,), (1,), (0, 0), (0, 1), (1, 0), (1, 1)]
    assert [path for path, _ in DynamicTree(draft, draft, 3, 9, widest=1).grown] == [
        (0,), (0, 0), (0, 0, 0),
    ]  # fmt: skip


def test_confidence_says_what_is_worth_going_on_with():
    draft, target = memoryless(["3/5", "2/5"]), memoryless(["9/10", "1/10"])
    deep = DynamicTree(draft, target, 3, 3, confidence=lambda row: row**2)
    assert [path for path, _ in deep.grown] == [(0,), (1,), (0, 0)]
    sure = DynamicTree(draft, target, 3, 3, confidence=lambda row: [1, row[1] * 0])
    assert sure.expected() > deep.expected()
    for wrong in ([1.25, 0], [0, -0.25], [1, 0, 0]):
        with pytest.raises(ValueError, match="a chance from 0 to 1 for each of 2 tokens"):
            DynamicTree(draft, target, 3, 3, confidence=lambda _, wrong=wrong: wrong).expected()
    assert otspec.audit_blocks(sure, tokens=3).lossless


def test_beginnings_are_drawn_at_random():
    draft, target = random_pair(3, "1/2", np.random.default_rng(4))
    law = {(0, 1): "1/4", (1,): "1/4", (2, 1): "1/2"}
    rule = DynamicTree(draft, target, 5, 3)
    assert rule.expected_after(law) == BlockRule.expected_after(rule, law)


def test_no_certain_tree_keeps_more_than_one_grown_by_the_target():
    for draft, target in models(1_012, 8, 3, 3, support=2):
        most = DynamicTree(draft, target, 6, 2, by="target").expected()
        assert DynamicTree(draft, target, 6, 2).expected() <= most
        assert DraftSelection(draft, target, "2x2", TargetOnly).expected() <= most


def test_samples_keep_what_is_expected():
    draft, target = random_pair(3, 0.5, np.random.default_rng(5))
    rule = DynamicTree(draft, target, 6, 3)
    estimate = simulate(rule, 4_000, seed=2)
    assert estimate.low <= rule.efficiency() <= estimate.high
    assert len(rule.drafted) == 6
    assert max(map(len, map(rule.drafted.path, range(6)))) <= 3


def test_bad_trees_are_refused():
    coin = memoryless(["1/2", "1/2"])
    for change, message in [
        ({"nodes": 0}, "nodes must be at least 1"),
        ({"levels": 501}, "levels must be at most 500"),
        ({"widest": 0}, "widest must be at least 1"),
        ({"by": "me"}, "by is 'me': it must be one of draft, target"),
        ({"confidence": 1}, "confidence is 1"),
    ]:
        with pytest.raises(ValueError, match=message):
            DynamicTree(coin, coin, **{"nodes": 2, "levels": 2, **change})
