"""The pictures of the note, at the width of its page and in the size of its captions."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from docs.note.evidence import KS, OTHERS, Evidence
from docs.note.examples import WORKED
from otspec.plots import save
from otspec.plots.canvas import STYLE, in_style
from otspec.rules import PooledSelectionWithoutReplacement

WIDTH = 6.57
"""Inches, as wide as the text."""
CAPTION = {"font.size": 9, "axes.labelsize": 9, "axes.titlesize": 9}
CAPTION |= {"xtick.labelsize": 9, "ytick.labelsize": 9, "legend.fontsize": 9}
"""All letters are as large as a caption."""
LOOKS = {
    "k-Seq": {"color": "#666666", "marker": "s", "linestyle": "-"},
    "RRS": {"color": "#000000", "marker": "o", "linestyle": "-"},
    "RRSw": {"color": "#000000", "marker": "^", "linestyle": "--", "markerfacecolor": "white"},
}
"""Rules, and what tells their lines apart in gray."""
LEGEND: dict[str, Any] = {"loc": "lower right", "frameon": False, "labelspacing": 0.15}
LEGEND |= {"borderpad": 0.0, "borderaxespad": 0.3}


@dataclass(frozen=True)
class RuleOnThree:
    """The example that the text works out: its law, and its intervals for every w."""

    size = (WIDTH, 2.2)
    panels = (1, 2)

    def draw(self, axes: list[Any]) -> None:
        """Draw ratios over the draft mass to the left, the intervals to the right."""
        draft, target = ([Fraction(mass) for mass in masses] for masses in WORKED)
        rule = PooledSelectionWithoutReplacement(draft, target, 2)
        edges = [0.0, *np.cumsum(np.array(draft, dtype=float))]
        _ratios(axes[0], edges, draft, target, rule.law_of_selection)
        _intervals(axes[1], edges, draft, float(rule.lifetimes[1]))


def _ratios(panel: Any, edges: list[float], draft: Any, target: Any, law: Any) -> None:
    for name, low, high, p, q, b in zip("abc", edges, edges[1:], draft, target, law, strict=False):
        ratio, clipped = float(q / p), float(b / p)
        gray = {"facecolor": "0.85", "edgecolor": "0.4", "linewidth": 0.8, "align": "edge"}
        panel.bar(low, ratio, high - low, label="q/p" if name == "a" else None, **gray)
        bold = {"color": "black", "linewidth": 2.2, "solid_capstyle": "butt"}
        panel.plot([low, high], [clipped] * 2, label="b/p" if name == "a" else None, **bold)
        if ratio != clipped:
            side, shift = ("right", -3) if name == "c" else ("left", 4)
            words = f"{'ℓ' if clipped > ratio else 'h'} = {b / p}"
            place = {
                "xytext": (shift, 4),
                "textcoords": "offset points",
                "ha": side,
                "style": "italic",
            }
            panel.annotate(words, (low, clipped), **place)
    _tokens(panel, edges)
    panel.set(ylim=(0, 3.2), xlim=(0, 1))
    panel.set_title("ratios, over the draft mass")
    panel.legend(loc="upper left", frameon=False, prop={"size": 9, "style": "italic"})


def _intervals(panel: Any, edges: list[float], draft: Any, threshold: float) -> None:
    first = draft[0] / (draft[0] + draft[1])
    both = f"a or b; if both are drafted,\na with {first} and b with {1 - first}"
    boxes = [
        (0, 1, 0.0, threshold, "a"),
        (1, 2, 0.0, threshold, "b"),
        (2, 3, 0.0, 1.0, "c"),
        (0, 2, threshold, 1.0, both),
    ]
    for left, right, low, high, words in boxes:
        x, wide = edges[left], edges[right] - edges[left]
        panel.bar(x, high - low, wide, low, align="edge", facecolor="white", edgecolor="black")
        panel.text(x + wide / 2, (low + high) / 2, words, ha="center", va="center", style="italic")
    _tokens(panel, edges)
    panel.set(ylim=(0, 1), xlim=(0, 1))
    panel.set_ylabel("w", style="italic")
    panel.set_yticks([0, threshold, 1], ["0", str(Fraction(threshold).limit_denominator(99)), "1"])
    panel.set_title("intervals of step 1")


def _tokens(panel: Any, edges: list[float]) -> None:
    middles = [(low + high) / 2 for low, high in pairwise(edges)]
    panel.set_xticks(middles, list("abc"), style="italic")
    panel.tick_params(axis="x", length=0)
    panel.grid(visible=False)


@dataclass(frozen=True)
class Losses:
    """What rules lose against the optimum, with intervals, on each pair of models."""

    evidence: dict[str, Evidence]
    size = (WIDTH, 1.95)
    panels = (1, 3)

    def draw(self, axes: list[Any]) -> None:
        """Draw the mean losses in points and their bands, a panel for each pair."""
        top = 0.0
        for panel, (name, each) in zip(axes, self.evidence.items(), strict=True):
            for rule in OTHERS:
                means, wide = 100 * np.array([each.loss(rule, k) for k in KS]).T
                look, top = LOOKS[rule], max(top, float(np.max(means + wide)))
                panel.plot(KS, means, label=rule, markersize=3, linewidth=1, **look)
                panel.fill_between(
                    KS, means - wide, means + wide, color=look["color"], alpha=0.12, lw=0
                )
            panel.set_title(name)
            panel.set_xlabel("number of drafts k")
            panel.set_xticks([1, 4, 8, 12, 16])
        axes[0].set_ylabel("loss, points")
        for panel in axes:
            panel.set_ylim(0, 1.05 * top)
        axes[1].legend(**LEGEND)


def write_all(folder: Path, evidence: dict[str, Evidence]) -> list[str]:
    """Write the pictures as SVG into a folder that exists, and return their names.

    Parameters
    ----------
    folder : path
    evidence : dict
        Name of a pair → what rules accept there.
    """
    from matplotlib.figure import Figure

    drawn: dict[str, Any] = {
        "rule": RuleOnThree(),
        "losses": Losses(evidence),
    }
    for name, picture in drawn.items():
        with in_style(STYLE, CAPTION):
            figure = Figure(figsize=picture.size, layout="constrained")
            picture.draw(list(figure.subplots(*picture.panels, squeeze=False).flat))
            save(figure, folder / f"{name}.svg")
    return list(drawn)
