"""A tree of drafts, node by node, with the chances that its tokens are kept."""

from collections.abc import Sequence
from itertools import count
from typing import Any

import numpy as np

from otspec._base import Array, Number, as_list, as_real, children_of, depths_of, shown
from otspec.blocks import BestTree, BestTrees, Shape, as_shape
from otspec.blocks.trees.best.acceptance_rates import Chances
from otspec.plots.canvas import WIDE, Axes, decimals, explain, ink, panel_on

MOST_NODES = 300
_NUMBERED = 40
_KEPT = "#0072B2"


def tree(
    tree: Any, ax: Axes | None = None, *, chances: Chances | Sequence[Number] | None = None
) -> Axes:
    """Draw a tree of drafts, the text at the top, each level below the one that it follows.

    Parameters
    ----------
    tree : str, sequence, Shape, TokenTree, BestTree or BestTrees
        What :func:`otspec.blocks.as_shape` takes, up to 300 nodes, or a tree that was found; of
        :func:`otspec.blocks.best_trees` the best one is drawn, with its chances.
    ax : matplotlib.axes.Axes, optional
    chances : Chances or sequence of number, optional
        How likely each node is kept, level by level: the wider its edge and the larger its mark.
        Chances, such as ``best_trees(...).chances``, give that of drawn drafts after the text;
        their sum over the nodes is E[τ], the kept tokens. Others than the tree has nodes are a
        ``ValueError``.
    """
    if isinstance(tree, BestTrees):
        tree, chances = tree.best, tree.chances if chances is None else chances
    shape = as_shape(tree.tree if isinstance(tree, BestTree) else tree)
    if shape.size > MOST_NODES:
        raise ValueError(
            f"tree has {shape.size:,} nodes: at most {MOST_NODES} can be drawn, draw a smaller one"
        )
    kept = None if chances is None else _chances(shape, chances)
    places, parents = _places(shape), shape.tree().parents
    with panel_on(ax, WIDE) as panel:
        for node, parent in enumerate(parents):
            start, end = places[parent + 1], places[node + 1]
            width = 1.0 if kept is None else 0.6 + 5.0 * float(kept[node])
            panel.plot(*zip(start, end, strict=True), "-", color="#999999", lw=width, zorder=1)
        panel.plot(*places[0], "s", color=ink(), ms=7, zorder=2)
        panel.annotate("text", places[0], xytext=(7, 0), textcoords="offset points", va="center")
        across, down = (list(side) for side in zip(*places[1:], strict=True))
        sizes = 36.0 if kept is None else [12.0 + 110.0 * float(chance) for chance in kept]
        marks = panel.scatter(across, down, s=sizes, color=_KEPT, linewidths=0, zorder=2)
        explain(marks, [_words(node, shape, kept) for node in range(shape.size)])
        if kept is not None and shape.size <= _NUMBERED:
            for at, parent, chance in zip(places[1:], parents, kept, strict=True):
                side = -1 if places[parent + 1][0] > at[0] else 1  # away from the edge above
                panel.annotate(
                    f"{float(chance):.2f}", at, xytext=(7 * side, 0), textcoords="offset points",
                    ha="right" if side < 0 else "left", va="center",
                )  # fmt: skip
        if kept is not None:
            total = decimals(sum(kept[1:], kept[0]))
            panel.set_title(f"kept on average: {total} of {shape.size} tokens")
        panel.margins(0.06, 0.12)
        panel.invert_yaxis()
        panel.set_axis_off()
        return panel


def _words(node: int, shape: Shape, kept: Sequence[Number] | None) -> str:
    level = int(np.searchsorted(np.cumsum(shape.level_sizes), node, side="right")) + 1
    chance = "" if kept is None else f", kept with probability {decimals(kept[node])}"
    return f"node {node + 1} of {shape.size}, level {level}{chance}"


def _places(shape: Shape) -> list[tuple[float, float]]:
    """Return where the text and each node are drawn: leaves side by side, parents above them."""
    parents = shape.tree().parents
    below, across, leaves = children_of(parents), [0.0] * (shape.size + 1), count()

    def place(node: int) -> float:
        ends = [place(child) for child in below[node + 1]] or [float(next(leaves))]
        across[node + 1] = (ends[0] + ends[-1]) / 2
        return across[node + 1]

    place(-1)
    return list(zip(across, map(float, (0, *depths_of(parents))), strict=True))


def _chances(shape: Shape, chances: Any) -> list[Number]:
    """Return how likely each node is kept, level by level."""
    if isinstance(chances, Chances):
        return _kept(shape, chances)
    wanted = "how likely each node is kept, level by level"
    found = as_list(chances, "chances", wanted)
    if len(found) != shape.size:
        raise ValueError(f"chances has {len(found)} numbers for {shape.size} nodes: pass {wanted}")
    return [as_real(chance, f"chances[{i}]", 0, 1) for i, chance in enumerate(found)]


def _kept(shape: Shape, chances: Chances) -> list[Number]:
    if not (shape.drawn and shape.widths <= set(chances.widths)):
        raise ValueError(
            f"chances are of {shown(chances.widths)} drawn children: tree {shape.text} has others"
        )
    kept: list[Number] = []
    level: list[tuple[Shape, Array]] = [(shape, chances.start)]
    while level:
        below: list[tuple[Shape, Array]] = []
        for each, law in level:
            if each.children:
                k = len(each.children)
                kept += (chances.of(k)[0] * law).sum(axis=1).tolist()
                below += zip(each.children, chances.before(k, law[None])[:, 0], strict=True)
        level = below
    return kept
