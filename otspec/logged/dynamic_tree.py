"""What dynamic trees keep of logged blocks: those of all nodes above a path probability."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from otspec._base.arithmetic import Array
from otspec.blocks.trees.best.best_shape import as_depth, as_nodes
from otspec.logged.block import LoggedBlock
from otspec.logged.comparison import as_blocks, mean_and_error

_HALVINGS, _LOWEST = 60, -60.0
"""How often the range of the logarithm of the threshold is halved, and where it begins."""


class Thresholded(NamedTuple):
    """Dynamic trees of all nodes whose path probability is at least a threshold, on blocks."""

    threshold: float
    nodes: float
    """The mean number of nodes."""
    expected: float
    """The mean of E[τ]."""
    error: float
    """Its standard error."""


def dynamic_tree_on_blocks(blocks: Iterable[LoggedBlock], nodes: int, depth: int) -> Thresholded:
    """Estimate dynamic trees on logged blocks, grown by the draft's path probabilities.

    Which nodes are the likeliest of a text is not known from one logged path of it, so that
    :class:`otspec.blocks.DynamicTree` of a number of nodes cannot be estimated; nor can a tree that
    is grown by the target, whose texts are not logged. But whether a path has at least a certain
    probability is known from the path. The threshold is the least at which trees have at most so
    many nodes in the mean over all texts, fewer where the draft is unsure of everything.

    Parameters
    ----------
    blocks : iterable of LoggedBlock
    nodes, depth : int
        How many nodes in the mean, and the most levels.

    Returns
    -------
    Thresholded
        E[τ] and nodes are means over the blocks of Σ_ℓ of what follows the first ℓ logged tokens
        and is in the tree, over the probability with which these tokens were drawn, times M_b for
        E[τ]: unbiased for a given threshold.

    Raises
    ------
    ValueError
        No block, or one that is shorter; tokens of a law that does not draw all drafts.
    """
    logged, most, levels = as_blocks(blocks), as_nodes(nodes), as_depth(depth)
    if not logged:
        raise ValueError("blocks is empty: at least one logged block is needed")
    for block in logged:
        block.check(levels)
        _check_support(block, levels)
    low, high = _LOWEST, 0.0  # of the logarithm
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        _, size = _estimates(logged, float(np.exp(middle)), levels)
        low, high = (middle, high) if size.mean() > most else (low, middle)
    threshold = float(np.exp(high))
    kept, size = _estimates(logged, threshold, levels)
    return Thresholded(threshold, float(size.mean()), *mean_and_error(kept))


def _check_support(block: LoggedBlock, levels: int) -> None:
    """Refuse tokens of a law that misses some draft: not all nodes would be counted."""
    rows = zip(block.tokens[:levels], block.draft, block.sampled, strict=False)
    for position, (_, draft, sampled) in enumerate(rows):
        lost = np.flatnonzero((draft > 0) & (sampled == 0))
        if lost.size:
            raise ValueError(
                f"sampling[{position}] never draws token {lost[0]}, which can be drafted there: "
                "the nodes of a dynamic tree are counted with tokens of a law that draws all drafts"
            )


def _estimates(blocks: Sequence[LoggedBlock], threshold: float, levels: int) -> Array:
    """Return for each block what is kept and how many nodes there are, shape (2, blocks)."""
    return np.array([_of_block(block, threshold, levels) for block in blocks]).T


def _of_block(block: LoggedBlock, threshold: float, levels: int) -> tuple[float, float]:
    kept, nodes, drafted, wanted, drawn = 0.0, 0.0, 1.0, 1.0, 1.0
    rows = zip(block.tokens[:levels], block.draft, block.target, block.sampled, strict=False)
    for token, draft, target, sampled in rows:
        inside = drafted * draft.astype(float) >= threshold
        kept += wanted / drawn * float(target[inside].sum())
        nodes += float(np.count_nonzero(inside)) / drawn
        if not inside[token]:
            break
        drafted, wanted = drafted * float(draft[token]), wanted * float(target[token])
        drawn *= float(sampled[token])
    return kept, nodes
