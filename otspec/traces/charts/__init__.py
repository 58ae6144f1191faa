"""Charts: functions that draw on Matplotlib axes and return them, and pictures of their own."""

from otspec.traces.charts.acceptance import draw_acceptance
from otspec.traces.charts.axes import against_counts, legend_beside, line_with_bars
from otspec.traces.charts.blocks import draw_blocks
from otspec.traces.charts.gap import draw_gaps
from otspec.traces.charts.heat import draw_heat
from otspec.traces.charts.looks import label_of, look_of, look_of_several, style_of
from otspec.traces.charts.pictures import (
    acceptance_figure,
    gap_figure,
    heat_figure,
    save_acceptance_chart,
)
from otspec.traces.charts.trees import draw_best_trees, draw_sweep, draw_trees

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
    "gap_figure",
    "heat_figure",
    "label_of",
    "legend_beside",
    "line_with_bars",
    "look_of",
    "look_of_several",
    "save_acceptance_chart",
    "style_of",
]
