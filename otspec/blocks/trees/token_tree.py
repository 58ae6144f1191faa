"""Trees of drafted tokens, MCSD's k-configurations, and how trees are written."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from otspec._base import IntArray, arguments, as_list, memory, plain_integer, shown
from otspec._base.frozen import Frozen, cached_property
from otspec.distributions import as_k

if TYPE_CHECKING:
    from otspec.blocks.trees.shapes import Shape


def as_branching(branching: str | Sequence[int], name: str = "branching") -> tuple[int, ...]:
    """Return the numbers of a k-configuration such as ``"4x2x1"`` or ``(4, 2, 1)``."""
    if isinstance(branching, str):
        parts = branching.split("x")
        if not all(part.isascii() and part.isdigit() and len(part) < 100 for part in parts):
            raise ValueError(
                f"{name} is {shown(branching)}: write the children by depth, such as 4x2x1"
            )
        branching = [int(part) for part in parts]
    widths = arguments.as_list(branching, name, "the children by depth, such as 4x2x1")
    if len(widths) == 0:
        raise ValueError(f"{name} is empty: name the children of at least one depth")
    return tuple(as_k(width, f"{name}[{depth}]") for depth, width in enumerate(widths))


def check_nodes(widths: Sequence[int], given: Any, name: str) -> None:
    """Refuse a branching whose tree has more than a million nodes, before making anything of it."""
    nodes, leaves = 0, 1
    for width in widths:
        leaves *= width
        nodes += leaves
        if nodes > arguments.MOST_ITEMS:
            raise ValueError(too_large(given, name))


def too_large(tree: Any, name: str) -> str:
    """Return what is said of a tree with more than a million nodes."""
    most = f"{arguments.MOST_ITEMS:,} nodes, draft fewer"
    return f"{name} is {shown(tree)}: the tree has more than {most}"


def as_text(branching: Sequence[int]) -> str:
    """Return a k-configuration as MCSD writes it, such as ``"4x2x1"``."""
    return "x".join(map(str, branching))


MOST_PROMPT = 10**9


@dataclass(frozen=True)
class TokenTree(Frozen):
    """A tree of drafted tokens, squeezed into one sequence: parents come before their children.

    Source: MCSD, sec. 3.3 (tree attention).

    Parameters
    ----------
    parents : tuple of int
        The index of each node's parent; −1 for what follows the prompt directly.

    Raises
    ------
    ValueError
        A parent that does not come before its child.

    Examples
    --------
    >>> tree = TokenTree.of_branching("2x1")
    >>> tree.parents
    (-1, -1, 0, 1)
    >>> tree.attention_mask().astype(int)
    array([[1, 0, 0, 0],
           [0, 1, 0, 0],
           [1, 0, 1, 0],
           [0, 1, 0, 1]])
    """

    parents: tuple[int, ...]

    def __post_init__(self) -> None:
        self._hold(parents=arguments.as_parents(self.parents, "parents"))

    @classmethod
    def of_branching(cls, branching: str | Sequence[int]) -> "TokenTree":
        """Return the tree of ``"4x2x1"`` children by depth, up to a million nodes."""
        widths = as_branching(branching)
        check_nodes(widths, branching, "branching")
        parents: list[int] = []
        level = [-1]
        for width in widths:
            start = len(parents)
            parents += [node for node in level for _ in range(width)]
            level = list(range(start, len(parents)))
        return cls(tuple(parents))

    def __len__(self) -> int:
        return len(self.parents)

    @property
    def depths(self) -> IntArray:
        """Each node's depth, shape (nodes,); 1 for what follows the prompt directly."""
        return np.array(arguments.depths_of(self.parents), dtype=np.intp)

    @property
    def leaves(self) -> tuple[int, ...]:
        """The nodes without children: the last tokens of the candidate sequences."""
        return tuple(sorted(set(range(len(self))) - set(self.parents)))

    def children(self, node: int) -> tuple[int, ...]:
        """Return the children of a node; −1 for the prompt."""
        return self._children[self._node(node) + 1]

    @cached_property
    def _children(self) -> tuple[tuple[int, ...], ...]:
        return arguments.children_of(self.parents)

    def path(self, node: int) -> tuple[int, ...]:
        """Return the nodes from the prompt to a node, itself included."""
        node = self._node(node)
        found: list[int] = []
        while node >= 0:
            found.append(node)
            node = self.parents[node]
        return tuple(reversed(found))

    def _node(self, node: Any) -> int:
        otherwise = f"the tree has {len(self)} nodes"
        return arguments.as_integer(node, "node", -1, len(self) - 1, otherwise=otherwise)

    def attention_mask(self, prompt: int = 0) -> npt.NDArray[np.bool_]:
        """Return which tokens a node sees, prompt and ancestors: bool, (nodes, prompt + nodes)."""
        prompt = _as_prompt(prompt, len(self))
        mask = np.zeros((len(self), prompt + len(self)), dtype=bool)
        mask[:, :prompt] = True
        for node, parent in enumerate(self.parents):
            if parent >= 0:
                mask[node] = mask[parent]
            mask[node, prompt + node] = True
        return mask

    def positions(self, prompt: int = 0) -> IntArray:
        """Return each node's position in its sequence, from 0 on, equal at one depth: (nodes,)."""
        return _as_prompt(prompt) + self.depths - 1


def _as_prompt(prompt: Any, rows: int = 1) -> int:
    wanted = "the number of prompt tokens"
    most = memory() // (2 * max(rows, 1))
    return arguments.as_integer(prompt, "prompt", 0, min(most, MOST_PROMPT), wanted=wanted)


TOP = "top"  # stands before children that are the likeliest tokens of the draft model


def bracketed(shape: "Shape") -> str:
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
