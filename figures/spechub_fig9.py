"""SpecHub, figure 9: how often each of up to ten drafts is the accepted one."""

from __future__ import annotations

from typing import Any

import numpy as np

from figures.axes import rule_lines
from figures.contract import Numbers, Picture, Settings
from figures.registry import item
from otspec._base.arithmetic import Array
from otspec.plots.axes import label_ends
from otspec.plots.canvas import letters
from otspec.ratios import Pair
from otspec.rules import RecursiveRejection, RecursiveRejectionWithoutReplacement, SpecHub
from otspec.rules.rejection.rejected_paths import DistinctPaths

DRAFTS = 10
PATHS, QUICK_PATHS = 2_000, 100
SEED = 0
SIMULATED = RecursiveRejectionWithoutReplacement.title


@item("spechub_fig9", "SpecHub, figure 9", size=(7.0, 2.8), seed=SEED, traced=True)
class Decay(Picture):
    """Means over the positions of the trace.

    Parameters
    ----------
    by_draft : dict
        Rule → the probability that draft 1, 2, … is the accepted one.
    errors : tuple of float
        The standard errors of the simulation for recursive rejection of distinct drafts from the
        third draft on; 0 before, where the sums are exact. Not those of the positions.
    """

    title = "Acceptance of each of ten drafts"

    by_draft: dict[str, tuple[float, ...]]
    errors: tuple[float, ...]

    @classmethod
    def compute(cls, settings: Settings) -> Decay:
        """Return the acceptance of each draft at temperature 1."""
        found: dict[str, list[Array]] = {}
        errors = []
        for draft, target in settings.pairs():
            size = QUICK_PATHS if settings.quick else PATHS
            paths = DistinctPaths(Pair(draft, target), DRAFTS, size, SEED)
            distinct, error = paths.by_draft()
            exact = RecursiveRejectionWithoutReplacement(draft, target, 2).accepted().by_position
            distinct[:2], error[:2] = exact, 0.0
            errors.append(error)
            for rule, values in (
                (SIMULATED, distinct),
                (RecursiveRejection.title, RecursiveRejection(draft, target, DRAFTS)
                 .accepted().by_position),
                (SpecHub.title, SpecHub(draft, target).accepted().by_position),
            ):  # fmt: skip
                found.setdefault(rule, []).append(values)
        return cls(
            {rule: tuple(np.mean(rows, axis=0).tolist()) for rule, rows in found.items()},
            tuple((np.sqrt(np.square(errors).sum(axis=0)) / len(errors)).tolist()),
        )

    def numbers(self) -> Numbers:
        """Return one row for each rule and draft."""
        rows = []
        for rule, values in self.by_draft.items():
            reached = 1.0
            for i, value in enumerate(values):
                error = self.errors[i] if rule == SIMULATED else 0.0
                rows.append((rule, i + 1, value, error, value / reached, 1 - reached + value))
                reached -= value
        columns = ("rule", "draft", "accepted", "simulation s.e.", "if reached", "this or earlier")
        return Numbers(columns, tuple(rows))

    def draw(self, axes: list[Any]) -> None:
        """Draw one line for each rule."""
        (panel,) = axes
        for rule, values in self.by_draft.items():
            rule_lines(panel, range(1, len(values) + 1), {rule: values})
        _, second = self.by_draft[SpecHub.title]
        panel.annotate(SpecHub.title, (2, second), (8, 4), textcoords="offset points",
                       color=letters(panel.lines[-1].get_color()))  # fmt: skip
        panel.set(yscale="log", ylim=(None, 1), ylabel="probability that it is accepted")
        panel.set_yticks([0.01, 0.1, 1], ["0.01", "0.1", "1"])
        panel.set(xticks=range(1, DRAFTS + 1), xlabel="draft")
        lines = {str(line.get_label()): line for line in panel.lines}
        del lines[SpecHub.title]
        label_ends(panel, lines)
