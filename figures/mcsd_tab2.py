"""MCSD, tables 1, 2, 3, 6 and 7: one draft against trees, on the letters and on the trace."""

from __future__ import annotations

from typing import Any, NamedTuple, TypeAlias

import numpy as np

from figures.contract import Cell, Numbers, Settings, Table
from figures.greedy import Greedy
from figures.long_trees import BEST, kept_in
from figures.means import CHANCE, mean_in_words, of_calls
from figures.on_letters import letter_trees
from figures.registry import item
from figures.tree_starts import PATHS, SEED
from otspec.blocks import as_branching
from otspec.blocks.trees.token_tree import as_text
from otspec.rules import (
    PooledSelection,
    PooledSelectionWithoutReplacement,
    RecursiveRejection,
    RecursiveRejectionWithoutReplacement,
)


class Printed(NamedTuple):
    """A setting of the paper: the best tree, and one draft of the same depth.

    Parameters
    ----------
    table : int
    models : str
        Draft and target.
    data : str
    temperature : int
    tree : str
    tau, tau_alone : str
        Tokens per call of the tree and of one draft of its depth.
    """

    table: int
    models: str
    data: str
    temperature: int
    tree: str
    tau: str
    tau_alone: str

    @property
    def children(self) -> int:
        """The most children of a node."""
        return max(as_branching(self.tree))

    @property
    def alone(self) -> str:
        """The tree of one draft that is as deep."""
        return as_text((1,) * len(as_branching(self.tree)))


def _printed() -> tuple[Printed, ...]:
    rows = []
    for line in _ROWS.strip().splitlines():
        table, data, temperature, *cells = line.split()
        draft = "LLaMA-68M" if table in "26" else "LLaMA-160M"
        size = "33B" if table in "23" else "13B"
        for target, (tree, tau, alone) in zip(
            ("LLaMA", "Vicuna"), (cells[:3], cells[3:]), strict=True
        ):
            models = f"{draft}, {target}-{size}"
            rows.append(Printed(int(table), models, data, int(temperature), tree, tau, alone))
    return tuple(rows)


_ROWS = """
2 Alpaca 0 4x2x2x1x1 3.93 3.19 8x2x1x1 2.56 1.97
2 Alpaca 1 8x2x1x1 2.71 1.98 16x1x1 2.10 1.53
2 WMT 0 4x2x2x1x1 2.87 2.38 16x2 1.73 1.29
2 WMT 1 8x2x1 2.08 1.63 16x2 1.70 1.26
3 Alpaca 0 4x2x2x1 3.87 3.20 8x2x2 2.59 1.97
3 Alpaca 1 8x2x2 2.79 2.05 16x2 2.21 1.60
3 WMT 0 8x2x1x1 2.96 2.42 32 1.66 1.25
3 WMT 1 16x2 2.14 1.62 32 1.63 1.25
6 Alpaca 0 2x2x2x1x1 3.89 3.35 8x2 2.18 1.72
6 Alpaca 1 4x2x2 2.45 1.93 16x1 2.00 1.50
6 WMT 0 4x2x1 2.37 2.05 8x1 1.85 1.52
6 WMT 1 8x2 1.95 1.55 16x1 1.72 1.34
7 Alpaca 0 4x2x2 3.36 2.91 4x4 2.25 1.83
7 Alpaca 1 8x2 2.37 1.90 32 1.83 1.42
7 WMT 0 16x1 2.31 1.94 16 1.68 1.39
7 WMT 1 32 1.81 1.43 32 1.68 1.29
"""
"""Table, data, temperature, and for either target the tree, "Ours" and "SD (same γ)"."""
PRINTED = _printed()
ALPHA = {
    0: "0.76 0.55 0.75 0.58 0.49 0.36 0.52 0.22 0.80 0.59 0.78 0.61 0.54 0.39 0.54 0.25",
    1: "0.51 0.39 0.51 0.38 0.36 0.25 0.35 0.24 0.57 0.43 0.57 0.42 0.42 0.29 0.42 0.25",
}
"""Table 1: temperature → the acceptance of one draft for all models and data."""
PAPERS = "recursive rejection (distinct)"
RULES: dict[str, Any] = {
    rule.title: rule
    for rule in (
        RecursiveRejection,
        RecursiveRejectionWithoutReplacement,
        PooledSelection,
        PooledSelectionWithoutReplacement,
    )
}
QUICK_CHILDREN = 2
"""If quick no node has more children."""


Trees: TypeAlias = list[tuple[int, str]]
"""Temperatures and trees."""


def _rules(temperature: int) -> dict[str, Any]:
    """Return the rules that make a difference: all distinct drafts are alike at T = 0."""
    return {PAPERS: Greedy} if temperature == 0 else RULES


def _on_letters(trees: Trees) -> dict[tuple[int, str, str], float]:
    found = {}
    for wanted in (0, 1):
        for name, rule in _rules(wanted).items():
            verified = letter_trees(rule)
            for temperature, tree in trees:
                if temperature == wanted:
                    calls = verified.tokens_per_call(as_branching(tree))
                    found[temperature, tree, name] = calls
    return found


def _on_trace(settings: Settings, trees: Trees) -> dict[tuple[int, str, str], tuple[float, ...]]:
    kept = kept_in(BEST, settings)
    return {
        (temperature, tree, name): tuple(1 + each for each in values)
        for temperature, tree in trees
        if temperature == 1
        for name, values in kept.get(tree, {}).items()
        if name in RULES
    }


def _alpha(settings: Settings, temperature: int) -> tuple[float, tuple[float, ...]]:
    """Return the acceptance of one draft on the letters, and at the positions of the trace."""
    rule: Any = Greedy if temperature == 0 else RecursiveRejection
    letters = letter_trees(rule).tokens_per_call((1,)) - 1
    return letters, tuple(float(rule(*pair, 1).acceptance()) for pair in settings.pairs())


@item("mcsd_tab2", "MCSD, tables 1, 2, 3, 6 and 7", seed=SEED, traced=True)
class BestTrees(Table):
    """Tokens per call of the paper's best trees, and of one draft that is as deep.

    Parameters
    ----------
    letters : dict
        Temperature, tree and rule → tokens per call at a random place of the letters.
    trace : dict
        Temperature, tree and rule → tokens per call on each drafted block of the trace.
    alpha : dict
        Temperature → the acceptance of one draft, on the letters and at each position of the trace.
    """

    title = "Tokens per call of the paper's best trees and of one draft, T = 0 and T = 1"

    letters: dict[tuple[int, str, str], float]
    trace: dict[tuple[int, str, str], tuple[float, ...]]
    alpha: dict[int, tuple[float, tuple[float, ...]]]

    @classmethod
    def compute(cls, settings: Settings) -> BestTrees:
        """Return all numbers; of small trees only, if quick."""
        shown = [row for row in PRINTED if not settings.quick or row.children <= QUICK_CHILDREN]
        trees = {(row.temperature, tree): None for row in shown for tree in (row.tree, row.alone)}
        wanted = list(trees)
        return cls(
            _on_letters(wanted),
            _on_trace(settings, wanted),
            {temperature: _alpha(settings, temperature) for temperature in ALPHA},
        )

    def numbers(self) -> Numbers:
        """Return one row for each setting of the paper whose tree was computed."""
        columns = ["table", "models", "data", "T", "tree", "paper: tree", "paper: one draft"]
        columns += ["letters: one draft", *(f"letters: {rule}" for rule in RULES)]
        columns += ["trace: one draft", "95% interval"]
        columns += [part for rule in RULES for part in (f"trace: {rule}", "95% interval")]
        rows: list[tuple[Cell, ...]] = []
        for row in PRINTED:
            key = row.temperature, row.tree
            if (*key, PAPERS) not in self.letters:
                continue
            alone = row.temperature, row.alone, PAPERS
            cells: list[Cell] = [row.table, row.models, row.data, *key, row.tau, row.tau_alone]
            cells.append(self.letters[alone])
            cells += [self.letters.get((*key, rule), "") for rule in RULES]
            for of in (alone, *((*key, rule) for rule in RULES)):
                depth = len(as_branching(row.tree))
                known = of in self.trace
                cells += mean_in_words(self.trace[of], of_calls(depth)) if known else ("", "")
            rows.append(tuple(cells))
        return Numbers(tuple(columns), tuple(rows))

    def gains(self, temperature: int) -> dict[str, list[float]]:
        """Return by what factors trees beat one draft: the paper's, and ours by rule."""
        found: dict[str, list[float]] = {}
        for row in PRINTED:
            key, alone = (row.temperature, row.tree), (row.temperature, row.alone, PAPERS)
            if row.temperature != temperature or (*key, PAPERS) not in self.letters:
                continue
            found.setdefault("paper", []).append(float(row.tau) / float(row.tau_alone))
            for rule in _rules(temperature):
                gain = self.letters[*key, rule] / self.letters[alone]
                found.setdefault(f"letters, {rule}", []).append(gain)
                if (*key, rule) in self.trace:
                    means = [float(np.mean(self.trace[of])) for of in ((*key, rule), alone)]
                    found.setdefault(f"trace, {rule}", []).append(means[0] / means[1])
        return found

    def notes(self) -> list[str]:
        """Say what a tree gains over one draft, and what other rules would have gained."""
        said = [
            (
                "Other models: ours are the letters at a random place, exact but for rounding and "
                f"for recursive rejection of more than four distinct drafts ({PATHS} simulated "
                "rejections after each two letters), and drafted blocks of the trace, whose "
                "rejections of more than two distinct drafts are simulated as often."
            ),
            (
                "At T = 0 the likeliest tokens are drafted, and all rules for them are one; i.i.d. "
                "drafts are then a single one. The trace was drafted at T = 1 and says nothing of "
                "trees at T = 0. One draft is as deep as the tree: the paper's SD (same γ). On "
                "the letters 32 distinct drafts are all 27 symbols."
            ),
        ]
        for temperature, (letters, trace) in self.alpha.items():
            printed = [float(cell) for cell in ALPHA[temperature].split()]
            mean, interval = mean_in_words(trace, CHANCE)
            said.append(
                f"Table 1, acceptance of one draft at T = {temperature}: paper {min(printed):.2f} "
                f"to {max(printed):.2f}; letters {letters:.3f}; trace {mean:.3f} ({interval})."
            )
            for name, factors in self.gains(temperature).items():
                said.append(
                    f"A tree over one draft, T = {temperature}, {name}: {min(factors):.2f} to "
                    f"{max(factors):.2f} times."
                )
        return said
