"""What verification by equality accepts, with shared and with independent noise (Theory, 33)."""

from __future__ import annotations

from typing import Any

import numpy as np

import otspec
from figures.contract import PAGE, Settings
from figures.curves import Losses
from figures.registry import item
from otspec.drafts import IID, WithoutReplacement
from otspec.plots import look_of
from otspec.plots.axes import against_counts, label_ends, style_of
from otspec.rules import GumbelCoupling, GumbelLists, NaiveSampling, PairRule
from otspec.traces.comparison import OPTIMUM

KS = (1, 2, 4, 8, 16)
OPTIMA = {
    law.name: f"{OPTIMUM}, {words}"
    for law, words in ((WithoutReplacement, "distinct"), (IID, "i.i.d."))
}
"""What the optimum of each draft law is called."""
RULES: dict[str, type[PairRule]] = {
    "shared noise, one race": GumbelCoupling,
    "shared noise, k lists": GumbelLists,
    "independent noise": NaiveSampling,
}
"""What each rule is called; the first verifies distinct drafts, the others i.i.d. ones."""


@item("shared_noise", "ours", size=PAGE, traced=True)
class SharedNoise(Losses):
    """Means over the positions of the trace at temperature 1, each below its drafts' optimum."""

    title = "With shared noise, equality with the target's own token keeps most of the optimum"

    loss_called = "price of independence"

    @classmethod
    def compute(cls, settings: Settings) -> SharedNoise:
        """Return the means; for k up to 4 if quick."""
        ks = KS[:3] if settings.quick else KS
        rows: dict[str, list[Any]] = {name: [] for name in (*OPTIMA.values(), *RULES)}
        for draft, target in settings.pairs():
            for law, name in OPTIMA.items():
                rows[name].append(otspec.optimal_acceptances(draft, target, ks, law=law))
            for name, rule in RULES.items():
                rows[name].append([float(found) for found in rule.acceptances(draft, target, ks)])
        means = {name: np.mean(values, axis=0) for name, values in rows.items()}
        best = {name: OPTIMA[rule.law_class.name] for name, rule in RULES.items()}
        loss = {name: means[best.get(name, name)] - mean for name, mean in means.items()}
        return cls(
            ks,
            len(rows[OPTIMA[IID.name]]),
            {name: tuple(mean.tolist()) for name, mean in means.items()},
            {name: tuple(each.tolist()) for name, each in loss.items()},
        )

    def draw(self, axes: list[Any]) -> None:
        """Draw acceptance against k; lines of distinct drafts are dashed."""
        (panel,) = axes
        drawn = [(name, OPTIMUM, law) for law, name in OPTIMA.items()]
        drawn += [(name, rule.title, rule.law_class.name) for name, rule in RULES.items()]
        looks = {
            name: look_of(title, law) | {"linestyle": style_of(law)} for name, title, law in drawn
        }
        lines = {
            name: panel.plot(self.ks, values, **looks[name])[0]
            for name, values in self.acceptance.items()
        }
        against_counts(panel, self.ks, "drafts k")
        panel.set(ylim=(0, 1), ylabel="mean acceptance")
        panel.grid(alpha=0.25)
        label_ends(panel, lines)
