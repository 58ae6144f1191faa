"""What rules keep of the long trace's blocks in the trees of SpecHub and MCSD: two records.

``python -m figures.record_long_trace long.npz`` writes them anew.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

from figures.contract import Settings
from figures.long_trace import KeptByTree, recorded
from figures.tree_starts import Start
from otspec.blocks import as_branching, configurations
from otspec.blocks.trees.token_tree import as_text
from otspec.logged import LoggedBlock
from otspec.rules import (
    NaiveSampling,
    PairRule,
    PooledSelection,
    PooledSelectionWithoutReplacement,
    RecursiveRejection,
    RecursiveRejectionWithoutReplacement,
    SpecHub,
)


class TreeRecord(NamedTuple):
    """A record: a line for each block and rule, a column for each tree.

    Parameters
    ----------
    path : Path
    trees : tuple of str
    rules : tuple of type
    """

    path: Path
    trees: tuple[str, ...]
    rules: tuple[type[PairRule], ...]


BINARY = TreeRecord(
    Path(__file__).with_name("long_trace_binary.csv"),
    ("2", "2x2", "2x2x2", "2x2x2x2", "2x2x2x2x2"),
    (
        RecursiveRejection,
        RecursiveRejectionWithoutReplacement,
        SpecHub,
        PooledSelection,
        PooledSelectionWithoutReplacement,
    ),
)
"""SpecHub's trees."""
BEST = TreeRecord(
    Path(__file__).with_name("long_trace_best.csv"),
    (
        *("1", "1x1", "1x1x1", "1x1x1x1"),
        *("4x2x2", "8x2", "8x2x1", "8x2x2", "8x2x1x1", "16x1", "16x2", "16x1x1", "32"),
    ),
    (
        RecursiveRejection,
        RecursiveRejectionWithoutReplacement,
        PooledSelection,
        PooledSelectionWithoutReplacement,
        NaiveSampling,
    ),
)
"""MCSD's best trees at temperature 1, and one draft for each depth."""
BUDGETS = {
    budget: tuple(reversed([as_text(tree) for tree in configurations(budget, 2)]))
    for budget in (8, 16, 32)
}
"""Sequences → MCSD's trees of two levels with as many, from wide at the top."""
TWO_LEVELS = TreeRecord(
    Path(__file__).with_name("long_trace_budgets.csv"),
    tuple(tree for trees in BUDGETS.values() for tree in trees),
    (RecursiveRejection, RecursiveRejectionWithoutReplacement, PooledSelection),
)
"""Trees of one budget."""


def kept_in(record: TreeRecord, settings: Settings) -> KeptByTree:
    """Return what rules keep of each block: the long trace's unless one is given."""
    if settings.trace is not None:
        return computed(settings.logged().blocks(), record)
    return recorded(record.path)


def computed(blocks: Iterable[LoggedBlock], record: TreeRecord) -> KeptByTree:
    """Return the same of any blocks, for the trees that are no deeper than a block."""
    logged = list(blocks)
    longest = min(len(block.tokens) for block in logged)
    trees = {tree: as_branching(tree) for tree in record.trees}
    fitting = {tree: branching for tree, branching in trees.items() if len(branching) <= longest}
    depth, most = max(map(len, fitting.values())), max(map(max, fitting.values()))
    kept: dict[str, dict[str, list[float]]] = {tree: {} for tree in fitting}
    for block in logged:
        start = Start.of(block, depth, most)
        for tree, branching in fitting.items():
            for rule in record.rules:
                used: Any = start.distinct if rule is RecursiveRejectionWithoutReplacement else rule
                calls = start.efficiency(branching, used)
                kept[tree].setdefault(rule.title, []).append(calls - 1)
    return {
        tree: {title: tuple(values) for title, values in rules.items()}
        for tree, rules in kept.items()
    }
