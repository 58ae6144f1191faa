"""``otspec blocks --budget``: the best tree of each rule, beside simpler ones."""

import json
from dataclasses import replace
from fractions import Fraction

import pytest
from command_line import complaint, run

from otspec.blocks import (
    TREE_RULES,
    DynamicTree,
    StepCost,
    TokenVerification,
    best_trees,
    fastest_tree,
)
from otspec.datasets import load_smollm2
from otspec.logged import best_trees_on_blocks, dynamic_tree_on_blocks
from otspec.models import EndingModel, memoryless
from otspec.rules import RecursiveRejection, TargetOnly

DRAFT, TARGET = "1/2,1/2", "1/4,3/4"
MODELS = ("--draft", DRAFT, "--target", TARGET)
PAIR = memoryless(DRAFT.split(",")), memoryless(TARGET.split(","))
COST = "1", "10,10,10,12,14,16,18"


def document(capsys, *arguments):
    return json.loads(run(capsys, "blocks", *arguments, "--json"))


def test_each_rule_has_its_best_tree_of_models(capsys):
    found = document(
        capsys,
        *MODELS,
        "--budget",
        6,
        "--depth",
        4,
        "--draft-cost",
        COST[0],
        "--target-cost",
        COST[1],
    )
    assert (found["budget"], found["depth"], found["widest"]) == (6, 4, 6)
    assert [each["rule"] for each in found["rules"]] == [rule.title for rule in TREE_RULES.values()]
    for rule, each in zip(TREE_RULES.values(), found["rules"], strict=True):
        trees = best_trees(*PAIR, rule, 6, 4, keep="likely")
        for name in ("best", "branching", "chain"):
            tree = getattr(trees, name)
            if tree is None:
                assert each[name] is None
                continue
            assert each[name]["tree"] == tree.tree.text
            assert Fraction(each[name]["expected"]) == tree.expected
            assert Fraction(each[name]["efficiency"]) == tree.efficiency
            assert sum(each[name]["levels"]) == each[name]["nodes"] == tree.tree.size
        fastest = fastest_tree(trees, StepCost(*COST))
        assert each["fastest"]["speed"] == pytest.approx(fastest.speed)
        assert each["fastest"]["losses"] == pytest.approx(fastest.losses)
    grown = [DynamicTree(*PAIR, 6, 4, by=by).expected() for by in ("draft", "target")]
    assert [Fraction(each["expected"]) for each in found["dynamic"]] == grown


def test_each_rule_has_its_best_tree_of_a_trace(capsys):
    found = document(capsys, "--budget", 4, "--depth", 2, "--widest", 2)
    blocks = list(load_smollm2().blocks())
    rows = {each["rule"]: each for each in found["rules"]}
    for rule in (RecursiveRejection, TargetOnly):
        trees = best_trees_on_blocks(blocks, rule, 4, 2, widest=2)
        for name, tree in [("best", trees.best), ("branching", trees.branching)]:
            assert rows[rule.title][name]["tree"] == tree.tree.text
            assert rows[rule.title][name]["expected"] == pytest.approx(tree.expected)
            assert rows[rule.title][name]["error"] == pytest.approx(tree.error)
    (grown,) = found["dynamic"]
    wanted = dynamic_tree_on_blocks(blocks, 4, 2)
    assert grown["nodes"] == pytest.approx(wanted.nodes)
    assert grown["expected"] == pytest.approx(wanted.expected)


def test_tables_are_for_people(capsys):
    printed = run(
        capsys,
        "blocks",
        *MODELS,
        "--budget",
        3,
        "--depth",
        2,
        "--draft-cost",
        "0.1",
        "--target-cost",
        "1",
    )
    lines = printed.splitlines()
    assert lines[0] == "The best tree of at most 3 drafted tokens and 2 levels"
    assert lines[1].split()[:2] == ["rule", "E[kept]"]
    assert "recursive rejection: [[]][]" in lines
    assert "The most tokens per second, and the share that simpler choices lose" in lines
    chain = run(capsys, "blocks", *MODELS, "--budget", 1)
    assert "at most 1 drafted tokens and 1 level\n" in chain
    assert "SpecHub" not in chain


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--depth", 3], "--depth is given without --budget"),
        (["--draft-cost", 1, "--target-cost", 1], "--draft-cost is given without --budget"),
        (["--budget", 4, "--target-cost", 1], "--target-cost is given without --draft-cost"),
        (["--budget", 4, "--tree", "2x2"], "--tree is given beside --budget"),
        (["--budget", 4, "--draft-cost", "fast", "--target-cost", 1], "--draft-cost is 'fast'"),
        (
            ["--budget", 4, "--draft-cost", 1, "--target-cost", "none.csv"],
            "--target-cost is 'none.csv'",
        ),
        (["--budget", 0], "--budget"),
        (["--budget", 4, "--depth", 9], "length is 9, but the block has 8 tokens"),
    ],
)
def test_what_cannot_be_searched_for_is_one_line(capsys, arguments, message):
    assert message in complaint(capsys, "blocks", *arguments)


def test_no_tree_has_anything_behind_an_end_token(capsys):
    found = document(
        capsys,
        *MODELS,
        "--end",
        0,
        "--budget",
        4,
        "--depth",
        3,
        "--draft-cost",
        COST[0],
        "--target-cost",
        COST[1],
    )
    ending = EndingModel(PAIR[1], [0])
    for rule, each in zip(TREE_RULES.values(), found["rules"], strict=True):
        trees = best_trees(PAIR[0], ending, rule, 4, 3, keep="likely")
        assert Fraction(each["best"]["expected"]) == trees.best.expected
        fastest = fastest_tree(trees, StepCost(*COST))
        assert each["fastest"]["speed"] == pytest.approx(fastest.speed)
    grown = [DynamicTree(PAIR[0], ending, 4, 3, by=by) for by in ("draft", "target")]
    assert [each["nodes"] for each in found["dynamic"]] == [len(tree.grown) for tree in grown]
    assert [Fraction(each["expected"]) for each in found["dynamic"]] == [
        tree.expected() for tree in grown
    ]


def test_logged_blocks_that_are_over_have_any_number_of_levels(capsys):
    blocks = [replace(block, end=[block.tokens[0]]) for block in load_smollm2().blocks()]
    end = ",".join(str(block.tokens[0]) for block in blocks)
    found = document(capsys, "--budget", 3, "--widest", 1, "--end", end)
    assert found["depth"] == 3
    best = found["rules"][0]["best"]
    # The first token of each block is the last: what is kept of it is kept of one draft.
    over = [replace(block, end=[int(token) for token in end.split(",")]) for block in blocks]
    assert best["expected"] == pytest.approx(
        sum(float(block.expected(TokenVerification, 3)) for block in over) / len(over)
    )
