"""The ratios of rules to their peers as a chart: left of the line the rule is faster."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING

from matplotlib.figure import Figure

from otspec.plots.canvas import PAGE, STYLE, in_style, letters

if TYPE_CHECKING:
    from peers.measuring import Timed

TICKS = (0.01, 0.1, 1)
MARKS = (("o", "right"), ("s", "left"))
"""Of eager and compiled rules, and on which side their names are."""
LEAST, MOST = 0.007, 4.5


def draw(timed: list[Timed], path: Path) -> None:
    """Draw a panel for each shape, with a row for each rule beside its matching peer."""
    with in_style(PAGE, STYLE):
        _draw(timed, path)


def _draw(timed: list[Timed], path: Path) -> None:
    first = {(one.rows, one.vocabulary, one.rule): one for one in reversed(timed)}
    shapes = list(dict.fromkeys((one.rows, one.vocabulary) for one in timed))
    rules = list(dict.fromkeys(one.rule for one in timed))
    figure = Figure(figsize=(7.0, 0.9 + 0.34 * len(rules)))
    axes = figure.subplots(1, len(shapes), sharey=True, squeeze=False)[0]
    for axis, shape in zip(axes, shapes, strict=True):
        found = [first[*shape, rule] for rule in rules]
        ways = {"eager": [one.eager for one in found], "compiled": [one.compiled for one in found]}
        for (marker, side), (name, ratios) in zip(MARKS, ways.items(), strict=True):
            if all(map(math.isnan, ratios)):
                continue
            (marks,) = axis.plot(ratios, range(len(rules)), marker, markersize=4.5)
            if axis is axes[0]:
                axis.annotate(name, (ratios[0], 0), (0, 7), textcoords="offset points",
                              ha=side, color=letters(marks.get_color()))  # fmt: skip
        axis.axvline(1, color="#999999", linewidth=1)
        axis.set_xscale("log")
        axis.set_xlim(LEAST, MOST)
        axis.set_xticks(TICKS, [f"{tick:g}" for tick in TICKS])
        axis.minorticks_off()
        axis.set_title(f"{shape[0]} row{'s' if shape[0] > 1 else ''}\n{shape[1]:,} tokens")
        axis.grid(visible=False, axis="y")
    titles = [first[*shapes[0], rule].peer.title.replace("`", "") for rule in rules]
    labels = [f"{rule}\n{title}" for rule, title in zip(rules, titles, strict=True)]
    axes[0].set_yticks(range(len(rules)), labels)
    axes[0].set_ylim(len(rules) - 0.5, -0.9)
    figure.supxlabel(
        "time of the rule / time of its peer: faster left of the line", fontsize="medium"
    )
    figure.savefig(path, dpi=200)
