"""On models an advice is exact: it is compared with the sums over all trees of drafts."""

import math
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise, product
from types import SimpleNamespace

import numpy as np
import pytest
from searching import NIGHTLY

import otspec
from otspec.advice import advise
from otspec.advice.evaluation.choices import UNKNOWN, Candidate, Choice, sizes
from otspec.advice.evaluation.search import _choice
from otspec.blocks import (
    BLOCK_RULES,
    TREE_RULES,
    DraftSelection,
    StepCost,
    TokenVerification,
    as_shape,
)
from otspec.blocks.trees.shapes import LEAF
from otspec.datasets import letters
from otspec.logged import LoggedBlock
from otspec.models import markov, memoryless
from otspec.rules import PooledSelection, PooledSelectionWithoutReplacement

SLOW = {PooledSelection.name, PooledSelectionWithoutReplacement.name}
"""Exact laws of two of 27 letters take them a second for each text; so one level serves."""
BY_TITLE = {rule.title: rule for rule in TREE_RULES.values()}
CHAINS = {rule.title: rule for rule in BLOCK_RULES.values()}
COIN = memoryless(["1/2", "1/2"]), memoryless(["1/4", "3/4"])
CHAIN = (
    markov([["1/2", "1/4", "1/4"], ["1/3", "1/3", "1/3"], ["0", "1/2", "1/2"]]),
    markov([["1/5", "2/5", "2/5"], ["1/3", "2/3", "0"], ["1/2", "1/4", "1/4"]]),
)


def tokens_of(choice, draft, target):
    """Return the tokens per call by the sums of the rules themselves."""
    if choice.rule == "no draft":
        return 1
    if choice.rule in CHAINS:
        return CHAINS[choice.rule](draft, target, choice.depth).expected() + 1
    rule = BY_TITLE[choice.rule]
    return DraftSelection(draft, target, choice.tree, rule, merge=False).expected() + 1


def check(advice, draft, target, cost):
    alone = cost(LEAF)
    for choice in advice.choices:
        assert choice.tokens == tokens_of(choice, draft, target), choice
        tree = as_shape(choice.tree) if choice.tree else LEAF
        assert (choice.nodes, choice.depth) == (tree.size, tree.depth)
        assert choice.seconds == cost(tree)
        assert choice.expected == choice.tokens - 1
        assert choice.speed == float(choice.tokens) / cost(tree)
        assert choice.speed_up == pytest.approx(
            float(choice.tokens) / cost(tree) * alone, rel=1e-15
        )
        assert all(map(math.isnan, (*choice.tokens_interval, *choice.speed_up_interval)))


@pytest.mark.parametrize(("pair", "depth"), [(COIN, 4), (CHAIN, 2)])
def test_every_rule_and_tree_keeps_what_is_said(pair, depth):
    cost = StepCost("1", "10,10,10,12,14,16,18")
    advice = advise(
        pair, draft_cost=cost.draft, target_cost=cost.target, nodes=5, depth=depth, widest=2
    )
    check(advice, *pair, cost)
    assert {choice.rule for choice in advice.choices} >= {*BY_TITLE, TokenVerification.title}
    assert all(isinstance(choice.tokens, Fraction | int) for choice in advice.choices)
    assert advice.texts == 0
    assert advice.held_out == pytest.approx(advice.best.speed_up, rel=1e-15)


@pytest.mark.parametrize(
    ("rules", "nodes", "depth"),
    [
        (["recursive-rejection", "spechub"], 3 if NIGHTLY else 2, 2),
        (
            ["k-sequential", "recursive-rejection-without-replacement", "target-only"],
            2,
            2 if NIGHTLY else 1,
        ),
        ([*SLOW], 2, 1),
    ],
)
def test_every_rule_and_tree_of_the_letters_keeps_what_is_said(rules, nodes, depth):
    pair = letters()
    cost = StepCost("0.05", "1,1,1.05,1.2")
    costs = {"draft_cost": cost.draft, "target_cost": cost.target}
    options = {"nodes": nodes, "depth": depth, "widest": 2, "rules": rules}
    check(advise((pair.draft, pair.target), **costs, **options), pair.draft, pair.target, cost)


def test_a_choice_says_how_much_it_keeps_in_a_second():
    choice = Choice("no draft", "", "", 0, 0, 0, Fraction(3), UNKNOWN, 4.0, 1.5, UNKNOWN)
    assert choice.speed == 3 / 4
    assert choice.expected == 2
    assert choice.is_chain
    assert not replace(choice, tree="2x1", nodes=2, depth=1).is_chain
    assert choice.lossy == 0


@pytest.mark.parametrize(("nodes", "depth"), [(2, 4), (4, 2), (1, 1)])
def test_chains_of_all_lengths_are_compared_by_both_rules(nodes, depth):
    advice = advise(
        COIN, draft_cost=1, target_cost=1, nodes=nodes, depth=depth, rules=["target-only"]
    )
    chains = [(one.rule, one.tree) for one in advice.choices if one.rule in CHAINS]
    rules, trees = ("token verification", "block verification (published)"), ("1", "1x1")
    assert sorted(chains) == sorted(product(rules, trees[: min(nodes, depth)]))


def test_choices_are_ordered_by_speed_and_simpler_ones_lose_what_is_said():
    costs = {"draft_cost": 1, "target_cost": "10,10,10,12,14,16,18"}
    advice = otspec.advise(COIN, **costs, nodes=6, depth=3)
    speeds = [choice.speed_up for choice in advice.choices]
    assert speeds == sorted(speeds, reverse=True)
    assert speeds[0] > speeds[1]
    assert len({(choice.rule, choice.tree) for choice in advice.choices}) == len(speeds)
    for loss in advice.simpler:
        kind = next(one for one in advice.choices if (one.rule, one.tree) == (loss.rule, loss.tree))
        assert loss.loss == pytest.approx(1 - kind.speed_up / speeds[0], abs=1e-15)
        assert loss.speed_up == kind.speed_up
    losses = {loss.kind: loss for loss in advice.simpler}
    assert losses["no draft"].tree == ""
    assert losses["a chain"].loss >= advice.simpler[0].loss
    assert "[" not in losses["a branching"].tree


def test_nothing_keeps_more_than_the_pareto_choices_in_no_more_time():
    advice = advise(COIN, draft_cost="1", target_cost="10,11,12,14,16", nodes=6, depth=3)
    front = advice.pareto()
    for choice in advice.choices:
        as_good = [
            one for one in front if one.seconds <= choice.seconds and one.tokens >= choice.tokens
        ]
        assert as_good
    for one, other in pairwise(front):
        assert one.seconds < other.seconds
        assert one.tokens < other.tokens
    assert advice.best in front


def test_no_draft_is_best_where_drafts_cost_more_than_they_save():
    advice = advise(COIN, draft_cost=100, target_cost=1, nodes=4, depth=2)
    assert advice.best.rule == "no draft"
    assert advice.best.speed_up == 1


def test_equal_models_keep_every_chain_and_disjoint_ones_nothing():
    same = advise((COIN[0], COIN[0]), draft_cost=0.1, target_cost=1, nodes=3, depth=3)
    assert (same.best.tree, same.best.tokens) == ("1x1x1", 4)
    apart = memoryless(["1", "0"]), memoryless(["0", "1"])
    none = advise(apart, draft_cost=0.1, target_cost=1, nodes=3, depth=2, widest=2)
    assert none.best.rule == "no draft"
    assert {choice.tokens for choice in none.choices} == {1}


def test_trees_of_your_own_are_compared_with_every_rule_that_serves_them():
    options = {"draft_cost": 1, "target_cost": 10, "nodes": 5, "depth": 3, "widest": 2}
    own = ["2x1x1", "[[]][[][]]", "1x1x1", "2x2"]
    advice = advise(COIN, **options, trees=own)
    rules = {tree: {one.rule for one in advice.choices if one.tree == tree} for tree in own}
    every = {*BY_TITLE}
    assert rules["2x1x1"] == rules["[[]][[][]]"] == every - {"SpecHub"}
    assert rules["2x2"] == every
    assert rules["1x1x1"] == {*CHAINS} - {"block verification (preprint)"} | {
        "target-only verification",
        "shared noise",
    }
    check(advice, *COIN, StepCost(1, 10))


@pytest.mark.parametrize("pair", [COIN, CHAIN])
@pytest.mark.parametrize("budget", [Fraction(0), Fraction(1, 20), Fraction(1)])
def test_a_lossy_shortcut_keeps_what_its_output_allows(pair, budget):
    advice = advise(
        pair, draft_cost=1, target_cost=10, nodes=3, depth=2, widest=2, total_variation=budget,
        rules=["recursive-rejection"],
    )  # fmt: skip
    lossy = {one.tree: one for one in advice.choices if one.rule.startswith("lossy")}
    assert set(lossy) == ({"1", "1x1"} if budget else set())
    draft, target = pair
    for tree, choice in lossy.items():
        kept, texts = Fraction(0), {(): Fraction(1)}
        for _ in range(choice.depth):
            after = {}
            for text, mass in texts.items():
                best = otspec.optimal_acceptance(
                    otspec.IID(draft(text), 1), target(text), total_variation=budget
                )
                accepted = [min(both) for both in zip(draft(text), best.output, strict=True)]
                assert sum(accepted) == best.acceptance
                for token, each in enumerate(accepted):
                    after[(*text, token)] = mass * each
            texts = after
            kept += sum(texts.values())
        assert (tree, choice.tokens, choice.lossy) == (tree, 1 + kept, budget)
    assert advice.best.lossy == 0
    (gain,) = [one for one in advice.simpler if one.kind == "a lossy shortcut"] or [None]
    assert (gain is not None) == bool(budget)
    if budget == 1:
        assert lossy["1x1"].tokens == 3  # every draft


def test_a_table_holds_all_choices():
    advice = advise(COIN, draft_cost=1, target_cost=10, nodes=4, depth=2)
    table = advice.to_arrow()
    assert table["rule"].to_pylist() == [choice.rule for choice in advice.choices]
    assert [Fraction(text) for text in table["tokens_exact"].to_pylist()] == [
        choice.tokens for choice in advice.choices
    ]
    assert set(table["tokens_low"].to_pylist()) == {None}


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"rules": ["pooled"]}, r"rules\[0\] is 'pooled'"),
        ({"rules": ["spechub"], "widest": 1}, "spechub verifies 2 children, but a node may have"),
        ({"nodes": 0}, "nodes must be at least 1, got 0"),
        ({"depth": 0}, "depth must be at least 1, got 0"),
        ({"draft_cost": "x"}, "draft_cost is 'x'"),
        ({"warping": otspec.traces.Warping()}, "warping is given, but tuple has distributions"),
        ({"trees": ["3"], "nodes": 3, "widest": 2}, r"trees\[0\] has 3 children at a node"),
        ({"trees": ["top2"]}, r"trees\[0\] is top2: drafts that are certain"),
        ({"trees": ["1x1x1"]}, "the tree 1x1x1 has 3 levels, but 2 are looked at"),
        ({"total_variation": 1.5}, "total_variation is 1.5: it must be between 0 and 1"),
        ({"total_variation": 0.5}, "total_variation is 0.5, a float, but the models are exact"),
        ({"logs": []}, "logs is empty"),
        ({"logs": [1]}, r"logs\[0\] is 1"),
        ({"logs": (COIN[0], 1)}, r"logs\[0\] is .*: it must be .*a pair of models"),
        ({"logs": (COIN[0],) * 3}, r"logs\[0\] is .*: it must be .*a pair of models"),
        ({"logs": "missing.npz"}, "logs: missing.npz: no such file"),
    ],
)
def test_what_cannot_be_used_is_refused(changed, message):
    given = {"logs": COIN, "draft_cost": 1, "target_cost": 1, "nodes": 2, "depth": 2} | changed
    with pytest.raises(ValueError, match=message):
        advise(given.pop("logs"), **given)


@pytest.mark.parametrize(
    ("interval", "wanted"),
    [((0.5, 9.0), (1.0, 3.0)), ((1.5, 2.5), (1.5, 2.5)), ((-1.0, 0.5), (1.0, 0.5))],
)
def test_intervals_of_tokens_are_from_one_to_a_whole_path_and_one(interval, wanted):
    worth = SimpleNamespace(tokens=lambda _: 2.0, interval=lambda _: interval)
    candidate = Candidate("rule", "a rule", "iid", as_shape("2x1"))
    found = _choice(candidate, 1, worth, np.array([9.0, 4.0]), 2.0)
    assert found.tokens_interval == wanted
    assert found.speed_up_interval == (wanted[0] / 2, wanted[1] / 2)
    assert (found.nodes, found.depth, found.widest) == (4, 2, 2)
    assert (found.tokens, found.seconds, found.speed_up) == (2.0, 4.0, 1.0)
    assert (found.rule, found.drafts, found.tree, found.lossy) == ("a rule", "iid", "2x1", 0)


def test_by_default_trees_have_up_to_eight_levels_and_children():
    certain = LoggedBlock([[1.0, 0.0]] * 9, [[1.0, 0.0]] * 9, [0] * 9)
    costs = {"draft_cost": 0.001, "target_cost": 1, "rules": ["recursive-rejection"]}
    found = advise([certain] * 2, **costs, nodes=16)
    assert max(choice.depth for choice in found.choices) == 8
    assert max(choice.widest for choice in found.choices) <= 8
    alone = memoryless(["1"]), memoryless(["1"])
    assert max(choice.depth for choice in advise(alone, **costs, nodes=16).choices) == 8


def test_each_choice_names_the_law_of_its_drafts():
    rules = ["recursive-rejection", "recursive-rejection-without-replacement", "spechub"]
    costs = {"draft_cost": 0.01, "target_cost": 1, "rules": rules, "total_variation": "1/20"}
    found = advise(CHAIN, **costs, nodes=2, depth=1)
    laws = {choice.rule: choice.drafts for choice in found.choices}
    names = {title: rule.law_class.name for title, rule in BY_TITLE.items() if rule.name in rules}
    assert laws == names | dict.fromkeys(CHAINS & laws.keys(), "iid") | {
        "no draft": "", "lossy, 0.05 a token": "iid"
    }  # fmt: skip
    assert set(names.values()) == {"iid", "without-replacement", "hub"}


def test_trees_of_powers_of_two_and_of_all_nodes_are_compared():
    assert [sizes(nodes) for nodes in (1, 2, 3, 8, 9)] == [
        [1], [1, 2], [1, 2, 3], [1, 2, 4, 8], [1, 2, 4, 8, 9]
    ]  # fmt: skip
