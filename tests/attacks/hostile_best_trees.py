"""The search for the best tree, what trees cost, and dynamic trees, with examples of arguments."""

from hostile_rows import MODELS, RNG, SMALL, Row, logged, method, small

import otspec
from otspec import blocks, rules

SEARCH = {"nodes": ("count", 3), "depth": ("small", 2), "widest": ("small?", 2)}
RULE = {"rule": ("callable", lambda: rules.RecursiveRejection)}
COST = ("seconds", "1:0.5,4:1")
BLOCKS = ("objects", lambda: [logged()])


def table():
    return blocks.best_trees(*small(), rules.RecursiveRejection, 3, 2)


def cost():
    return blocks.StepCost(0.5, 1.0)


def best_tree_rows():
    models = {"keep": ("name", "all"), "beginnings": ("mapping", lambda: {(): 1})}
    for name in ("best_tree", "best_trees"):
        yield f"blocks.{name}", Row(getattr(blocks, name), {**SMALL, **RULE, **SEARCH, **models})
    sizes = {"nodes": ("small", 3), "depth": ("small", 2)}
    yield "BestTrees.at", Row(method(table, "at"), sizes)
    yield (
        "blocks.fastest_tree",
        Row(blocks.fastest_tree, {"trees": ("object", table), "cost": ("object", cost)}),
    )
    yield "blocks.StepCost", Row(blocks.StepCost, {"draft": COST, "target": COST})
    yield "blocks.as_seconds", Row(blocks.as_seconds, {"given": COST})
    times = {"tokens": ("counts", [1, 2]), "seconds": ("seconds of each", [0.5, 1.0])}
    yield "blocks.Seconds", Row(blocks.Seconds, times)
    yield "blocks.as_load_seconds", Row(blocks.as_load_seconds, {"given": COST})
    yield (
        "blocks.LoadSeconds",
        Row(
            blocks.LoadSeconds,
            {
                "batches": ("counts", (1, 2)),
                "seconds": ("objects", lambda: [blocks.as_seconds(0.5)] * 2),
            },
        ),
    )
    yield (
        "blocks.measured",
        Row(
            blocks.measured,
            {"call": ("callable", lambda: abs), "tokens": times["tokens"], "repeats": ("few", 2)},
        ),
    )
    yield (
        "blocks.best_trees_on_blocks",
        Row(otspec.logged.best_trees_on_blocks,
            {"blocks": BLOCKS, **RULE, **SEARCH}),
    )  # fmt: skip
    yield (
        "blocks.dynamic_tree_on_blocks",
        Row(otspec.logged.dynamic_tree_on_blocks, {"blocks": BLOCKS, **sizes}),
    )
    grown = {
        "nodes": ("few", 3), "levels": ("small", 2), "widest": ("small?", 2),
        "by": ("name", "draft"), "confidence": ("callable?", lambda: lambda row: row),
    }  # fmt: skip
    yield "blocks.DynamicTree", Row(blocks.DynamicTree, {**MODELS, **grown})
    rule = lambda: blocks.DynamicTree(*small(), 2, 2)  # noqa: E731
    yield "DynamicTree.sample", Row(method(rule, "sample"), {"rng": RNG})
    yield (
        "DynamicTree.expected_after",
        Row(method(rule, "expected_after"), {"beginnings": models["beginnings"]}),
    )
