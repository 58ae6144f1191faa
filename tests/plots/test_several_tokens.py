"""Charts of blocks and trees: what is drawn is what rows say, on the axes that were given."""

import io
import math

import numpy as np
import pytest
from matplotlib.figure import Figure

from otspec import blocks, models, plots
from otspec.estimate import Estimate
from otspec.frames import Rows
from otspec.plots import look_of, look_of_several
from otspec.plots.axes import UNKNOWN
from otspec.rules import PooledSelection, RecursiveRejection, compared_rules
from otspec.traces.comparison import Row

MODELS = models.memoryless(["1/2", "1/2"]), models.memoryless(["1/4", "3/4"])
BLOCKS = blocks.compare_block_rules(*MODELS, [1, 2, 4])
TREES = blocks.compare_trees(*MODELS, ["1x1", "2x1", "2x2"])
SWEEP = blocks.sweep(*MODELS, 4, 2, RecursiveRejection)
BEST = blocks.best_trees(*MODELS, RecursiveRejection, 5, 3).rows[-1]
CHARTS = {
    "blocks": lambda axes: plots.blocks(BLOCKS, axes),
    "trees": lambda axes: plots.trees(TREES, axes),
    "sweep": lambda axes: plots.sweep(SWEEP, RecursiveRejection.title, axes),
    "best trees": lambda axes: plots.best_trees(BEST, RecursiveRejection.title, axes),
}
EMPTY = {
    "blocks": lambda axes: plots.blocks(Rows((), blocks.BlockComparison), axes),
    "trees": lambda axes: plots.trees([], axes),
    "sweep": lambda axes: plots.sweep([], "optimum", axes),
    "best trees": lambda axes: plots.best_trees([], "optimum", axes),
}


def lines_of(axes):
    """Return the lines that a legend names, as label -> points."""
    handles, labels = axes.get_legend_handles_labels()
    found = {}
    for handle, label in zip(handles, labels, strict=True):
        line = handle[0] if isinstance(handle, tuple) else handle
        found[label] = dict(
            zip(*(np.asarray(side).tolist() for side in line.get_data()), strict=True)
        )
    return found


@pytest.mark.parametrize("name", CHARTS)
def test_charts_return_the_axes_that_they_drew_on_and_fit_into_subplots(name):
    figure = Figure(layout="constrained")
    first, second = figure.subplots(1, 2)
    assert CHARTS[name](second) is second
    assert not first.lines
    assert second.get_xlabel()
    assert second.get_ylabel() == "tokens per call of the target"
    figure.savefig(io.BytesIO(), format="png")


@pytest.mark.parametrize("name", EMPTY)
def test_charts_of_nothing_are_refused_before_anything_is_drawn(name):
    axes = Figure().add_subplot()
    with pytest.raises(ValueError, match=r"^rows is empty: pass a list of"):
        EMPTY[name](axes)
    assert not axes.lines


def test_blocks_are_drawn_below_their_optimum():
    lines = lines_of(plots.blocks(BLOCKS, Figure().add_subplot()))
    assert list(lines) == ["optimum", *dict.fromkeys(row.rule for row in BLOCKS)]
    for row in BLOCKS:
        assert lines[row.rule][row.length] == float(row.efficiency)
        assert lines["optimum"][row.length] == float(row.optimum) + 1


def test_trees_are_marks_at_their_nodes_below_the_best():
    axes = plots.trees(TREES, Figure().add_subplot())
    lines = lines_of(axes)
    for row in TREES:
        assert lines[row.rule][row.nodes] == float(row.efficiency)
    nodes, most = axes.lines[0].get_data()
    worth = {row.nodes: 0.0 for row in TREES}
    assert nodes.tolist() == sorted(worth) == [2, 4, 6]
    for at, best in zip(nodes, most, strict=True):
        assert best == max(float(row.efficiency) for row in TREES if row.nodes <= at)


def test_a_sweep_is_drawn_from_the_widest_at_the_top():
    axes = CHARTS["sweep"](Figure().add_subplot())
    names = [label.get_text() for label in axes.get_xticklabels()]
    assert names == ["4x1", "2x2", "1x4"]
    worth = {row.name: float(row.efficiency) for row in SWEEP}
    assert list(lines_of(axes)[RecursiveRejection.title].values()) == [worth[n] for n in names]


def test_best_trees_of_several_rules_share_the_axes():
    axes = Figure().add_subplot()
    for rule in (RecursiveRejection, PooledSelection):
        plots.best_trees(blocks.best_trees(*MODELS, rule, 5, 3).rows[-1], rule.title, axes)
    lines = lines_of(axes)
    assert list(lines) == [RecursiveRejection.title, PooledSelection.title]
    worth = {tree.nodes: float(tree.efficiency) for tree in BEST}
    assert lines[RecursiveRejection.title] == worth


@pytest.mark.parametrize(
    ("expected", "error", "ends"),
    [(1.5, 0.25, (2.25, 2.75)), (Estimate.between(1.5, 2.0), 0.0, (2.5, 3.0)), (1.5, 0.0, None),
     (1.5, math.nan, None)],
)  # fmt: skip
def test_bars_are_errors_or_intervals(expected, error, ends):
    row = blocks.TreeComparison("2x1", "a rule of mine", expected, error)
    axes = plots.trees([row], Figure().add_subplot())
    bars = [path for each in axes.collections for path in each.get_paths()]
    if ends is None:
        assert bars == []
        return
    (bar,) = bars
    assert bar.vertices[:, 1].tolist() == list(ends)


def test_rules_for_several_tokens_can_be_told_apart():
    of_blocks = [look_of_several(rule.title) for rule in blocks.BLOCK_RULES.values()]
    of_trees = [look_of_several(rule.title) for rule in blocks.TREE_VERIFIERS.values()]
    of_depth = [look_of_several(rule.title) for rule in blocks.TREE_RULES.values()]
    for looks in (of_blocks, of_depth + of_trees):
        seen = {(look["color"], look["marker"], look.get("linestyle")) for look in looks}
        assert len(seen) == len(looks)
    assert all(look["markerfacecolor"] == "none" for look in of_trees)
    for rule in compared_rules():
        several = look_of_several(rule.title)
        assert several["color"] == look_of(rule.title, rule.law_class.name)["color"]


def test_rules_that_no_table_knows_are_gray():
    for look in (look_of, look_of_several):
        assert look("a rule of mine")["color"] == UNKNOWN.color
    rows = [Row("a rule of mine", "drafts of mine", k, 0.5, 0.75) for k in (1, 2)]
    assert "a rule of mine" in lines_of(plots.acceptance(rows, Figure().add_subplot()))
