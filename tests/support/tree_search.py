"""All ordered trees, and what is kept of them, draft by draft: nothing but definitions."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from fractions import Fraction
from functools import cache

import oracles
from drafted_trees import distinct, top

Tree = tuple
"""The children of the root, each a tree."""


@cache
def forests(nodes: int) -> tuple[Tree, ...]:
    """All ordered trees with so many nodes below the root."""
    if nodes == 0:
        return ((),)
    return tuple(
        (first, *others)
        for own in range(nodes)
        for first in forests(own)
        for others in forests(nodes - 1 - own)
    )


def levels(tree: Tree) -> int:
    return max((1 + levels(child) for child in tree), default=0)


def text(tree: Tree) -> str:
    return "".join(f"[{text(child)}]" for child in tree)


def all_trees(nodes: int, depth: int) -> Iterator[Tree]:
    """All ordered trees with at most so many nodes and levels, but the empty one."""
    for size in range(1, nodes + 1):
        yield from (tree for tree in forests(size) if levels(tree) <= depth)


DRAFTS = {"iid": oracles.iid_table, "without-replacement": distinct, "top": top}


def kept_of(
    draft: Callable, target: Callable, rule: type, end: Collection[int] = ()
) -> Callable[[Tree, tuple], Fraction]:
    """E[kept] of a tree after a text: by all tuples of drafts and the rule's kernel.

    Of equal drafts the first goes on, unless it ends the text.
    """

    texts: dict[tuple, tuple] = {}

    def alike(text: tuple) -> tuple:
        """The first text after which both models remember the same."""
        return texts.setdefault((draft.context(text), target.context(text)), text)

    @cache
    def chances(context: tuple, k: int) -> dict[tuple[int, int], Fraction]:
        rows = draft(context), target(context)
        table = DRAFTS[rule.law_class.name](tuple(rows[0]), k)
        made = rule(*rows, len(next(iter(table))))
        found: dict[tuple[int, int], Fraction] = {}
        for x, mass in table.items():
            for y, chance in enumerate(made.kernel(x)):
                if y in x and chance:
                    key = x.index(y), y
                    found[key] = found.get(key, 0) + mass * chance
        return found

    @cache
    def kept(tree: Tree, context: tuple) -> Fraction:
        if not tree:
            return Fraction(0)
        return sum(
            (
                chance * (1 + kept(() if y in end else tree[i], alike((*context, y))))
                for (i, y), chance in chances(context, len(tree)).items()
            ),
            start=Fraction(0),
        )

    return kept
