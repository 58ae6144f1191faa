"""Rules side by side on logged blocks: the mean over them of what each keeps (theory, 11)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from otspec.arguments import as_instance, as_list
from otspec.arithmetic import Array
from otspec.blocks.block_verify import BlockVerify
from otspec.blocks.comparison import BLOCK_RULES, BlockComparison, as_lengths
from otspec.logged.block import LoggedBlock
from otspec.trees.branching import as_text
from otspec.trees.comparison import TreeComparison, as_trees, rules_for


def compare_on_blocks(
    blocks: Iterable[LoggedBlock], lengths: Sequence[int]
) -> list[BlockComparison]:
    """Compare all rules on logged blocks: the mean over them of what each keeps in expectation.

    Parameters
    ----------
    blocks : iterable of LoggedBlock
        Their first L tokens are the drafts.
    lengths : sequence of int

    Raises
    ------
    ValueError
        No block, or one that is shorter than a length.
    """
    logged = as_blocks(blocks)
    found = []
    for length in as_lengths(lengths):
        kept = {
            rule: np.array([float(block.expected(rule, length)) for block in logged])
            for rule in BLOCK_RULES
        }
        optimum, _ = mean_and_error(kept[BlockVerify])
        for rule, values in kept.items():
            mean, error = mean_and_error(values)
            found.append(BlockComparison(rule.title, length, mean, optimum, error))
    return found


def compare_trees_on_blocks(
    blocks: Iterable[LoggedBlock], trees: Sequence[str | Sequence[int]]
) -> list[TreeComparison]:
    """Compare all rules for one token on logged blocks, see :meth:`LoggedBlock.expected_of_tree`.

    More than two distinct drafts of recursive rejection are simulated at full vocabulary.

    Parameters
    ----------
    blocks : iterable of LoggedBlock
    trees : sequence of str or of sequence of int

    Raises
    ------
    ValueError
        No block, or one that is shorter than a tree is deep.
    """
    logged = as_blocks(blocks)
    found = []
    for tree in as_trees(trees):
        for rule in rules_for(tree):
            kept = np.array([float(block.expected_of_tree(tree, rule)) for block in logged])
            found.append(TreeComparison(as_text(tree), rule.title, *mean_and_error(kept)))
    return found


def as_blocks(blocks: Any) -> list[LoggedBlock]:
    """Check logged blocks.

    Raises
    ------
    ValueError
        Something else among them.
    """
    wanted = "LoggedBlock objects"
    logged = as_list(blocks, "blocks", f"an iterable of {wanted}")
    return [as_instance(it, f"blocks[{i}]", LoggedBlock, wanted) for i, it in enumerate(logged)]


def mean_and_error(values: Array) -> tuple[float, float]:
    """Return a mean over logged blocks and its standard error; NaN for a single block.

    Raises
    ------
    ValueError
        No block.
    """
    if len(values) == 0:
        raise ValueError("blocks is empty: at least one logged block is needed")
    error = values.std(ddof=1) / np.sqrt(len(values)) if len(values) > 1 else np.nan
    return float(values.mean()), float(error)
