"""Trees as the parents of their nodes: what is checked of them, and who the children are."""

from typing import Any

from otspec._base.arguments import as_list, plain_integer
from otspec._base.coerce import shown


def as_parents(values: Any, name: str) -> tuple[int, ...]:
    """Return the parent of each node, −1 for what follows the prompt directly."""
    given = as_list(values, name, "a sequence of nodes")
    parents = [plain_integer(parent) for parent in given]
    found = []
    for node, parent in enumerate(parents):
        if parent is None:
            raise ValueError(f"{name}[{node}] is {shown(given[node])}: it must be an integer")
        if not -1 <= parent < node:
            raise ValueError(
                f"{name}[{node}] is {parent}: a parent comes before its child, and -1 stands "
                "for the prompt"
            )
        found.append(parent)
    return tuple(found)


def depths_of(parents: tuple[int, ...]) -> list[int]:
    """Return each node's depth; 1 for what follows the prompt directly."""
    depths: list[int] = []
    for parent in parents:
        depths.append(1 if parent < 0 else depths[parent] + 1)
    return depths


def children_of(parents: tuple[int, ...]) -> tuple[tuple[int, ...], ...]:
    """Return the children of the prompt, and of each node."""
    found: list[list[int]] = [[] for _ in range(len(parents) + 1)]
    for child, parent in enumerate(parents):
        found[parent + 1].append(child)
    return tuple(map(tuple, found))
