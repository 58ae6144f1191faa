"""How trees of any shape are written: brackets, numbers by depth, and paths as Medusa has them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from otspec._base.arguments import as_list, plain_integer
from otspec._base.coerce import shown
from otspec.blocks.trees.token_tree import TokenTree

if TYPE_CHECKING:
    from otspec.blocks.trees.shapes import Shape

TOP = "top"
"""Stands before children that are the likeliest tokens of the draft model."""


def bracketed(shape: Shape) -> str:
    """Return each node as a pair of brackets around its children."""
    written = [TOP * shape.top]
    left: list[Shape | None] = list(reversed(shape.children))
    while left:
        node = left.pop()
        if node is None:
            written.append("]")
        else:
            written.append(f"[{TOP * node.top}")
            left += [None, *reversed(node.children)]
    return "".join(written)


def of_brackets(text: str, name: str) -> tuple[TokenTree, list[int]]:
    """Read brackets: the tree, and which nodes have the likeliest children (−1: prompt)."""
    parents: list[int] = []
    top: list[int] = []
    node, place = -1, 0
    while place < len(text):
        if text[place] == "[":
            parents.append(node)
            node = len(parents) - 1
        elif text[place] == "]" and node >= 0:
            node = parents[node]
        elif text.startswith(f"{TOP}[", place) and node == len(parents) - 1:
            top.append(node)
            place += len(TOP) - 1
        else:
            break
        place += 1
    if place < len(text) or node != -1:
        raise ValueError(
            f"{name} is {shown(text)}: write each node as a pair of brackets around its children, "
            "such as [[][]][], or the children by depth, such as 4x2x1"
        )
    return TokenTree(tuple(parents)), top


def of_widths(text: str, name: str) -> tuple[str, list[bool]]:
    """Return numbers by depth without the marks of children that are likeliest, and those marks."""
    parts = text.split("x")
    top = [part.startswith(TOP) for part in parts]
    numbers = [part.removeprefix(TOP) for part in parts]
    if any(mark and not number[:1].isdigit() for mark, number in zip(top, numbers, strict=True)):
        raise ValueError(
            f"{name} is {shown(text)}: write the children by depth, such as top4x2 if the first "
            "four are the likeliest tokens"
        )
    return "x".join(numbers), top


def is_paths(tree: Any) -> bool:
    """Whether something is a sequence of sequences."""
    return type(tree) in (list, tuple) and any(isinstance(each, (list, tuple)) for each in tree)


def of_paths(paths: Sequence[Any], name: str) -> TokenTree:
    """Return the tree of the paths to all nodes, numbers from 0 by depth, as Medusa writes them."""
    wanted = "paths to all nodes, such as [[0], [0, 0], [1]]"
    known: dict[tuple[int, ...], int] = {(): -1}
    parents: list[int] = []
    for path in sorted((_as_path(path, name, wanted) for path in paths), key=_by_level):
        before = (*path[:-1], path[-1] - 1)
        for needed in (path[:-1], before if path[-1] else ()):
            if needed not in known:
                raise ValueError(
                    f"{name} holds the path {list(path)}, but not {list(needed)}: pass {wanted}"
                )
        if path in known:
            raise ValueError(f"{name} holds the path {list(path)} twice: pass {wanted}")
        known[path] = len(parents)
        parents.append(known[path[:-1]])
    return TokenTree(tuple(parents))


def _by_level(path: tuple[int, ...]) -> tuple[int, tuple[int, ...]]:
    return len(path), path


def _as_path(path: Any, name: str, wanted: str) -> tuple[int, ...]:
    numbers = [plain_integer(number) for number in as_list(path, name, wanted)]
    checked = tuple(number for number in numbers if number is not None and number >= 0)
    if not checked or len(checked) != len(numbers):
        raise ValueError(f"{name} holds {shown(path)}, which is no path: pass {wanted}")
    return checked
