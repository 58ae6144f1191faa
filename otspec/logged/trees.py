"""Trees for logged blocks: the best by mean chances, and dynamic ones (Theory, 11)."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from otspec._base import Array, Frozen, as_callable
from otspec.blocks.trees.best.best_shape import BestTree, BestTrees, as_depth, as_nodes, as_widths
from otspec.blocks.trees.shapes import Shape
from otspec.blocks.trees.verifiers.nodes import TokenRule
from otspec.logged.block import LoggedBlock
from otspec.logged.chances import LoggedChances, logged_chances
from otspec.logged.comparison import as_blocks, mean_and_error


@dataclass(frozen=True, eq=False)
class LoggedTrees(Frozen):
    """The best trees of one rule if all positions had the mean chances of logged blocks."""

    chances: LoggedChances
    trees: BestTrees

    @property
    def best(self) -> BestTree:
        """The best tree of all, and what is kept of it on the blocks."""
        return self.on_blocks(self.trees.best.tree)

    @property
    def branching(self) -> BestTree | None:
        """The best branching, if there is one."""
        return self._on_blocks(self.trees.branching)

    @property
    def chain(self) -> BestTree | None:
        """The longest chain, if the rule takes single drafts."""
        return self._on_blocks(self.trees.chain)

    def on_blocks(self, tree: Shape) -> BestTree:
        """Return the mean of E[τ] of a tree over the blocks, unbiased, and its standard error."""
        return BestTree(tree, *mean_and_error(self.chances.kept_of(tree)))

    def _on_blocks(self, found: BestTree | None) -> BestTree | None:
        return None if found is None else self.on_blocks(found.tree)


def best_trees_on_blocks(
    blocks: Iterable[LoggedBlock],
    rule: TokenRule,
    nodes: int,
    depth: int,
    *,
    widest: int | None = None,
) -> LoggedTrees:
    """Find the best trees of a rule by the mean chances of logged blocks.

    What a node keeps is averaged over positions before the search, as Sequoia does it, and the tree
    that is found is then estimated block by block without bias. The same blocks serve for both:
    with few blocks that flatters the tree.

    Parameters
    ----------
    blocks : iterable of LoggedBlock
    rule : callable
        (draft, target, k) → a rule for one token.
    nodes, depth, widest : int
        The most drafted tokens, levels (no block may be shorter), and children of a node.

    Raises
    ------
    ValueError
        No block, or one that is shorter; numbers or a rule that cannot be used.
    """
    logged = as_blocks(blocks)
    as_callable(rule, "rule", "a class of otspec.rules, or a function of draft, target and k")
    widths = as_widths(rule, as_nodes(nodes), widest)
    chances = logged_chances(logged, rule, widths, as_depth(depth))
    return LoggedTrees(chances, BestTrees(chances.averaged, nodes, depth, "likely"))


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
    many nodes on average over all texts, fewer where the draft is unsure of everything.

    Parameters
    ----------
    blocks : iterable of LoggedBlock
    nodes, depth : int
        How many nodes on average, and the most levels.

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
