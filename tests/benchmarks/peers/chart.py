"""The ratios of rules to their peers as a chart: left of the line the rule is faster."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING

from matplotlib.figure import Figure

from otspec.plots.canvas import PAGE, STYLE, in_style

if TYPE_CHECKING:
    from peers.measuring import Timed

TICKS = (0.01, 0.1, 1)
MARKS = (("o", -0.15), ("s", 0.15), ("^", 0.0))
"""Of rules from probabilities, from logits, and compiled ones; and how far below their row."""
LEAST, MOST = 0.003, 4.5


def draw(timed: list[Timed], path: Path) -> None:
    """Draw a panel for each shape, with a row for each rule beside its matching peer."""
    with in_style(PAGE, STYLE):
        _draw(timed, path)


def _draw(timed: list[Timed], path: Path) -> None:
    found = {(one.rows, one.vocabulary, one.rule, one.peer.logits): one for one in reversed(timed)}
    shapes = list(dict.fromkeys((one.rows, one.vocabulary) for one in timed))
    rules = list(dict.fromkeys(one.rule for one in timed))
    figure = Figure(figsize=(7.0, 1.2 + 0.34 * len(rules)))
    axes = figure.subplots(1, len(shapes), sharey=True, squeeze=False)[0]
    for axis, shape in zip(axes, shapes, strict=True):
        known, logits = ([found[*shape, rule, each] for rule in rules] for each in (False, True))
        ways = {
            "both from probabilities": [one.eager for one in known],
            "both from logits": [one.eager for one in logits],
            "the rule compiled, from probabilities": [one.compiled for one in known],
        }
        for (marker, below), (name, ratios) in zip(MARKS, ways.items(), strict=True):
            if not all(map(math.isnan, ratios)):
                places = [place + below for place in range(len(rules))]
                axis.plot(ratios, places, marker, markersize=4.5, label=name)
        axis.axvline(1, color="#999999", linewidth=1)
        axis.set_xscale("log")
        axis.set_xlim(LEAST, MOST)
        axis.set_xticks(TICKS, [f"{tick:g}" for tick in TICKS])
        axis.minorticks_off()
        axis.set_title(f"{shape[0]} row{'s' if shape[0] > 1 else ''}\n{shape[1]:,} tokens")
        axis.grid(visible=False, axis="y")
    titles = [found[*shapes[0], rule, False].peer.title.replace("`", "") for rule in rules]
    labels = [f"{rule}\n{title}" for rule, title in zip(rules, titles, strict=True)]
    axes[0].set_yticks(range(len(rules)), labels)
    axes[0].set_ylim(len(rules) - 0.5, -0.5)
    figure.supxlabel(
        "time of the rule / time of its peer: faster left of the line", fontsize="medium"
    )
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside upper center", ncols=3)
    figure.savefig(path, dpi=200)
