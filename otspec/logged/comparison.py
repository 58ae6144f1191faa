"""Rules side by side on logged blocks: the mean over them of what each keeps (Theory, 11)."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from otspec._base.arguments import as_instance, as_list
from otspec._base.arithmetic import Array, Number
from otspec.blocks.block_verification_preprint import BlockVerificationPreprint
from otspec.blocks.comparison import BlockComparison, as_lengths
from otspec.blocks.single_draft import BLOCK_RULES
from otspec.blocks.trees.best.comparison import TreeComparison, as_trees, rules_for
from otspec.blocks.trees.verifiers.traversal_verify import TraversalVerify
from otspec.estimate import Known, average
from otspec.frames import Rows
from otspec.logged.block import LoggedBlock


def compare_on_blocks(
    blocks: Iterable[LoggedBlock], lengths: Sequence[int]
) -> Rows[BlockComparison]:
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
            rule: mean_and_error([block.expected(rule, length) for block in logged])
            for rule in BLOCK_RULES.values()
        }
        optimum, _ = kept[BlockVerificationPreprint]
        for rule, (expected, error) in kept.items():
            found.append(BlockComparison(rule.title, length, expected, optimum, error))
    return Rows(found, BlockComparison, f"{len(logged)} logged blocks")


def compare_trees_on_blocks(
    blocks: Iterable[LoggedBlock], trees: Sequence[Any]
) -> Rows[TreeComparison]:
    """Compare all rules for one token on logged blocks, see :meth:`LoggedBlock.expected_of_tree`.

    More than two distinct drafts of recursive rejection are simulated at full vocabulary. Of the
    rules for whole trees only Traversal Verification of i.i.d. children can be estimated, see
    :meth:`LoggedBlock.expected_of_traversal`. Equal children stay apart.

    Parameters
    ----------
    blocks : iterable of LoggedBlock
    trees : sequence
        See :func:`otspec.blocks.as_shape`.

    Raises
    ------
    ValueError
        No block, or one that is shorter than a tree is deep.
    """
    logged = as_blocks(blocks)
    found = []
    for tree in as_trees(trees):
        for rule in rules_for(tree):
            kept = [block.expected_of_tree(tree, rule) for block in logged]
            found.append(TreeComparison(tree.text, rule.title, *_mean_and_error(kept)))
        whole = [block.expected_of_traversal(tree, merge=False) for block in logged]
        found.append(TreeComparison(tree.text, TraversalVerify.title, *_mean_and_error(whole)))
    return Rows(found, TreeComparison, f"{len(logged)} logged blocks")


def as_blocks(blocks: Any) -> list[LoggedBlock]:
    """Check logged blocks."""
    wanted = "LoggedBlock objects"
    logged = as_list(blocks, "blocks", f"an iterable of {wanted}")
    return [as_instance(it, f"blocks[{i}]", LoggedBlock, wanted) for i, it in enumerate(logged)]


def shared_length(blocks: Iterable[LoggedBlock], most: int) -> int:
    """Return how many tokens may be asked for of all blocks, at most so many."""
    return min([most, *(len(block.tokens) for block in blocks if not block.ended)])


def mean_and_error(values: Sequence[Number] | Array) -> tuple[float, float]:
    """Return a mean over logged blocks and its standard error; NaN for a single block."""
    mean, error = _mean_and_error(values)
    return float(mean), error


def _mean_and_error(values: Sequence[Number | Known] | Array) -> tuple[Known, float]:
    """Return the same; the mean of estimates is an :class:`otspec.estimate.Estimate`."""
    if len(values) == 0:
        raise ValueError("blocks is empty: at least one logged block is needed")
    numbers = np.array(values, dtype=float)
    error = numbers.std(ddof=1) / np.sqrt(len(numbers)) if len(numbers) > 1 else np.nan
    return average(values), float(error)
