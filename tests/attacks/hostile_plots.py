"""Plots, with the kinds and examples of arguments."""

from functools import cache, partial

from hostile_rows import DRAFT, TARGET, Row, iid, models, small
from matplotlib.figure import Figure

import otspec
from otspec import blocks, plots, rules, traces
from otspec.traces.statistics import Statistic

TITLE = rules.RecursiveRejection.title


def axes():
    return Figure().add_subplot()


@cache
def optimum():
    return otspec.optimal_acceptance(iid(), TARGET)


@cache
def coupling():
    return otspec.optimal_plan(iid(), TARGET)


@cache
def pooled():
    return rules.PooledSelection(DRAFT, TARGET, 2)


@cache
def compared():
    return traces.compare(DRAFT, TARGET, [1])


@cache
def found():
    return blocks.best_trees(*small(), rules.RecursiveRejection, 3, 2)


@cache
def statistic():
    return Statistic(
        "naive sampling", "iid", 2, acceptance=0.5, optimum=0.6, positions=3, temperature=1.0,
        draft_temperature=1.0, units=3, acceptance_interval=(0.4, 0.6), gap_interval=(0.0, 0.2),
        gap_quantiles=dict.fromkeys((0.05, 0.25, 0.5, 0.75, 0.95), 0.1),
    )  # fmt: skip


@cache
def compared_trees():
    return blocks.compare_trees(*small(), ["2x1"])


AXES = {"ax": ("object?", None)}


def rows_of(make):
    return {"rows": ("objects", make), **AXES}


def plot_rows():
    yield "plots.acceptance", Row(plots.acceptance, {"results": ("objects", compared), **AXES})
    yield (
        "plots.cut",
        Row(plots.cut, {"optimum": ("object", optimum), **AXES, "most": ("few", 3)}),
    )
    yield "plots.plan", Row(plots.plan, {"coupling": ("object", coupling), **AXES})
    yield "plots.selection", Row(plots.selection, {"rule": ("object", pooled), **AXES})
    yield (
        "plots.barriers",
        Row(plots.barriers, {"rule": ("object", pooled), **AXES, "uniform": ("real?", 0.5)}),
    )
    yield (
        "plots.gaps",
        Row(plots.gaps, {"positions": ("objects", lambda: [compared()]), **AXES}),
    )
    for draws in (plots.gap_quantiles, plots.temperatures):
        yield f"plots.{draws.__name__}", Row(draws, rows_of(lambda: [statistic()]))
    lengths = rows_of(cache(lambda: blocks.compare_block_rules(*models(), [1])))
    yield "plots.blocks", Row(plots.blocks, lengths)
    yield "plots.trees", Row(plots.trees, rows_of(compared_trees))
    yield (
        "plots.best_trees",
        Row(partial(plots.best_trees, rule=TITLE), rows_of(lambda: found().rows[-1])),
    )
    swept = rows_of(cache(lambda: blocks.sweep(*small(), 2, 1, rules.RecursiveRejection)))
    yield "plots.sweep", Row(partial(plots.sweep, rule=TITLE), swept)
    yield (
        "plots.tree",
        Row(
            plots.tree,
            {"tree": ("branching", [3]), **AXES, "chances": ("others", lambda: [0.5, 0.5, 0])},
        ),
    )
    yield (
        "plots.save",
        Row(plots.save, {"drawn": ("object", axes), "path": ("path", None)}),
    )
    yield "plots.svg", Row(partial(plots.svg, description="a"), {"drawn": ("object", axes)})
    yield (
        "plots.explain",
        Row(partial(plots.explain, texts=["a"]), {"artist": ("object", lambda: axes().patch)}),
    )
    for look in (plots.look_of, plots.look_of_several):
        yield f"plots.{look.__name__}", Row(look, {"rule": ("text", TITLE)})
    yield (
        "plots.save_acceptance_chart",
        Row(
            lambda path: plots.save_acceptance_chart(compared(), path, title="a"),
            {"path": ("path", None)},
        ),
    )
