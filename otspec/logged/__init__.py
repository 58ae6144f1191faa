"""Blocks that were logged: what rules for blocks and trees would keep of them (Theory, 11)."""

from otspec.logged.best_tree import LoggedTrees, best_trees_on_blocks
from otspec.logged.block import LoggedBlock
from otspec.logged.comparison import compare_on_blocks, compare_trees_on_blocks
from otspec.logged.dynamic_tree import Thresholded, dynamic_tree_on_blocks
from otspec.logged.replay import Replay, replay

__all__ = [
    "LoggedBlock",
    "LoggedTrees",
    "Replay",
    "Thresholded",
    "best_trees_on_blocks",
    "compare_on_blocks",
    "compare_trees_on_blocks",
    "dynamic_tree_on_blocks",
    "replay",
]
