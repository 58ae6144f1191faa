"""Greedy multi-path block verification as its public code has it, which is not lossless."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from otspec._base.arithmetic import Array, Number
from otspec._base.frozen import cached_property
from otspec.blocks.base import BlockRule, Outcome, enumerated_expected
from otspec.blocks.greatest_path import GreatestPath
from otspec.blocks.trees.verifiers.greedy_multi_path import GreedyMultiPath
from otspec.models.base import Prefix


class ClippedRanks(GreatestPath):
    """The law of the greatest of K texts by min(1, M_b/M_s), ties by the token's number."""

    def ratios(self, prefix: Prefix) -> Array:
        """Return min(1, M_b/M_s) of each next token."""
        ratios = super().ratios(prefix)
        clipped: Array = np.minimum(ratios, ratios * 0 + 1)
        return clipped


@dataclass(frozen=True, eq=False, init=False)
class FirstHighestPath(GreedyMultiPath):
    """Choose the first drafted child of the highest min(1, M_b/M_s), with the law of another one.

    The law that stands in place of the draft's is that of a stable sort by min(1, M_b/M_s), in
    which the larger of two equal tokens is above; but the path goes on with the one that was
    drafted first. All tokens with M_b ≥ M_s are equal there.

    Law: not the target's. The smallest case: a fair coin for both models, two paths and L = 1. The
    first path is chosen, 0 with probability 1/2, where 1/4 is said: the text is 0 with probability
    2/3, as :func:`otspec.auditing.audit_blocks` reports. Not in the lossless
    :data:`otspec.blocks.TREE_VERIFIERS`. With the larger of equal tokens it would be lossless
    (Theory, 26). Source: the public code of GBV. Parameters and errors:
    :class:`otspec.blocks.GreedyMultiPath`.

    Examples
    --------
    >>> from otspec.auditing import audit_blocks
    >>> from otspec.models import memoryless
    >>> coin = memoryless(["1/2", "1/2"])
    >>> report = audit_blocks(FirstHighestPath(coin, coin, "2"))
    >>> report.lossless, report.expected, report.total_variation
    (False, Fraction(5, 6), Fraction(1, 6))
    """

    name: ClassVar[str] = "first-highest-path"
    title: ClassVar[str] = "greedy multi-path (public code, lossy)"
    batch: ClassVar[str | None] = None

    @cached_property
    def chosen(self) -> GreatestPath:
        """The law that the chosen path is said to have, as a language model."""
        return ClippedRanks(self.draft, self.target, self.paths)

    def outcomes(self) -> Iterator[Outcome]:
        """Yield the law of what is kept, by enumerating all drafted trees."""
        return BlockRule.outcomes(self)

    def expected(self) -> Number:
        """Return E[τ] by enumerating the outcomes."""
        return enumerated_expected(self)

    def _highest(self, prefix: Prefix, drafts: Sequence[int]) -> int:
        ratios = self.chosen.ratios(prefix)
        # Of equal ones the first.
        return max(range(len(drafts)), key=lambda place: ratios[drafts[place]])
