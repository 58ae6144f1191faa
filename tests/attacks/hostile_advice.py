"""Advice, with examples of arguments."""

from functools import partial

from hostile_rows import Row, logged, small
from matplotlib.figure import Figure

import otspec
from otspec import advice as advice_room

COSTS = {"draft_cost": 1, "target_cost": 1}


def advised():
    return otspec.advise(small(), **COSTS, nodes=1, rules=["recursive-rejection"])


def advice_rows():
    yield (
        "advise",
        Row(
            partial(otspec.advise, **COSTS, rules=["recursive-rejection"]),
            {
                "logs": ("objects", lambda: [logged()]),
                "nodes": ("count", 2),
                "depth": ("count?", 1),
                "widest": ("count", 2),
                "warping": ("object?", None),
                "drawn": ("object?", None),
                "total_variation": ("real?", 0.5),
            },
        ),
    )
    yield (
        "advice.advise_by_load",
        Row(
            partial(advice_room.advise_by_load, **COSTS),
            {
                "logs": ("objects", lambda: [logged()]),
                "batches": ("counts", [1]),
                "depth": ("count?", 1),
                "thresholds": ("objects", [0.5]),
                "paths": ("objects", [0.5]),
                "warping": ("object?", None),
                "drawn": ("object?", None),
            },
        ),
    )
    yield (
        "advice.draw_pareto",
        Row(
            lambda advice: advice_room.draw_pareto(advice, Figure().add_subplot()),
            {"advice": ("object", advised)},
        ),
    )
