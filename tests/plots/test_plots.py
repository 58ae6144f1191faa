"""Plots of results, on axes that are given or on new ones; of acceptance and of gaps."""

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from itertools import product
from statistics import median

import pytest
from drawn import curve, said
from matplotlib import colors, rcParams, style
from matplotlib.figure import Figure

import otspec
from otspec import blocks, models, plots
from otspec.rules import (
    KSequential,
    PooledSelection,
    RecursiveRejection,
)
from otspec.traces import compare
from otspec.traces.comparison import Row
from otspec.traces.statistics import Statistic

DRAFT, TARGET = ["1/2", "3/10", "1/5"], ["1/10", "3/5", "3/10"]
P, Q = ([Fraction(mass) for mass in law] for law in (DRAFT, TARGET))
ROWS = compare(DRAFT, TARGET, ks=[1, 2, 4])
MODELS = models.memoryless(["1/2", "1/2"]), models.memoryless(["1/4", "3/4"])
FOUND = blocks.best_trees(*MODELS, RecursiveRejection, 7, 3)


def optimum(**more):
    return otspec.optimal_acceptance(otspec.IID(DRAFT, 2), TARGET, **more)


def statistic(rule="naive sampling", temperature=1.0, draft=1.0, **more):
    levels = dict(zip((0.05, 0.25, 0.5, 0.75, 0.95), (0.0, 0.1, 0.2, 0.3, 0.4), strict=True))
    given = {
        "drafts": "iid", "k": 2, "acceptance": 0.5, "optimum": 0.75, "positions": 3,
        "temperature": temperature, "draft_temperature": draft, "units": 3,
        "acceptance_interval": (0.4, 0.6), "gap_interval": (0.0, 0.2), "gap_quantiles": levels,
    }  # fmt: skip
    return Statistic(rule, **given | more)


PLOTS = {
    "acceptance": lambda **on: plots.acceptance(ROWS, **on),
    "cut": lambda **on: plots.cut(optimum(), **on),
    "plan": lambda **on: plots.plan(otspec.optimal_plan(otspec.IID(DRAFT, 2), TARGET), **on),
    "selection": lambda **on: plots.selection(PooledSelection(DRAFT, TARGET, 2), **on),
    "barriers": lambda **on: plots.barriers(PooledSelection(DRAFT, TARGET, 2), uniform=0, **on),
    "gaps": lambda **on: plots.gaps([ROWS, ROWS], **on),
    "gap quantiles": lambda **on: plots.gap_quantiles([statistic()], **on),
    "temperatures": lambda **on: plots.temperatures([statistic()], **on),
    "blocks": lambda **on: plots.blocks(blocks.compare_block_rules(*MODELS, [1, 2]), **on),
    "trees": lambda **on: plots.trees(blocks.compare_trees(*MODELS, ["2x1"]), **on),
    "best trees": lambda **on: plots.best_trees(FOUND.rows[-1], RecursiveRejection.title, **on),
    "sweep": lambda **on: plots.sweep(
        blocks.sweep(*MODELS, 2, 1, RecursiveRejection), RecursiveRejection.title, **on
    ),
    "tree": lambda **on: plots.tree(FOUND, **on),
}


@pytest.mark.parametrize("name", PLOTS)
def test_axes_that_are_given_are_drawn_on_alone_and_returned(name):
    first, second = Figure(layout="constrained").subplots(1, 2)
    before = dict(rcParams)
    assert PLOTS[name](ax=second) is second
    assert dict(rcParams) == before
    assert not first.has_data()
    assert second.has_data()
    assert said(second)
    plots.svg(second, name)


@pytest.mark.parametrize("name", PLOTS)
def test_without_axes_there_are_new_ones_in_the_style_of_all(name):
    before = dict(rcParams)
    axes = PLOTS[name]()
    assert dict(rcParams) == before
    assert axes.figure.axes[0] is axes
    assert axes.figure is not PLOTS[name]().figure
    if axes.axison:
        sizes = {text.get_fontsize() for text in (*axes.get_xticklabels(), *axes.get_yticklabels())}
        assert sizes == {7.0}
        assert not axes.spines["top"].get_visible()


@pytest.mark.parametrize("name", PLOTS)
def test_other_things_than_axes_are_refused(name):
    for axes in (Figure(), "axes", 3):
        with pytest.raises(ValueError, match=r"^ax is .*: it must be Matplotlib's axes, or None"):
            PLOTS[name](ax=axes)
    with pytest.raises(ValueError, match=r"^axes are polar: pass rectilinear ones, or None"):
        PLOTS[name](ax=Figure().add_subplot(projection="polar"))


def test_threads_leave_the_style_of_the_process_as_it_was():
    before = dict(rcParams)
    with ThreadPoolExecutor(4) as pool:
        drawn = list(pool.map(lambda _: plots.cut(optimum()), range(8)))
    assert dict(rcParams) == before
    assert {axes.xaxis.label.get_fontsize() for axes in drawn} == {8.0}


def test_a_missing_matplotlib_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ValueError, match=r"needs the package .*pip install 'otspec\[plots\]'"):
        plots.acceptance(ROWS)


def test_the_plots_are_there_before_matplotlib():
    code = "import otspec.plots, sys; sys.exit('matplotlib' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_the_style_is_found_by_its_name_and_leaves_ink_and_ground_to_others():
    with style.context("otspec.plots.otspec"):
        assert rcParams["font.size"] == 8
        assert rcParams["svg.fonttype"] == "none"
    with style.context(["otspec.plots.page", "otspec.plots.otspec"]):
        assert rcParams["savefig.transparent"]
        axes = plots.acceptance(ROWS)
        assert colors.to_hex(axes.xaxis.label.get_color()) == "#7a7a7a"
        optima = [line for line in axes.lines if str(line.get_label()).startswith("optimum")]
        assert {colors.to_hex(line.get_color()) for line in optima} == {"#7a7a7a"}


def test_acceptance_is_that_of_rows_of_rules_and_of_optima():
    ks = (1, 2, 4)
    rules = [kind(DRAFT, TARGET, k) for k in ks[::-1] for kind in (KSequential, PooledSelection)]
    optima = [otspec.optimal_acceptance(otspec.IID(DRAFT, k), TARGET) for k in ks]
    one = plots.acceptance([*optima, *rules])
    two = plots.acceptance([row for row in ROWS if row.rule in
                            ("optimum", "k-sequential", "pooled selection")
                            and row.drafts == "iid"])  # fmt: skip
    for label in ("optimum", "k-sequential", "pooled selection"):
        found, wanted = curve(one, label), curve(two, label)
        assert found[0].tolist() == wanted[0].tolist() == list(ks)
        assert found[1].tolist() == wanted[1].tolist()
    # One draft: sum of the smaller masses.
    assert curve(one, "k-sequential")[1][0] == float(sum(map(min, P, Q)))
    assert any(text.startswith("pooled selection, k = 4: 1.0000, the opt") for text in said(one))


def test_acceptance_of_numbers_of_ones_own():
    ks = [1, 2, 4]
    optima = dict(zip(ks, otspec.optimal_acceptances(DRAFT, TARGET, ks), strict=True))
    axes = plots.acceptance({"optimum": optima, "mine": {4: 0.75, 1: 0.5}})
    assert [side.tolist() for side in curve(axes, "mine")] == [[1, 4], [0.5, 0.75]]
    assert curve(axes, "optimum")[1].tolist() == [float(optima[k]) for k in ks]
    assert "mine, k = 1: 0.5000, 0.1000 below the optimum" in said(axes)
    assert [label.get_text() for label in axes.get_xticklabels()] == ["1", "2", "4"]


@pytest.mark.parametrize(
    ("results", "message"),
    [
        ([], "^results is empty: pass rows"),
        ({}, "^results is empty"),
        ({"mine": {}}, "^results is empty"),
        (None, "^results is None"),
        ([1], r"^results\[0\] is 1: pass rows"),
        ({"mine": {0: 0.5}}, "k must be at least 1, got 0"),
        ({"mine": {1: 1.5}}, r"^results\['mine'\]\[1\] is 1.5"),
        ({1: {1: 0.5}}, "^results holds 1"),
        ({"mine": 0.5}, "^results holds 'mine'"),
        ([Row("mine", "iid", 2, value, 1.0) for value in (0.5, 0.25)], "one temperature"),
    ],
)
def test_what_is_no_acceptance_is_refused(results, message):
    with pytest.raises(ValueError, match=message):
        plots.acceptance(results)


def test_gaps_are_drawn_position_by_position():
    pairs = [(DRAFT, TARGET), (DRAFT, DRAFT), (TARGET, DRAFT)]
    positions = [compare(*pair, [1, 2], laws=["iid"]) for pair in pairs]
    axes = plots.gaps(positions)
    rows = [label.get_text() for label in axes.get_yticklabels()]
    for k in (1, 2):
        name = f"naive sampling, k = {k}"
        gaps, row = curve(axes, name)
        assert row.tolist() == [rows.index(name)] * 3
        for (draft, target), gap in zip(pairs, gaps, strict=True):
            p, q = ([Fraction(mass) for mass in law] for law in (draft, target))
            sets = [[y for y in range(3) if inside[y]] for inside in product((0, 1), repeat=3)]
            best = min(sum(q[y] for y in a) + 1 - sum(p[y] for y in a) ** k for a in sets)
            hit = sum(b * (1 - (1 - a) ** k) for a, b in zip(p, q, strict=True))
            assert gap == float(best - hit)  # a target's draw that is one of the drafts
    medians = [median(curve(axes, name)[0].tolist()) for name in rows]
    assert medians == sorted(medians, reverse=True)
    optimal = [[row for row in rows if row.rule in ("optimum", "pooled selection")]
               for rows in positions]  # fmt: skip
    drawn = plots.gaps(optimal)
    for k in (1, 2):
        assert curve(drawn, f"pooled selection, k = {k}")[0].tolist() == [0, 0, 0]
    for bad in ([], [[]], [ROWS[0]], None, [[ROWS[0]]]):
        with pytest.raises(ValueError, match=r"^positions"):
            plots.gaps(bad)


def test_rows_of_runs_are_asked_for_and_of_one_law_and_k():
    for draws in (plots.gap_quantiles, plots.temperatures):
        with pytest.raises(ValueError, match=r"^rows is empty"):
            draws([])
        with pytest.raises(ValueError, match=r"^rows\[0\] is"):
            draws(ROWS)
    with pytest.raises(ValueError, match="several draft laws or k"):
        plots.temperatures([statistic(), statistic(k=3)])
    axes = plots.gap_quantiles([statistic()])
    assert [line.get_xdata().tolist() for line in axes.lines] == [[0.0, 0.4], [0.1, 0.3], [0.2]]
