"""Trees of drafted tokens: what tree attention may see, and at which positions."""

from __future__ import annotations

from itertools import product
from math import prod

import numpy as np
import pytest
from each_case import each
from hypothesis import given
from hypothesis import strategies as st

from otspec.blocks import TokenTree, as_branching
from otspec.blocks.trees import token_tree
from otspec.blocks.trees.token_tree import as_text
from validation.mcsd.sections_2_and_3 import ancestors, configurations, squeezed

IRREGULAR = (-1, 0, 0, -1, 1, 3, 3, 3, 4, -1, 8)
"""Three branches from the prompt, of depths 5, 2 and 1; its nodes are in no order of levels."""


@st.composite
def parents(draw):
    size = draw(st.integers(0, 12))
    return tuple(draw(st.integers(-1, node - 1)) for node in range(size))


def lineage(tree, node):
    """A node and its ancestors, by asking every node for its children."""
    found = {node}
    grown = True
    while grown:
        above = {x for x in range(len(tree)) if set(tree.children(x)) & found}
        grown = not above <= found
        found |= above
    return found


def check_against_the_definitions(tree, prompt):
    mask, depths = tree.attention_mask(prompt), tree.depths
    assert mask.shape == (len(tree), prompt + len(tree))
    assert mask.dtype == bool
    for node in range(len(tree)):
        seen = lineage(tree, node)
        assert mask[node].tolist() == [True] * prompt + [x in seen for x in range(len(tree))]
        assert set(tree.path(node)) == seen
        assert list(tree.path(node)) == sorted(seen)  # parents come before their children
        assert depths[node] == len(seen) == len(tree.path(node))
        assert (node in tree.leaves) == (tree.children(node) == ())
    assert tree.positions(prompt).tolist() == [prompt + depth - 1 for depth in depths]
    every_child = sorted(child for node in range(-1, len(tree)) for child in tree.children(node))
    assert every_child == list(range(len(tree)))


@given(parents(), st.integers(0, 3))
def test_any_tree_is_as_its_parents_say(given_parents, prompt):
    tree = TokenTree(given_parents)
    assert tree.parents == given_parents
    check_against_the_definitions(tree, prompt)


@pytest.mark.parametrize("prompt", [0, 1, 4])
def test_an_irregular_tree(prompt):
    tree = TokenTree(IRREGULAR)
    check_against_the_definitions(tree, prompt)
    assert tree.leaves == (2, 5, 6, 7, 9, 10)
    assert tree.children(-1) == (0, 3, 9)
    assert tree.path(10) == (0, 1, 4, 8, 10)
    assert tree.depths.tolist() == [1, 2, 2, 1, 3, 2, 2, 2, 4, 1, 5]


@each("branching", [*configurations(most=6, longest=3), (3, 1, 2, 2)])
def test_a_configuration_is_squeezed_level_by_level(branching):
    tree = TokenTree.of_branching(branching)
    widths = [prod(branching[: depth + 1]) for depth in range(len(branching))]
    nodes = squeezed(branching)
    parents = (nodes.index(node[:-1]) if node[:-1] else -1 for node in nodes)
    assert tree.parents == tuple(parents)
    assert tree.depths.tolist() == [len(node) for node in nodes]
    assert np.bincount(tree.depths)[1:].tolist() == widths
    assert tree.leaves == tuple(range(len(nodes) - widths[-1], len(nodes)))
    for node in range(len(nodes)):
        assert tree.path(node) == tuple(ancestors(nodes, node))
    # Every candidate: one choice of branches at each depth.
    assert {nodes[leaf] for leaf in tree.leaves} == set(product(*map(range, branching)))
    check_against_the_definitions(tree, prompt=2)


def test_the_picture_of_2x2():
    tree = TokenTree.of_branching("2x2")
    assert tree.parents == (-1, -1, 0, 0, 1, 1)
    assert tree.attention_mask(1).astype(int).tolist() == [
        [1, 1, 0, 0, 0, 0, 0],
        [1, 0, 1, 0, 0, 0, 0],
        [1, 1, 0, 1, 0, 0, 0],
        [1, 1, 0, 0, 1, 0, 0],
        [1, 0, 1, 0, 0, 1, 0],
        [1, 0, 1, 0, 0, 0, 1],
    ]
    assert tree.positions(1).tolist() == [1, 1, 2, 2, 2, 2]


def test_one_node_and_no_node():
    one = TokenTree.of_branching("1")
    assert one.parents == (-1,)
    assert one.leaves == (0,)
    assert one.attention_mask(2).tolist() == [[True, True, True]]
    assert one.positions(2).tolist() == [2]
    none = TokenTree(())
    assert (len(none), none.leaves, none.children(-1)) == (0, (), ())
    assert none.depths.shape == none.positions(5).shape == (0,)
    assert none.attention_mask(3).shape == (0, 3)


def test_a_chain_is_causal_attention():
    for tree in (TokenTree.of_branching((1,) * 500), TokenTree(tuple(range(-1, 499)))):
        assert (tree.attention_mask() == np.tri(500, dtype=bool)).all()
        assert tree.positions(7).tolist() == list(range(7, 507))
        assert tree.leaves == (499,)
        assert tree.path(499) == tuple(range(500))


def test_a_prompt_takes_at_most_half_the_memory(monkeypatch):
    monkeypatch.setattr(token_tree, "memory", lambda: 60)
    two = TokenTree((-1, 0))
    assert two.attention_mask(15).shape == (2, 17)
    with pytest.raises(ValueError, match="at most 15, got 16"):
        two.attention_mask(16)
    assert two.positions(30).tolist() == [30, 31]
    with pytest.raises(ValueError, match="at most 30, got 31"):
        two.positions(31)


def test_a_tree_is_a_value():
    assert TokenTree((-1, 0)) == TokenTree([-1, np.int64(0)]) == TokenTree.of_branching([1, 1])
    assert hash(TokenTree((-1, 0))) == hash(TokenTree.of_branching("1x1"))
    assert TokenTree((-1, 0)) != TokenTree((-1, -1))
    assert all(type(parent) is int for parent in TokenTree(np.array([-1, 0])).parents)


@pytest.mark.parametrize(
    ("given_parents", "says"),
    [
        ((0,), r"parents\[0\] is 0: a parent comes before its child"),
        ((-2,), r"parents\[0\] is -2: .* -1 stands for the prompt"),
        ((-1, 1), r"parents\[1\] is 1"),
        ((-1, 2, 0), r"parents\[1\] is 2"),
        ((-1, 0, -3), r"parents\[2\] is -3"),
    ],
)
def test_a_parent_after_its_child_is_refused(given_parents, says):
    with pytest.raises(ValueError, match=says):
        TokenTree(given_parents)


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("4x2x1", (4, 2, 1)),
        ("1", (1,)),
        ("12x03", (12, 3)),
        ([4, 2], (4, 2)),
        ((np.int64(3),), (3,)),
        (np.array([2, 5]), (2, 5)),
        (range(1, 4), (1, 2, 3)),
        ("9" * 99, (10**99 - 1,)),
    ],
)
def test_configurations_are_read(written, read):
    found = as_branching(written)
    assert found == read
    assert all(type(width) is int for width in found)
    assert as_branching(as_text(found)) == found


@pytest.mark.parametrize(
    "text",
    [
        "",
        "x",
        "4x",
        "x4",
        "4xx2",
        "4X2",
        "4*2",
        "4 x 2",
        "-1x2",
        "+4",
        "1.5",
        "²",
        "٣",
        "4,2",
        "9" * 100,
    ],
)
def test_text_that_is_no_configuration_is_refused(text):
    with pytest.raises(ValueError, match="write the children by depth, such as 4x2x1"):
        as_branching(text)


@pytest.mark.parametrize(
    ("branching", "says"),
    [
        ((), "branching is empty"),
        ([], "branching is empty"),
        (np.array([], dtype=int), "branching is empty"),
        ("0", r"branching\[0\] must be at least 1, got 0"),
        ("2x0", r"branching\[1\] must be at least 1, got 0"),
        ((2, -1), r"branching\[1\] must be at least 1, got -1"),
        ((2.0,), r"branching\[0\] must be an integer, got 2.0"),
        ((2, "2"), r"branching\[1\] must be an integer, got '2'"),
        ([True], r"branching\[0\] must be an integer, got True"),
        ([None], r"branching\[0\] must be an integer, got None"),
        ([[2, 2]], r"branching\[0\] must be an integer"),
    ],
)
def test_widths_that_are_no_positive_integers_are_refused(branching, says):
    with pytest.raises(ValueError, match=says):
        as_branching(branching)
    with pytest.raises(ValueError, match=says):
        TokenTree.of_branching(branching)
