"""MCSD, figures 3 and 5: acceptance against the number of drafts, at temperatures 0 and 1."""

from __future__ import annotations

from itertools import product, repeat
from typing import Any

import numpy as np

from figures.axes import legend_outside, rule_lines
from figures.contract import Cell, Numbers, Picture, Settings
from figures.greedy import Greedy
from figures.long_positions import BEST, KS, RRS, RRSW, accepted_in_texts, column
from figures.means import CHANCE, in_words, radius
from figures.on_letters import EXACT_DISTINCT, letter_trees
from figures.registry import item
from figures.tree_starts import SEED
from otspec.logged.comparison import mean_and_error
from otspec.plots.axes import against_counts
from otspec.rules import (
    PooledSelectionWithoutReplacement,
    RecursiveRejection,
    RecursiveRejectionWithoutReplacement,
)

LETTER_KS, QUICK_KS = KS[:-1], KS[:2]
"""32 distinct drafts are all 27 letters."""
LETTERS, TRACE = "letters", "trace"
RULES: dict[str, Any] = {
    BEST: PooledSelectionWithoutReplacement,
    RRSW: RecursiveRejectionWithoutReplacement,
    RRS: RecursiveRejection,
}
"""The best rule for distinct drafts, and the paper's with and without replacement."""
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


def on_letters(temperature: int, rule: str, ks: tuple[int, ...]) -> tuple[float, ...]:
    """Return what a rule accepts at a random place of the letters."""
    if temperature == 0:
        trees, counts = letter_trees(Greedy), (1 if rule == RRS else k for k in ks)
    else:
        trees, counts = letter_trees(RULES[rule]), iter(ks)
    return tuple(trees.tokens_per_call((k,)) - 1 for k in counts)


@item("mcsd_fig3", "MCSD, figures 3 and 5", size=(7.0, 4.6), panels=(2, 2), seed=SEED, traced=True)
class AcceptanceCurves(Picture):
    """Acceptance on the letters, and at a position of each text of the trace.

    Parameters
    ----------
    letters : dict
        Temperature and rule → the acceptance of each k, to 32.
    trace : dict
        Temperature and rule → the mean of each k, and its standard error.
    texts : int
        How many of the trace these are means over.
    """

    title = "Acceptance against the number of drafts, T = 0 and T = 1 (figures 3 and 5)"

    letters: dict[tuple[int, str], tuple[float, ...]]
    trace: dict[tuple[int, str], tuple[tuple[float, float], ...]]
    texts: int

    @classmethod
    def compute(cls, settings: Settings) -> AcceptanceCurves:
        """Return all curves; on the letters to two drafts if quick."""
        ks = QUICK_KS if settings.quick else LETTER_KS
        accepted = accepted_in_texts(settings)
        settled = list(product((0, 1), RULES))
        letters = {(t, rule): on_letters(t, rule, ks) for t, rule in settled}
        trace = {
            (t, rule): tuple(mean_and_error(accepted[column(t, k)][rule]) for k in KS)
            for t, rule in settled
        }
        return cls(letters, trace, len(accepted[column(0, 1)][RRS]))

    def numbers(self) -> Numbers:
        """Return one row for each models, temperature, rule and k, and the paper's."""
        rows: list[tuple[Cell, ...]] = []
        for (temperature, rule), values in self.letters.items():
            for k, value in zip(KS, values, strict=False):
                drawn = temperature == 1 and rule == RRSW and k > EXACT_DISTINCT
                how = "simulated" if drawn else "exact"
                rows.append((LETTERS, temperature, rule, k, value, how))
        for (temperature, rule), means in self.trace.items():
            for k, (mean, error) in zip(KS, means, strict=True):
                interval = in_words(mean, error, self.texts, CHANCE)
                rows.append((TRACE, temperature, rule, k, mean, interval))
        for models, printed in PRINTED.items():
            rows += [
                (f"MCSD, table 8: {', '.join(models)}", temperature, RRSW, k, value, "")
                for temperature, both in enumerate(printed)
                for k, value in zip(PRINTED_KS, both, strict=True)
            ]
        columns = ("models", "T", "rule", "k", "acceptance", "95% interval")
        return Numbers(columns, tuple(rows))

    def draw(self, axes: list[Any]) -> None:
        """Draw the letters above and the trace below, T = 0 to the left."""
        for panel, (models, temperature) in zip(
            axes, product((LETTERS, TRACE), (0, 1)), strict=True
        ):
            for index, printed in enumerate(PRINTED.values()):
                label = "distinct, MCSD's models (table 8)" if index == 0 else None
                panel.plot(PRINTED_KS, printed[temperature], color="#AAAAAA", linewidth=0.8,
                           marker=".", markersize=3, zorder=1, label=label)  # fmt: skip
            self._draw_lines(panel, models, temperature)
            against_counts(panel, KS)
            argmax = ", argmax" * (temperature == 0)
            panel.set(ylim=(0, 1), title=f"{models}, T = {temperature}{argmax}")
        for panel in axes[::2]:
            panel.set_ylabel("acceptance")
        legend_outside(axes[1])

    def _draw_lines(self, panel: Any, models: str, temperature: int) -> None:
        shown = [rule for rule in RULES if (temperature, rule) != (0, BEST)]
        if models == LETTERS:
            lines = {rule: self.letters[temperature, rule] for rule in shown}
            count = len(lines[RRS])
            rule_lines(panel, KS[:count], lines, styles=repeat({"clip_on": False}))
            return
        for rule in shown:
            means, errors = np.transpose(self.trace[temperature, rule])
            rule_lines(panel, KS, {rule: means}, styles=repeat({"clip_on": False}))
            if rule == RRSW:
                wide = radius(1.0, self.texts) * errors
                ends = np.clip(means - wide, 0, 1), np.clip(means + wide, 0, 1)
                panel.fill_between(KS, *ends, color=panel.lines[-1].get_color(), alpha=0.12,
                                   linewidth=0)  # fmt: skip
