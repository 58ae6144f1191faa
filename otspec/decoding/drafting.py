"""Drafting a tree, level by level: one call of the draft model for each (MCSD, sec. 3.3)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from otspec._base.frozen import Frozen
from otspec.blocks import Shape
from otspec.blocks.drafted_tree import ROOT
from otspec.blocks.trees.verifiers.growing import Growing
from otspec.decoding.reader import Reader, Reads, Request
from otspec.distributions import Distribution
from otspec.models.base import Prefix

DrawChildren: TypeAlias = Callable[[Distribution, int, bool, int], tuple[Prefix, bool]]
"""(draft, k, top, depth) → k children of a node, drawn or the likeliest tokens, and whether equal
ones go on together."""


@dataclass(frozen=True, eq=False)
class Drafting(Frozen):
    """A drafted tree and the draft model that has read it."""

    drafted: dict[str, Any]
    """The fields of the drafted tree, but the distributions after its nodes."""
    rows: dict[int, Distribution]
    """What the children of each node were drafted from."""
    reader: Reader
    """Has read the text and the nodes that have children."""
    places: dict[int, int]
    """The number of each node that was read, among all that was read behind the text."""
    calls: int
    """How often the draft model was called."""

    def kept(self, path: Sequence[int]) -> Reader:
        """Return the draft model with the text, and what it has read of a path through the tree."""
        if not self.calls:
            return self.reader
        read = [self.places[node] for node in path if node in self.places]
        return self.reader.keep([*range(self.places[-1] + 1), *read])


@dataclass(frozen=True, eq=False)
class EndingShape(Frozen):
    """Which trees are drafted, and where they end before."""

    tree: Shape
    end: frozenset[int] = frozenset()  # tokens that end a text: nothing is drafted after them


def draft_tree(
    reader: Reader, unread: Sequence[int], shape: EndingShape, draw: DrawChildren
) -> Reads[Drafting]:
    """Draft a tree behind a text, and ask to read each of its levels.

    Equal i.i.d. children are one node from then on, with the children of all; of other equal ones
    the first goes on.

    ``reader``: the draft model. ``unread``: what it has not read of the text; one token at least.
    ``shape``: of distinct children no more are drawn than the draft model has tokens, and none
    behind an end token.
    """
    growing = Growing(shape.tree, lambda text: bool(text) and text[-1] in shape.end)
    root = len(unread) - 1
    places, read, rows = {ROOT: root}, len(unread), dict[int, Distribution]()
    level, calls = growing.level, 0
    new, before = list(unread), list(range(-1, root))
    while level:
        reading = yield Request(reader, new, before, len(level), drafting=True)
        reader, calls = reading.reader, calls + 1
        longer: list[int] = []
        for node, row in zip(level, reading.rows, strict=True):
            rows[node], below = row, growing.shapes[node]
            drafts, together = draw(row, len(below.children), below.top, len(growing.texts[node]))
            longer += growing.branch(node, drafts, together)[0]
        level = longer
        places |= {node: read + index for index, node in enumerate(level)}
        read += len(level)
        new = [growing.tokens[node] for node in level]
        before = [places[growing.parents[node]] for node in level]
    return Drafting(growing.fields(), rows, reader, places, calls)
