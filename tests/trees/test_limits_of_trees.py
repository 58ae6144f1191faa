"""How large trees may be, and from where on their laws are estimates."""

import pytest

from otspec.blocks import (
    DynamicTree,
    GreedyMultiPath,
    as_load_seconds,
    as_seconds,
    as_shape,
    best_trees,
    measured,
)
from otspec.blocks.trees.best.costs import LoadSeconds
from otspec.blocks.trees.token_tree import check_nodes
from otspec.models import memoryless
from otspec.rules import RecursiveRejection
from tests.support.limits import of_module

LIMITS = {
    "best.acceptance_rates": {"MOST_PLACES": 20_000},
    "best.best_shape": {"MOST_NODES": 4_096},
    "best.allotment": {"MOST_CANDIDATES": 20_000},
    "best.costs": {"MOST_TOKENS": 10**9},
    "best.dynamic_tree": {"MOST_NODES": 10**5},
    "token_tree": {"MOST_PROMPT": 10**9},
    "verifiers.greedy_multi_path": {"MOST_PATHS": 10_000, "TEXT_LIMIT": 20_000},
    "verifiers.nodes": {"TUPLE_LIMIT": 20_000},
}


@pytest.mark.parametrize("module", LIMITS)
def test_limits_of_trees_are_those_that_they_were(module):
    assert of_module(f"blocks.trees.{module}", LIMITS[module]) == LIMITS[module]


COIN = memoryless(["1/2", "1/2"])
TREE = as_shape("[[]][]").tree()
CALLS = {
    "dynamic": lambda **given: DynamicTree(COIN, COIN, **{"nodes": 2, "levels": 2} | given),
    "multi": lambda **given: GreedyMultiPath(COIN, COIN, **{"paths": 2, "length": 2} | given),
    "measured": lambda **given: measured(lambda _: None, **given),
    "seconds": as_seconds,
    "loads": as_load_seconds,
    "table": lambda **given: LoadSeconds(
        **{"batches": (1,), "seconds": (as_seconds("1"),)} | given
    ),
    "mask": TREE.attention_mask,
    "children": TREE.children,
    "at": lambda **given: best_trees(COIN, COIN, RecursiveRejection, 4, 2).at(
        **{"nodes": 1, "depth": 1} | given
    ),
}
BOUNDS = [
    ("dynamic", "nodes", 0, 10**5 + 1, "at least 1", "at most 100,000"),
    ("dynamic", "levels", 0, 501, "at least 1", "at most 500"),
    ("dynamic", "widest", 0, None, "at least 1", ""),
    ("multi", "paths", 0, 10_001, "at least 1", "at most 10,000"),
    ("multi", "length", 0, 501, "at least 1", "at most 500"),
    ("measured", "repeats", 0, 10**6 + 1, "at least 1", "at most 1,000,000"),
    ("seconds", "given", {0: 1}, {10**9 + 1: 1}, "at least 1", "at most 1,000,000,000"),
    ("seconds", "given", 9e-101, 2e100, "a time above 0", "a time above 0, .* 1e-100 to 1e[+]100"),
    ("loads", "given", {0: "1:1"}, {10**9 + 1: "1:1"}, "at least 1", "at most 1,000,000,000"),
    ("table", "batches", (0,), (10**9 + 1,), "at least 1", "at most 1,000,000,000"),
    ("mask", "prompt", -1, 10**9 + 1, "at least 0", "at most 1,000,000,000"),
    ("children", "node", -2, 3, "at least -1", "at most 2"),
    ("at", "nodes", 0, 5, "at least 1", "at most 4"),
    ("at", "depth", 0, 3, "at least 1", "at most 2"),
]


@pytest.mark.parametrize(("name", "argument", "low", "high", "least", "most"), BOUNDS)
def test_numbers_of_trees_have_bounds(name, argument, low, high, least, most):
    for value, bound in ((low, least), (high, most)):
        if value is not None:
            with pytest.raises(ValueError, match=f"must be {bound}(\\D|$)"):
                CALLS[name](**{argument: value})


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("batch,tokens,seconds\n1,1,1\n1,8,1.2\n16,1,2\n16,8,5\n", 1.2 + 7 / 15 * 3.8),
        ("tokens,seconds\n1,1\n64,64\n", 64.0),
    ],
)
def test_costs_of_a_file_have_two_or_three_columns(tmp_path, text, wanted):
    """Between 1.2 and 5 seconds at 8 of 1 to 16 rows; or those of 64 tokens of all rows."""
    (tmp_path / "costs.csv").write_text(text, encoding="utf-8")
    costs = as_load_seconds(str(tmp_path / "costs.csv"))
    assert costs(8, 8) == pytest.approx(wanted)


@pytest.mark.parametrize(("widths", "more"), [((10**6,), (10**6 + 1,)), ((1, 999_999), (1, 10**6)),
                                              ((1_000, 999), (1_000, 1_000))])  # fmt: skip
def test_trees_have_at_most_a_million_nodes(widths, more):
    check_nodes(widths, widths, "tree")
    with pytest.raises(ValueError, match=r"tree is .*: the tree has more than 1,000,000 nodes"):
        check_nodes(more, more, "tree")
