"""Trees of any shape: of each node, how many children it has, and theirs (MCSD, sec. 3.3)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from otspec.arguments import MOST_ITEMS
from otspec.frozen import Frozen
from otspec.models.contract import MOST_DEPTH
from otspec.raw import shown
from otspec.trees.branching import as_branching, as_text
from otspec.trees.token_tree import TokenTree


@dataclass(frozen=True)
class Shape(Frozen):
    """What is drafted after a text: its children, each with what is drafted after it.

    Equal subtrees may be one object, so that a branching takes one for each depth.

    Parameters
    ----------
    children : tuple of Shape
        In the order in which their tokens are drafted; none for a leaf.
    """

    children: tuple[Shape, ...] = ()
    size: int = field(init=False, repr=False, compare=False)
    """How many tokens are drafted."""
    depth: int = field(init=False, repr=False, compare=False)
    """L, the most drafted tokens that can be kept."""
    _hash: int = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        # Here, from the bottom: shapes may be too deep for what goes down into them.
        self._hold(
            size=sum(1 + child.size for child in self.children),
            depth=max((1 + child.depth for child in self.children), default=0),
            _hash=hash(self.children),
        )

    def __hash__(self) -> int:
        return self._hash

    @classmethod
    def of_branching(cls, branching: str | Sequence[int], name: str = "branching") -> Shape:
        """Return the shape with the same number of children at each depth, such as ``"4x2x1"``."""
        widths = as_branching(branching, name)
        nodes, leaves = 0, 1
        for width in widths:
            leaves *= width
            nodes += leaves
            if nodes > MOST_ITEMS:  # before a tuple of so many is made
                raise ValueError(_too_large(branching, name))
        shape = cls()
        for width in reversed(widths):
            shape = cls((shape,) * width)
        return shape

    @classmethod
    def of_tree(cls, tree: TokenTree) -> Shape:
        """Return the shape of a tree, children in the order of their nodes."""
        below: list[list[Shape]] = [[] for _ in range(len(tree) + 1)]
        for node in reversed(range(len(tree))):
            children = tuple(reversed(below[node + 1]))
            below[tree.parents[node] + 1].append(cls(children))
        return cls(tuple(reversed(below[0])))

    @cached_property
    def branching(self) -> tuple[int, ...] | None:
        """The children by depth if those of one depth have equally many, else None."""
        if not self.children:
            return ()
        first, *others = self.children
        if first.branching is None or any(child != first for child in others):
            return None
        return (len(self.children), *first.branching)

    @property
    def text(self) -> str:
        """Its branching such as ``"4x2x1"``; else each node as a pair of brackets around its own.

        ``"[[][]][]"`` has two nodes after the text, the first of them with two children.
        """
        return as_text(self.branching) if self.branching else _brackets(self)

    def tree(self) -> TokenTree:
        """Return the tree, level by level."""
        parents: list[int] = []
        level: list[tuple[int, Shape]] = [(-1, self)]
        while level:
            below = []
            for node, shape in level:
                for child in shape.children:
                    below.append((len(parents), child))
                    parents.append(node)
            level = below
        return TokenTree(tuple(parents))


def _brackets(shape: Shape) -> str:
    return "".join(f"[{_brackets(child)}]" for child in shape.children)


LEAF = Shape()


def together(shapes: Iterable[Shape]) -> Shape:
    """Return what is drafted after a text that several nodes agree with."""
    return Shape(tuple(child for shape in shapes for child in shape.children))


def as_shape(tree: Any, name: str = "tree") -> Shape:
    """Check a tree of drafts and return its shape.

    Parameters
    ----------
    tree : str, sequence of int, TokenTree or Shape
        Children of each node by depth, such as ``"4x2x1"`` or ``(4, 2, 1)``; brackets such as
        ``"[[][]][]"``, see :attr:`Shape.text`; or a tree.
    name : str
        What an error message calls it.

    Raises
    ------
    ValueError
        Something else, no node at all, more than a million nodes, or more than 500 levels.
    """
    if isinstance(tree, TokenTree):
        shape = Shape.of_tree(tree)
    elif isinstance(tree, Shape):
        shape = tree
    elif isinstance(tree, str) and set(tree) & {"[", "]"}:
        shape = _of_brackets(tree, name)
    else:
        shape = Shape.of_branching(tree, name)
    if not shape.children:
        raise ValueError(f"{name} is empty: name the children of at least one depth")
    if shape.size > MOST_ITEMS:
        raise ValueError(_too_large(tree, name))
    if shape.depth > MOST_DEPTH:
        raise ValueError(f"{name} has {shape.depth:,} levels: at most {MOST_DEPTH} can be followed")
    return shape


def _too_large(tree: Any, name: str) -> str:
    return f"{name} is {shown(tree)}: the tree has more than {MOST_ITEMS:,} nodes, draft fewer"


def _of_brackets(text: str, name: str) -> Shape:
    open_nodes: list[list[Shape]] = [[]]
    for letter in text:
        if letter == "[":
            open_nodes.append([])
        elif letter == "]" and len(open_nodes) > 1:
            children = open_nodes.pop()
            open_nodes[-1].append(Shape(tuple(children)))
        else:
            break
    else:
        if len(open_nodes) == 1:
            return Shape(tuple(open_nodes[0]))
    raise ValueError(
        f"{name} is {shown(text)}: write each node as a pair of brackets around its children, such "
        "as [[][]][], or the children by depth, such as 4x2x1"
    )
