"""SpecHub, figures 1, 7 and 8: binary trees by their nodes and by temperature."""

from __future__ import annotations

from itertools import repeat
from typing import Any

import numpy as np

from figures.axes import name_rules, rule_lines
from figures.contract import Cell, Numbers, Picture, Settings
from figures.long_trees import BINARY, kept_in
from figures.means import in_words, of_calls, radius
from figures.on_letters import LetterTrees, Warping, letter_pair
from figures.registry import item
from otspec.logged.comparison import mean_and_error

LEVELS = (1, 2, 3, 4)
"""Of drafted tokens. The paper's depth counts the root, too: with it there are 3 to 31 nodes."""
TEMPERATURES, QUICK_TEMPERATURES = (0.2, 0.4, 0.6, 0.8, 1.0), (1.0,)
"""Of draft and target."""
RULES = BINARY.rules
RRS, RRSW, HUB, POOLED, BEST = (rule.title for rule in RULES)
PRINTED = {
    (1, RRS): 1.5432,
    (1, RRSW): 1.5521,
    (1, HUB): 1.5997,
    (2, RRS): 1.8384,
    (2, RRSW): 1.8790,
    (2, HUB): 1.9832,
    (3, RRS): 1.9762,
    (3, RRSW): 2.0441,
    (3, HUB): 2.2106,
    (4, RRS): 2.0694,
    (4, RRSW): 2.1383,
    (4, HUB): 2.3104,
}
"""Figure 1 (a), as in table 5: levels and rule → batch efficiency of JF68m on CNN at T = 1."""


@item("spechub_fig7", "SpecHub, figures 1, 7 and 8", size=(7.0, 2.6), panels=(1, 3), traced=True)
class BinaryTrees(Picture):
    """Tokens per call of trees whose nodes have two children.

    Parameters
    ----------
    letters : dict
        Rule → tokens per call on the letters for each number of levels, at temperature 1.
    temperatures : tuple of float
    deepest : dict
        Rule → tokens per call of the deepest tree on the letters for each temperature.
    trace : dict
        Rule → mean tokens per call and its standard error for each number of levels.
    blocks : int
        How many of the trace these are means over.
    """

    title = "Binary trees by their nodes, and by temperature"

    letters: dict[str, tuple[float, ...]]
    temperatures: tuple[float, ...]
    deepest: dict[str, tuple[float, ...]]
    trace: dict[str, tuple[tuple[float, float], ...]]
    blocks: int

    @classmethod
    def compute(cls, settings: Settings) -> BinaryTrees:
        """Return all numbers; at one temperature if quick."""
        temperatures = QUICK_TEMPERATURES if settings.quick else TEMPERATURES
        letters, deepest, trace = {}, {}, {}
        kept = kept_in(BINARY, settings)
        for rule in RULES:
            trees = {
                temperature: LetterTrees(letter_pair(Warping(temperature, temperature)), rule)
                for temperature in temperatures
            }
            letters[rule.title] = tuple(
                trees[1.0].tokens_per_call((2,) * levels) for levels in LEVELS
            )
            deepest[rule.title] = tuple(
                each.tokens_per_call((2,) * LEVELS[-1]) for each in trees.values()
            )
            trace[rule.title] = tuple(
                mean_and_error([1 + each for each in kept[tree][rule.title]])
                for tree in BINARY.trees[: LEVELS[-1]]
                if tree in kept
            )
        return cls(letters, temperatures, deepest, trace, len(kept["2"][RRS]))

    def numbers(self) -> Numbers:
        """Return one row for each setting, number of levels, temperature and rule."""
        rows: list[tuple[Cell, ...]] = []
        for (levels, rule), value in PRINTED.items():
            rows.append(("paper, JF68m on CNN", levels, 1.0, rule, value, ""))
        for rule, values in self.letters.items():
            rows += [("letters", *row) for row in zip(LEVELS, repeat(1.0), repeat(rule), values,
                     repeat("exact"), strict=False)]  # fmt: skip
        for rule, values in self.deepest.items():
            rows += [("letters", LEVELS[-1], *row) for row in zip(self.temperatures, repeat(rule),
                     values, repeat("exact"), strict=False)]  # fmt: skip
        for rule, means in self.trace.items():
            for levels, (mean, error) in zip(LEVELS, means, strict=False):
                interval = in_words(mean, error, self.blocks, of_calls(levels))
                rows.append(("trace", levels, 1.0, rule, mean, interval))
        columns = ("models", "levels", "T", "rule", "tokens per call", "95% interval")
        return Numbers(columns, tuple(rows))

    def draw(self, axes: list[Any]) -> None:
        """Draw the nodes on the letters and on the trace, and temperature on the letters."""
        left, middle, right = axes
        rule_lines(left, LEVELS, self.letters)
        for rule, means in self.trace.items():
            values, errors = np.transpose(means)
            rule_lines(middle, LEVELS[: len(values)], {rule: values})
            if rule in (RRS, BEST):
                wide = radius(1.0, self.blocks) * errors
                color = middle.lines[-1].get_color()
                middle.fill_between(LEVELS[: len(values)], np.maximum(values - wide, 1),
                                    values + wide, color=color, alpha=0.1, linewidth=0)  # fmt: skip
        rule_lines(right, self.temperatures, self.deepest)
        for panel, title in zip(axes, ("letters, T = 1", "trace, T = 1", "letters, 31 nodes"),
                                strict=True):  # fmt: skip
            panel.set_title(title)
        for panel in (left, middle):
            panel.set_xticks(LEVELS, [str(2 ** (levels + 1) - 1) for levels in LEVELS])
            panel.set_xlabel("nodes, with the root")
        right.set(xlabel="temperature T", xticks=self.temperatures)
        left.set_ylabel("tokens per call")
        name_rules(right)
