"""Charts of acceptance against the number of drafts."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from otspec.plots.axes import against_counts, legend_beside
from otspec.plots.looks import label_of, look_of, style_of
from otspec.traces.comparison import OPTIMUM, Row
from otspec.traces.summary import attains

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Lines = dict[tuple[str, str], dict[int, float]]
"""(rule, drafts) -> k -> acceptance."""


def draw_acceptance(axes: Axes, rows: Iterable[Row]) -> Axes:
    """Draw acceptance against k, one line per rule, with a legend.

    The optimum is black. Between that of the best draft law and the best of the rules that do not
    attain the optimum of their drafts is shaded what they leave. Each draft law has its line style;
    what can coincide with another line has an open marker, and what does coincide with the optimum
    is broad behind it.

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
            linestyle=style_of(drafts),
            label=label_of(rule, drafts),
            **look_of(rule, drafts),
        )
    against_counts(axes, _counts(lines))
    axes.set_ylabel("probability that a draft is accepted")
    axes.grid(alpha=0.25)
    return legend_beside(axes)


def _shade_gap(axes: Axes, lines: Lines) -> None:
    """Shade between the optimum of the best draft law and the best rule that attains none."""
    optima = {law: line for (rule, law), line in lines.items() if rule == OPTIMUM}
    below = [
        line for (_, law), line in lines.items()
        if law in optima and not all(attains(line[k], optima[law][k]) for k in line)
    ]  # fmt: skip
    if not below:
        return
    top = {k: max(line.get(k, 0.0) for line in optima.values()) for k in _counts(lines)}
    best = [max((line[k] for line in below if k in line), default=most) for k, most in top.items()]
    axes.fill_between(
        list(top),
        best,
        list(top.values()),
        color="#F0E442",
        alpha=0.45,
        linewidth=0,
        label="what the other rules leave",
    )


def _counts(lines: Lines) -> list[int]:
    """Return the numbers of drafts, ascending."""
    return sorted({k for line in lines.values() for k in line})


def _lines(rows: Iterable[Row]) -> Lines:
    """Group rows into lines: (rule, drafts) -> k -> acceptance, k ascending."""
    lines: Lines = {}
    for row in sorted(rows, key=lambda row: row.k):
        lines.setdefault((row.rule, row.drafts), {})[row.k] = float(row.acceptance)
    return lines
