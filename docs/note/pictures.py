"""The pictures of the note, in the looks of the figures book."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from docs.note.trace import LONG, NAMES, PLACES, DistinctDrafts
from figures.axes import legend_outside, rule_lines
from figures.contract import STYLE, Settings
from figures.curves import Losses
from figures.cut_simplex import CutSimplex
from figures.draft_laws import COLOURS, DraftLaws
from figures.long_positions import BEST, POOLED, RECORD, RRS, RRSW, column
from figures.long_trace import recorded
from figures.means import mean_and_error
from figures.pooled_barriers import PooledBarriers
from figures.pooled_gain import PooledGain
from otspec.rules import KSequential

Draw = Callable[[list[Any]], None]
KS = (1, 2, 4, 8, 16, 32, 64)
LINES = {
    BEST: "optimum, distinct drafts",
    POOLED: "optimum, i.i.d. drafts",
    RRSW: "RRS without replacement",
    RRS: "recursive rejection (RRS)",
}
"""Rules of the record, and what the note calls them; pooled selection attains the optimum."""
WIDTH = 6.6


def write_all(
    folder: Path, settings: Settings, gain: PooledGain, distinct: DistinctDrafts, laws: DraftLaws
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
    laws : DraftLaws
        The optima of draft laws there.
    """
    drawn: dict[str, tuple[Draw, tuple[float, float], tuple[int, int]]] = {
        "law": (PooledBarriers.compute(settings).draw, (WIDTH, 5.3), (2, 1)),
        "simplex": (CutSimplex.compute(settings).draw, (WIDTH, 2.4), (1, 2)),
        "trace": (lambda axes: _trace(axes, gain, distinct), (WIDTH, 2.5), (1, 2)),
        "laws": (lambda axes: _laws(axes, laws), (WIDTH, 2.1), (1, len(PLACES))),
    }
    for name, (draw, size, panels) in drawn.items():
        _save(folder / f"{name}.svg", draw, size, panels)
    return list(drawn)


def _save(path: Path, draw: Draw, size: tuple[float, float], panels: tuple[int, int]) -> None:
    import matplotlib.style
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    with matplotlib.style.context(str(STYLE)):
        figure = Figure(figsize=size)
        FigureCanvasAgg(figure)
        draw(list(figure.subplots(*panels, squeeze=False).flat))
        figure.savefig(path, metadata={"Date": None})


def _trace(axes: list[Any], gain: Losses, distinct: DistinctDrafts) -> None:
    """Draw acceptance in the recorded texts, and what rules lose on the bundled trace."""
    left, right = axes
    kept = recorded(RECORD)
    found = {
        name: [mean_and_error(kept[column(1, k)][title]) for k in KS]
        for title, name in LINES.items()
    }
    looks = {LINES[title]: title for title in LONG}
    for name, values in found.items():
        means, errors = zip(*values, strict=True)
        line = {looks[name]: means}
        rule_lines(left, KS, line, {looks[name]: errors}, [{"label": name}])
    left.set_ylabel("probability of acceptance")
    rrsw = np.array(distinct.optimum) - np.array(distinct.rejection)
    losses = {
        RRSW: (rrsw, "RRS without replacement"),
        RRS: (gain.loss[RRS], "recursive rejection"),
        KSequential.title: (gain.loss[KSequential.title], "k-Seq"),
        POOLED: (np.zeros(len(gain.ks)), "pooled selection, both laws"),
    }
    for title, (loss, name) in losses.items():
        rule_lines(right, gain.ks, {title: np.maximum(loss, 0)}, None, [{"label": name}])
    right.set_ylabel("mean loss against the optimum")
    right.set_ylim(-0.004, 0.1)
    for panel, ks in ((left, KS), (right, gain.ks)):
        _against(panel, ks)
    left.legend(loc="lower right")
    right.legend(loc="center right", bbox_to_anchor=(1.0, 0.28))


def _laws(axes: list[Any], data: DraftLaws) -> None:
    """Draw the optima of draft laws against k, a panel for each two temperatures."""
    for panel, place in zip(axes, PLACES, strict=True):
        for law, name in NAMES.items():
            keys = [key for key in data.optima if key[:3] == (*place, law)]
            means = [data.mean(key)[0] for key in keys]
            panel.plot([key[3] for key in keys], means, "o-", color=COLOURS[law], label=name, ms=3)
        panel.set_title("draft at {:g}, target at {:g}".format(*place))
        panel.set_ylim(0, 1)
        _against(panel, [key[3] for key in keys])
    axes[0].set_ylabel("optimum")
    legend_outside(axes[-1])


def _against(panel: Any, ks: Any) -> None:
    panel.set_xscale("log", base=2)
    panel.set_xticks(list(ks), [f"{k}" for k in ks])
    panel.minorticks_off()
    panel.set_xlabel("number of drafts k")
