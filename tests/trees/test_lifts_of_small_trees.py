"""Lifts of optimal selection on all trees of up to six nodes, beside the optimum (Theory, 22)."""

from __future__ import annotations

import pytest
from lifted_trees import DRAWS, optimum

from otspec.blocks import UniversalTree, UniversalTreeEarliest
from otspec.blocks.trees.shapes import as_shape
from otspec.models import memoryless

COIN = memoryless(["1/2", "1/2"]), memoryless(["1/4", "3/4"])
SLACK = 1e-9
"""Of a linear program in floats."""


def forests(nodes):
    """All unordered forests; a tree is the forest of its children."""
    if nodes == 0:
        return {()}
    return {
        tuple(sorted((tree, *rest), reverse=True))
        for size in range(1, nodes + 1)
        for tree in forests(size - 1)
        for rest in forests(nodes - size)
    }


def text(forest):
    return "".join(f"[{text(tree)}]" for tree in forest)


def gaps(nodes, rule):
    """How far what a rule keeps is below the most that one corrected token allows, by tree."""
    shapes = sorted(map(text, forests(nodes)))
    return {
        shape: optimum(DRAWS["iid"], COIN, as_shape(shape)) - float(rule(*COIN, shape).expected())
        for shape in shapes
    }


@pytest.mark.usefixtures("rules_made_once")
def test_lifts_are_optimal_on_stars_and_chains_and_on_28_of_84_trees():
    found = {}
    for nodes in range(1, 7):
        found |= gaps(nodes, UniversalTree)
    assert len(found) == 84
    assert min(found.values()) >= -SLACK
    attained = {shape for shape, gap in found.items() if gap < SLACK}
    for nodes in range(1, 7):
        assert {"[]" * nodes, "[" * nodes + "]" * nodes} <= attained
    assert len(attained) == 28
    # The smallest tree on which another lift may keep more, and the largest gap.
    assert min(set(found) - attained, key=len) == "[[]][]"
    worst = max(found, key=found.__getitem__)
    assert (worst, round(found[worst], 4)) == ("[[[[]]]][][]", 0.3822)


@pytest.mark.usefixtures("rules_made_once")
def test_another_order_of_the_drafts_attains_more():
    both = [gaps(4, rule) for rule in (UniversalTree, UniversalTreeEarliest)]
    better = [shape for shape in both[0] if both[1][shape] < both[0][shape] - SLACK]
    assert "[[]][][]" in better
