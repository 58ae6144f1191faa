"""Trees of drafted tokens, the rules that verify them, and which tree is best."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from otspec.blocks.trees.best.best_shape import BestTree, BestTrees, best_tree, best_trees
from otspec.blocks.trees.best.comparison import TreeComparison, compare_trees
from otspec.blocks.trees.best.costs import Seconds, StepCost, as_seconds, measured
from otspec.blocks.trees.best.dynamic_tree import DynamicTree
from otspec.blocks.trees.best.fastest import FastestTree, TimedTree, fastest_tree
from otspec.blocks.trees.best.search import Configuration, configurations, sweep
from otspec.blocks.trees.branching import as_branching
from otspec.blocks.trees.shapes import Shape, as_shape, together
from otspec.blocks.trees.token_tree import TokenTree
from otspec.blocks.trees.verifiers.base import DraftedTree, TreeRule
from otspec.blocks.trees.verifiers.draft_selection import DraftSelection
from otspec.blocks.trees.verifiers.first_highest_path import FirstHighestPath
from otspec.blocks.trees.verifiers.greedy_multi_path import GreedyMultiPath
from otspec.blocks.trees.verifiers.table import VERIFIERS
from otspec.blocks.trees.verifiers.token_rules import RULES
from otspec.blocks.trees.verifiers.traversal_verify import (
    TraversalVerify,
    TraversalVerifyWithoutReplacement,
)
from otspec.blocks.trees.verifiers.universal_tree import (
    UniversalTree,
    UniversalTreeEarliest,
    UniversalTreeWithoutReplacement,
)

if TYPE_CHECKING:
    from otspec.rules import PairRule

    TREE_RULES: tuple[type[PairRule], ...]

__all__ = [
    "RULES",
    "TREE_RULES",
    "VERIFIERS",
    "BestTree",
    "BestTrees",
    "Configuration",
    "DraftSelection",
    "DraftedTree",
    "DynamicTree",
    "FastestTree",
    "FirstHighestPath",
    "GreedyMultiPath",
    "Seconds",
    "Shape",
    "StepCost",
    "TimedTree",
    "TokenTree",
    "TraversalVerify",
    "TraversalVerifyWithoutReplacement",
    "TreeComparison",
    "TreeRule",
    "UniversalTree",
    "UniversalTreeEarliest",
    "UniversalTreeWithoutReplacement",
    "as_branching",
    "as_seconds",
    "as_shape",
    "best_tree",
    "best_trees",
    "compare_trees",
    "configurations",
    "fastest_tree",
    "measured",
    "sweep",
    "together",
]


def __getattr__(name: str) -> Any:
    """Return the classes of the rules of now: other packages add theirs to :data:`RULES`."""
    if name == "TREE_RULES":
        return tuple(RULES.values())
    raise AttributeError(f"module 'otspec.blocks.trees' has no attribute {name!r}")
