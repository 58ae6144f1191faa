"""What pooled selection gains over the papers' rules on the bundled language-model trace."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import otspec
from figures.contract import Settings
from figures.curves import Losses
from figures.registry import item
from otspec.distributions import SUM_TOLERANCE, Distribution
from otspec.plots import look_of
from otspec.plots.axes import against_counts, label_ends
from otspec.rules import KSequential, NaiveSampling, PairRule, PooledSelection, RecursiveRejection
from otspec.traces.comparison import OPTIMUM

KS = (1, 2, 4, 8, 16)
POOLED: dict[str, Any] = {
    "pooled selection": "tokens",
    "pooled selection, fewest pools": "fewest",
    "pooled selection, 256 bins": 256,
    "pooled selection, 64 bins": 64,
}
"""What is called how, and the pools that it has."""
OTHERS: tuple[type[PairRule], ...] = (KSequential, RecursiveRejection, NaiveSampling)

_POOLED_LOOKS: dict[str, dict[str, Any]] = {
    "pooled selection, fewest pools": {"linestyle": "", "marker": "*", "markersize": 9},
    "pooled selection, 256 bins": {"linestyle": "--"},
    "pooled selection, 64 bins": {"linestyle": ":", "markerfacecolor": "none"},
}


def _makers() -> dict[str, Callable[[Distribution, Distribution, int], Any]]:
    """Return what makes the rule of each row."""

    def pooled(pools: Any) -> Callable[[Distribution, Distribution, int], PooledSelection]:
        return lambda draft, target, k: PooledSelection(draft, target, k, pools)

    return {name: pooled(pools) for name, pools in POOLED.items()} | {
        rule.title: rule for rule in OTHERS
    }


@item("pooled_gain", "ours", size=(7.0, 3.6), traced=True)
class PooledGain(Losses):
    """The table and the picture, at temperature 1.

    Parameters
    ----------
    pools : dict
        Name → for each k the number of pools at each position, ascending.
    """

    title = "What pooled selection gains over the rules of the papers"

    loss_called = "mean loss"

    pools: dict[str, tuple[tuple[int, ...], ...]]

    @classmethod
    def compute(cls, settings: Settings) -> PooledGain:
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
        return cls(
            ks=ks,
            positions=len(accepted[OPTIMUM]),
            acceptance={name: tuple(mean.tolist()) for name, mean in means.items()},
            loss={name: tuple((means[OPTIMUM] - mean).tolist()) for name, mean in means.items()},
            pools={
                name: tuple(tuple(sorted(column)) for column in zip(*rows, strict=True))
                for name, rows in pools.items()
            },
        )

    def draw(self, axes: list[Any]) -> None:
        """Draw the loss of each rule against k: logarithmic, but for 0 at the bottom."""
        (panel,) = axes
        lines = {}
        for name, loss in self.losses().items():
            look = look_of(name.partition(",")[0], otspec.IID.name)
            if name in _POOLED_LOOKS:
                look |= {"linewidth": 1.4, "markersize": 7, "markerfacecolor": look["color"]}
                look |= {"markeredgewidth": 1.0, "zorder": 3} | _POOLED_LOOKS[name]
            shown = [value if value > SUM_TOLERANCE else 0.0 for value in loss]
            (lines[name],) = panel.plot(self.ks, shown, label=name, clip_on=False, **look)
        against_counts(panel, self.ks)
        panel.set_yscale("symlog", linthresh=1e-6, linscale=0.5)
        panel.set(ylim=(0, 1), ylabel="mean loss against the optimum")
        panel.minorticks_off()
        panel.grid(alpha=0.25)
        finest, fewest, *_ = POOLED  # nothing is lost with either
        named = {name.replace(", ", ",\n"): line for name, line in lines.items() if name != fewest}
        named[f"{finest},\nall or {fewest.partition(', ')[2]}"] = named.pop(finest)
        panel.tick_params(axis="x", pad=8)
        label_ends(panel, named)
