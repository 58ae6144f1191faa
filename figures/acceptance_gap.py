"""Acceptance against k on the trace, and how far each rule is below the optimum."""

from __future__ import annotations

from itertools import chain, repeat
from typing import Any

import numpy as np

from figures.axes import name_rules, rule_lines
from figures.contract import PAGE, Settings
from figures.curves import Losses, against_k
from figures.registry import item
from otspec.plots.axes import against_counts
from otspec.rules import KSequential, NaiveSampling, PairRule, PooledSelection, RecursiveRejection
from otspec.traces.comparison import OPTIMUM

KS = (1, 2, 4, 8, 16)
RULES: tuple[type[PairRule], ...] = (
    PooledSelection,
    KSequential,
    RecursiveRejection,
    NaiveSampling,
)
THICK = {"linewidth": 2.0, "markersize": 7}
"""How the optimum is drawn, below the rules that attain it."""


@item("acceptance_gap", "ours", size=PAGE, panels=(1, 2), traced=True)
class AcceptanceGap(Losses):
    """Means over the positions of the trace at temperature 1."""

    title = "Acceptance against the number of drafts, and the gap of each rule to the optimum"

    loss_called = "mean gap"

    @classmethod
    def compute(cls, settings: Settings) -> AcceptanceGap:
        """Return the means."""
        found = [against_k(*pair, KS, *RULES) for pair in settings.pairs()]
        rows = {rule: np.array([lines[rule] for lines in found], float) for rule in found[0]}
        acceptance, loss = {}, {}
        for rule, values in rows.items():
            acceptance[rule] = tuple(values.mean(axis=0).tolist())
            loss[rule] = tuple((rows[OPTIMUM] - values).mean(axis=0).tolist())
        return cls(KS, len(found), acceptance, loss)

    def draw(self, axes: list[Any]) -> None:
        """Draw acceptance to the left, the gap to the right."""
        left, right = axes
        rule_lines(left, self.ks, self.acceptance, styles=chain([THICK], repeat({})))
        rule_lines(
            right, self.ks, {rule: np.maximum(loss, 0.0) for rule, loss in self.losses().items()}
        )
        for panel in axes:
            against_counts(panel, self.ks, "number of i.i.d. drafts k")
        left.set(ylim=(0, 1), ylabel="mean acceptance")
        right.set(ylim=(-0.01, None), ylabel="mean gap to the optimum")
        name_rules(left, right)
