"""Rules for one token side by side on trees, on models and on logged blocks."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from drafted_trees import RULES, models, models_for, optimal, takes
from each_case import each
from searching import enough

from otspec.blocks import (
    TREE_RULES,
    TREE_VERIFIERS,
    DraftSelection,
    TraversalVerify,
    UniversalTree,
    as_shape,
    compare_trees,
)
from otspec.datasets import load_smollm2
from otspec.estimate import Estimate, Exact
from otspec.logged import LoggedBlock, compare_trees_on_blocks
from otspec.models import memoryless
from otspec.rules import (
    NotExactError,
    PooledSelectionWithoutReplacement,
    RecursiveRejection,
    RecursiveRejectionWithoutReplacement,
    SpecHub,
)
from otspec.rules.importance import acceptance

pytestmark = pytest.mark.usefixtures("rules_made_once")

HALVES, QUARTERS = ["1/2", "1/2"], ["1/4", "3/4"]
TREES = ["2", "2x2", "2x1", (1, 2), "[[]][]", [[0], [1], [1, 0]], "top2x1"]


def rows_of(tree):
    """The rules that can verify a tree, in the order of tables."""
    widths = as_shape(tree).widths
    return [rule for rule in TREE_RULES.values() if rule.only_k is None or widths == {rule.only_k}]


def test_trees_on_models_are_draft_selection_by_every_rule():
    for pair in models(210, enough(4, 2), 3, 2, support=2):
        found = compare_trees(*pair, TREES)
        expected = [
            (as_shape(tree).text, title, rule.expected())
            for tree in TREES
            for title, rule in [
                *((rule.title, DraftSelection(*pair, tree, rule)) for rule in rows_of(tree)),
                *(
                    (kind.title, kind(*pair, tree))
                    for kind in TREE_VERIFIERS.values()
                    if kind.serves(as_shape(tree))
                ),
            ]
        ]
        assert [(row.tree, row.rule, row.expected) for row in found] == expected
        assert {row.error for row in found} == {0}
        assert all(row.efficiency == row.expected + 1 for row in found)
    assert compare_trees(*pair, []) == []
    with pytest.raises(ValueError, match="write the children by depth"):
        compare_trees(*pair, ["2*2"])


def test_what_has_no_exact_sum_is_simulated(monkeypatch):
    monkeypatch.setattr(acceptance, "MOST_STEPS", 0)
    flat, steep = memoryless([1 / 12] * 12), memoryless([*[1 / 24] * 11, 13 / 24])
    rows = {row.rule: row.expected for row in compare_trees(flat, steep, ["4"], size=50, seed=1)}
    universal, wanted = rows["universal tree"], rows["pooled selection"]
    assert isinstance(universal, Estimate)
    assert universal.low <= wanted <= universal.high
    assert universal.size == 50
    sampled = rows["importance sampling"]
    assert isinstance(sampled, Estimate)
    assert sampled.low <= wanted
    one, other = (rows[name].value for name in ("traversal verification", "recursive rejection"))
    assert one == pytest.approx(other, rel=1e-12)
    with pytest.raises(NotExactError, match="too many for an exact sum"):
        UniversalTree(flat, steep, "4").expected()


def test_another_tree_of_the_same_rule_is_as_if_made_anew():
    for merge in (True, False):
        for draft, target in models(211, 4, 2, 3):
            start = DraftSelection(draft, target, "1", RecursiveRejection, merge)
            for tree in ("2x2", "4", "1x2x2", "2x1x2", "2x2"):
                found = start.with_tree(tree)
                alone = DraftSelection(draft, target, tree, RecursiveRejection, merge)
                assert (found.branching, found.merge) == (alone.branching, merge)
                assert found.expected() == alone.expected()
                heads = [(outcome.accepted, outcome.mass) for outcome in found.outcomes()]
                assert heads == [(outcome.accepted, outcome.mass) for outcome in alone.outcomes()]


def logged_trees(rule):
    """Trees that a rule can verify; fractions of an irrational root grow long at three levels."""
    for tree in ("2", "2x1", "2x2", "1x2x1", "[[]][]", "[][top[][]]", "top2x1"):
        served = tree if takes(rule, tree) else "2x2x2"
        yield "1x2" if rule == "k-sequential" and as_shape(served).depth == 3 else served


@each(
    ("rule", "tree"),
    [
        (rule, tree)
        for rule in RULES
        if rule not in ("coupling", "optimal")
        for tree in dict.fromkeys(logged_trees(rule))
    ],
)
def test_what_logged_blocks_say_of_a_tree_is_right_on_average(rule, tree):
    length, made = as_shape(tree).depth, RULES[rule][0]
    for draft, target in models(212, 4, 2, length, support=2):
        mean = sum(
            mass * logged(draft, target, text).expected_of_tree(tree, made)
            for text, mass in draft.texts(length)
        )
        assert mean == DraftSelection(draft, target, tree, made, merge=False).expected()
        assert type(mean) is Exact
        assert type(mean.value) is Fraction


@pytest.mark.parametrize("tree", ["1x1x1", "3", "2x1x1", "2x2x1", "[[][]][][[[]]]"])
def test_what_logged_blocks_say_of_traversal_is_right_on_average(tree):
    for merge in (True, False):
        for draft, target in models(214, 8, 2, 2):
            rule = TraversalVerify(draft, target, tree, merge=merge)
            mean = sum(
                mass * logged(draft, target, text).expected_of_traversal(tree, merge=merge)
                for text, mass in draft.texts(rule.depth)
            )
            assert mean == rule.expected()
            assert type(mean) is Fraction


def logged(draft, target, text):
    heads = [text[:depth] for depth in range(len(text))]
    return LoggedBlock([draft(head) for head in heads], [target(head) for head in heads], text)


def test_a_plan_serves_logged_blocks_too():
    draft, target = next(models_for("optimal", 213, 1, 3, 2))
    mean = sum(
        mass * logged(draft, target, text).expected_of_tree("2x2", optimal)
        for text, mass in draft.texts(2)
    )
    assert mean == DraftSelection(draft, target, "2x2", optimal, merge=False).expected()


def test_logged_blocks_by_hand():
    """Two draws of halves for (1/4, 3/4): accepted (1/4, 5/8) of them, or all by SpecHub."""
    pair = memoryless(HALVES), memoryless(QUARTERS)
    first, second = (logged(*pair, text) for text in ((0, 0), (1, 0)))
    assert first.expected_of_tree("2", RecursiveRejection) == Fraction(7, 8)
    assert first.expected_of_tree("2x1", RecursiveRejection) == Fraction(7, 8) * 1 + Fraction(3, 8)
    assert second.expected_of_tree("2x1", RecursiveRejection) == Fraction(7, 8) + Fraction(15, 16)
    assert first.expected_of_tree("2x2", SpecHub) == 1 + Fraction(1, 2)
    assert second.expected_of_tree("2x2", SpecHub) == 1 + Fraction(3, 2)
    rows = compare_trees_on_blocks([first, second], ["2x1"])
    assert rows[0].rule == RecursiveRejection.title
    assert rows[0].expected == (20 / 16 + 29 / 16) / 2
    assert rows[0].error == pytest.approx(9 / 32)
    alone = compare_trees_on_blocks([first], ["2x1"])
    assert all(math.isnan(row.error) for row in alone)


def test_the_bundled_trace():
    blocks = list(load_smollm2().blocks())
    found = compare_trees_on_blocks(blocks, ["2x2", "4x1"])
    # Rules for pairs do not serve 4x1; more than two distinct drafts are simulated.
    rules = {rule.title: rule for rule in TREE_RULES.values()}
    titles = {tree: [rule.title for rule in rows_of(tree)] for tree in ("2x2", "4x1")}
    expected = [
        (tree, title) for tree in titles for title in [*titles[tree], TraversalVerify.title]
    ]
    assert [(row.tree, row.rule) for row in found] == expected
    for row in found:
        values = [
            block.expected_of_tree(row.tree, rules[row.rule])
            if row.rule in rules
            else block.expected_of_traversal(row.tree, merge=False)
            for block in blocks
        ]
        first, second = map(float, values)
        assert float(row.expected) == pytest.approx((first + second) / 2, rel=1e-12)
        assert row.error == pytest.approx(abs(first - second) / 2, rel=1e-12)
        assert row.expected > 0


def test_what_logged_blocks_do_not_hold_is_refused():
    block = logged(memoryless(HALVES), memoryless(QUARTERS), (0, 1))
    with pytest.raises(ValueError, match="length is 3, but the block has 2 tokens"):
        block.expected_of_tree("2x1x1", RecursiveRejection)
    with pytest.raises(ValueError, match="blocks is empty"):
        compare_trees_on_blocks([], ["2x1"])


def test_there_are_no_more_distinct_children_than_tokens():
    for rule in (RecursiveRejectionWithoutReplacement, PooledSelectionWithoutReplacement):
        block = logged(memoryless(HALVES), memoryless(QUARTERS), (0, 1))
        assert block.expected_of_tree("3", rule) == 1
        certain = logged(memoryless(["1", "0"]), memoryless(HALVES), (0, 0))
        assert certain.expected_of_tree("2", rule) == Fraction(1, 2)
    kept = compare_trees(memoryless(["1", "0"]), memoryless(HALVES), ["2x2"])
    assert {row.expected for row in kept} == {Fraction(3, 4)}
