"""Which draft law is best (Theory, 1, 2 and 13): the optimum of each, at several temperatures."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from itertools import islice, product
from typing import Any

import numpy as np

import otspec
from figures.axes import legend_outside
from figures.contract import Numbers, Picture, Settings
from figures.registry import item
from otspec.arithmetic import Array
from otspec.distributions import Distribution
from otspec.drafts import IID, LAWS, Hub, TopK, TopPlusOne, WithoutReplacement
from otspec.traces.charts import against_counts

KS = (1, 2, 4, 8, 16)
TEMPERATURES = (0.3, 0.6, 1.0)
"""Of the draft, row by row, and of the target, column by column."""
CONFIDENCE = 0.95

COLOURS = {
    IID.name: "#000000",
    WithoutReplacement.name: "#332288",
    Hub.name: "#E69F00",
    TopPlusOne.name: "#D55E00",
    TopK.name: "#117733",
}
"""The laws that are compared, and their lines."""

Pair = tuple[Distribution, Distribution]
Key = tuple[float, float, str, int]
"""Temperature of the draft, of the target, law, k."""


@item("draft_laws", "ours", size=(7.0, 6.2), panels=(3, 3), traced=True)
class DraftLaws(Picture):
    """The optimum of every draft law that has a name, position by position.

    Parameters
    ----------
    optima : dict
        (temperature of the draft, of the target, law, k) → the optimum at each position.
    """

    title = "The optimum of each draft law, at several temperatures of draft and target"

    optima: dict[Key, tuple[float, ...]]

    @classmethod
    def compute(cls, settings: Settings) -> DraftLaws:
        """Return the optima at all positions; at two and for k up to 2 if quick."""
        ks = KS[:2] if settings.quick else KS
        optima: dict[Key, tuple[float, ...]] = {}
        for of_draft, of_target in product(TEMPERATURES, repeat=2):
            pairs = islice(settings.pairs(of_target, of_draft), 2 if settings.quick else None)
            for (law, k), values in optima_of(pairs, ks).items():
                optima[of_draft, of_target, law, k] = values
        return cls(optima)

    def numbers(self) -> Numbers:
        """Return a row for each temperature, law and k, beside top-k drafts at the same positions.

        Intervals are of the mean over positions (t, 95%).
        """
        columns = ("T draft", "T target", "law", "k", "optimum", "low", "high")
        rows = []
        for (*place, law, k), values in self.optima.items():
            more = np.array(values) - np.array(self.optima[place[0], place[1], TopK.name, k])
            rows.append((*place, law, k, *interval(values, 0.0), *interval(more, -1.0)))
        return Numbers((*columns, "above top", "above top low", "above top high"), tuple(rows))

    def draw(self, axes: list[Any]) -> None:
        """Draw a panel for each two temperatures: the mean of each law, with its interval."""
        temperatures = sorted({key[:2] for key in self.optima})
        for panel, place in zip(axes, temperatures, strict=True):
            for law, colour in COLOURS.items():
                ks = [key[3] for key in self.optima if key[:3] == (*place, law)]
                means, lows, highs = np.transpose(
                    [interval(self.optima[(*place, law, k)], 0.0) for k in ks]
                )
                look = {"color": colour, "linestyle": LAWS[law].line_style, "label": law}
                panel.plot(ks, means, marker="o", markersize=3 if len(ks) > 1 else 5, **look)
                if law in (IID.name, TopK.name):
                    panel.fill_between(ks, lows, highs, color=colour, alpha=0.12, linewidth=0)
            against_counts(panel, sorted({key[3] for key in self.optima}), "k")
            panel.set(ylim=(0, 1), title=f"draft T = {place[0]:g}, target T = {place[1]:g}")
            panel.grid(alpha=0.25)
        for panel in axes[:-3]:
            panel.set_xlabel("")
        axes[3].set_ylabel("mean optimum")
        legend_outside(axes[5])


def optima_of(pairs: Iterable[Pair], ks: Sequence[int]) -> dict[tuple[str, int], tuple[float, ...]]:
    """Return the optimum of every law for each k that it has, at each position."""
    found: dict[tuple[str, int], list[float]] = {}
    for draft, target in pairs:
        for name in COLOURS:
            having = [k for k in ks if LAWS[name].exists(draft, k)]
            best = otspec.optimal_acceptances(draft, target, having, law=name)
            for k, acceptance in zip(having, best.tolist(), strict=True):
                found.setdefault((name, k), []).append(acceptance)
    return {key: tuple(values) for key, values in found.items()}


def interval(values: Sequence[float] | Array, least: float) -> tuple[float, float, float]:
    """Return the mean of values up to 1, and the ends of its t interval, positions as units."""
    from scipy.special import stdtrit

    number = len(values)
    spread = float(np.std(values, ddof=1)) / math.sqrt(number)
    radius = float(stdtrit(number - 1, 0.5 + CONFIDENCE / 2)) * spread
    mean = float(np.mean(values))
    return mean, max(least, mean - radius), min(1.0, mean + radius)
