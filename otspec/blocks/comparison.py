"""All rules for one drafted block side by side: exactly, or averaged over logged blocks."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from otspec.arguments import as_instance, as_list
from otspec.arithmetic import Array, Number
from otspec.blocks.block_verify import BlockVerify
from otspec.blocks.logged import LoggedBlock
from otspec.blocks.models import as_models
from otspec.blocks.published import BlockVerifyPublished
from otspec.blocks.single import SingleDraftRule
from otspec.blocks.token_verify import TokenVerify
from otspec.distributions import as_k

BLOCK_RULES: tuple[type[SingleDraftRule], ...] = (TokenVerify, BlockVerifyPublished, BlockVerify)
"""The rules for one drafted block, in the order of tables."""


@dataclass(frozen=True)
class BlockComparison:
    """What a rule keeps of one drafted block.

    Parameters
    ----------
    rule : str
    length : int
        L, the drafted tokens.
    expected : float or Fraction
        E[τ], the kept tokens; over logged blocks its mean.
    optimum : float or Fraction
        The most that any coupling of L-blocks keeps (Block, thm. 1), which is what the preprint's
        block verification does; over logged blocks the mean of that.
    error : float
        The standard error of a mean over logged blocks; 0 if exact, NaN for a single block.
    """

    rule: str
    length: int
    expected: Number
    optimum: Number
    error: float = 0.0

    @property
    def gap(self) -> Number:
        """How far E[τ] is below the optimum."""
        return self.optimum - self.expected

    @property
    def efficiency(self) -> Number:
        """Tokens per call of the target, E[τ] + 1."""
        return self.expected + 1


def compare_block_rules(draft: Any, target: Any, lengths: Sequence[int]) -> list[BlockComparison]:
    """Compare all rules for one drafted block by their exact E[τ].

    Parameters
    ----------
    draft, target : callable
        Language models, see :class:`otspec.blocks.contract.BlockRule`.
    lengths : sequence of int
        The lengths L of the blocks.

    Raises
    ------
    ValueError
        Unusable models or lengths, or too many texts for an exact sum.

    Examples
    --------
    >>> from otspec.blocks import memoryless
    >>> rows = compare_block_rules(memoryless(["1/2", "1/2"]), memoryless(["1/4", "3/4"]), [2])
    >>> [str(row.expected) for row in rows]
    ['21/16', '11/8', '23/16']
    """
    models = as_models(draft, target)
    counts = _as_lengths(lengths)
    if not counts:
        return []
    expected = {rule: rule(*models, max(counts)).expected_up_to() for rule in BLOCK_RULES}
    return [
        BlockComparison(
            rule.title, length, expected[rule][length - 1], expected[BlockVerify][length - 1]
        )
        for length in counts
        for rule in BLOCK_RULES
    ]


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
    for length in _as_lengths(lengths):
        kept = {
            rule: np.array([float(block.expected(rule, length)) for block in logged])
            for rule in BLOCK_RULES
        }
        optimum, _ = mean_and_error(kept[BlockVerify])
        for rule, values in kept.items():
            mean, error = mean_and_error(values)
            found.append(BlockComparison(rule.title, length, mean, optimum, error))
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


def _as_lengths(lengths: Any) -> list[int]:
    given = as_list(lengths, "lengths", "a sequence of lengths")
    return [as_k(length, f"lengths[{i}]") for i, length in enumerate(given)]


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
