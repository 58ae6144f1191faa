"""What pooled selection gains over the papers' rules on the bundled language-model trace."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

import otspec
from figures.contract import Item, Numbers, Settings
from otspec.distributions import SUM_TOLERANCE, Distribution
from otspec.rules import KSequential, NaiveSampling, PairRule, PooledSelection, RecursiveRejection
from otspec.traces.charts import against_counts, legend_beside, look_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

KS = (1, 2, 4, 8, 16)
OPTIMUM = "optimum"
POOLED: dict[str, Any] = {
    "pooled selection": "tokens",
    "pooled selection, fewest pools": "fewest",
    "pooled selection, 256 bins": 256,
    "pooled selection, 64 bins": 64,
}
"""What is called how, and the pools that it has."""
OTHERS: tuple[type[PairRule], ...] = (KSequential, RecursiveRejection, NaiveSampling)

_POOLED_LOOKS: dict[str, dict[str, Any]] = {
    "pooled selection, fewest pools": {"linestyle": "", "marker": "*", "markeredgecolor": "k"},
    "pooled selection, 256 bins": {"linestyle": "--"},
    "pooled selection, 64 bins": {"linestyle": ":", "markerfacecolor": "#FFFFFF"},
}


@dataclass(frozen=True)
class PooledGain:
    """The table and the picture.

    Parameters
    ----------
    ks : tuple of int
        Numbers of drafts.
    positions : int
        How many positions the means are over.
    acceptance, loss : dict of str to tuple of float
        By row, for each k: the mean acceptance, and the mean of what it is below the optimum.
    pools : dict of str to tuple
        By row, for each k: the number of pools at each position, ascending.
    """

    ks: tuple[int, ...]
    positions: int
    acceptance: dict[str, tuple[float, ...]]
    loss: dict[str, tuple[float, ...]]
    pools: dict[str, tuple[tuple[int, ...], ...]]


def compute(settings: Settings = Settings()) -> PooledGain:  # noqa: B008
    """Return means over the positions of the trace at temperature 1."""
    ks = KS
    accepted: dict[str, list[list[float]]] = {name: [] for name in (OPTIMUM, *_makers())}
    pools: dict[str, list[list[int]]] = {name: [] for name in POOLED}
    for draft, target in settings.pairs():
        accepted[OPTIMUM].append(otspec.optimal_acceptances(draft, target, ks).tolist())
        for name, make in _makers().items():
            rules = [make(draft, target, k) for k in ks]
            accepted[name].append([float(rule.acceptance()) for rule in rules])
            if name in POOLED:
                pools[name].append([len(rule.knots) - 1 for rule in rules])
    means = {name: np.mean(rows, axis=0) for name, rows in accepted.items()}
    return PooledGain(
        ks=ks,
        positions=len(accepted[OPTIMUM]),
        acceptance={name: tuple(mean.tolist()) for name, mean in means.items()},
        loss={name: tuple((means[OPTIMUM] - mean).tolist()) for name, mean in means.items()},
        pools={
            name: tuple(tuple(sorted(column)) for column in zip(*rows, strict=True))
            for name, rows in pools.items()
        },
    )


def draw(axes: Axes, data: PooledGain) -> None:
    """Draw the loss of each rule against k: logarithmic, but for 0 at the bottom."""
    for name, loss in data.loss.items():
        if name == OPTIMUM:
            continue
        known = name.partition(",")[0]
        look = look_of(known, otspec.IID.name)
        if name in _POOLED_LOOKS:
            look |= {"linewidth": 1.4, "markersize": 7, "markerfacecolor": look["color"]}
            look |= {"markeredgewidth": 1.0, "zorder": 3} | _POOLED_LOOKS[name]
        shown = [value if value > SUM_TOLERANCE else 0.0 for value in loss]
        axes.plot(data.ks, shown, label=name, clip_on=False, **look)
    axes.set_yscale("symlog", linthresh=1e-6, linscale=0.5)
    axes.set_ylim(0, 1)
    against_counts(axes, data.ks)
    axes.set_ylabel("mean loss against the optimum")
    axes.grid(alpha=0.25)
    legend_beside(axes, reverse=True)


def numbers(data: PooledGain) -> Numbers:
    """Return one row for each way and k."""
    rows = [
        (name, k, data.acceptance[name][i], data.loss[name][i])
        for name in data.loss
        for i, k in enumerate(data.ks)
    ]
    return Numbers(("rule", "k", "mean acceptance", "mean loss"), tuple(rows))


def _makers() -> dict[str, Callable[[Distribution, Distribution, int], Any]]:
    """Return what makes the rule of each row."""

    def pooled(pools: Any) -> Callable[[Distribution, Distribution, int], PooledSelection]:
        return lambda draft, target, k: PooledSelection(draft, target, k, pools)

    return {name: pooled(pools) for name, pools in POOLED.items()} | {
        rule.title: rule for rule in OTHERS
    }


ITEM = Item(
    name="pooled_gain",
    title="What pooled selection gains over the rules of the papers",
    source="ours",
    compute=compute,
    numbers=numbers,
    draw=draw,
    size=(7.0, 4.2),
    traced=True,
)
