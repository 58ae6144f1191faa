"""Tokens per call for all trees of eight candidate sequences of three tokens, rule by rule."""

from __future__ import annotations

from itertools import repeat
from typing import Any

import numpy as np

from figures.axes import name_rules, rule_lines
from figures.contract import Numbers, Picture, Settings
from figures.registry import item
from otspec.blocks import DraftSelection, TokenVerification, configurations, sweep
from otspec.blocks.trees.token_tree import as_text
from otspec.models import random_pair
from otspec.rules import (
    KSequential,
    PairRule,
    PooledSelection,
    PooledSelectionWithoutReplacement,
    RecursiveRejection,
    RecursiveRejectionWithoutReplacement,
    SpecHub,
)

TOKENS = 3
DIVERGENCE = 0.4
SEED = 5
BUDGET = 8
LENGTH = 3
RULES: tuple[type[PairRule], ...] = (
    PooledSelection,
    KSequential,
    RecursiveRejection,
    RecursiveRejectionWithoutReplacement,
    PooledSelectionWithoutReplacement,
)


@item("block_trees", "ours, after MCSD, figure 4", size=(7.0, 4.4), seed=SEED)
class BlockTrees(Picture):
    """Exact block efficiencies on one pair of Markov chains.

    Parameters
    ----------
    trees : tuple of str
        The k-configurations, from the widest at the top to the widest at the bottom.
    efficiency : dict
        Rule → tokens per call of the target, tree by tree.
    spechub : float
        SpecHub's on the binary tree 2x2x2, the only one that it serves.
    single : float
        One draft of the same length, verified token by token.
    """

    title = f"Tokens per call for trees of {BUDGET} candidate sequences, two Markov chains"

    trees: tuple[str, ...]
    efficiency: dict[str, tuple[float, ...]]
    spechub: float
    single: float

    @classmethod
    def compute(cls, settings: Settings) -> BlockTrees:
        """Return the numbers; if quick those of two rules."""
        draft, target = random_pair(TOKENS, DIVERGENCE, np.random.default_rng(SEED))
        trees = tuple(as_text(tree) for tree in reversed(list(configurations(BUDGET, LENGTH))))
        found: dict[str, tuple[float, ...]] = {}
        for rule in RULES[1::2] if settings.quick else RULES:
            worth = {
                tree.name: tree.efficiency for tree in sweep(draft, target, BUDGET, LENGTH, rule)
            }
            found[rule.title] = tuple(float(worth[tree]) for tree in trees)
        hub = DraftSelection(draft, target, "2x2x2", SpecHub).efficiency()
        single = TokenVerification(draft, target, LENGTH).efficiency()
        return cls(trees, found, float(hub), float(single))

    def numbers(self) -> Numbers:
        """Return one row for each rule and tree."""
        rows = [
            (rule, tree, value)
            for rule, values in self.efficiency.items()
            for tree, value in zip(self.trees, values, strict=True)
        ]
        rows += [(SpecHub.title, "2x2x2", self.spechub), ("one draft", "1x1x1", self.single)]
        return Numbers(("rule", "tree", "tokens per call"), tuple(rows))

    def draw(self, axes: list[Any]) -> None:
        """Draw a mark for each rule and tree."""
        (panel,) = axes
        places = range(len(self.trees))
        rule_lines(panel, places, self.efficiency, styles=repeat({"linestyle": ""}))
        binary = [self.trees.index("2x2x2")]
        rule_lines(panel, binary, {SpecHub.title: [self.spechub]}, styles=[{"linestyle": ""}])
        panel.axhline(self.single, color="#555555", ls=":", lw=1.2)
        panel.annotate("one draft", (places[0], self.single), xytext=(0, 4),
                       textcoords="offset points", ha="left")  # fmt: skip
        panel.set_xticks(places, self.trees, rotation=45, ha="right", rotation_mode="anchor")
        panel.set_xlabel(f"children by depth, {BUDGET} candidate sequences each")
        panel.set_ylabel("tokens per call of the target")
        name_rules(panel)
