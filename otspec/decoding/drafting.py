"""Drafting a tree, level by level: one call of the draft model for each (MCSD, sec. 3.3)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

from otspec._base.frozen import Frozen
from otspec.blocks import Shape, TokenTree
from otspec.decoding.reader import Reader, Reads, Request
from otspec.distributions import Distribution
from otspec.models.base import Prefix

DrawChildren: TypeAlias = Callable[[Distribution, int, bool, int], tuple[Prefix, bool]]
"""(draft, k, top, depth) → k children of a node, drawn or the likeliest tokens, and whether equal
ones go on together."""


@dataclass(frozen=True, eq=False)
class Children(Frozen):
    """What was drafted after a node."""

    draft: Distribution
    """What it was drafted from."""
    drafts: Prefix
    """In the order of drawing, equal ones as often as they were drawn."""
    top: bool = False
    """Whether they are the likeliest tokens rather than drawn."""


@dataclass(frozen=True, eq=False)
class Drafted(Frozen):
    """A tree of drafts, in which equal texts are one node."""

    tree: TokenTree
    tokens: Prefix
    """The token of each node."""
    children: dict[int, Children]
    """Of each node that has any; −1 stands for the text."""

    def child(self, node: int, token: int) -> int:
        """Return the child of a node that holds a drafted token."""
        return next(each for each in self.tree.children(node) if self.tokens[each] == token)


class Drafting(NamedTuple):
    """A drafted tree and the draft model that has read it."""

    drafted: Drafted
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
    """Which trees are drafted, and where they end before.

    Parameters
    ----------
    tree : Shape
    end : frozenset of int
        Tokens that end a text: nothing is drafted after them.
    """

    tree: Shape
    end: frozenset[int] = frozenset()


def draft_tree(
    reader: Reader, unread: Sequence[int], shape: EndingShape, draw: DrawChildren
) -> Reads[Drafting]:
    """Draft a tree behind a text, and ask to read each of its levels.

    Equal i.i.d. children are one node from then on, with the children of all; of other equal ones
    the first goes on.

    Parameters
    ----------
    reader : Reader
        The draft model.
    unread : sequence of int
        What it has not read of the text; one token at least.
    shape : EndingShape
        Of distinct children no more are drawn than the draft model has tokens, and none behind an
        end token.
    draw : callable
    """
    tree = _Growing(shape, draw)
    root = len(unread) - 1
    places, read = {-1: root}, len(unread)
    level, calls = [-1] if shape.tree.children else [], 0
    new, before = list(unread), list(range(-1, root))
    while level:
        reading = yield Request(reader, new, before, len(level), drafting=True)
        reader, calls = reading.reader, calls + 1
        pairs = zip(level, reading.rows, strict=True)
        level = [child for node, row in pairs for child in tree.branch(node, row)]
        places |= {node: read + index for index, node in enumerate(level)}
        read += len(level)
        new = [tree.tokens[node] for node in level]
        before = [places[tree.parents[node]] for node in level]
    return Drafting(tree.drafted(), reader, places, calls)


class _Growing:
    """A tree that is being drafted."""

    def __init__(self, shape: EndingShape, draw: DrawChildren) -> None:
        self._draw, self._end = draw, shape.end
        self.parents: list[int] = []
        self.tokens: list[int] = []
        self._children: dict[int, Children] = {}
        self._below = {-1: shape.tree}  # of each node what is to be drafted after it
        self._depths = {-1: -1}

    def branch(self, node: int, row: Distribution) -> list[int]:
        """Draft the children of a node; return those that are to have children, too."""
        shape = self._below[node]
        depth = self._depths[node] + 1
        drafts, together = self._draw(row, len(shape.children), shape.top, depth)
        self._children[node] = Children(row, drafts, shape.top)
        first = len(self.tokens)
        for token, places in _together(drafts, together).items():
            self._depths[len(self.tokens)] = depth
            self._below[len(self.tokens)] = shape.after(places)
            self.parents.append(node)
            self.tokens.append(token)
        new = range(first, len(self.tokens))
        open_ended = (child for child in new if self.tokens[child] not in self._end)
        return [child for child in open_ended if self._below[child].children]

    def drafted(self) -> Drafted:
        """Return the tree as it is."""
        return Drafted(TokenTree(tuple(self.parents)), tuple(self.tokens), self._children)


def _together(drafts: Prefix, equal: bool) -> dict[int, list[int]]:
    """Return the places of the children that go on with each token."""
    found: dict[int, list[int]] = {}
    for place, token in enumerate(drafts):
        if equal or token not in found:
            found.setdefault(token, []).append(place)
    return found
