"""Plots: functions that draw results on Matplotlib axes and return them.

Each takes what the package computed, and axes ``ax``; without axes it makes new ones, in the
package's style, on ``.figure``. All raise a ``ValueError`` for nothing or something else to draw,
and if Matplotlib is not installed, which is imported when something is drawn.
"""

from otspec.plots.against_k import acceptance
from otspec.plots.axes import look_of, look_of_several
from otspec.plots.branches import tree
from otspec.plots.canvas import explain, save, svg
from otspec.plots.couplings import cut, plan
from otspec.plots.pictures import save_acceptance_chart
from otspec.plots.pools import barriers, selection
from otspec.plots.positions import gap_quantiles, gaps, temperatures
from otspec.plots.tree_nodes import best_trees, blocks, sweep, trees

__all__ = [
    "acceptance",
    "barriers",
    "best_trees",
    "blocks",
    "cut",
    "explain",
    "gap_quantiles",
    "gaps",
    "look_of",
    "look_of_several",
    "plan",
    "save",
    "save_acceptance_chart",
    "selection",
    "svg",
    "sweep",
    "temperatures",
    "tree",
    "trees",
]
