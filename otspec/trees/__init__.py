"""Trees of drafted tokens, the rules that verify them, and which tree is best."""

from otspec.trees.branching import as_branching
from otspec.trees.comparison import TREE_RULES, TreeComparison, compare_trees
from otspec.trees.draft_selection import DraftedTree, DraftSelection
from otspec.trees.search import Configuration, configurations, sweep
from otspec.trees.token_tree import TokenTree

__all__ = [
    "TREE_RULES",
    "Configuration",
    "DraftSelection",
    "DraftedTree",
    "TokenTree",
    "TreeComparison",
    "as_branching",
    "compare_trees",
    "configurations",
    "sweep",
]
