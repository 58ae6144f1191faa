"""Charts: functions that draw on Matplotlib axes and return them, and pictures of their own."""

from otspec.plots.acceptance import draw_acceptance
from otspec.plots.axes import against_counts, legend_beside, line_with_bars
from otspec.plots.blocks import draw_blocks
from otspec.plots.gap import draw_gaps
from otspec.plots.heat import draw_heat
from otspec.plots.inline import explain, svg
from otspec.plots.looks import label_of, look_of, look_of_several, style_of
from otspec.plots.pictures import (
    acceptance_figure,
    gap_figure,
    heat_figure,
    save_acceptance_chart,
)
from otspec.plots.trees import draw_best_trees, draw_sweep, draw_trees

__all__ = [
    "acceptance_figure",
    "against_counts",
    "draw_acceptance",
    "draw_best_trees",
    "draw_blocks",
    "draw_gaps",
    "draw_heat",
    "draw_sweep",
    "draw_trees",
    "explain",
    "gap_figure",
    "heat_figure",
    "label_of",
    "legend_beside",
    "line_with_bars",
    "look_of",
    "look_of_several",
    "save_acceptance_chart",
    "style_of",
    "svg",
]
