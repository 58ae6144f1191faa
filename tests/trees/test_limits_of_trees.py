"""How large trees may be, and from where on their laws are estimates."""

from fractions import Fraction

import pytest

from otspec.blocks import (
    DraftSelection,
    DynamicTree,
    GreedyMultiPath,
    PlannedTree,
    Seconds,
    UniversalTree,
    as_load_seconds,
    as_seconds,
    as_shape,
    best_trees,
    measured,
)
from otspec.blocks.trees.best.load_costs import LoadSeconds
from otspec.blocks.trees.token_tree import check_nodes
from otspec.models import markov, memoryless
from otspec.rules import PooledSelection, RecursiveRejection
from tests.support.limits import least, of_module

LIMITS = {
    "best.acceptance_rates": {"MOST_PLACES": 20_000},
    "best.best_shape": {"MOST_NODES": 4_096},
    "best.allotment": {"MOST_CANDIDATES": 20_000},
    "best.costs": {"MOST_TOKENS": 10**9},
    "best.dynamic_tree": {"MOST_NODES": 10**5},
    "token_tree": {"MOST_PROMPT": 10**9},
    "verifiers.greedy_multi_path": {"MOST_PATHS": 10_000, "TEXT_LIMIT": 20_000},
    "verifiers.leaf_to_root": {"TUPLE_LIMIT": 20_000, "STATE_LIMIT": 10**6},
    "verifiers.nodes": {"TUPLE_LIMIT": 20_000},
    "verifiers.planned_tree": {"TUPLE_LIMIT": 20_000, "_MOST_TOKENS": 4},
}


@pytest.mark.parametrize("module", LIMITS)
def test_limits_of_trees_are_those_that_they_were(module):
    assert of_module(f"blocks.trees.{module}", LIMITS[module]) == LIMITS[module]


COIN = memoryless(["1/2", "1/2"])
PAIR = COIN, memoryless(["1/4", "3/4"])
CHAINS = [markov([["1/2", "1/2"], [row, 1 - row]]) for row in (Fraction(1, 3), Fraction(1, 5))]
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


def binned(draft, target, k):
    return PooledSelection(draft, target, k, 4)


LARGEST = [
    # Texts of 3 of 2 tokens; 4 children that go on together; 2 children of 2 tokens and †.
    ("verifiers.greedy_multi_path.TEXT_LIMIT", 8,
     lambda: GreedyMultiPath(*PAIR, "2x1x1x1").expected()),
    ("verifiers.nodes.TUPLE_LIMIT", 16, lambda: DraftSelection(*PAIR, "2x2x1", binned).expected()),
    ("verifiers.leaf_to_root.TUPLE_LIMIT", 9, lambda: UniversalTree(*PAIR, "2x1").expected()),
    ("verifiers.planned_tree._MOST_TOKENS", 2, lambda: PlannedTree(*PAIR, "2").expected()),
    ("verifiers.planned_tree.TUPLE_LIMIT", 8, lambda: PlannedTree(*PAIR, "3").expected()),
    # No token, or the last one.
    ("best.acceptance_rates.MOST_PLACES", 3,
     lambda: best_trees(*CHAINS, RecursiveRejection, 4, 3)),
]  # fmt: skip


@pytest.mark.parametrize(("name", "number", "call"), LARGEST)
def test_what_is_as_large_as_a_limit_is_no_larger(monkeypatch, name, number, call):
    assert least(monkeypatch, f"blocks.trees.{name}", call) == number


def test_refusals_say_the_numbers(monkeypatch):
    monkeypatch.setattr("otspec.blocks.trees.verifiers.leaf_to_root.TUPLE_LIMIT", 8)
    with pytest.raises(ValueError, match="9 tuples of k = 2 drafts over 2 tokens are too many"):
        UniversalTree(*PAIR, "2x1").expected()
    for tokens, seconds, says in (
        ((1, 2), (1.0,), "tokens has 2 numbers and seconds 1: name the seconds"),
        ((), (), "tokens has 0 numbers and seconds 0"),
    ):
        with pytest.raises(ValueError, match=says):
            Seconds(tokens, seconds)
    with pytest.raises(ValueError, match="node must be at most 2, got 3: the tree has 3 nodes"):
        TREE.children(3)


def test_states_are_counted_once_each(monkeypatch):
    """A state is a weight with what is drafted there, where models remember nothing."""
    rule = UniversalTree(*PAIR, "2x1")
    below = rule.arrivals((), rule.target.number(1), rule.tree).masses
    states = {(child.weight, rule.tree.after(child.places)) for child in below}
    limit = "blocks.trees.verifiers.leaf_to_root.STATE_LIMIT"
    assert least(monkeypatch, limit, rule.expected) == len(states) > 1


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("batch,tokens,seconds\n1,1,1\n1,8,1.2\n16,1,2\n16,8,5\n", 1.2 + 7 / 15 * 3.8),
        ("tokens,seconds\n1,1\n64,64\n", 64.0),
        ("tokens,seconds\n1,1\n2,2\n64,64\n", 64.0),
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
