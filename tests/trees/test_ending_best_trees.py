"""The best and the fastest tree of texts that end: against every tree there is, exactly."""

from __future__ import annotations

from fractions import Fraction

import pytest
from ending_models import each_ending
from tree_search import all_trees, kept_of, text

from otspec.blocks import StepCost, as_shape, best_trees, compare_trees, fastest_tree, sweep
from otspec.blocks.trees.shapes import LEAF
from otspec.models import EndingModel
from otspec.rules import (
    KSequential,
    PooledSelection,
    RecursiveRejection,
    RecursiveRejectionWithoutReplacement,
    TargetOnly,
)

RULES = (
    KSequential,
    PooledSelection,
    RecursiveRejection,
    RecursiveRejectionWithoutReplacement,
    TargetOnly,
)
NODES, DEPTH = 5, 3


@each_ending()
@pytest.mark.parametrize("rule", RULES)
def test_no_tree_keeps_more_up_to_the_end_or_is_faster(rule, draft, target, end):
    kept = kept_of(draft, target, rule, end)
    values = {tree: kept(tree, ()) for tree in all_trees(NODES, DEPTH)}
    table = best_trees(draft, EndingModel(target, end), rule, NODES, DEPTH)
    for tree, value in values.items():
        assert table.expected(as_shape(text(tree))) == value
    for nodes in range(1, NODES + 1):
        for levels in range(1, DEPTH + 1):
            most = max(values[tree] for tree in all_trees(nodes, levels))
            assert table.at(nodes, levels).expected == most
    for each in table.branchings:
        assert each.expected == values[_nested(each.tree)]
    likely = best_trees(draft, EndingModel(target, end), rule, NODES, DEPTH, keep="likely")
    assert likely.best.expected <= table.best.expected <= table.bound
    cost = StepCost("1", "5,5,5.5,6,7,9")  # calls of the draft cost the same
    found = fastest_tree(table, cost)
    speeds = [float(1 + value) / cost(as_shape(text(tree))) for tree, value in values.items()]
    assert found.speed == max(*speeds, 1 / cost(LEAF))
    assert found.expected == kept(_nested(found.tree), ())
    assert found.simpler["no draft"].expected == 0


@each_ending()
def test_texts_that_may_be_over_before_the_tree_count(draft, target, end):
    law = {(): Fraction(1, 4), (0,): Fraction(1, 4), (1,): Fraction(1, 2)}
    kept = kept_of(draft, target, RecursiveRejection, end)
    table = best_trees(draft, EndingModel(target, end), RecursiveRejection, 4, 3, beginnings=law)
    for tree in all_trees(4, 3):
        value = sum(mass * kept(tree, start) for start, mass in law.items() if not set(start) & end)
        assert table.expected(as_shape(text(tree))) == value


@each_ending()
def test_comparisons_of_trees_count_up_to_the_end(draft, target, end):
    ending = EndingModel(target, end)
    rows = {row.rule: row.expected for row in compare_trees(draft, ending, ["1x1", "top2x1"])[:9]}
    for rule in (PooledSelection, RecursiveRejection, KSequential):
        kept = kept_of(draft, target, rule, end)
        assert rows[rule.title] == kept((((),),), ())
        (best, *_) = sweep(draft, ending, 1, 2, rule)
        assert best.efficiency == 1 + rows[rule.title]


def _nested(shape):
    return tuple(map(_nested, shape.children))
