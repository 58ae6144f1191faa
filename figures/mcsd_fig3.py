"""MCSD, figures 3 and 5: acceptance against the number of drafts, at temperatures 0 and 1."""

from __future__ import annotations

from itertools import repeat
from typing import Any

import numpy as np

from figures.axes import rule_lines
from figures.contract import Cell, Numbers, Picture, Settings
from figures.registry import item
from otspec.distributions import Distribution
from otspec.rules import RecursiveRejection, RecursiveRejectionWithoutReplacement
from otspec.rules.distinct_paths import DistinctPaths
from otspec.traces.charts import against_counts

KS = (1, 2, 4, 8, 16, 32, 64)
QUICK_KS = KS[:4]
PATHS, QUICK_PATHS = 500, 100
SEED = 0
RRS, RRSW = RecursiveRejection.title, RecursiveRejectionWithoutReplacement.title
PRINTED: dict[tuple[str, str, str], tuple[tuple[float, float], tuple[float, float]]] = {
    ("LLaMA-68M", "LLaMA-13B", "Alpaca"): ((0.76, 0.88), (0.51, 0.72)),
    ("LLaMA-68M", "Vicuna-13B", "Alpaca"): ((0.49, 0.67), (0.35, 0.57)),
    ("LLaMA-68M", "LLaMA-13B", "WMT"): ((0.55, 0.68), (0.39, 0.56)),
    ("LLaMA-68M", "Vicuna-13B", "WMT"): ((0.36, 0.51), (0.25, 0.41)),
    ("LLaMA-160M", "LLaMA-13B", "Alpaca"): ((0.80, 0.91), (0.57, 0.76)),
    ("LLaMA-160M", "Vicuna-13B", "Alpaca"): ((0.54, 0.73), (0.42, 0.63)),
    ("LLaMA-160M", "LLaMA-13B", "WMT"): ((0.59, 0.72), (0.43, 0.61)),
    ("LLaMA-160M", "Vicuna-13B", "WMT"): ((0.39, 0.54), (0.29, 0.45)),
}
"""Table 8: draft, target and data → at T = 0 and T = 1, the acceptance of 1 and of 4 drafts."""
PRINTED_KS = (1, 4)


def rank_of_best(draft: Distribution, target: Distribution) -> int:
    """Return the place of the target's likeliest token among the draft's, from 1."""
    best = int(np.argmax(target))
    before = (draft > draft[best]).sum() + (draft[:best] == draft[best]).sum()
    return 1 + int(before)


@item("mcsd_fig3", "MCSD, figures 3 and 5", size=(7.0, 2.8), panels=(1, 2), seed=SEED, traced=True)
class AcceptanceCurves(Picture):
    """Means over the positions of the trace.

    Parameters
    ----------
    ks : tuple of int
    acceptance : dict
        Temperature and rule → the mean for each k.
    errors : tuple of float
        For distinct drafts at temperature 1, the standard error of the simulation for each k; 0
        for k ≤ 2, where the acceptance is exact.
    """

    title = "Acceptance against the number of drafts, T = 0 and T = 1 (figures 3 and 5)"

    ks: tuple[int, ...]
    acceptance: dict[tuple[int, str], tuple[float, ...]]
    errors: tuple[float, ...]

    @classmethod
    def compute(cls, settings: Settings) -> AcceptanceCurves:
        """Return all curves."""
        ks = QUICK_KS if settings.quick else KS
        size = QUICK_PATHS if settings.quick else PATHS
        found: dict[tuple[int, str], list[list[float]]] = {}
        errors = []
        for draft, target in settings.pairs():
            rank = rank_of_best(draft, target)
            means, spread = DistinctPaths(draft, target, max(ks), size, SEED).acceptances()
            for k in (1, 2):
                means[k] = RecursiveRejectionWithoutReplacement(draft, target, k).acceptance()
                spread[k] = 0.0
            errors.append(spread[list(ks)])
            rejection = np.cumsum(RecursiveRejection(draft, target, max(ks)).acceptance_by_draft())
            rows = {
                (0, RRSW): [float(rank <= k) for k in ks],
                (0, RRS): [float(rank == 1)] * len(ks),
                (1, RRSW): means[list(ks)].tolist(),
                (1, RRS): [float(rejection[k - 1]) for k in ks],
            }
            for key, row in rows.items():
                found.setdefault(key, []).append(row)
        return cls(
            ks,
            {key: tuple(np.mean(rows, axis=0).tolist()) for key, rows in found.items()},
            tuple((np.sqrt(np.square(errors).sum(axis=0)) / len(errors)).tolist()),
        )

    def numbers(self) -> Numbers:
        """Return one row for each temperature, rule and k, and the paper's."""
        rows: list[tuple[Cell, ...]] = []
        for (temperature, rule), values in self.acceptance.items():
            errors = self.errors if (temperature, rule) == (1, RRSW) else (0.0,) * len(values)
            rows += [
                ("ours, trace", temperature, rule, k, value, error)
                for k, value, error in zip(self.ks, values, errors, strict=True)
            ]
        for models, printed in PRINTED.items():
            rows += [
                (f"MCSD, table 8: {', '.join(models)}", temperature, RRSW, k, value, "")
                for temperature, both in enumerate(printed)
                for k, value in zip(PRINTED_KS, both, strict=True)
            ]
        columns = ("models", "T", "rule", "k", "acceptance", "simulation s.e.")
        return Numbers(columns, tuple(rows))

    def draw(self, axes: list[Any]) -> None:
        """Draw one panel for each temperature."""
        for temperature, panel in enumerate(axes):
            for index, printed in enumerate(PRINTED.values()):
                label = "distinct, MCSD's models (table 8)" if index == 0 else None
                panel.plot(PRINTED_KS, printed[temperature], color="#AAAAAA", linewidth=0.8,
                           marker=".", markersize=3, zorder=1, label=label)  # fmt: skip
            lines = {rule: self.acceptance[temperature, rule] for rule in (RRSW, RRS)}
            rule_lines(panel, self.ks, lines, styles=repeat({"clip_on": False}))
            against_counts(panel, self.ks)
            panel.set(ylim=(0, 1), title=f"T = {temperature}{', argmax' * (temperature == 0)}")
        axes[0].set_ylabel("acceptance")
        axes[1].legend(loc="lower right")
