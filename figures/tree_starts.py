"""Where trees of drafts are verified on the trace: after every beginning of its drafted texts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from figures.contract import Settings
from otspec.arithmetic import Array
from otspec.blocks import LoggedBlock
from otspec.distributions import Distribution
from otspec.logged.comparison import mean_and_error
from otspec.rules import RecursiveRejectionWithoutReplacement
from otspec.rules.distinct_paths import DistinctPaths
from otspec.trees.token_rules import TokenRule

QUICK_STARTS = 4


@dataclass(frozen=True, eq=False)
class Start:
    """A place in a drafted text with the tokens that follow.

    Parameters
    ----------
    block : LoggedBlock
        As many tokens as the deepest tree has levels.
    paths : tuple of DistinctPaths
        For each of its tokens, rejections of distinct drafts.
    """

    block: LoggedBlock
    paths: tuple[DistinctPaths, ...]

    def distinct(self, draft: Distribution, target: Distribution, k: int) -> Any:
        """Return recursive rejection of k distinct drafts: exact for k ≤ 2, else from paths."""
        if k <= 2:
            return RecursiveRejectionWithoutReplacement(draft, target, k)
        depth = next(i for i, row in enumerate(self.block.draft) if row is draft)
        return self.paths[depth].rule(k)

    def efficiency(self, tree: Sequence[int], rule: TokenRule) -> float:
        """Return the expected tokens per call of the target for a tree from here."""
        return 1 + float(self.block.expected_of_tree(tree, rule))


def starts(settings: Settings, depth: int, k: int, size: int, seed: int) -> Iterator[Start]:
    """Yield all places of the trace that so many logged tokens follow; a few if quick.

    Parameters
    ----------
    settings : Settings
    depth : int
        Levels of the deepest tree.
    k : int
        The most children of a node.
    size, seed : int
        Of the simulated rejections.
    """
    count = 0
    for block in settings.logged().blocks():
        for first in range(len(block.tokens) - depth + 1):
            if settings.quick and count == QUICK_STARTS:
                return
            count += 1
            rows = slice(first, first + depth)
            part = LoggedBlock(block.draft[rows], block.target[rows], block.tokens[rows])
            pairs = zip(part.draft, part.target, strict=True)
            yield Start(part, tuple(DistinctPaths(*pair, k, size, seed) for pair in pairs))


def means_and_errors(values: Array) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Return the mean of each column over the rows, the starts, and its standard error."""
    found = [mean_and_error(column) for column in np.asarray(values).T]
    means, errors = zip(*found, strict=True)
    return means, errors
