"""Branchings, MCSD's k-configurations: trees with the same number of children at each depth."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from otspec._base.arguments import MOST_ITEMS, as_list
from otspec._base.coerce import shown
from otspec.distributions import as_k


def as_branching(branching: str | Sequence[int], name: str = "branching") -> tuple[int, ...]:
    """Check a k-configuration such as ``"4x2x1"`` or ``(4, 2, 1)``, and return its numbers.

    Anything that is not a list of positive integers is refused by a ``ValueError``.
    """
    if isinstance(branching, str):
        parts = branching.split("x")
        if not all(part.isascii() and part.isdigit() and len(part) < 100 for part in parts):
            raise ValueError(
                f"{name} is {shown(branching)}: write the children by depth, such as 4x2x1"
            )
        branching = [int(part) for part in parts]
    widths = as_list(branching, name, "the children by depth, such as 4x2x1")
    if len(widths) == 0:
        raise ValueError(f"{name} is empty: name the children of at least one depth")
    return tuple(as_k(width, f"{name}[{depth}]") for depth, width in enumerate(widths))


def check_nodes(widths: Sequence[int], given: Any, name: str) -> None:
    """Refuse a branching whose tree has more than a million nodes, before making anything of it."""
    nodes, leaves = 0, 1
    for width in widths:
        leaves *= width
        nodes += leaves
        if nodes > MOST_ITEMS:
            raise ValueError(too_large(given, name))


def too_large(tree: Any, name: str) -> str:
    """Return what is said of a tree with more than a million nodes."""
    return f"{name} is {shown(tree)}: the tree has more than {MOST_ITEMS:,} nodes, draft fewer"


def as_text(branching: Sequence[int]) -> str:
    """Return a k-configuration as MCSD writes it, such as ``"4x2x1"``."""
    return "x".join(map(str, branching))
