"""MCSD, figure 4: block efficiency of trees with two levels, grouped by their budget."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from figures.contract import Numbers, Picture, Settings
from figures.long_trees import BUDGETS, TWO_LEVELS, kept_in
from figures.looks import look
from figures.means import in_words, of_calls, radius
from figures.on_letters import EXACT_DISTINCT, letter_trees
from figures.registry import item
from figures.tree_starts import SEED
from otspec.blocks import as_branching
from otspec.logged.comparison import mean_and_error

LEVELS = 2
"""The paper fixes γ = 2."""
QUICK_BUDGETS = (8,)
RULES = {rule.title: rule for rule in TWO_LEVELS.rules}
RRS, RRSW, POOLED = RULES
QUICK_RULES = (RRS, POOLED)
LETTERS, TRACE = "letters", "trace"


class Means(NamedTuple):
    """Of the trees of one budget, from wide at the top to wide at the bottom.

    Parameters
    ----------
    values, errors : tuple of float
        Tokens per call of the target, and their standard errors over blocks; 0 if exact.
    gains, gain_errors : tuple of float
        Of the tokens that a tree has more than its reverse.
    """

    values: tuple[float, ...]
    errors: tuple[float, ...]
    gains: tuple[float, ...]
    gain_errors: tuple[float, ...]


Key = tuple[str, str, int]
"""Models, rule and budget."""


def _means(rows: list[tuple[float, ...]]) -> Means:
    """Return the means of a budget's trees from what each has in all blocks."""
    columns: list[tuple[float, ...]] = []
    for each in (rows, np.subtract(rows, rows[::-1])):
        columns += zip(*(_mean(row) for row in each), strict=True)
    return Means(*columns)


def _mean(values: Any) -> tuple[float, float]:
    """Return mean and standard error; a single number is exact."""
    return mean_and_error(values) if len(values) > 1 else (float(values[0]), 0.0)


@item("mcsd_fig4", "MCSD, figure 4", size=(7.0, 4.8), panels=(2, 1), seed=SEED, traced=True)
class Budgets(Picture):
    """All groups.

    Parameters
    ----------
    groups : dict
        Models, rule and budget → the means of its trees.
    blocks : int
        How many of the trace they are over.
    """

    title = "Tokens per call for trees of two levels and one budget"

    groups: dict[Key, Means]
    blocks: int

    @classmethod
    def compute(cls, settings: Settings) -> Budgets:
        """Return the groups; of i.i.d. drafts and the smallest budget if quick."""
        budgets = QUICK_BUDGETS if settings.quick else tuple(BUDGETS)
        rules = QUICK_RULES if settings.quick else tuple(RULES)
        kept = kept_in(TWO_LEVELS, settings)
        groups = {}
        for rule in rules:
            verified = letter_trees(RULES[rule])
            for budget in budgets:
                trees = BUDGETS[budget]
                exact = [(verified.tokens_per_call(as_branching(tree)),) for tree in trees]
                groups[LETTERS, rule, budget] = _means(exact)
                logged = [tuple(1 + each for each in kept[tree][rule]) for tree in trees]
                groups[TRACE, rule, budget] = _means(logged)
        return cls(groups, len(kept[BUDGETS[8][0]][RRS]))

    def numbers(self) -> Numbers:
        """Return one row for each tree, rule and models."""
        rows = []
        for (models, rule, budget), means in self.groups.items():
            for tree, value, error, gain, wrong in zip(BUDGETS[budget], *means, strict=True):
                if models == TRACE:
                    interval = in_words(value, error, self.blocks, of_calls(LEVELS))
                    around = in_words(gain, wrong, self.blocks)
                else:
                    drawn = rule == RRSW and max(as_branching(tree)) > EXACT_DISTINCT
                    interval = around = "simulated" if drawn else "exact"
                rows.append((models, rule, budget, tree, value, interval, gain, around))
        columns = ("models", "rule", "budget", "tree", "tokens per call", "95% interval",
                   "minus its reverse", "95% interval")  # fmt: skip
        return Numbers(columns, tuple(rows))

    def draw(self, axes: list[Any]) -> None:
        """Draw the letters above and the trace below, one line for each budget and rule."""
        titles = {
            LETTERS: "letters, at a random place",
            TRACE: f"trace: mean over {self.blocks} drafted blocks, bars: 95% intervals of "
            "recursive rejection",
        }
        for panel, (models, title) in zip(axes, titles.items(), strict=True):
            self._draw_models(panel, models)
            panel.set_title(title)
            panel.set_ylabel("tokens per call")
        axes[0].legend(loc="upper left", ncols=3)
        axes[1].set_xlabel("children at the first and at the second level")

    def _draw_models(self, panel: Any, models: str) -> None:
        names: list[str] = []
        budgets = sorted({budget for _, _, budget in self.groups})
        for budget in budgets:
            places = np.arange(len(BUDGETS[budget])) + len(names)
            names += BUDGETS[budget]
            for rule in (POOLED, RRSW, RRS):
                if (models, rule, budget) not in self.groups:
                    continue
                means = self.groups[models, rule, budget]
                barred = models == TRACE and rule == RRS
                bars = radius(1.0, self.blocks) * np.array(means.errors) if barred else None
                style = look(rule, label=rule if budget == budgets[0] else None)
                panel.errorbar(places, means.values, yerr=bars, elinewidth=0.7, **style)
            if budget != budgets[0]:
                panel.axvline(
                    places[0] - 0.5, ymax=0.84, color="#555555", linewidth=0.7, linestyle=":"
                )
            panel.annotate(f"{budget} sequences", (places.mean(), 0.03), ha="center",
                           xycoords=("data", "axes fraction"))  # fmt: skip
        panel.set_xticks(range(len(names)), names, rotation=45, ha="right",
                         rotation_mode="anchor")  # fmt: skip
        low, high = panel.get_ylim()
        room = 0.22 if models == LETTERS else 0  # for the legend
        panel.set_ylim(low - 0.18 * (high - low), high + room * (high - low))
