"""Charts of what rules keep of trees of drafts, against their nodes or tree by tree."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import accumulate
from typing import TYPE_CHECKING

from otspec.arithmetic import Number
from otspec.plots.axes import Point, legend_beside, line_with_bars
from otspec.plots.looks import look_of_several
from otspec.trees import BestTree, Configuration, TreeComparison

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_PER_CALL = "tokens per call of the target"


def draw_trees(axes: Axes, rows: Iterable[TreeComparison]) -> Axes:
    """Draw the tokens per call of the target against the drafted tokens of trees.

    Each rule has its mark, that of a rule for whole trees open. The grey steps are the most that
    any rule gets out of so many drafted tokens. Bars are standard errors, or the interval where
    what is kept is an estimate.

    Parameters
    ----------
    axes : matplotlib.axes.Axes
    rows : iterable of TreeComparison
    """
    points: dict[str, list[Point]] = {}
    for row in rows:
        points.setdefault(row.rule, []).append((row.nodes, row.efficiency, row.error))
    _draw_most(axes, [(nodes, worth) for line in points.values() for nodes, worth, _ in line])
    for rule, marks in points.items():
        look = look_of_several(rule) | {"linestyle": "none"}
        line_with_bars(axes, marks, label=rule, **look)
    return legend_beside(_against_nodes(axes))


def draw_best_trees(axes: Axes, trees: Iterable[BestTree], rule: str) -> Axes:
    """Draw the tokens per call of the target against the nodes of the best trees of a rule.

    Draw those of several rules on the same axes, one after the other.

    Parameters
    ----------
    axes : matplotlib.axes.Axes
    trees : iterable of BestTree
        Such as ``best_trees(...).rows[-1]``, the best for each number of nodes.
    rule : str
        Its title, which decides the look.
    """
    marks = sorted((tree.nodes, tree.efficiency, tree.error) for tree in trees)
    line_with_bars(axes, marks, label=rule, **look_of_several(rule))
    return legend_beside(_against_nodes(axes))


def draw_sweep(axes: Axes, rows: Iterable[Configuration], rule: str) -> Axes:
    """Draw the tokens per call of the target tree by tree, the widest at the top first.

    Draw those of several rules on the same axes, one after the other.

    Parameters
    ----------
    axes : matplotlib.axes.Axes
    rows : iterable of Configuration
        As :func:`otspec.trees.sweep` returns them.
    rule : str
        Its title, which decides the look.
    """
    found = sorted(rows, key=lambda row: row.branching, reverse=True)
    marks = [(place, row.efficiency, 0.0) for place, row in enumerate(found)]
    line_with_bars(axes, marks, label=rule, **look_of_several(rule))
    names = [row.name for row in found]
    axes.set_xticks(range(len(names)), names, rotation=45, ha="right", rotation_mode="anchor")
    axes.set_xlabel("children by depth")
    axes.set_ylabel(_PER_CALL)
    axes.grid(alpha=0.25)
    return legend_beside(axes)


def _draw_most(axes: Axes, points: Iterable[tuple[float, Number]]) -> None:
    """Draw the most of all points with as few nodes, as steps."""
    best: dict[float, float] = {}
    for nodes, worth in sorted(points):
        best[nodes] = float(worth)
    most = list(accumulate(best.values(), max))
    axes.step(list(best), most, where="post", color="#999999", linewidth=1.0, zorder=1)


def _against_nodes(axes: Axes) -> Axes:
    axes.set_xlabel("drafted tokens of the tree")
    axes.set_ylabel(_PER_CALL)
    axes.grid(alpha=0.25)
    return axes
