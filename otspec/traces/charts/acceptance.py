"""Charts of acceptance against the number of drafts."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from otspec.drafts import IID, LAWS
from otspec.traces.charts.axes import against_counts, legend_beside
from otspec.traces.charts.looks import label_of, look_of
from otspec.traces.comparison import OPTIMUM, Row
from otspec.traces.summary import attains

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Lines = dict[tuple[str, str], dict[int, float]]
"""(rule, drafts) -> k -> acceptance."""


def draw_acceptance(axes: Axes, rows: Iterable[Row]) -> Axes:
    """Draw acceptance against k, one line per rule, with a legend.

    The optimum is black. Between that for i.i.d. drafts and the best of the rules that do not
    attain it is shaded what they leave. Each draft law has its line style; what can coincide with
    another line has an open marker, and what does coincide with the optimum is broad behind it.

    Parameters
    ----------
    axes : matplotlib.axes.Axes
    rows : iterable of Row
    """
    lines = _lines(rows)
    _shade_gap(axes, lines)
    for (rule, drafts), line in lines.items():
        axes.plot(
            list(line),
            list(line.values()),
            linestyle=LAWS[drafts].line_style,
            label=label_of(rule, drafts),
            **look_of(rule, drafts),
        )
    against_counts(axes, sorted({k for line in lines.values() for k in line}))
    axes.set_ylabel("probability that a draft is accepted")
    axes.grid(alpha=0.25)
    return legend_beside(axes)


def _shade_gap(axes: Axes, lines: Lines) -> None:
    """Shade between the optimum for i.i.d. drafts and the best of what is below it."""
    top = lines.get((OPTIMUM, IID.name))
    if top is None:
        return
    rules = [line for (rule, law), line in lines.items() if law == IID.name and rule != OPTIMUM]
    below = [line for line in rules if not all(attains(line[k], top[k]) for k in line)]
    if not below:
        return
    best = [max((line[k] for line in below if k in line), default=top[k]) for k in top]
    axes.fill_between(
        list(top),
        best,
        list(top.values()),
        color="#F0E442",
        alpha=0.45,
        linewidth=0,
        label=f"what the other {IID.words} rules leave",
    )


def _lines(rows: Iterable[Row]) -> Lines:
    """Group rows into lines: (rule, drafts) -> k -> acceptance, k ascending."""
    lines: Lines = {}
    for row in sorted(rows, key=lambda row: row.k):
        lines.setdefault((row.rule, row.drafts), {})[row.k] = float(row.acceptance)
    return lines
