"""The best tree of each rule beside the best branching, on the letters and on the trace."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from figures.contract import Cell, Numbers, Settings, Table
from figures.registry import item
from otspec.blocks import BestTrees, DynamicTree, Shape, best_trees
from otspec.datasets import letters
from otspec.logged import best_trees_on_blocks, dynamic_tree_on_blocks
from otspec.rules import (
    KSequential,
    PairRule,
    PooledSelection,
    RecursiveRejection,
    RecursiveRejectionWithoutReplacement,
    SpecHub,
    TargetOnly,
)

BUDGETS = (8, 16, 32, 64)
"""Drafted tokens of a tree."""
LEVELS, WIDEST = 8, 8
"""The most levels, and the most children of a node."""
RULES: tuple[type[PairRule], ...] = (
    RecursiveRejection,
    KSequential,
    PooledSelection,
    RecursiveRejectionWithoutReplacement,
    SpecHub,
    TargetOnly,
)
DYNAMIC, CERTAIN = DynamicTree.title, "most of certain drafts"
LETTERS, TRACE = "letters", "trace"


class Worth(NamedTuple):
    """Tokens per call with one number of drafted tokens.

    None where a rule has no such tree.
    """

    best: float | None
    by_text: float | None
    """Of trees whose shape may follow the text."""
    branching: float | None = None
    chain: float | None = None
    branching_name: str = ""
    sizes: str = ""
    """The nodes of the best tree, level by level."""


Key = tuple[str, str, int]
"""Models, rule and budget."""


@item("best_tree", "ours")
class BestTreeTable(Table):
    """Tokens per call of the best tree, and of simpler ones.

    Parameters
    ----------
    values : dict
        Models, rule and number of drafted tokens → what is kept.
    """

    title = "Tokens per call of the best tree, letters and trace"
    traced = True

    values: dict[Key, Worth]

    @classmethod
    def compute(cls, settings: Settings) -> BestTreeTable:
        """Return what is found in floats, with the first budgets and rules only if quick."""
        budgets = BUDGETS[:1] if settings.quick else BUDGETS
        rules = RULES[:1] if settings.quick else RULES
        found = [*_on_letters(rules, budgets, settings), *_on_trace(rules, budgets, settings)]
        return cls(dict(found))

    def numbers(self) -> Numbers:
        """Return a row for each models, rule and budget."""
        columns = (
            "models", "rule", "nodes", "best tree", "shaped by the text", "best branching",
            "tokens per call", "chain", "gain over the branching", "nodes by level",
        )  # fmt: skip
        return Numbers(columns, tuple(self._row(key, each) for key, each in self.values.items()))

    def _row(self, key: Key, worth: Worth) -> tuple[Cell, ...]:
        gain = self.gain(key)
        return (
            *key, _cell(worth.best), _cell(worth.by_text), worth.branching_name,
            _cell(worth.branching), _cell(worth.chain), _cell(gain), worth.sizes,
        )  # fmt: skip

    def gain(self, key: Key) -> float | None:
        """Return how many tokens per call the best tree has more than the best branching."""
        worth = self.values[key]
        if worth.best is None or worth.branching is None:
            return None
        return worth.best - worth.branching

    def notes(self) -> list[str]:
        """Say how the numbers are found."""
        on_letters = (
            "Tokens per call, E[τ] + 1, of equal children the first goes on. Letters: bigram "
            "draft and trigram target at a random place of the text, in floats; trees by the laws "
            "of texts that likely nodes have, and shaped by the text the bound on all of them."
        )
        on_trace = (
            "Trace: every position with the mean chances of all logged ones, but for the dynamic "
            "tree, which is that of a threshold and estimated block by block. More than "
            f"{LEVELS} levels or {WIDEST} children are not tried."
        )
        return [on_letters, on_trace]


def _cell(value: float | None) -> Cell:
    return "" if value is None else value


def _on_letters(
    rules: tuple[type[PairRule], ...], budgets: tuple[int, ...], settings: Settings
) -> Iterator[tuple[Key, Worth]]:
    pair = letters(exact=False)
    draft, target = (pair.unigram, pair.bigram) if settings.quick else (pair.draft, pair.target)
    law = target.contexts()
    for rule in rules:
        trees = best_trees(
            draft, target, rule, max(budgets), LEVELS, widest=WIDEST, keep="likely", beginnings=law
        )
        for nodes in budgets:
            yield (LETTERS, rule.title, nodes), _worth(trees, nodes, trees.bounds[nodes - 1])
    for by, title in (("draft", DYNAMIC), ("target", CERTAIN)):
        for nodes in budgets:
            kept = DynamicTree(draft, target, nodes, LEVELS, by=by).expected_after(law)
            yield (LETTERS, title, nodes), Worth(None, float(1 + kept))


def _on_trace(
    rules: tuple[type[PairRule], ...], budgets: tuple[int, ...], settings: Settings
) -> Iterator[tuple[Key, Worth]]:
    blocks = list(settings.logged().blocks())
    levels = min(LEVELS, *(len(block.tokens) for block in blocks))
    for rule in rules:
        found = best_trees_on_blocks(blocks, rule, max(budgets), levels, widest=WIDEST)
        for nodes in budgets:
            yield (TRACE, rule.title, nodes), _worth(found.trees, nodes, None)
    for nodes in budgets:
        kept = dynamic_tree_on_blocks(blocks, nodes, levels).expected
        yield (TRACE, DYNAMIC, nodes), Worth(None, 1 + kept)


def _worth(trees: BestTrees, nodes: int, bound: float | None) -> Worth:
    best = trees.at(nodes, trees.depth)
    branchings = [each for each in trees.branchings if each.tree.size <= nodes]
    chains = [each for each in branchings if each.tree.size == each.tree.depth]
    branching = max(branchings, key=lambda each: each.expected)
    return Worth(
        float(best.efficiency),
        None if bound is None else 1 + float(bound),
        float(branching.efficiency),
        max((float(each.efficiency) for each in chains), default=None),
        branching.tree.text,
        _by_level(best.tree),
    )


def _by_level(tree: Shape) -> str:
    sizes, level = [], [tree]
    while level := [child for shape in level for child in shape.children]:
        sizes.append(len(level))
    return ", ".join(map(str, sizes))
