"""Trees of any shape: every drafted one verified one by one, the target's text, the optimum."""

from __future__ import annotations

from functools import cache
from itertools import islice

import pytest
from drafted_trees import IID_RULES, RULES, answered, models_for, takes, verified

from otspec.auditing import audit_blocks
from otspec.blocks import DraftSelection
from otspec.blocks.contract import enumerated_expected
from otspec.trees import Shape


@cache
def ordered_trees(nodes):
    """All trees of so many nodes after the text, children in order."""
    if nodes == 0:
        return (Shape(),)
    return tuple(
        Shape((Shape(first.children), *rest.children))
        for below in range(nodes)
        for first in ordered_trees(below)
        for rest in ordered_trees(nodes - 1 - below)
    )


SMALL = [tree for nodes in range(1, 4) for tree in ordered_trees(nodes)]


def test_there_are_catalan_many_trees():
    assert [len(set(ordered_trees(nodes))) for nodes in range(7)] == [1, 1, 2, 5, 14, 42, 132]


@pytest.mark.parametrize("rule", RULES)
def test_every_tree_of_three_nodes_verified_one_by_one(rule):
    made, draws = RULES[rule]
    for index, tree in enumerate(tree for tree in SMALL if takes(rule, tree)):
        n = 2 + index % 2 if tree.size < 3 else 2
        (draft, target), *_ = islice(models_for(rule, 300 + index, 8, n, tree.depth), index % 8, 8)
        for merge in (True, False):
            selection = DraftSelection(draft, target, tree, made, merge)
            found = answered(selection)
            assert found == verified(selection, draws, merge and rule in IID_RULES)
            kept = sum(len(head) * mass for (head, _), mass in found.items())
            assert selection.expected() == enumerated_expected(selection) == kept
            assert audit_blocks(selection, optimum=False).lossless
