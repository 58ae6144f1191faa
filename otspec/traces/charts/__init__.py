"""Charts: functions that draw on Matplotlib axes and return them, and pictures of their own."""

from otspec.traces.charts.acceptance import draw_acceptance
from otspec.traces.charts.axes import against_counts, legend_beside
from otspec.traces.charts.gap import draw_gaps
from otspec.traces.charts.heat import draw_heat
from otspec.traces.charts.looks import label_of, look_of
from otspec.traces.charts.pictures import (
    acceptance_figure,
    gap_figure,
    heat_figure,
    save_acceptance_chart,
)

__all__ = [
    "acceptance_figure",
    "against_counts",
    "draw_acceptance",
    "draw_gaps",
    "draw_heat",
    "gap_figure",
    "heat_figure",
    "label_of",
    "legend_beside",
    "look_of",
    "save_acceptance_chart",
]
