"""Tokens per call for all trees of eight candidate sequences of three tokens, rule by rule."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from figures.contract import Item, Numbers, Settings
from figures.looks import look
from otspec.blocks import DraftSelection, TokenVerify, configurations, random_pair, sweep
from otspec.rules import (
    KSequential,
    PairRule,
    PooledSelection,
    RecursiveRejection,
    RecursiveRejectionWithoutReplacement,
    SpecHub,
)
from otspec.trees.branching import as_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes

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
)


@dataclass(frozen=True)
class BlockTrees:
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

    trees: tuple[str, ...]
    efficiency: dict[str, tuple[float, ...]]
    spechub: float
    single: float


def compute(settings: Settings = Settings()) -> BlockTrees:  # noqa: ARG001, B008
    """Return the numbers."""
    draft, target = random_pair(TOKENS, DIVERGENCE, np.random.default_rng(SEED))
    trees = tuple(as_text(tree) for tree in reversed(list(configurations(BUDGET, LENGTH))))
    found: dict[str, tuple[float, ...]] = {}
    for rule in RULES:
        worth = {tree.name: tree.efficiency for tree in sweep(draft, target, BUDGET, LENGTH, rule)}
        found[rule.title] = tuple(float(worth[tree]) for tree in trees)
    hub = DraftSelection(draft, target, "2x2x2", SpecHub).efficiency()
    single = TokenVerify(draft, target, LENGTH).efficiency()
    return BlockTrees(trees, found, float(hub), float(single))


def draw(axes: Axes, data: BlockTrees) -> None:
    """Draw one line per rule over the trees."""
    places = range(len(data.trees))
    for rule in RULES:
        axes.plot(places, data.efficiency[rule.title], label=rule.title, **look(rule.title))
    axes.plot(
        [data.trees.index("2x2x2")], [data.spechub], ls="", label=SpecHub.title,
        **look(SpecHub.title),
    )  # fmt: skip
    axes.axhline(data.single, color="#555555", ls=":", lw=1.2)
    axes.annotate("one draft", (len(data.trees) - 1, data.single), xytext=(0, 4),
                  textcoords="offset points", ha="right")  # fmt: skip
    axes.set_xticks(places, data.trees, rotation=45, ha="right", rotation_mode="anchor")
    axes.set_xlabel(f"children by depth, {BUDGET} candidate sequences each")
    axes.set_ylabel("tokens per call of the target")
    axes.legend()


def numbers(data: BlockTrees) -> Numbers:
    """Return one row for each rule and tree."""
    rows = [
        (rule, tree, value)
        for rule, values in data.efficiency.items()
        for tree, value in zip(data.trees, values, strict=True)
    ]
    rows += [(SpecHub.title, "2x2x2", data.spechub), ("one draft", "1x1x1", data.single)]
    return Numbers(("rule", "tree", "tokens per call"), tuple(rows))


ITEM = Item(
    name="block_trees",
    title=f"Tokens per call for trees of {BUDGET} candidate sequences, two Markov chains",
    source="ours, after MCSD, figure 4",
    compute=compute,
    numbers=numbers,
    draw=draw,
    size=(7.0, 4.4),
    seed=SEED,
)
