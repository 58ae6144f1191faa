"""The pictures of the note: items of the figures book, at the width of its page."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from docs.note.trace import DistinctDrafts
from figures.axes import legend_outside, rule_lines
from figures.contract import Picture, Settings
from figures.cut_simplex import CutSimplex, flat
from figures.draft_laws import COLORS, DraftLaws
from figures.long_positions import BEST, POOLED, RECORD, RRS, RRSW, column
from figures.long_trace import recorded
from figures.pooled_barriers import PooledBarriers
from figures.pooled_gain import PooledGain
from otspec import IID, WithoutReplacement
from otspec.drafts import TopK, TopPlusOne
from otspec.logged.comparison import mean_and_error
from otspec.rules import KSequential

KS = (1, 2, 4, 8, 16, 32, 64)
LINES = {
    BEST: "optimum, distinct drafts",
    POOLED: "optimum, i.i.d. drafts",
    RRSW: "RRSw, distinct drafts",
    RRS: "RRS, i.i.d. drafts",
}
"""Rules of the record, and what the note calls them; pooled selection attains the optimum."""
PLACES = ((1.0, 1.0), (0.6, 0.6), (1.0, 0.3))
"""Temperatures of draft and target."""
NAMES = {
    IID.name: "i.i.d.",
    WithoutReplacement.name: "distinct",
    TopPlusOne.name: "top and one drawn",
    TopK.name: "top",
}
"""Draft laws, and what the note calls them."""
MARKERS = dict(zip(NAMES, "so^D", strict=True))
"""Draft laws, and what tells their lines apart in grey."""
WIDTH = 6.6
"""Inches."""


class Law(PooledBarriers):
    """The law of the selected draft, and below it the lifetimes of the knots."""

    size = (WIDTH, 5.3)


class Simplex(CutSimplex):
    """Which targets on three tokens can be served, and which cut proves that others cannot."""

    size = (WIDTH, 2.4)

    def draw(self, axes: list[Any]) -> None:
        """Draw both triangles, with the name of each cut inside its region: grey will do."""
        super().draw(axes)
        right = axes[1]
        right.get_legend().remove()
        for cut in set(self.cuts) - {()}:
            region = [
                flat(t) for t, found in zip(self.targets, self.cuts, strict=True) if found == cut
            ]
            box = {"boxstyle": "round,pad=0.15", "fc": "white", "ec": "none", "alpha": 0.85}
            place = np.mean(region, axis=0)
            right.annotate(
                "{" + ", ".join(map(str, cut)) + "}", place, ha="center", va="center", bbox=box
            )


@dataclass(frozen=True)
class Accepted(PooledGain):
    """What is accepted in the recorded texts, and what rules lose on the bundled trace.

    Parameters
    ----------
    distinct : DistinctDrafts
        Of distinct drafts on the bundled trace.
    """

    size: ClassVar[tuple[float, float]] = (WIDTH, 2.5)
    panels: ClassVar[tuple[int, int]] = (1, 2)

    distinct: DistinctDrafts

    def draw(self, axes: list[Any]) -> None:
        """Draw means with standard errors to the left, losses to the right."""
        left, right = axes
        kept = recorded(RECORD)
        for title, name in LINES.items():
            found = [mean_and_error(kept[column(1, k)][title]) for k in KS]
            means, errors = zip(*found, strict=True)
            rule_lines(left, KS, {title: means}, {title: errors}, [{"label": name}])
        left.set_ylabel("probability of acceptance")
        left.legend(loc="lower right")
        losses = {
            RRSW: np.subtract(self.distinct.optimum, self.distinct.rejection),
            RRS: self.loss[RRS],
            KSequential.title: self.loss[KSequential.title],
            POOLED: self.loss[POOLED],
        }
        names = ("RRSw", "RRS", "k-Seq", "pooled selection")
        for (title, loss), name in zip(losses.items(), names, strict=True):
            rule_lines(right, self.ks, {title: np.maximum(loss, 0)}, None, [{"label": name}])
        right.set_ylabel("mean loss against the optimum")
        right.set_ylim(-0.004, 0.1)
        right.legend(loc="center right", bbox_to_anchor=(1.0, 0.28))
        _against(left, KS)
        _against(right, self.ks)


class Laws(DraftLaws):
    """The optima of draft laws against k, a panel for each two temperatures."""

    size = (WIDTH, 2.1)
    panels = (1, len(PLACES))

    def draw(self, axes: list[Any]) -> None:
        """Draw the means over the positions."""
        for panel, place in zip(axes, PLACES, strict=True):
            for law, name in NAMES.items():
                keys = [key for key in self.optima if key[:3] == (*place, law)]
                means = [self.mean(key)[0] for key in keys]
                look = {"color": COLORS[law], "marker": MARKERS[law], "ms": 3.5}
                panel.plot([key[3] for key in keys], means, label=name, **look)
            panel.set_title("draft at {:g}, target at {:g}".format(*place))
            panel.set_ylim(0, 1)
            _against(panel, [key[3] for key in keys])
        axes[0].set_ylabel("optimum")
        legend_outside(axes[-1])


def write_all(
    folder: Path, settings: Settings, gain: PooledGain, distinct: DistinctDrafts
) -> list[str]:
    """Write the pictures as SVG into a folder that exists, and return their names.

    Parameters
    ----------
    folder : path
    settings : Settings
    gain : PooledGain
        What rules accept of i.i.d. drafts at the positions of the bundled trace.
    distinct : DistinctDrafts
        The same of distinct ones.
    """
    drawn: dict[str, Picture] = {
        "law": Law.compute(settings),
        "simplex": Simplex.compute(settings),
        "trace": Accepted(**vars(gain), distinct=distinct),
        "laws": Laws.at(settings, PLACES),
    }
    for name, picture in drawn.items():
        picture.save(folder / f"{name}.svg")
    return list(drawn)


def _against(panel: Any, ks: Any) -> None:
    panel.set_xscale("log", base=2)
    panel.set_xticks(list(ks), [f"{k}" for k in ks])
    panel.minorticks_off()
    panel.set_xlabel("number of drafts k")
