"""Charts of how far the rules are from the optimum, position by position."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from otspec.plots.looks import label_of, look_of
from otspec.traces.statistics import Statistic

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def draw_gaps(axes: Axes, rows: Iterable[Statistic]) -> Axes:
    """Draw the distribution of the gap over the positions, for each rule and k.

    A thin line from the 5% to the 95% quantile, a thick one from 25% to 75%, a mark at the median.

    Parameters
    ----------
    axes : matplotlib.axes.Axes
    rows : iterable of Statistic
        Of one temperature.
    """
    lines = sorted(rows, key=lambda row: (row.drafts, row.rule, row.k))
    for place, row in enumerate(lines):
        look = look_of(row.rule, row.drafts)
        colour, at = look["color"], row.gap_quantiles
        axes.plot([at[0.05], at[0.95]], [place, place], color=colour, linewidth=1.2)
        axes.plot([at[0.25], at[0.75]], [place, place], color=colour, linewidth=5.0, alpha=0.6)
        axes.plot([at[0.5]], [place], color="#000000", marker="|", markersize=10)
    names = [f"{label_of(row.rule, row.drafts)}, k = {row.k}" for row in lines]
    axes.set_yticks(range(len(lines)), names, fontsize=8)
    axes.invert_yaxis()
    axes.set_xlim(left=0)
    axes.set_xlabel("gap to the optimum at a position")
    axes.grid(alpha=0.25, axis="x")
    return axes
