"""MCSD, table 4: trees of drafts under three ways to verify, on the letters and on the trace."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from figures.contract import Cell, Numbers, Settings, Table
from figures.long_trees import BEST, kept_in
from figures.means import mean_in_words, of_calls, radius
from figures.on_letters import letter_trees
from figures.registry import item
from figures.tree_starts import PATHS, SEED
from otspec.blocks import as_branching
from otspec.logged.comparison import mean_and_error
from otspec.rules import (
    NaiveSampling,
    PooledSelection,
    PooledSelectionWithoutReplacement,
    RecursiveRejection,
    RecursiveRejectionWithoutReplacement,
)

PAPERS: dict[str, Any] = {
    "MCSS w/o replacement": RecursiveRejectionWithoutReplacement,
    "MCSS w/ replacement": RecursiveRejection,
    "MCNS": NaiveSampling,
}
"""The paper's names, in its order."""
RULES: dict[str, Any] = PAPERS | {
    rule.title: rule for rule in (PooledSelectionWithoutReplacement, PooledSelection)
}
"""Those and the best rules for distinct and for i.i.d. drafts."""
PRINTED: dict[tuple[str, str], tuple[tuple[float, float], ...]] = {
    ("LLaMA-13B", "4x2x2"): ((1.91, 2.45), (1.89, 2.39), (1.21, 1.52)),
    ("Vicuna-13B", "16x1"): ((1.64, 2.00), (1.55, 1.95), (1.45, 1.78)),
    ("LLaMA-33B", "8x2x1x1"): ((2.17, 2.71), (2.04, 2.55), (1.33, 1.65)),
    ("Vicuna-33B", "16x1x1"): ((1.73, 2.10), (1.66, 2.01), (1.50, 1.80)),
}
"""Target and its best tree → speedup and tokens per call, rule by rule, with tree attention."""
TREES = tuple(tree for _, tree in PRINTED)
QUICK_RULES = ("MCSS w/ replacement", "MCNS", PooledSelection.title)


@item("mcsd_tab4", "MCSD, table 4", seed=SEED, traced=True)
class Ablation(Table):
    """Tokens per call of the target, tree by tree.

    Parameters
    ----------
    letters : dict
        Tree and rule → tokens per call at a random place of the letters.
    trace : dict
        Tree and rule → tokens per call on each drafted block of the trace.
    """

    title = "Tokens per call of trees under three verification algorithms, T = 1"

    letters: dict[tuple[str, str], float]
    trace: dict[tuple[str, str], tuple[float, ...]]

    @classmethod
    def compute(cls, settings: Settings) -> Ablation:
        """Return all numbers; of i.i.d. drafts in the first tree if quick."""
        trees = TREES[:1] if settings.quick else TREES
        kept = kept_in(BEST, settings)
        letters, trace = {}, {}
        for name in QUICK_RULES if settings.quick else RULES:
            rule = RULES[name]
            verified = letter_trees(rule)
            for tree in trees:
                letters[tree, name] = verified.tokens_per_call(as_branching(tree))
                if tree in kept:
                    trace[tree, name] = tuple(1 + each for each in kept[tree][rule.title])
        return cls(letters, trace)

    def numbers(self) -> Numbers:
        """Return one row for each tree and rule."""
        rows: list[tuple[Cell, ...]] = []
        for (target, tree), printed in PRINTED.items():
            papers = dict(zip(PAPERS, printed, strict=True))
            for name in RULES:
                key = tree, name
                if key not in self.letters:
                    continue
                paper = (f"{cell:.2f}" for cell in papers[name]) if name in papers else ("", "")
                trace: tuple[Cell, Cell] = ("", "")
                if key in self.trace:
                    trace = mean_in_words(self.trace[key], of_calls(len(as_branching(tree))))
                rows.append((tree, name, target, *paper, self.letters[key], *trace))
        columns = ("tree", "algorithm", "paper's target", "paper, speedup", "paper, τ",
                   "letters", "trace", "95% interval")  # fmt: skip
        return Numbers(columns, tuple(rows))

    def gain(self, tree: str, first: str, second: str) -> tuple[float, float, float]:
        """Return how much one rule is above another: on the letters, and mean and error there."""
        letters = self.letters[tree, first] - self.letters[tree, second]
        above = np.subtract(self.trace[tree, first], self.trace[tree, second])
        return letters, *mean_and_error(above)

    def notes(self) -> list[str]:
        """Say what orders the algorithms, and by how much."""
        found = [
            (
                "τ is the expected number of tokens per call of the target. The trees are those "
                "that were best for the paper's models, LLaMA-68M and the target named. Ours are "
                "the letters at a random place and drafted blocks of the trace. Speedups are the "
                "paper's: they depend on its machine."
            ),
            (
                "Exact but for rejections of more than four distinct drafts on the letters and "
                f"more than two on the trace, of which {PATHS} are simulated at each place, with "
                "errors far below those of the blocks."
            ),
        ]
        for first, second in pairwise(PAPERS):
            texts = []
            for (_, tree), printed in PRINTED.items():
                if (tree, first) in self.trace and (tree, second) in self.trace:
                    letters, mean, error = self.gain(tree, first, second)
                    wide = radius(error, len(self.trace[tree, first]))
                    place = list(PAPERS).index(first)
                    paper = printed[place][1] - printed[place + 1][1]
                    texts.append(
                        f"{tree} letters {letters:+.3f}, trace {mean:+.3f} ± {wide:.3f}, "
                        f"paper {paper:+.2f}"
                    )
            if texts:
                found.append(f"{first} above {second}, in tokens (± 95%): {'; '.join(texts)}.")
        return found
