"""What a tree costs in seconds, and which is the fastest."""

from __future__ import annotations

import numpy as np
import pytest

from otspec.blocks import (
    StepCost,
    as_load_seconds,
    as_seconds,
    as_shape,
    best_trees,
    configurations,
    fastest_tree,
    measured,
)
from otspec.blocks.trees.shapes import LEAF
from otspec.models import memoryless, random_pair
from otspec.rules import PooledSelection, RecursiveRejection, SpecHub

COIN = memoryless(["1/2", "1/2"]), memoryless(["1/4", "3/4"])


@pytest.mark.parametrize(
    ("given", "values"),
    [
        ("0.5", {1: 0.5, 7: 0.5, 10**6: 0.5}),
        (2, {1: 2, 9: 2}),
        ("1,1,1.5,2.5", {1: 1, 2: 1, 3: 1.5, 4: 2.5, 5: 3.5, 9: 7.5}),
        ([1, 2], {1: 1, 2: 2, 3: 3}),
        ("2:1, 4:2, 8:2", {1: 1, 2: 1, 3: 1.5, 4: 2, 6: 2, 100: 2}),
        ({4: 3.0, 2: 1.0}, None),
        ({2: 3.0, 4: 1.0}, {1: 3, 3: 2, 9: 1}),
    ],
)
def test_seconds_are_read_in_every_form(given, values):
    if values is None:
        with pytest.raises(ValueError, match="in ascending order, each once"):
            as_seconds(given)
        return
    seconds = as_seconds(given)
    assert as_seconds(seconds) is seconds
    assert {tokens: seconds(tokens) for tokens in values} == pytest.approx(values)


def test_seconds_are_read_from_files(tmp_path):
    for name, header in [("named.csv", "tokens,seconds\n"), ("rows.csv", "")]:
        (tmp_path / name).write_text(f"{header}1,0.5\n3,1.5\n", encoding="utf-8")
        assert as_seconds(str(tmp_path / name))(2) == 1.0
    (tmp_path / "one.csv").write_text("tokens\n1\n3\n", encoding="utf-8")
    with pytest.raises(ValueError, match="two columns"):
        as_seconds(str(tmp_path / "one.csv"))
    with pytest.raises(ValueError, match="no such file"):
        as_seconds(str(tmp_path / "none.csv"))


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("", "write the seconds"),
        ("fast", "write the seconds"),
        ("1:2:3", "write the seconds"),
        ("0:1", "must be at least 1, got 0"),
        ("1,0", r"seconds\[1\] is 0.0: it must be a time above 0"),
        ("1,nan", r"seconds\[1\] is nan"),
        ([], "at least one"),
        (-1, "a time above 0"),
    ],
)
def test_what_says_no_seconds_is_refused(given, message):
    with pytest.raises(ValueError, match=message):
        as_seconds(given, "--target-seconds")


def test_seconds_of_a_text_are_no_file_and_those_of_batches_are_between():
    assert as_load_seconds("1:1,3:2")(1, 2) == 1.5
    costs = as_load_seconds({1: "1:1,3:2", 5: 4, 7: 5})
    assert (costs(1, 2), costs(5, 9), costs(2, 3), costs.alone(3)) == (1.5, 4, 2.5, 2)
    assert (costs(7, 1), costs(7, 90)) == (5, 5)
    for batch in (0, 8):
        message = f"batch is {batch}, and costs are given for 1 to 7 rows: measure them"
        with pytest.raises(ValueError, match=message):
            costs(batch, 1)


def test_a_call_is_measured():
    asked = []
    seconds = measured(asked.append, (1, 5), repeats=2)
    assert asked == [1, 1, 1, 5, 5, 5]
    assert seconds.tokens == (1, 5)
    assert min(seconds.seconds) > 0
    asked.clear()
    assert measured(asked.append).tokens == (1, 2, 4, 8, 16, 32, 64)
    assert len(asked) == 7 * (1 + 5)


def test_a_tree_costs_its_draft_calls_and_one_target_call():
    cost = StepCost("10,20,40", "1:100,11:200")
    # The draft reads the text, then the two nodes that have children, then one.
    assert cost(as_shape("[[[]]][[]][]")) == pytest.approx(10 + 20 + 10 + 160)
    assert cost(LEAF) == pytest.approx(100)
    assert cost(as_shape("1x1")) == pytest.approx(20 + 120)


def test_the_fastest_tree_is_the_best_of_all_that_are_known():
    cost = StepCost(1, "1:8,4:8,12:16")
    for rule in (RecursiveRejection, PooledSelection):
        trees = best_trees(*COIN, rule, 9, 5)
        found = fastest_tree(trees, cost)
        every = [tree for row in trees.rows for tree in row]
        assert found.speed == max(float(1 + tree.expected) / cost(tree.tree) for tree in every)
        assert found.seconds == cost(found.tree)
        assert found.expected == trees.expected(found.tree)
        assert set(found.losses) == {"branching", "chain", "no draft"}
        speeds = {
            name: float(1 + each.expected) / each.seconds for name, each in found.simpler.items()
        }
        assert found.losses == pytest.approx(
            {name: 1 - speed / found.speed for name, speed in speeds.items()}
        )
        assert min(found.losses.values()) >= 0
        assert found.simpler["no draft"].speed == 1 / 8
        chain = found.simpler["chain"]
        assert chain.tree.size == chain.tree.depth


def test_where_drafts_cost_too_much_nothing_is_drafted():
    found = fastest_tree(best_trees(*COIN, RecursiveRejection, 4, 3), StepCost(100, 1))
    assert found.tree == LEAF
    assert found.losses["no draft"] == 0


def test_branchings_are_all_there_are():
    draft, target = random_pair(2, "1/2", np.random.default_rng(0))
    trees = best_trees(draft, target, RecursiveRejection, 12, 3, keep="likely")
    found = [each.tree.branching for each in trees.branchings]
    wanted = {
        tree
        for depth in (1, 2, 3)
        for leaves in range(1, 13)
        for tree in configurations(leaves, depth)
        if as_shape(tree).size <= 12
    }
    assert set(found) == wanted
    assert len(found) == len(wanted)
    assert [each.tree.text for each in trees.chains] == ["1", "1x1", "1x1x1"]
    assert trees.best.expected >= max(each.expected for each in trees.branchings)
    pairs = best_trees(draft, target, SpecHub, 12, 3)
    assert [each.tree.text for each in pairs.branchings] == ["2", "2x2"]
    assert pairs.chains == ()
    assert "chain" not in fastest_tree(pairs, StepCost(1, 1)).simpler


def test_calls_are_timed_once_to_a_million_times():
    asked = []
    measured(asked.append, (3,), repeats=1_000)
    assert asked == [3] * 1_001  # the first is not timed
    for repeats in (0, 1_000_001):
        with pytest.raises(ValueError, match="repeats"):
            measured(asked.append, (3,), repeats=repeats)
