"""MCSD, figure 4: block efficiency of trees with two levels, grouped by their budget."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from figures.contract import Numbers, Picture, Settings
from figures.looks import look
from figures.registry import item
from figures.tree_starts import means_and_errors, starts
from otspec.arithmetic import Array
from otspec.blocks import configurations, random_pair, sweep
from otspec.rules import RecursiveRejection, RecursiveRejectionWithoutReplacement
from otspec.trees.branching import as_text

LEVELS = 2
"""The paper fixes γ = 2."""
BUDGETS, QUICK_BUDGETS = (8, 16, 32), (4, 8)
PATHS, QUICK_PATHS = 500, 50
SEED = 0
TOKENS, DIVERGENCE = 8, 0.5
"""Of the toy model: two Markov chains that differ by this total variation after every token."""
RRS, RRSW = RecursiveRejection.title, RecursiveRejectionWithoutReplacement.title
TRACE, TOY = "trace", "Markov chains"


@dataclass(frozen=True)
class Group:
    """The trees of one budget, from wide at the top to wide at the bottom."""

    budget: int
    """Candidate sequences of each tree."""
    trees: tuple[str, ...]
    efficiency: dict[tuple[str, str], tuple[float, ...]]
    """Models and rule → tokens per call of the target, tree by tree."""
    errors: dict[tuple[str, str], tuple[float, ...]]
    """Their standard errors over places of the trace; 0 if exact."""
    gains: dict[tuple[str, str], tuple[float, ...]]
    """Of the tokens that a tree has more than its reverse."""
    gain_errors: dict[tuple[str, str], tuple[float, ...]]


def _group(budget: int, trees: tuple[str, ...], rows: dict[tuple[str, str], Array]) -> Group:
    columns: list[dict[tuple[str, str], tuple[float, ...]]] = [{}, {}, {}, {}]
    for key, values in rows.items():
        pairs = (values, values - values[:, ::-1])
        for i, each in enumerate(pairs):
            if key[0] == TOY:
                means, errors = tuple(each[0].tolist()), (0.0,) * len(trees)
            else:
                means, errors = means_and_errors(each)
            columns[2 * i][key], columns[2 * i + 1][key] = means, errors
    return Group(budget, trees, *columns)


@item("mcsd_fig4", "MCSD, figure 4", size=(7.0, 4.8), panels=(2, 1), seed=SEED, traced=True)
class Budgets(Picture):
    """All groups.

    Parameters
    ----------
    groups : tuple of Group
    places : int
        Places of the trace that the means are over.
    """

    title = "Tokens per call for trees of two levels and one budget"

    groups: tuple[Group, ...]
    places: int

    @classmethod
    def compute(cls, settings: Settings) -> Budgets:
        """Return the groups."""
        budgets = QUICK_BUDGETS if settings.quick else BUDGETS
        size = QUICK_PATHS if settings.quick else PATHS
        trees = {budget: list(reversed(list(configurations(budget, LEVELS)))) for budget in budgets}
        found: dict[tuple[int, str], list[list[float]]] = {}
        for start in starts(settings, LEVELS, max(budgets), size, SEED):
            for budget in budgets:
                for name, rule in ((RRSW, start.distinct), (RRS, RecursiveRejection)):
                    row = [start.efficiency(tree, rule) for tree in trees[budget]]
                    found.setdefault((budget, name), []).append(row)
        chains = random_pair(TOKENS, DIVERGENCE, np.random.default_rng(SEED))
        groups = []
        for budget in budgets:
            rows = {(TRACE, rule): np.array(found[budget, rule]) for rule in (RRSW, RRS)}
            known = sweep(*chains, budget, LEVELS, RecursiveRejection, merge=False)
            exact = {each.branching: float(each.efficiency) for each in known}
            rows[TOY, RRS] = np.array([[exact[tree] for tree in trees[budget]]])
            groups.append(_group(budget, tuple(map(as_text, trees[budget])), rows))
        return cls(tuple(groups), len(found[budgets[0], RRS]))

    def numbers(self) -> Numbers:
        """Return one row for each tree, rule and models."""
        rows = [
            (models, rule, group.budget, tree, values[i], group.errors[models, rule][i],
             group.gains[models, rule][i], group.gain_errors[models, rule][i])
            for group in self.groups
            for (models, rule), values in group.efficiency.items()
            for i, tree in enumerate(group.trees)
        ]  # fmt: skip
        columns = ("models", "rule", "budget", "tree", "tokens per call", "s.e.",
                   "minus its reverse", "s.e. of that")  # fmt: skip
        return Numbers(columns, tuple(rows))

    def draw(self, axes: list[Any]) -> None:
        """Draw the trace above and the Markov chains below, one line for each budget and rule."""
        titles = {
            TRACE: f"language models: mean over {self.places} places of the trace, "
            "bars: standard errors over places",
            TOY: f"two Markov chains over {TOKENS} tokens, exact",
        }
        for panel, (models, title) in zip(axes, titles.items(), strict=True):
            names: list[str] = []
            for group in self.groups:
                places = np.arange(len(group.trees)) + len(names)
                names += group.trees
                for (shown, rule), values in group.efficiency.items():
                    if shown == models:
                        style = look(rule, label=rule if group is self.groups[0] else None)
                        aside = 0.12 if rule == RRSW else -0.12
                        panel.errorbar(places + (aside if models == TRACE else 0), values,
                                       yerr=group.errors[models, rule] if models == TRACE else None,
                                       elinewidth=0.7, **style)  # fmt: skip
                if len(names) > len(group.trees):
                    panel.axvline(
                        places[0] - 0.5, ymax=0.86, color="#555555", linewidth=0.7, linestyle=":"
                    )
                panel.annotate(f"{group.budget} sequences", (places.mean(), 0.03), ha="center",
                               xycoords=("data", "axes fraction"))  # fmt: skip
            panel.set_xticks(range(len(names)), names, rotation=45, ha="right",
                             rotation_mode="anchor")  # fmt: skip
            low, high = panel.get_ylim()
            room = 0.25 if models == TRACE else 0  # for the legend
            panel.set_ylim(low - 0.18 * (high - low), high + room * (high - low))
            panel.set_title(title)
            panel.set_ylabel("tokens per call")
        axes[0].legend(loc="upper left", ncols=2)
        axes[1].set_xlabel("children at the first and at the second level")
