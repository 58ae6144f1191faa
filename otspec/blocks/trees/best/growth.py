"""Which nodes a tree is grown to by an estimate of their worth (EAGLE-2, sec. 4)."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import numpy as np

from otspec._base.arithmetic import Array
from otspec.models.base import Prefix


class Grown(NamedTuple):
    """A node of a tree that was grown."""

    path: Prefix
    """The tokens from the root to the node, itself included."""
    worth: Any
    """The product of the estimates along the path."""


def grown(
    estimate: Callable[[Prefix], Array], nodes: int, levels: int, widest: int | None = None
) -> list[Grown]:
    """Return the nodes of greatest worth, parents before their children.

    ``estimate``: from a path to the estimate of each next token, from 0 to 1, shape (n,). ``nodes``
    and ``levels``: the most nodes and levels. ``widest``: of each level only so many nodes go on,
    those of greatest worth, with so many children each; by default all. Result: by descending
    worth, of equals the higher; a node of worth 0 is none. A child is worth no more than its
    parent, so that parents are always there.
    """
    most = nodes if widest is None else min(widest, nodes)
    best: list[Grown] = []
    level = [Grown((), 1)]
    for _ in range(levels):
        below = [child for node in level for child in _children(node, estimate(node.path), most)]
        best = _greatest([*best, *below], nodes)
        going_on = set(below) & set(best)
        level = _greatest((child for child in below if child in going_on), most)
    return best


def _children(node: Grown, estimates: Array, most: int) -> list[Grown]:
    """Return the children of greatest worth, of equals the lower token ids."""
    likeliest = np.argsort(-estimates, kind="stable")[:most].tolist()
    row = estimates.tolist()
    return [
        Grown((*node.path, token), node.worth * row[token]) for token in likeliest if row[token] > 0
    ]


def _greatest(found: Iterable[Grown], most: int) -> list[Grown]:
    """Return so many of greatest worth, of equals those that come first."""
    return sorted(found, key=lambda node: -node.worth)[:most]
