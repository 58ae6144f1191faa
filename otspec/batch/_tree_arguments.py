"""Arguments of the verification of trees: the tree, and arrays that have a place for each node."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from otspec._base.arguments import as_flag
from otspec._base.parents import as_parents, children_of, depths_of
from otspec.batch._arguments import (
    check_mask,
    check_pair,
    check_tokens,
    check_uniforms,
    library_of_all,
)
from otspec.batch._array_api.library import Array, Library, library_of


@dataclass(frozen=True)
class TreeShape:
    """The nodes of a tree.

    Parameters
    ----------
    parents : tuple of int
        Of each node; −1 stands for the text.
    children : tuple of int
        How many the text has, and each node.
    widths : tuple of int
        The most children of a node at each depth, from the text on.
    """

    parents: tuple[int, ...]
    children: tuple[int, ...]
    widths: tuple[int, ...]

    def __len__(self) -> int:
        return len(self.parents)


def as_tree_shape(tree: Any) -> TreeShape:
    """Return a tree, which is given by its parents or has them.

    Raises
    ------
    ValueError
        No tree; or one without nodes.
    """
    parents = as_parents(getattr(tree, "parents", tree), "tree")
    if not parents:
        raise ValueError("tree has no nodes: it must have at least one")
    children = tuple(map(len, children_of(parents)))
    depths = [0, *depths_of(parents)]
    widths = [0] * max(depths)
    for depth, count in zip(depths, children, strict=True):
        if count:
            widths[depth] = max(widths[depth], count)
    return TreeShape(parents, children, tuple(widths))


def check_numbers_of_children(shape: TreeShape, rule: str, only_k: int) -> None:
    """Refuse a tree with other numbers of children than a rule takes."""
    for node, count in enumerate(shape.children, start=-1):
        if count not in (0, only_k):
            where = "the text" if node < 0 else f"node {node}"
            raise ValueError(
                f"tree has {count} children of {where}: {rule} takes exactly {only_k}, or none"
            )


def check_tree_problem(
    tree: TreeShape,
    numbers: tuple[int, ...],
    mask: Array | None,
    checked: bool,
    *arrays: Array,
) -> Library:
    """Check the arguments of the verification of a tree, where drafts are (..., nodes).

    Parameters
    ----------
    tree : TreeShape
    numbers : tuple of int
        The last axes of the uniform numbers.
    mask : array, optional
    checked : bool
        Whether they were before, so that nothing is looked at.
    *arrays
        The draft, the target, the drafts and the uniform numbers.

    Raises
    ------
    ValueError
        As :func:`~otspec.batch._arguments.check_problem`; or places that are not those of the tree.
    """
    draft, target, drafts, uniforms = arrays
    if as_flag(checked, "checked"):
        return library_of(draft)
    library = library_of_all(draft, target, drafts, uniforms, mask)
    check_pair(draft, target)
    nodes = len(tree)
    if draft.ndim < 2 or draft.shape[-2] != nodes + 1:
        raise ValueError(
            f"draft has shape {draft.shape}: it must be (..., {nodes + 1}, V), rows for the text "
            f"and the {nodes} nodes of the tree"
        )
    lead = draft.shape[:-2]
    if drafts.shape != (*lead, nodes):
        raise ValueError(f"drafts has shape {drafts.shape}: it must be {(*lead, nodes)}")
    check_tokens(drafts)
    check_uniforms(uniforms, (*lead, *numbers))
    check_mask(mask, drafts)
    return library
