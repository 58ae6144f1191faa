"""The best rule from leaves to root (Theory, 48), and what others guarantee (Theory, 49)."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from block_models import model_pairs

from otspec.blocks import (
    BlockVerification,
    DraftSelection,
    GreedyMultiPath,
    LayerVerification,
    PlannedBlock,
    PlannedTree,
    TraversalVerify,
    UniversalTree,
    decoded_law,
)
from otspec.blocks.base import enumerated_expected
from otspec.blocks.trees.verifiers import planned_tree
from otspec.blocks.trees.verifiers.planned_tree import concave_corners
from otspec.models import memoryless
from otspec.programs import DraftedNodes, TextProgram
from otspec.rules import PooledSelection, RecursiveRejection
from otspec.solvers import solve

COIN = memoryless(["1/2", "1/2"]), memoryless(["1/4", "3/4"])
FLOATS = memoryless([0.5, 0.5]), memoryless([0.25, 0.75])


def far_second_token(tokens, chance):
    """Models that agree on the first token; the second is 1, which the draft seldom says."""
    first = [Fraction(1, tokens)] * tokens
    later = [Fraction(0)] * (tokens - 2)
    draft, target = [1 - chance, chance, *later], [Fraction(0), Fraction(1), *later]
    return tuple(lambda text, row=row: row if text else first for row in (draft, target))


def test_rules_of_trees_leave_one_corrected_token_behind_but_for_that_of_the_greatest_path():
    rules = DraftSelection, GreedyMultiPath, LayerVerification, PlannedTree, TraversalVerify
    assert [rule for rule in (*rules, UniversalTree) if not rule.renews] == [GreedyMultiPath]


@pytest.mark.parametrize(
    ("tree", "kept"),
    [("2x1", "15/8"), ("3x1", 2), ("4x1", 2), ("2x1x1", "21/8"), ("3x1x1", "185/64")],
)
def test_the_coin_is_kept_better_than_by_the_universal_tree(tree, kept):
    rule = PlannedTree(*COIN, tree)
    assert rule.expected() == Fraction(kept) >= UniversalTree(*COIN, tree).expected()
    bound = (
        TextProgram(DraftedNodes(FLOATS[0], rule.branching), FLOATS[1], "one", within=1e-4)
        .solve()
        .bound
    )
    bound.check()
    assert float(kept if tree == "3x1" else rule.expected()) <= bound.value * (1 + 1e-9)


def test_the_universal_tree_is_worst_for_three_coins_where_the_plan_is_optimal():
    drafts = DraftSelection(*COIN, "3x1", PooledSelection)
    assert (
        PlannedBlock(*COIN, drafts, "one").expected() == 2 == PlannedTree(*COIN, "3x1").expected()
    )
    assert float(UniversalTree(*COIN, "3x1").expected()) == pytest.approx(1.9340, abs=5e-5)


def test_no_rule_from_the_leaves_attains_the_optimum_of_three_nodes():
    drafts = DraftSelection(*COIN, "[[]][]", PooledSelection)
    assert PlannedTree(*COIN, "[[]][]").expected() == Fraction(25, 16)
    assert PlannedBlock(*COIN, drafts, "one").expected() == Fraction(13, 8)


@pytest.mark.parametrize("tree", ["2", "2x1", "3x1", "[[]][]"])
@pytest.mark.parametrize("models", list(model_pairs(11, 2, 2, 3)))
def test_texts_are_the_targets_and_no_rule_from_the_leaves_keeps_more(models, tree):
    draft, target = models.exact
    rule = PlannedTree(draft, target, tree)
    assert decoded_law(rule, 3) == dict(target.texts(3))
    if tree != "3x1":
        assert rule.expected() == enumerated_expected(rule)
    others = [
        UniversalTree(draft, target, tree),
        UniversalTree(draft, target, tree, RecursiveRejection),
    ]
    others.append(TraversalVerify(draft, target, tree))
    assert all(rule.expected() >= other.expected() for other in others)
    drafts = DraftSelection(draft, target, tree, PooledSelection)
    assert rule.expected() <= PlannedBlock(draft, target, drafts, "one").expected()


def test_a_node_of_less_weight_may_be_kept_where_something_is_left_of_it():
    """Of three tokens: of two all that is left of such a node is kept below it."""
    target = memoryless(["2/5", "2/5", "1/5"])
    rule = PlannedTree(memoryless(["1/5", "3/10", "1/2"]), target, "2x1")
    assert decoded_law(rule, 2) == dict(target.texts(2))
    assert rule.expected() == enumerated_expected(rule)


def test_floats_keep_the_same():
    rng = np.random.default_rng(2)
    for _ in range(4):
        rows = [rng.integers(1, 9, 3) for _ in range(2)]
        exact = [memoryless([Fraction(int(c), int(row.sum())) for c in row]) for row in rows]
        floats = [memoryless(row / row.sum()) for row in rows]
        kept = PlannedTree(*floats, "2x1").expected()
        assert kept == pytest.approx(float(PlannedTree(*exact, "2x1").expected()), abs=1e-7)


def test_a_plan_has_no_visits_below_0(monkeypatch):
    """A solver in floats may leave a little less than nothing."""

    def solved(program):
        found = solve(program)
        return replace(found, primal=np.where(found.primal > 0, found.primal, -1e-12))

    monkeypatch.setattr(planned_tree, "solve", solved)
    rule = PlannedTree(*FLOATS, "2x1")
    _, _, plan = rule._solved((), rule.tree, 1.0)
    orders = [order for each in plan.orders.values() for order in each]
    assert any(order.mass == 0 for order in orders)
    assert all(
        order.mass >= 0 and (masses >= 0).all() for order in orders for masses in order.visits
    )


def test_one_path_is_block_verification():
    for models in model_pairs(12, 2, 3, 4):
        rule = PlannedTree(*models.exact, "1x1x1")
        assert rule.expected() == BlockVerification(*models.exact, 3).expected()


@pytest.mark.parametrize("tree", ["2x1", "3x1", "2x1x1", "2x2"])
def test_traversal_keeps_what_one_path_keeps_and_so_its_share_of_the_optimum(tree):
    for models in model_pairs(13, 2, 3, 4):
        pair, paths = models.exact, 4 if tree == "2x2" else int(tree[0])
        length = len(tree) // 2 + 1
        one, kept = (
            BlockVerification(*pair, length).expected(),
            TraversalVerify(*pair, tree).expected(),
        )
        assert kept >= one
        if tree == "2x1":
            drafts = DraftSelection(*pair, tree, PooledSelection)
            assert paths * one >= PlannedBlock(*pair, drafts, "one").expected()


@pytest.mark.parametrize("tokens", [2, 3, 4])
def test_traversal_sees_one_path_where_the_first_tokens_agree(tokens):
    seldom = Fraction(1, 8)
    pair = far_second_token(tokens, seldom)
    best, several = 1 - (1 - seldom) ** 2, Fraction(1, tokens)
    # Of both paths one has the wanted second token with `best`; the first path, and the other one
    # if its first token is the same, with less.
    assert TraversalVerify(*pair, "2x1").expected() == 1 + seldom + several * (best - seldom)
    assert PlannedTree(*pair, "2x1").expected() == 1 + best
    # Pooled selection gives two different children 1/2 each: the second is visited with 1/2.
    apart = seldom + seldom / 2
    assert UniversalTree(*pair, "2x1").expected() == 1 + apart + several * (best - apart)


def test_greedy_paths_have_no_share_of_the_optimum():
    # Both models are the fair coin: one path keeps all, the greatest of many less than one token.
    coin = COIN[0]
    for length in (1, 2, 3):
        kept = [GreedyMultiPath(coin, coin, paths=k, length=length).expected() for k in (1, 4, 40)]
        assert kept[0] == length
        assert kept[0] > kept[1] > kept[2]
        assert abs(kept[2] - (1 - Fraction(1, 2**length))) < Fraction(1, 100)


def test_corners_of_a_concave_function_are_found():
    places = [Fraction(0), Fraction(1, 5), Fraction(1, 2), Fraction(9, 10), Fraction(1)]
    slopes = [Fraction(4), Fraction(2), Fraction(1), Fraction(-1)]

    def value(place):
        total, slope = Fraction(0), slopes[0] + 3  # too steep at the beginning is allowed
        for left, right, rate in zip(places, places[1:], slopes, strict=False):
            if place > left:
                total, slope = total + rate * (min(place, right) - left), rate
        return total, slope

    found = concave_corners(value, Fraction(0), Fraction(1))
    assert found == [(place, value(place)[0]) for place in places]


@pytest.mark.parametrize("width", [Fraction(1, 7), Fraction(5)])
@pytest.mark.parametrize("slopes", [(3, 2, 1), (2, 0, -2), (-1, -2, -4), (0,), (4, 1)])
def test_corners_are_found_on_intervals_of_any_length(width, slopes):
    """The function is the least of its lines, whose corners are 1, 2, … widths after the first."""
    starts = [2 + i * width for i in range(len(slopes) + 1)]
    lines, at = [], Fraction(7)
    for start, slope in zip(starts, slopes, strict=False):
        lines.append((at - slope * start, slope))
        at += slope * width

    def value(place):
        total, slope = min((offset + slope * place, slope) for offset, slope in lines)
        return total, Fraction(slope)

    found = concave_corners(value, starts[0], starts[-1])
    assert found == [(place, value(place)[0]) for place in starts]


@pytest.mark.parametrize(
    ("models", "tree", "message"),
    [
        (COIN, [20], "tree is 20: 20 children of one node"),
        (COIN, "top2x1", "tree is"),
        ((memoryless([0.2] * 5),) * 2, "2x1", "draft has 5 tokens"),
    ],
)
def test_bad_input_says_what_to_change(models, tree, message):
    with pytest.raises(ValueError, match=message):
        PlannedTree(*models, tree).expected()
