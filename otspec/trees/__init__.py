"""Trees of drafted tokens, the rules that verify them, and which tree is best."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from otspec.blocks.drafted_tree import DraftedTree
from otspec.trees.best_shape import BestTree, BestTrees, best_tree, best_trees
from otspec.trees.branching import as_branching
from otspec.trees.comparison import TreeComparison, compare_trees
from otspec.trees.contract import TreeRule
from otspec.trees.costs import Seconds, StepCost, as_seconds, measured
from otspec.trees.draft_selection import DraftSelection
from otspec.trees.dynamic_tree import DynamicTree
from otspec.trees.fastest import FastestTree, TimedTree, fastest_tree
from otspec.trees.first_highest_path import FirstHighestPath
from otspec.trees.greedy_multi_path import GreedyMultiPath
from otspec.trees.search import Configuration, configurations, sweep
from otspec.trees.shapes import Shape, as_shape, together
from otspec.trees.token_rules import RULES
from otspec.trees.token_tree import TokenTree
from otspec.trees.traversal_verify import TraversalVerify, TraversalVerifyWithoutReplacement
from otspec.trees.universal_tree import (
    UniversalTree,
    UniversalTreeEarliest,
    UniversalTreeWithoutReplacement,
)
from otspec.trees.verifiers import VERIFIERS

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
    raise AttributeError(f"module 'otspec.trees' has no attribute {name!r}")
