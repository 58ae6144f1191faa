"""What rules keep of trees of drafts and of blocks, as charts."""

from collections.abc import Iterable, Sequence
from itertools import accumulate
from statistics import fmean
from typing import Any

from otspec._base import Number
from otspec.blocks import BestTree, BlockComparison, Configuration, TreeComparison
from otspec.plots import axes
from otspec.plots.axes import as_title, look_of_several
from otspec.plots.canvas import Axes, Line2D, panel_on
from otspec.traces.comparison import OPTIMUM


def trees(rows: Iterable[TreeComparison], ax: Axes | None = None) -> Axes:
    """Draw the tokens per call of the target against the drafted tokens of trees.

    Each rule has its mark, that of a rule for whole trees open. Of more than six rules the five
    that are closest to the best one, on average over their trees, are named; the others are gray.
    The gray steps are the most that any rule gets out of so many drafted tokens. Bars are standard
    errors, or the interval where what is kept is an estimate.

    Parameters
    ----------
    rows : iterable of TreeComparison
        As :func:`otspec.blocks.compare_trees` returns them.
    ax : matplotlib.axes.Axes, optional
        By default new ones in the package's style.

    Raises
    ------
    ValueError
        No rows, or something else; or Matplotlib is not installed.
    """
    points: dict[str, list[axes.Point]] = {}
    places: dict[str, list[str]] = {}
    for row in axes.as_rows(rows, TreeComparison):
        points.setdefault(row.rule, []).append((row.nodes, row.efficiency, row.error))
        places.setdefault(row.rule, []).append(f"{row.tree}, {row.nodes} nodes")
    named = _nearest_the_best(points, places)
    with panel_on(ax) as panel:
        every = [(nodes, float(worth)) for line in points.values() for nodes, worth, _ in line]
        most = _draw_most(panel, every)
        marks = {}
        for rule in sorted(points, key=lambda rule: rule in named):  # those with names on top
            look = look_of_several(rule) if rule in named else axes.UNNAMED
            marks[rule] = axes.line_with_bars(
                panel, points[rule], rule, places[rule], **look | {"linestyle": "none"}
            ).containers[-1]
        shown: dict[str, Any] = {"the most of any rule": most} | {it: marks[it] for it in named}
        if others := [rule for rule in points if rule not in named]:
            shown[f"{len(others)} other rules"] = marks[others[0]]
        return axes.legend_beside(
            _against_nodes(panel), handles=list(shown.values()), labels=list(shown)
        )


def _nearest_the_best(
    points: dict[str, list[axes.Point]], places: dict[str, list[str]]
) -> Sequence[str]:
    """Return the rules that have names: all if they are few, else those nearest the best ones."""
    if len(points) <= axes.MOST_NAMES:
        return list(points)
    worth = {
        rule: {place: float(worth) for place, (_, worth, _) in zip(places[rule], line, strict=True)}
        for rule, line in points.items()
    }
    best = {place: max(own.get(place, 0.0) for own in worth.values())
            for own in worth.values() for place in own}  # fmt: skip
    parts = {
        rule: round(fmean(value / best[place] for place, value in own.items()), 9)
        for rule, own in worth.items()
    }
    return sorted(parts, key=lambda rule: -parts[rule])[: axes.MOST_NAMES - 1]


def best_trees(rows: Iterable[BestTree], rule: str, ax: Axes | None = None) -> Axes:
    """Draw the tokens per call of the target against the nodes of the best trees of a rule.

    Draw those of several rules on the same axes, one after the other.

    Parameters
    ----------
    rows : iterable of BestTree
        Such as ``otspec.blocks.best_trees(...).rows[-1]``, the best for each number of nodes.
    rule : str
        Its title, which decides the look.
    ax : matplotlib.axes.Axes, optional
        By default new ones in the package's style.

    Raises
    ------
    ValueError
        No rows, or something else; or Matplotlib is not installed.
    """
    found, title = axes.as_rows(rows, BestTree), as_title(rule)
    found.sort(key=lambda row: row.nodes)
    points: list[axes.Point] = [(row.nodes, row.efficiency, row.error) for row in found]
    places = [f"{row.tree.text}, {row.nodes} nodes" for row in found]
    with panel_on(ax) as panel:
        axes.line_with_bars(panel, points, title, places, **look_of_several(title))
        return axes.name_lines(_against_nodes(panel))


def sweep(rows: Iterable[Configuration], rule: str, ax: Axes | None = None) -> Axes:
    """Draw the tokens per call of the target tree by tree, the widest at the top first.

    Draw those of several rules on the same axes, one after the other.

    Parameters
    ----------
    rows : iterable of Configuration
        As :func:`otspec.blocks.sweep` returns them.
    rule : str
        Its title, which decides the look.
    ax : matplotlib.axes.Axes, optional
        By default new ones in the package's style.

    Raises
    ------
    ValueError
        No rows, or something else; or Matplotlib is not installed.
    """
    found, title = axes.as_rows(rows, Configuration), as_title(rule)
    found.sort(key=lambda row: row.branching, reverse=True)
    points: list[axes.Point] = [(place, row.efficiency, 0.0) for place, row in enumerate(found)]
    names = [row.name for row in found]
    with panel_on(ax) as panel:
        look = look_of_several(title) | {"linestyle": "none"}  # trees have no order
        axes.line_with_bars(panel, points, title, names, **look)
        panel.set_xticks(range(len(names)), names, rotation=45, ha="right", rotation_mode="anchor")
        return axes.name_lines(_labeled(panel, "children by depth"))


def _draw_most(panel: Axes, points: Iterable[tuple[float, Number]]) -> Line2D:
    """Draw the most of all points with as few nodes, as steps."""
    best: dict[float, float] = {}
    for nodes, worth in sorted(points):
        best[nodes] = float(worth)
    most = list(accumulate(best.values(), max))
    (steps,) = panel.step(list(best), most, where="post", color="#999999", linewidth=1.0, zorder=1)
    return steps


def _against_nodes(panel: Axes) -> Axes:
    panel.locator_params(axis="x", integer=True)
    return _labeled(panel, "drafted tokens of the tree")


def _labeled(panel: Axes, label: str) -> Axes:
    panel.set(xlabel=label, ylabel=axes.PER_CALL)
    panel.grid(alpha=0.25)
    return panel


def blocks(rows: Iterable[BlockComparison], ax: Axes | None = None) -> Axes:
    """Draw the tokens per call of the target against the drafted tokens, one line per rule.

    The optimum has the color of the ink, in open circles. Bars are standard errors, where rows are
    means over logged blocks.

    Parameters
    ----------
    rows : iterable of BlockComparison
        As :func:`otspec.blocks.compare_block_rules` returns them.
    ax : matplotlib.axes.Axes, optional
        By default new ones in the package's style.

    Raises
    ------
    ValueError
        No rows, or something else; or Matplotlib is not installed.
    """
    found = axes.as_rows(rows, BlockComparison)
    found.sort(key=lambda row: row.length)
    optima = {row.length: row.optimum + 1 for row in found}
    points: dict[str, list[axes.Point]] = {
        OPTIMUM: [(length, best, 0.0) for length, best in optima.items()]
    }
    for row in found:
        points.setdefault(row.rule, []).append((row.length, row.efficiency, row.error))
    with panel_on(ax) as panel:
        for rule, line in points.items():
            places = [f"{length:g} drafted tokens" for length, _, _ in line]
            axes.line_with_bars(panel, line, rule, places, **look_of_several(rule))
        panel.set_xticks(list(optima))
        return axes.name_lines(_labeled(panel, "drafted tokens L"))
