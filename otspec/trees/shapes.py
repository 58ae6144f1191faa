"""Trees of any shape: of each node, how many children it has, and theirs (MCSD, sec. 3.3)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from otspec.arguments import MOST_ITEMS, as_instance, as_list
from otspec.frozen import Frozen
from otspec.models.contract import MOST_DEPTH
from otspec.raw import shown
from otspec.trees.branching import as_branching, as_text
from otspec.trees.token_tree import TokenTree


@dataclass(frozen=True, repr=False)
class Shape(Frozen):
    """What is drafted after a text: its children, each with what is drafted after it.

    Equal subtrees are one object where a shape is made by a function here, so that a branching
    takes one for each depth.

    Parameters
    ----------
    children : tuple of Shape
        In the order in which their tokens are drafted; none for a leaf.
    """

    children: tuple[Shape, ...] = ()
    size: int = field(init=False, compare=False)
    """How many tokens are drafted."""
    depth: int = field(init=False, compare=False)
    """L, the most drafted tokens that can be kept."""
    even: bool = field(init=False, compare=False)
    """Whether all siblings, here and below, have equally many children: it is a branching."""
    widths: frozenset[int] = field(init=False, compare=False)
    """How many children nodes have that have any."""
    _hash: int = field(init=False, compare=False)

    def __post_init__(self) -> None:
        # Here, from the bottom: shapes may be too deep for what goes down into them.
        given = as_list(self.children, "children", "a sequence of shapes")
        children = tuple(
            as_instance(child, f"children[{i}]", Shape, "a Shape") for i, child in enumerate(given)
        )
        first, *others = children or (self,)
        self._hold(
            children=children,
            size=sum(1 + child.size for child in children),
            depth=max((1 + child.depth for child in children), default=0),
            even=not children or (first.even and all(child == first for child in others)),
            widths=frozenset({len(children)} - {0}).union(
                *(child.widths for child in set(children))
            ),
            _hash=hash(children),
        )

    def __hash__(self) -> int:
        return self._hash

    def __repr__(self) -> str:
        return f"as_shape({self.text!r})" if self.children else "Shape()"

    def __reduce__(self) -> tuple[Any, ...]:
        return Shape.of_tree, (self.tree(),)

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
        shape = LEAF
        for width in reversed(widths):
            shape = cls((shape,) * width)
        return shape

    @classmethod
    def of_tree(cls, tree: TokenTree) -> Shape:
        """Return the shape of a tree, children in the order of their nodes."""
        below: list[list[Shape]] = [[] for _ in range(len(tree) + 1)]
        known: dict[tuple[Shape, ...], Shape] = {(): LEAF}
        for node in reversed(range(-1, len(tree))):
            children = tuple(reversed(below[node + 1]))
            shape = known.get(children) or known.setdefault(children, cls(children))
            if node >= 0:
                below[tree.parents[node] + 1].append(shape)
        return shape

    @property
    def branching(self) -> tuple[int, ...] | None:
        """The children by depth if those of one depth have equally many, else None."""
        if not self.even:
            return None
        widths = []
        shape = self
        while shape.children:
            widths.append(len(shape.children))
            shape = shape.children[0]
        return tuple(widths)

    @property
    def text(self) -> str:
        """Its branching such as ``"4x2x1"``; else each node as a pair of brackets around its own.

        ``"[[][]][]"`` has two nodes after the text, the first of them with two children.
        """
        branching = self.branching
        if branching is not None:
            return as_text(branching)
        letters = []
        left: list[Shape | None] = list(reversed(self.children))
        while left:
            shape = left.pop()
            if shape is None:
                letters.append("]")
            else:
                letters.append("[")
                left += [None, *reversed(shape.children)]
        return "".join(letters)

    def after(self, places: Sequence[int]) -> Shape:
        """Return what is drafted after the token that all children at some places equal."""
        return together(self.children[place] for place in places)

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


LEAF = Shape()
"""Nothing is drafted any more."""


LEAF = Shape()


def together(shapes: Iterable[Shape]) -> Shape:
    """Return what is drafted after a text that several nodes agree with."""
    children = tuple(child for shape in shapes for child in shape.children)
    return Shape(children) if children else LEAF


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
    """Read brackets, each pair of which is a node."""
    parents: list[int] = []
    node = -1
    for letter in text:
        if letter == "[":
            parents.append(node)
            node = len(parents) - 1
        elif letter == "]" and node >= 0:
            node = parents[node]
        else:
            node = len(text)  # none of the nodes
            break
    if node == -1:
        return Shape.of_tree(TokenTree(tuple(parents)))
    raise ValueError(
        f"{name} is {shown(text)}: write each node as a pair of brackets around its children, such "
        "as [[][]][], or the children by depth, such as 4x2x1"
    )
