"""The ratios of rules to their peers as a chart: left of the line the rule is faster."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING

from matplotlib.figure import Figure

from otspec.plots.canvas import PAGE, STYLE, in_style

if TYPE_CHECKING:
    from peers.measuring import Timed

TICKS = (0.01, 0.03, 0.1, 0.3, 1, 3)
LEAST, MOST = 0.007, 4.5


def draw(timed: list[Timed], path: Path) -> None:
    """Draw a panel for each shape, with a row for each rule beside its matching peer."""
    with in_style(PAGE, STYLE):
        _draw(timed, path)


def _draw(timed: list[Timed], path: Path) -> None:
    first = {(one.rows, one.vocabulary, one.rule): one for one in reversed(timed)}
    shapes = list(dict.fromkeys((one.rows, one.vocabulary) for one in timed))
    rules = list(dict.fromkeys(one.rule for one in timed))
    figure = Figure(figsize=(4 + 2.4 * len(shapes), 0.9 + 0.36 * len(rules)))
    axes = figure.subplots(1, len(shapes), sharey=True, squeeze=False)
    for axis, shape in zip(axes[0], shapes, strict=True):
        found = [first[*shape, rule] for rule in rules]
        places = range(len(rules))
        axis.plot([one.eager for one in found], places, "o", label="eager")
        if not all(math.isnan(one.compiled) for one in found):
            axis.plot([one.compiled for one in found], places, "s", label="compiled")
        axis.axvline(1, color="#999999", linewidth=1)
        axis.set_xscale("log")
        axis.set_xlim(LEAST, MOST)
        axis.set_xticks(TICKS, [f"{tick:g}" for tick in TICKS])
        axis.minorticks_off()
        axis.set_title(f"{shape[0]} row{'s' if shape[0] > 1 else ''}, {shape[1]:,} tokens")
        axis.grid(visible=True, axis="x", alpha=0.3)
    titles = [first[*shapes[0], rule].peer.title.replace("`", "") for rule in rules]
    labels = [f"{rule}\n{title}" for rule, title in zip(rules, titles, strict=True)]
    axes[0, 0].set_yticks(range(len(rules)), labels, fontsize=7)
    axes[0, 0].invert_yaxis()
    axes[0, 0].legend()
    figure.supxlabel("time of the rule over the time of its peer")
    figure.savefig(path, dpi=150)
