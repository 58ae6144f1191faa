"""Blocks that were logged: what rules for blocks and trees would keep of them (Theory, 11)."""

from otspec.logged.block import LoggedBlock
from otspec.logged.comparison import (
    Ratio,
    Tally,
    compare_on_blocks,
    compare_trees_on_blocks,
)
from otspec.logged.metrics import ENGINE_FORMS, AcceptLengths, lengths_on_blocks, lengths_on_texts
from otspec.logged.replay import Replay, replay
from otspec.logged.trees import (
    LoggedTrees,
    Thresholded,
    best_trees_on_blocks,
    dynamic_tree_on_blocks,
)

__all__ = [
    "ENGINE_FORMS",
    "AcceptLengths",
    "LoggedBlock",
    "LoggedTrees",
    "Ratio",
    "Replay",
    "Tally",
    "Thresholded",
    "best_trees_on_blocks",
    "compare_on_blocks",
    "compare_trees_on_blocks",
    "dynamic_tree_on_blocks",
    "lengths_on_blocks",
    "lengths_on_texts",
    "replay",
]
