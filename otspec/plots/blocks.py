"""Charts of what rules keep of one drafted block, against its length."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from otspec.blocks.comparison import BlockComparison
from otspec.plots.axes import Point, legend_beside, line_with_bars
from otspec.plots.looks import look_of_several
from otspec.traces.comparison import OPTIMUM

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def draw_blocks(axes: Axes, rows: Iterable[BlockComparison]) -> Axes:
    """Draw the tokens per call of the target against the drafted tokens, one line per rule.

    The optimum is black, in open circles. Bars are standard errors, where rows are means over
    logged blocks.

    Parameters
    ----------
    axes : matplotlib.axes.Axes
    rows : iterable of BlockComparison
    """
    found = sorted(rows, key=lambda row: row.length)
    optima = {row.length: row.optimum + 1 for row in found}
    points: dict[str, list[Point]] = {
        OPTIMUM: [(length, best, 0.0) for length, best in optima.items()]
    }
    for row in found:
        points.setdefault(row.rule, []).append((row.length, row.efficiency, row.error))
    for rule, line in points.items():
        line_with_bars(axes, line, label=rule, **look_of_several(rule))
    axes.set_xticks(list(optima))
    axes.set_xlabel("drafted tokens L")
    axes.set_ylabel("tokens per call of the target")
    axes.grid(alpha=0.25)
    return legend_beside(axes)
