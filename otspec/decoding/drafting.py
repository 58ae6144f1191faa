"""Drafting a tree, level by level: one call of the draft model for each (MCSD, sec. 3.3)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, TypeAlias

from otspec.decoding.draws import Draws
from otspec.decoding.reader import Reader
from otspec.distributions import Distribution
from otspec.drafts import DraftLaw
from otspec.frozen import Frozen
from otspec.models.contract import Prefix
from otspec.trees import TokenTree

ChildrenLaw: TypeAlias = Callable[[Distribution, int], DraftLaw]
"""(draft, k) → the law of k children of a node."""


@dataclass(frozen=True, eq=False)
class Children(Frozen):
    """What was drafted after a node."""

    draft: Distribution
    """What it was drafted from."""
    drafts: Prefix
    """In the order of drawing, equal ones as often as they were drawn."""


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


class Shape(Frozen):
    """Which trees are drafted: of each node, how many children it has, and which.

    Parameters
    ----------
    tree : TokenTree
    end : frozenset of int
        Tokens that end a text: nothing is drafted after them.
    """

    def __init__(self, tree: TokenTree, end: frozenset[int] = frozenset()) -> None:
        self._hold(tree=tree, end=end)

    tree: TokenTree
    end: frozenset[int]

    def children(self, nodes: Sequence[int]) -> list[int]:
        """Return the children of some nodes, one node after the other."""
        return [child for node in nodes for child in self._children[node + 1]]

    @cached_property
    def _children(self) -> list[list[int]]:
        found: list[list[int]] = [[] for _ in range(len(self.tree) + 1)]
        for child, parent in enumerate(self.tree.parents):
            found[parent + 1].append(child)
        return found

    @property
    def depth(self) -> int:
        """L, the most drafted tokens that can be kept."""
        return max(self.tree.depths.tolist(), default=0)

    @property
    def widths(self) -> set[int]:
        """How many children nodes have that have any."""
        return {len(children) for children in self._children if children}


def draft_tree(
    reader: Reader, unread: Sequence[int], shape: Shape, law: ChildrenLaw, draws: Draws
) -> Drafting:
    """Draft a tree behind a text.

    Equal i.i.d. children are one node from then on, with the children of all; of other equal ones
    the first goes on.

    Parameters
    ----------
    reader : Reader
        The draft model.
    unread : sequence of int
        What it has not read of the text; one token at least.
    shape : Shape
        Of distinct children no more are drawn than the draft model has tokens, and none behind an
        end token.
    law : callable
    draws : Draws
    """
    tree = _Growing(shape, law, draws)
    root = len(unread) - 1
    places, read = {-1: root}, len(unread)
    level, calls = [-1] if shape.children([-1]) else [], 0
    new, before = list(unread), list(range(-1, root))
    while level:
        reading = reader.read(new, before, len(level))
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

    def __init__(self, shape: Shape, law: ChildrenLaw, draws: Draws) -> None:
        self._shape, self._law, self._draws = shape, law, draws
        self.parents: list[int] = []
        self.tokens: list[int] = []
        self._children: dict[int, Children] = {}
        self._agreeing: dict[int, list[int]] = {-1: [-1]}  # node -> nodes of the shape

    def branch(self, node: int, row: Distribution) -> list[int]:
        """Draft the children of a node; return those that are to have children, too."""
        below = self._shape.children(self._agreeing[node])
        law = self._law(row, len(below))
        drafts = self._draws.drafts(law)
        self._children[node] = Children(row, drafts)
        first = len(self.tokens)
        for token, equal in _together(drafts, below, law.iid).items():
            self._agreeing[len(self.tokens)] = equal
            self.parents.append(node)
            self.tokens.append(token)
        new = range(first, len(self.tokens))
        open_ended = (child for child in new if self.tokens[child] not in self._shape.end)
        return [child for child in open_ended if self._shape.children(self._agreeing[child])]

    def drafted(self) -> Drafted:
        """Return the tree as it is."""
        return Drafted(TokenTree(tuple(self.parents)), tuple(self.tokens), self._children)


def _together(drafts: Prefix, nodes: Sequence[int], iid: bool) -> dict[int, list[int]]:
    """Return the nodes of the shape that go on with each token."""
    found: dict[int, list[int]] = {}
    for token, node in zip(drafts, nodes, strict=False):  # distinct drafts may be fewer
        if iid or token not in found:
            found.setdefault(token, []).append(node)
    return found
