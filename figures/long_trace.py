"""What rules keep of the drafted blocks of the long trace: two records, and how they are made.

``python -m figures.record_long_trace long.npz`` writes them anew; ``docs/sample.md`` says where the
trace comes from.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from figures.contract import Settings
from otspec.blocks import BLOCK_RULES, BlockComparison, BlockVerificationPreprint
from otspec.blocks.trees.token_tree import as_text
from otspec.logged import LoggedBlock
from otspec.logged.comparison import mean_and_error
from otspec.rules import KSequential, PooledSelection, PooledSelectionWithoutReplacement

RECORD = Path(__file__).with_name("long_trace.csv")
TREES = Path(__file__).with_name("long_trace_trees.csv")
RECORDED = "long SmolLM2 trace"
_DIGITS = 8

Kept = dict[int, dict[str, tuple[float, ...]]]
"""Length L -> title of a rule -> what it keeps of each block, in expectation."""
KeptByTree = dict[str, dict[str, tuple[float, ...]]]
"""Tree -> the same."""
SEQUENCES = tuple((count, *(1,) * (length - 1)) for length in (4, 8) for count in (1, 2, 4, 8))
"""The trees that are recorded: K sequences of L tokens."""
TREE_RULES = (KSequential, PooledSelection, PooledSelectionWithoutReplacement)


def kept_by_block(settings: Settings) -> tuple[Kept, str]:
    """Return what rules keep of each block, and whose: the long trace's unless one is given."""
    if settings.trace is not None:
        return computed(settings.logged().blocks()), settings.input
    return {int(length): rules for length, rules in recorded(RECORD).items()}, RECORDED


def kept_by_tree(settings: Settings) -> KeptByTree:
    """Return what rules keep of each block in trees: the long trace's unless one is given."""
    if settings.trace is not None:
        return computed_trees(settings.logged().blocks())
    return recorded(TREES)


def recorded(path: Path) -> KeptByTree:
    """Read a record: a column for each length or tree, a line for each block and rule."""
    kept: KeptByTree = {}
    with path.open(encoding="utf-8", newline="") as stream:
        for row in csv.DictReader(stream):
            title = row["rule"]
            for name in list(row)[2:]:
                of_rules = kept.setdefault(name, {})
                of_rules[title] = (*of_rules.get(title, ()), float(row[name]))
    return kept


def computed(blocks: Iterable[LoggedBlock]) -> Kept:
    """Return what rules keep of each block, for all lengths that every block has."""
    logged = list(blocks)
    longest = min(len(block.tokens) for block in logged)
    return {
        length: {
            rule.title: tuple(float(block.expected(rule, length)) for block in logged)
            for rule in BLOCK_RULES.values()
        }
        for length in range(1, longest + 1)
    }


def computed_trees(blocks: Iterable[LoggedBlock]) -> KeptByTree:
    """Return what rules keep of each block in all trees that are no deeper than a block."""
    logged = list(blocks)
    longest = min(len(block.tokens) for block in logged)
    return {
        as_text(tree): {
            rule.title: tuple(float(block.expected_of_tree(tree, rule)) for block in logged)
            for rule in TREE_RULES
        }
        for tree in SEQUENCES
        if len(tree) <= longest
    }


def compared(kept: Kept, length: int) -> dict[str, BlockComparison]:
    """Return the means over the blocks, rule by rule."""
    means = {title: mean_and_error(values) for title, values in kept[length].items()}
    optimum, _ = means[BlockVerificationPreprint.title]
    return {
        title: BlockComparison(title, length, mean, optimum, error)
        for title, (mean, error) in means.items()
    }


def record(kept: Mapping[Any, dict[str, tuple[float, ...]]]) -> str:
    """Return a record: a line for each block and rule."""
    text = io.StringIO(newline="")
    lines = csv.writer(text, lineterminator="\n")
    lines.writerow(["text", "rule", *kept])
    columns = list(kept.values())
    titles = list(columns[0])
    for number in range(len(columns[0][titles[0]])):
        for title in titles:
            cells = (round(column[title][number], _DIGITS) for column in columns)
            lines.writerow([number, title, *cells])
    return text.getvalue()
