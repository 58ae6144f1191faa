"""Where trees of drafts are verified on a trace: at the beginnings of its drafted blocks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from otspec._base.arithmetic import Array
from otspec.blocks.trees.verifiers.nodes import TokenRule
from otspec.distributions import Distribution
from otspec.logged import LoggedBlock
from otspec.ratios import Pair
from otspec.rules import RecursiveRejectionWithoutReplacement
from otspec.rules.rejection.rejected_paths import DistinctPaths, PathsEstimate

PATHS, SEED = 500, 0
"""Of the simulated rejections of more than two distinct drafts."""


@dataclass(frozen=True, eq=False)
class Simulated:
    """An estimate that stands for a rule whose numbers are known."""

    found: PathsEstimate

    def acceptance(self) -> float:
        """Return the estimated acceptance."""
        return self.found.probability.value

    def accepted(self) -> Simulated:
        """Return what is accepted, which is here."""
        return self

    @property
    def by_token(self) -> Array:
        """The estimates by token, shape (n,)."""
        return self.found.by_token.value


@dataclass(frozen=True, eq=False)
class Start:
    """The beginning of a drafted block.

    Parameters
    ----------
    block : LoggedBlock
        As many tokens as the deepest tree has levels.
    paths : tuple of DistinctPaths
        For each of its tokens, rejections of distinct drafts.
    """

    block: LoggedBlock
    paths: tuple[DistinctPaths, ...]

    @classmethod
    def of(cls, block: LoggedBlock, depth: int, most: int) -> Start:
        """Return that of a block, with rejections of as many distinct drafts."""
        part = LoggedBlock(block.draft[:depth], block.target[:depth], block.tokens[:depth])
        pairs = zip(part.draft, part.target, strict=True)
        return cls(part, tuple(DistinctPaths(Pair(*pair), most, PATHS, SEED) for pair in pairs))

    def distinct(self, draft: Distribution, target: Distribution, k: int) -> Any:
        """Return recursive rejection of k distinct drafts: exact for k ≤ 2, else from paths."""
        if k <= 2:
            return RecursiveRejectionWithoutReplacement(draft, target, k)
        depth = next(i for i, row in enumerate(self.block.draft) if row is draft)
        return Simulated(self.paths[depth].of_first(k))

    def efficiency(self, tree: Sequence[int], rule: TokenRule) -> float:
        """Return the expected tokens per call of the target for a tree from here."""
        return 1 + float(self.block.expected_of_tree(tree, rule))
