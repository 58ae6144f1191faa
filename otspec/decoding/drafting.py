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


class Shape(Frozen):
    """Which trees are drafted: of each node, how many children it has, and which.

    Parameters
    ----------
    tree : TokenTree
    """

    def __init__(self, tree: TokenTree) -> None:
        self._hold(tree=tree)

    tree: TokenTree

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
        Of distinct children no more are drawn than the draft model has tokens.
    law : callable
    draws : Draws
    """
    parents: list[int] = []
    tokens: list[int] = []
    children: dict[int, Children] = {}
    agreeing: dict[int, list[int]] = {-1: [-1]}  # node -> nodes of the shape
    root = len(unread) - 1
    places, read = {-1: root}, len(unread)
    level, calls = [-1] if shape.children([-1]) else [], 0
    new, before = list(unread), list(range(-1, root))
    while level:
        reading = reader.read(new, before, len(level))
        reader, calls = reading.reader, calls + 1
        deeper: list[int] = []
        for node, row in zip(level, reading.rows, strict=True):
            below = shape.children(agreeing[node])
            chosen = law(row, len(below))
            drafts = draws.drafts(chosen)
            children[node] = Children(row, drafts)
            for token, equal in _together(drafts, below, chosen.iid).items():
                agreeing[len(tokens)] = equal
                if shape.children(equal):
                    deeper.append(len(tokens))
                parents.append(node)
                tokens.append(token)
        places |= {node: read + index for index, node in enumerate(deeper)}
        read += len(deeper)
        new, before = [tokens[node] for node in deeper], [places[parents[node]] for node in deeper]
        level = deeper
    drafted = Drafted(TokenTree(tuple(parents)), tuple(tokens), children)
    return Drafting(drafted, reader, places, calls)


def _together(drafts: Prefix, nodes: Sequence[int], iid: bool) -> dict[int, list[int]]:
    """Return the nodes of the shape that go on with each token."""
    found: dict[int, list[int]] = {}
    for token, node in zip(drafts, nodes, strict=False):  # distinct drafts may be fewer
        if iid or token not in found:
            found.setdefault(token, []).append(node)
    return found
