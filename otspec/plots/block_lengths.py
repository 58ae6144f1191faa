"""What rules keep of one drafted block, against its length."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from otspec.blocks.comparison import BlockComparison
from otspec.plots.axes import PER_CALL, Point, as_rows, line_with_bars, name_lines
from otspec.plots.canvas import panel_on
from otspec.plots.looks import look_of_several
from otspec.traces.comparison import OPTIMUM

if TYPE_CHECKING:
    from matplotlib.axes import Axes


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

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    ValueError
        No rows, or something else; or Matplotlib is not installed.
    """
    found = as_rows(rows, BlockComparison)
    found.sort(key=lambda row: row.length)
    optima = {row.length: row.optimum + 1 for row in found}
    points: dict[str, list[Point]] = {
        OPTIMUM: [(length, best, 0.0) for length, best in optima.items()]
    }
    for row in found:
        points.setdefault(row.rule, []).append((row.length, row.efficiency, row.error))
    with panel_on(ax) as panel:
        for rule, line in points.items():
            places = [f"{length:g} drafted tokens" for length, _, _ in line]
            line_with_bars(panel, line, rule, places, **look_of_several(rule))
        panel.set_xticks(list(optima))
        panel.set_xlabel("drafted tokens L")
        panel.set_ylabel(PER_CALL)
        panel.grid(alpha=0.25)
        return name_lines(panel)
