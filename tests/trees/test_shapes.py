"""Trees of any shape as values: how they are written, and what goes on of several."""

from __future__ import annotations

import pickle
from itertools import combinations

import pytest

from otspec.blocks import TokenTree, as_shape, together


def test_several_ways_to_write_one_tree():
    same = ["[[][]][[]]", [[0], [1], [0, 0], [0, 1], [1, 0]], TokenTree((-1, -1, 0, 0, 1))]
    assert len(set(map(as_shape, same))) == 1
    assert as_shape("2x2") == as_shape("[[][]][[][]]") == as_shape((2, 2))
    assert as_shape("[[][]][[][]]").text == "2x2"
    assert [as_shape(text).text for text in ("top2x1", "top[[]][[]]", "top[][[]]", "[top[]]")] == [
        "top2x1", "top2x1", "top[][[]]", "1xtop1",
    ]  # fmt: skip
    deep = as_shape("[]" + "[" * 499 + "]" * 499)
    assert pickle.loads(pickle.dumps(deep)) == deep == as_shape(deep.tree())  # noqa: S301
    assert (deep.size, deep.depth, deep.branching, deep.widths) == (500, 499, None, {1, 2})


def test_what_goes_on_where_some_children_are_certain():
    for nodes, on in (
        (["2", "[[]]"], "[][][[]]"),
        (["top2x1", "top3"], "top[[]][[]][]"),
        (["top2", "3"], "top2"),
        (["3", "top2", "1"], "4"),
    ):
        assert together(map(as_shape, nodes)) == as_shape(on)


@pytest.mark.parametrize(
    ("tree", "says"),
    [
        ("[", r"tree is '\[': write each node as a pair of brackets around its children"),
        ("[]x", "write each node as a pair of brackets"),
        ("[top]", "write each node as a pair of brackets"),
        ("[]]", "write each node as a pair of brackets"),
        ("[]][]", "write each node as a pair of brackets"),
        ("][", "write each node as a pair of brackets|write the children by depth"),
        ("", "tree is '': write the children by depth"),
        ("top", "tree is 'top': write the children by depth, such as top4x2"),
        ([[0, 0]], r"tree holds the path \[0, 0\], but not \[0\]: pass paths to all nodes"),
        ([[1]], r"tree holds the path \[1\], but not \[0\]"),
        ([[0], [0]], r"tree holds the path \[0\] twice"),
        ([[0], []], r"tree holds \[\], which is no path"),
        ([[0], [-1]], r"tree holds \[-1\], which is no path"),
        (TokenTree(()), "tree is empty"),
        ((1000, 1000), "the tree has more than 1,000,000 nodes"),
        ("[" * 501 + "]" * 501, "tree has 501 levels: at most 500 can be followed"),
    ],
)
def test_what_is_no_tree_is_refused(tree, says):
    with pytest.raises(ValueError, match=says):
        as_shape(tree)


def test_a_tree_has_levels_and_is_equal_to_trees_alone():
    tree = as_shape("[[][[]]][]")
    assert tree.level_sizes == [2, 2, 1]
    assert as_shape("3x1").level_sizes == [3, 3]
    assert (tree.size, tree.depth, tree.widths) == (5, 3, {1, 2})
    assert as_shape("1").children[0].level_sizes == []
    assert tree != "[[][[]]][]"
    assert tree == as_shape("[[][[]]][]")
    assert tree != as_shape("[][[][[]]]")
    # The same number of children and levels, in other places.
    assert as_shape("[[][]][[]]") != as_shape("[[]][[][]]")
    assert eval(repr(tree), {"as_shape": as_shape}) == tree  # noqa: S307


def test_trees_that_are_too_large_are_refused():
    with pytest.raises(ValueError, match="has more than 1,000,000 nodes, draft fewer"):
        as_shape("1000x1000x1000")
    with pytest.raises(ValueError, match=r"levels: at most"):
        as_shape("x".join("1" * 20_000))


@pytest.mark.parametrize("tree", ["4x2x1", "[[][]][[][]]", "top3x2", "[[]][][[]]"])
def test_what_follows_several_places_is_what_follows_their_nodes_together(tree):
    shape = as_shape(tree)
    for number in (1, 2):
        for places in combinations(range(len(shape.children)), number):
            wanted = together([shape.children[place] for place in places])
            assert shape.after(places) == wanted
