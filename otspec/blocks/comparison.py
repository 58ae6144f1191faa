"""All rules for one drafted block side by side (Theory, 10)."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any

from otspec._base import as_list
from otspec.blocks.block_verification import BlockVerificationPreprint
from otspec.blocks.single_draft import BLOCK_RULES
from otspec.distributions import as_k
from otspec.frames import Rows, Tokens
from otspec.models.base import as_models


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
    expected: Tokens
    optimum: Tokens
    error: Annotated[float, "tokens"] = 0.0

    @property
    def gap(self) -> Tokens:
        """How far E[τ] is below the optimum."""
        return self.optimum - self.expected

    @property
    def efficiency(self) -> Tokens:
        """Tokens per call of the target, E[τ] + 1."""
        return self.expected + 1


def compare_block_rules(draft: Any, target: Any, lengths: Sequence[int]) -> Rows[BlockComparison]:
    """Compare all rules for one drafted block by their exact E[τ].

    Parameters
    ----------
    draft, target : callable
        Language models, see :class:`otspec.blocks.base.BlockRule`.
    lengths : sequence of int
        The lengths L of the blocks.

    Raises
    ------
    ValueError
        Unusable models or lengths, or too many texts for an exact sum.

    Examples
    --------
    >>> from otspec.models import memoryless
    >>> rows = compare_block_rules(memoryless(["1/2", "1/2"]), memoryless(["1/4", "3/4"]), [2])
    >>> [str(row.expected) for row in rows]
    ['21/16', '11/8', '23/16']
    """
    models = as_models(draft, target)
    counts = as_lengths(lengths)
    if not counts:
        return Rows((), BlockComparison)
    expected = {rule: rule(*models, max(counts)).expected_up_to() for rule in BLOCK_RULES.values()}
    found = [
        BlockComparison(
            rule.title, length, kept[length - 1], expected[BlockVerificationPreprint][length - 1]
        )
        for length in counts
        for rule, kept in expected.items()
    ]
    return Rows(found, BlockComparison, "one drafted block")


def as_lengths(lengths: Any) -> list[int]:
    """Check the lengths of blocks."""
    given = as_list(lengths, "lengths", "a sequence of lengths")
    return [as_k(length, f"lengths[{i}]") for i, length in enumerate(given)]
