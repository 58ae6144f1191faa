"""Rules side by side on logged blocks (Theory, 11), and sums over texts with their intervals."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from otspec._base import Array, Frozen, Number, as_instance, as_list
from otspec.blocks import BLOCK_RULES, TraversalVerify
from otspec.blocks.block_verification import BlockVerificationPreprint
from otspec.blocks.comparison import BlockComparison, as_lengths
from otspec.blocks.trees.best.comparison import TreeComparison, as_trees, rules_for
from otspec.estimate import Known, average, radius_of
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
    if not logged:
        raise ValueError("blocks is empty: at least one logged block is needed")
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
    numbers = np.array(values, dtype=float)
    error = numbers.std(ddof=1) / np.sqrt(len(numbers)) if len(numbers) > 1 else np.nan
    return average(values), float(error)


class Ratio(NamedTuple):
    """A ratio of two sums, with a confidence interval for the ratio over all texts."""

    value: float
    low: float
    """NaN for a single text, as ``high``."""
    high: float


@dataclass(frozen=True, eq=False)
class Tally(Frozen):
    """Sums over texts of counts, (m,), and of products of each two, (m, m); tallies are added."""

    texts: int
    sums: Array
    products: Array = field(repr=False)

    @classmethod
    def of(cls, counts: Array) -> "Tally":
        """Return the tally of texts, a row of counts for each: shape (texts, m)."""
        rows = np.array(counts, dtype=float)
        return cls(len(rows), rows.sum(axis=0), rows.T @ rows)

    def __add__(self, other: "Tally") -> "Tally":
        return Tally(
            self.texts + other.texts, self.sums + other.sums, self.products + other.products
        )

    def ratio(self, above: Array, below: Array) -> Ratio:
        """Return Σ counts · above / Σ counts · below, and its t interval with 95% confidence."""
        # The variance is that of a ratio of sums over independent texts, by linearization.
        upper, lower = float(self.sums @ above), float(self.sums @ below)
        if lower == 0:
            return Ratio(math.nan, math.nan, math.nan)
        value = upper / lower
        radius = radius_of(self.square((above - value * below) / lower), self.texts)
        return Ratio(value, value - radius, value + radius)

    def square(self, direction: Array) -> float:
        """Return Σ over the texts of (counts · direction)²."""
        return max(0.0, float(direction @ self.products @ direction))
