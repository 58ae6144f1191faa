"""Lifts of optimal selection on all trees of up to six nodes, beside the optimum (Theory, 22)."""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from itertools import product

import pytest
from lifted_trees import DRAWS, optimum

from otspec.blocks import TraversalVerify, UniversalTree, UniversalTreeEarliest
from otspec.blocks.trees.shapes import as_shape
from otspec.models import memoryless
from validation import drafted, layer, tree_rules
from validation.models import Table

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


@cache
def most(shape):
    """The most that one corrected token allows."""
    return optimum(DRAWS["iid"], COIN, as_shape(shape))


def gaps(nodes, rule):
    """How far what a rule keeps is below that, by tree."""
    shapes = sorted(map(text, forests(nodes)))
    return {shape: most(shape) - float(rule(*COIN, shape).expected()) for shape in shapes}


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
def test_the_first_of_the_competing_drafts_keeps_more_where_it_has_children():
    both = [gaps(4, rule) for rule in (UniversalTree, UniversalTreeEarliest)]
    better = [shape for shape in both[0] if both[1][shape] < both[0][shape] - SLACK]
    assert better == ["[[[]][]]", "[[]][][]"]


@pytest.mark.nightly
@pytest.mark.usefixtures("rules_made_once")
def test_other_lifts_attain_seven_more():
    rules = UniversalTree, UniversalTreeEarliest, TraversalVerify
    attained = {rule: set() for rule in rules}
    for nodes in range(1, 7):
        for rule in rules:
            attained[rule] |= {shape for shape, gap in gaps(nodes, rule).items() if gap < SLACK}
    assert [len(attained[rule]) for rule in rules] == [28, 34, 6]
    assert len(set().union(*attained.values())) == 35


def test_rules_that_settle_siblings_first_keep_no_more_on_the_smallest_tree():
    """Of two drafts the first has a child. Given both, let the first be kept with probability a and
    the second with b, a + b ≤ 1, and let the target's text follow a kept one; then at most V(a) is
    kept below the first. With the price 1 of token 0, of which 1/4 is wanted, none keeps more.
    """
    half, target = Fraction(1, 2), [Fraction(1, 4), Fraction(3, 4)]

    def below(weight):
        return sum(min(half, weight * mass) for mass in target)

    bound = target[0]
    for first, second in product(range(2), repeat=2):
        worth = [int(token != 0) for token in (first, second)]
        # V is concave, with its only break at 2/3; all of a + b = 1 is used.
        weights = Fraction(0), Fraction(2, 3), Fraction(1)
        bound += max(a * worth[0] + (1 - a) * worth[1] + below(a) for a in weights) / 4
    assert bound == UniversalTree(*COIN, "[[]][]").expected() == Fraction(25, 16)
    assert most("[[]][]") == pytest.approx(13 / 8)


def layered_against_lifted(nodes, rule):
    """For each tree of up to so many nodes what Layer Verification keeps beyond the lift."""
    pair = {"draft": Table(((Fraction(1, 2),) * 2,)), "target": Table((tuple(COIN[1](())),))}
    shapes = [text(forest) for size in range(1, nodes + 1) for forest in forests(size)]
    return {
        shape: drafted.kept(layer.layered(rule), tree=shape, **pair)
        - drafted.kept(tree_rules.scaled(rule), tree=shape, **pair)
        for shape in shapes
    }


def signs(found):
    """How many are 0, above and below."""
    return [
        sum(kept == 0 for kept in found),
        *(sum(kept * s > 0 for kept in found) for s in (1, -1)),
    ]


def test_layer_by_layer_keeps_less_than_the_lift_where_leaves_have_shares():
    found = layered_against_lifted(4, tree_rules.optimal)
    assert {shape: kept for shape, kept in found.items() if kept} == {"[[]][][]": Fraction(-3, 64)}


@pytest.mark.nightly
def test_layer_by_layer_on_all_trees_of_six_nodes():
    found = layered_against_lifted(6, tree_rules.optimal)
    assert signs(found.values()) == [66, 1, 17]
    assert [shape for shape, kept in found.items() if kept > 0] == ["[[[]][]][][]"]
    assert signs(layered_against_lifted(6, tree_rules.rejection).values()) == [21, 0, 63]
