"""The best tree by the mean chances of logged blocks, and what it keeps of them (Theory, 11)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from otspec._base.arguments import as_callable, as_flag
from otspec._base.frozen import Frozen
from otspec.blocks.trees.best.best_shape import BestTree, BestTrees, as_depth, as_nodes, as_widths
from otspec.blocks.trees.shapes import Shape
from otspec.blocks.trees.verifiers.token_rules import TokenRule
from otspec.logged.block import LoggedBlock
from otspec.logged.chances import LoggedChances, logged_chances
from otspec.logged.comparison import as_blocks, mean_and_error


@dataclass(frozen=True, eq=False)
class LoggedTrees(Frozen):
    """The best trees of one rule by the mean chances of logged blocks.

    Parameters
    ----------
    chances : LoggedChances
    trees : BestTrees
        By the mean chances: there ``expected`` is what is kept if all positions had those.
    """

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
    by_depth: bool = False,
) -> LoggedTrees:
    """Find the best trees of a rule by the mean chances of logged blocks.

    What a node keeps is averaged over positions before the search, as Sequoia does it, and the tree
    that is found is then estimated block by block without bias. Blocks that were chosen by are
    kept for the estimate too: with few blocks it flatters the tree, with many it does not.

    Parameters
    ----------
    blocks : iterable of LoggedBlock
    rule : callable
        (draft, target, k) → a rule for one token.
    nodes, depth : int
        The most drafted tokens and levels; no block may be shorter.
    widest : int, optional
        The most children of a node; by default as many as nodes.
    by_depth : bool
        Average at each depth over the blocks, for which there should be dozens.

    Raises
    ------
    ValueError
        No block, or one that is shorter; numbers or a rule that cannot be used.
    """
    logged = as_blocks(blocks)
    if not logged:
        raise ValueError("blocks is empty: at least one logged block is needed")
    as_callable(rule, "rule", "a class of otspec.rules, or a function of draft, target and k")
    widths = as_widths(rule, as_nodes(nodes), widest)
    chances = logged_chances(logged, rule, widths, as_depth(depth))
    averaged = chances.averaged(by_depth=as_flag(by_depth, "by_depth"))
    return LoggedTrees(chances, BestTrees(averaged, nodes, depth, "likely"))
