"""Trees of any shape: of each node, how many children it has, and theirs (MCSD, sec. 3.3)."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import zip_longest
from typing import Any

from otspec._base import MOST_ITEMS, Frozen, as_flag, as_instance, as_list
from otspec.blocks.trees import token_tree
from otspec.blocks.trees.token_tree import TOP, TokenTree
from otspec.models.base import MOST_DEPTH


def _checked(shapes: Any, name: str) -> "tuple[Shape, ...]":
    given = enumerate(as_list(shapes, name, "a sequence of shapes"))
    return tuple(as_instance(each, f"{name}[{i}]", Shape, "a Shape") for i, each in given)


@dataclass(frozen=True, repr=False, eq=False)
class Shape(Frozen):
    """What is drafted after a text: its children, each with what is drafted after it.

    Equal subtrees are one object where a function here makes the shape.

    Parameters
    ----------
    children : tuple of Shape
        In the order in which their tokens are drafted; none for a leaf.
    top : bool
        Whether the children are not drawn but the likeliest tokens of the draft, likeliest first.
    """

    children: "tuple[Shape, ...]" = ()
    top: bool = False
    size: int = field(init=False)
    """How many tokens are drafted."""
    depth: int = field(init=False)
    """L, the most drafted tokens that can be kept."""
    drawn: bool = field(init=False)
    """Whether all children, here and below, are drawn."""
    even: bool = field(init=False)
    """Whether siblings are alike, here and below."""
    widths: frozenset[int] = field(init=False)
    """How many children nodes have whose children are drawn."""
    _hash: int = field(init=False)

    def __post_init__(self) -> None:
        # Here, from the bottom: shapes may be too deep for what goes down into them.
        children = _checked(self.children, "children")
        top = as_flag(self.top, "top") and bool(children)
        different = set(children)
        first = next(iter(children), self)
        own = set() if top or not children else {len(children)}
        self._hold(
            children=children,
            top=top,
            size=sum(1 + child.size for child in children),
            depth=max((1 + child.depth for child in different), default=0),
            drawn=not top and all(child.drawn for child in different),
            even=not children or (len(different) == 1 and first.even),
            widths=frozenset(own).union(*(child.widths for child in different)),
            _hash=hash((children, top)),
        )

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Shape):
            return NotImplemented
        seen = set()
        left = [(self, other)]
        while left:
            one, two = left.pop()
            if one is two or (id(one), id(two)) in seen:
                continue
            if (one._hash, one.top, len(one.children)) != (two._hash, two.top, len(two.children)):
                return False
            seen.add((id(one), id(two)))
            left += zip(one.children, two.children, strict=True)
        return True

    def __hash__(self) -> int:
        return self._hash

    def __repr__(self) -> str:
        return f"as_shape({self.text!r})" if self.children else "Shape()"

    def __reduce__(self) -> tuple[Any, ...]:
        return (_of_text, (self.text, "tree")) if self.children else (Shape, ())

    @classmethod
    def of_branching(
        cls, branching: str | Sequence[int], name: str = "branching", top: Sequence[bool] = ()
    ) -> "Shape":
        """Return the shape of ``"4x2x1"`` children by depth, likeliest tokens where ``top``."""
        widths = token_tree.as_branching(branching, name)
        token_tree.check_nodes(widths, branching, name)
        shape = LEAF
        certain = top or [False] * len(widths)
        for width, likeliest in zip(reversed(widths), reversed(certain), strict=True):
            shape = cls((shape,) * width, likeliest)
        return shape

    @classmethod
    def of_tree(cls, tree: TokenTree, top: Iterable[int] = ()) -> "Shape":
        """Return the shape of a tree, children in the order of their nodes.

        Parameters
        ----------
        tree : TokenTree
        top : iterable of int
            The nodes whose children are the likeliest tokens; −1 for the prompt.
        """
        certain = set(top)
        below: list[list[Shape]] = [[] for _ in range(len(tree) + 1)]
        known: dict[tuple[tuple[Shape, ...], bool], Shape] = {((), False): LEAF}
        for node in range(len(tree) - 1, -2, -1):
            made = tuple(reversed(below[node + 1])), node in certain
            if made not in known:
                known[made] = cls(*made)
            shape = known[made]
            if node >= 0:
                below[tree.parents[node] + 1].append(shape)
        return shape

    @property
    def branching(self) -> tuple[int, ...] | None:
        """The children by depth if all are drawn and those of one depth have equally many."""
        return tuple(width for width, _ in self._levels()) if self.even and self.drawn else None

    @property
    def chain(self) -> bool:
        """Whether it is one path, of drawn tokens."""
        return self.size == self.depth and self.drawn

    @property
    def text(self) -> str:
        """Its branching such as ``"4x2x1"``; else each node as a pair of brackets around its own.

        ``"[[][]][]"`` has two nodes after the text, the first of them with two children. ``top``
        stands before children that are the likeliest tokens: ``"top4x2"``, ``"top[][[]]"``.
        """
        if self.even:
            return "x".join(f"{TOP * top}{width}" for width, top in self._levels())
        return token_tree.bracketed(self)

    def _levels(self) -> list[tuple[int, bool]]:
        """Return the children by depth, and whether they are certain, following the first ones."""
        levels = []
        shape = self
        while shape.children:
            levels.append((len(shape.children), shape.top))
            shape = shape.children[0]
        return levels

    @property
    def level_sizes(self) -> list[int]:
        """How many tokens each level has."""
        sizes, level = [], [self]
        while level := [child for shape in level for child in shape.children]:
            sizes.append(len(level))
        return sizes

    def after(self, places: Sequence[int]) -> "Shape":
        """Return what is drafted after the token that all children at some places equal."""
        if self.even:
            return _alike(self.children[0], len(places))
        return _together([self.children[place] for place in places])

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


LEAF = Shape()  # nothing is drafted any more


def together(shapes: Iterable[Shape]) -> Shape:
    """Return what is drafted after a text that several nodes agree with.

    Drawn children are those of all of them, one node after the other. The likeliest tokens are the
    same for all nodes: each is drafted once, and what follows it is what follows it anywhere. Nodes
    that have drawn children do not go on together with others that have certain ones: those go
    on that are like the first that has any.

    Raises
    ------
    ValueError
        Something else than shapes.
    """
    return _together(_checked(shapes, "shapes"))


def _together(shapes: Iterable[Shape]) -> Shape:
    going = [shape for shape in shapes if shape.children]
    if not going:
        return LEAF
    top = going[0].top
    alike = [shape for shape in going if shape.top == top]
    if len(alike) == 1:
        return going[0]
    if not top:
        return Shape(tuple(child for shape in alike for child in shape.children))
    children = []
    for rank in zip_longest(*(shape.children for shape in alike), fillvalue=LEAF):
        children.append(_together(rank))  # noqa: PERF401 -- a frame less, of as many as levels
    return Shape(tuple(children), top=True)


@lru_cache(maxsize=1024)
def _alike(shape: Shape, count: int) -> Shape:
    """Return what is drafted after a text that so many nodes alike agree with."""
    return _together([shape] * count)


def as_shape(tree: Any, name: str = "tree") -> Shape:
    """Check a tree of drafts and return its shape.

    Parameters
    ----------
    tree : str, sequence, TokenTree or Shape
        Children of each node by depth, such as ``"4x2x1"`` or ``(4, 2, 1)``; brackets such as
        ``"[[][]][]"``, see :attr:`Shape.text`; paths to all nodes as Medusa writes them, such as
        ``[[0], [0, 0], [1]]``; or a tree.
    name : str
        What an error message calls it.

    Raises
    ------
    ValueError
        Something else, no node, more than a million nodes or 500 levels.
    """
    if isinstance(tree, TokenTree):
        shape = Shape.of_tree(tree)
    elif isinstance(tree, Shape):
        shape = tree
    elif isinstance(tree, str):
        shape = _of_text(tree, name)
    elif token_tree.is_paths(tree):
        shape = Shape.of_tree(token_tree.of_paths(tree, name))
    else:
        shape = Shape.of_branching(tree, name)
    if not shape.children:
        raise ValueError(f"{name} is empty: name the children of at least one depth")
    if shape.size > MOST_ITEMS:
        raise ValueError(token_tree.too_large(tree, name))
    if shape.depth > MOST_DEPTH:
        raise ValueError(f"{name} has {shape.depth:,} levels: at most {MOST_DEPTH} can be followed")
    return shape


def _of_text(text: str, name: str) -> Shape:
    """Read what :attr:`Shape.text` says."""
    if set(text) & {"[", "]"}:
        return Shape.of_tree(*token_tree.of_brackets(text, name))
    widths, top = token_tree.of_widths(text, name)
    return Shape.of_branching(widths, name, top)
