"""Trees as engines write them: next tokens and next siblings, or paths from the root."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from otspec._base.arithmetic import IntArray
from otspec._base.parents import as_parents, children_of


def links_of(parents: Sequence[int]) -> tuple[IntArray, IntArray]:
    """Return the first child and the next sibling of each slot of a tree.

    Parameters
    ----------
    parents : sequence of int
        The parent of each node; −1 for the text.

    Returns
    -------
    next_token, next_sibling : ndarray of int, shape (nodes + 1,)
        Slot 0 is the text and slot i + 1 is node i; −1 where there is none.

    Raises
    ------
    ValueError
        A parent that does not come before its child.

    Examples
    --------
    >>> links_of((-1, -1, 0))
    (array([ 1,  3, -1, -1]), array([-1,  2, -1, -1]))
    """
    tree = children_of(as_parents(parents, "parents"))
    next_token = np.full(len(tree), -1)
    next_sibling = np.full(len(tree), -1)
    for slot, children in enumerate(tree):
        if children:
            next_token[slot] = children[0] + 1
        for child, sibling in pairwise(children):
            next_sibling[child + 1] = sibling + 1
    return next_token, next_sibling


def paths_of(parents: Sequence[int]) -> IntArray:
    """Return the slots on the way from the text to each leaf.

    Parameters
    ----------
    parents : sequence of int
        The parent of each node; −1 for the text.

    Returns
    -------
    ndarray of int, shape (leaves, depth + 1)
        Slot 0 is the text and slot i + 1 is node i; −1 behind the shorter paths.

    Raises
    ------
    ValueError
        A parent that does not come before its child.

    Examples
    --------
    >>> paths_of((-1, -1, 0))
    array([[ 0,  2, -1],
           [ 0,  1,  3]])
    """
    tree = as_parents(parents, "parents")
    paths: list[tuple[int, ...]] = [(0,)]
    for node, parent in enumerate(tree):
        paths.append((*paths[parent + 1], node + 1))
    leaves = [path for path, children in zip(paths, children_of(tree), strict=True) if not children]
    found = np.full((len(leaves), max(map(len, leaves))), -1)
    for row, path in enumerate(leaves):
        found[row, : len(path)] = path
    return found
