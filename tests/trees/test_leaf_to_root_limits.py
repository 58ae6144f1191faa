"""How far rules that go from the leaves to the root are from the best, by small exact examples."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations
from math import comb

import pytest
from drafted_trees import models
from instances import fractions, pairs
from lifted_trees import DRAWS, kept, larger_first, lifted, optimum, over_trees, smaller_first
from searching import NIGHTLY, enough

from otspec.blocks import (
    TREE_VERIFIERS,
    DraftSelection,
    TraversalVerify,
    UniversalTree,
    UniversalTreeEarliest,
)
from otspec.blocks.trees.shapes import as_shape
from otspec.blocks.trees.verifiers.leaf_to_root import LeafToRoot
from otspec.blocks.trees.verifiers.traversal_verify import equal_later
from otspec.models import TableModel, memoryless
from otspec.rules import (
    DrawnDraft,
    KSequential,
    NaiveSampling,
    PooledSelection,
    PooledSelectionWithoutReplacement,
    RecursiveRejection,
    RecursiveRejectionWithoutReplacement,
    SpecHub,
    TargetOnly,
)
from otspec.rules.base.accepted import NotExactError

pytestmark = pytest.mark.usefixtures("rules_made_once")

COIN = memoryless(["1/2", "1/2"]), memoryless(["1/4", "3/4"])
CERTAIN, OTHER = fractions(1, 0), fractions(0, 1)
SLACK = 1e-9
"""Of a linear program in floats."""


def in_order(pair, tree, order):
    """E[τ] of lifted pooled selection with children visited in some order."""
    verified = lifted(PooledSelection, pair, True, order)
    return kept(over_trees(verified, DRAWS["iid"], pair[0], as_shape(tree)))


@pytest.mark.parametrize(
    ("made", "k"),
    [
        (RecursiveRejection, 3),
        (PooledSelection, 3),
        (NaiveSampling, 2),
        (RecursiveRejectionWithoutReplacement, 3),
        (PooledSelectionWithoutReplacement, 2),
        (SpecHub, 2),
        (DrawnDraft, 2),
        (TargetOnly, 2),
    ],
)
def test_what_is_accepted_shrinks_no_faster_than_the_weight(made, k):
    """Token by token, from weight 1 to a smaller one."""
    for draft, target in pairs(245, 4, 48):
        if sum(mass > 0 for mass in draft) < k:
            continue
        for weight in (Fraction(1, 5), Fraction(2, 3)):
            scaled = [*(weight * mass for mass in target), 1 - weight]
            whole, less = (made([*draft, 0], row, k) for row in ([*target, 0], scaled))
            assert all(less.accepted().by_token >= weight * whole.accepted().by_token)


def test_merged_pooled_selection_may_keep_less_than_by_depth():
    """At a weight below 1 it accepts tokens that are drafted less often."""
    draft = TableModel({
        (): CERTAIN, (0,): fractions("1/2", "1/2"), (0, 0): CERTAIN,
        (0, 1): fractions("1/3", "2/3"), (1,): CERTAIN,
    })  # fmt: skip
    target = TableModel({
        (): fractions("9/10", "1/10"), (0,): fractions("7/8", "1/8"), (0, 0): OTHER,
        (0, 1): fractions("2/3", "1/3"), (1,): CERTAIN,
    })  # fmt: skip
    pair = draft, target
    assert UniversalTree(*pair, "1x3x1").expected() == Fraction(70213, 36720)
    assert DraftSelection(*pair, "1x3x1", PooledSelection).expected() == Fraction(153, 80)
    apart = UniversalTree(*pair, "1x3x1", merge=False).expected()
    assert apart > DraftSelection(*pair, "1x3x1", PooledSelection, merge=False).expected()


def test_traversal_verification_is_not_above_all_that_goes_down():
    traversal = TraversalVerify(*COIN, "2x1").expected()
    assert traversal == Fraction(13, 8)
    assert DraftSelection(*COIN, "2x1", KSequential).expected() > Fraction(1645, 1000)
    assert DraftSelection(*COIN, "2x1", PooledSelection).expected() == Fraction(15, 8)


def test_the_optimal_rule_at_every_node_may_keep_less_than_recursive_rejection():
    """Pooled selection tells its drafts not apart; here only the first has children."""
    fair = COIN[0], COIN[0]
    assert TraversalVerify(*fair, "[[]][]").expected() == 2
    assert UniversalTree(*fair, "[[]][]").expected() == Fraction(7, 4)
    assert UniversalTreeEarliest(*fair, "[[]][]").expected() == 2
    assert UniversalTreeEarliest(*COIN, "3x1").expected() < UniversalTree(*COIN, "3x1").expected()


def test_no_order_of_the_children_is_best():
    values = [in_order(COIN, "3x1", order) for order in (None, larger_first, smaller_first)]
    assert values == [Fraction(557, 288), Fraction(47, 24), Fraction(185, 96)]
    draft = TableModel({(): fractions("1/2", "1/2"), (0,): fractions("1/2", "1/2"), (1,): CERTAIN})
    target = TableModel({(): fractions("3/8", "5/8"), (0,): CERTAIN, (1,): OTHER})
    found = [in_order((draft, target), "2x1", each) for each in (None, larger_first, smaller_first)]
    assert found == [Fraction(41, 32), Fraction(5, 4), Fraction(21, 16)]


def test_the_optimum_with_one_corrected_token_is_attained_on_some_trees():
    for tree in ("1x1x1", "3", "2x1x1", "1x2x1", "[[][]][]"):
        best = optimum(DRAWS["iid"], COIN, as_shape(tree))
        assert float(UniversalTree(*COIN, tree).expected()) == pytest.approx(best, abs=SLACK)
    assert UniversalTree(*COIN, "2x1x1").expected() == Fraction(21, 8)
    assert optimum(DRAWS["iid"], COIN, as_shape("3x1")) == pytest.approx(2, abs=SLACK)
    assert UniversalTree(*COIN, "3x1").expected() == Fraction(557, 288)


@pytest.mark.parametrize("tree", ["2x1", "[[]][][]", "[[][]][]", "[][[]]", "1x2x1"])
def test_no_rule_that_corrects_one_token_is_above_the_optimum(tree):
    kinds = [kind for kind in TREE_VERIFIERS.values() if issubclass(kind, LeafToRoot)]
    assert len(kinds) == 5
    first = 0 if NIGHTLY else 4 * (tree.count("[") % 2)  # by day four of the eight kinds
    for pair in models(244, enough(16, 4), 2, 2, support=2, first=first):
        best = {law: optimum(DRAWS[law], pair, as_shape(tree)) for law in ("iid", "distinct")}
        for kind in kinds:
            law = "iid" if kind.lifts.law_class.iid else "distinct"
            assert float(kind(*pair, tree).expected()) <= best[law] + SLACK


def test_what_verifies_drawn_tokens_refuses_certain_ones_and_too_many_states(monkeypatch):
    with pytest.raises(ValueError, match=r"UniversalTree verifies trees of drawn tokens only"):
        UniversalTree(*COIN, "top2")
    rule = UniversalTree(*COIN, "2x2")
    monkeypatch.setattr("otspec.blocks.trees.verifiers.leaf_to_root.STATE_LIMIT", 1)
    with pytest.raises(NotExactError, match="there are more than 1 states, too many for an exact"):
        rule.expected()


@pytest.mark.parametrize("mass", [1.0, 1 - 2.0**-30, 0.5, 0.3, 2.0**-40])
@pytest.mark.parametrize("others", [0, 1, 20, 1_100, 3_000])
def test_equal_children_of_wide_nodes_are_binomial_in_floats(mass, others):
    shape = as_shape(f"{1 + others}x1")
    found = {len(places) - 1: likely for places, likely in equal_later(0, shape, mass, True)}
    assert sum(found.values()) == pytest.approx(1, abs=1e-14)
    share, middle = Fraction(mass), int(others * mass)
    for more in {0, 1, middle // 2, middle, middle + 20, others}:
        if more <= others:
            exact = comb(others, more) * share**more * (1 - share) ** (others - more)
            # A number further from the likeliest one has a quotient more, of four roundings.
            near = {"rel": (4 * others + 4) * 2.0**-52, "abs": 1e-300}
            assert found.get(more, 0) == pytest.approx(float(exact), **near)


@pytest.mark.parametrize("tree", ["6", "4x3", "3x2x2", "[[]][][]"])
def test_leaves_are_visited_whatever_other_leaves_equal_them(tree, monkeypatch):
    """The same as over all sets of later children that may equal a child."""

    def over_sets(place, shape, mass, merge):
        assert merge
        after = range(place + 1, len(shape.children))
        for more in range(len(after) + 1):
            for others in combinations(after, more):
                yield (place, *others), mass**more * (1 - mass) ** (len(after) - more)

    models = memoryless(["1/2", "1/3", "1/6"]), memoryless(["1/6", "1/2", "1/3"])

    def answers():
        rule = TraversalVerify(*models, tree)
        laws = {each.accepted: (each.mass, *each.following(())) for each in rule.outcomes()}
        return rule.expected(), laws

    found = answers()
    monkeypatch.setattr("otspec.blocks.trees.verifiers.traversal_verify.equal_later", over_sets)
    assert found == answers()


def test_a_node_of_leaves_visits_each_place_and_token_once():
    rule = TraversalVerify(*COIN, "50")
    assert len(rule.arrivals((), Fraction(1), rule.tree).masses) <= 50 * 2
