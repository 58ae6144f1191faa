"""The rules for whole trees by name, which comparisons show beside those applied by depth."""

from otspec._base import Registry, subclass_of
from otspec.blocks.trees.verifiers.base import TreeRule
from otspec.blocks.trees.verifiers.greedy_multi_path import GreedyMultiPath
from otspec.blocks.trees.verifiers.traversal_verify import (
    TraversalVerify,
    TraversalVerifyWithoutReplacement,
    UniversalTree,
    UniversalTreeEarliest,
    UniversalTreeWithoutReplacement,
)

TREE_VERIFIERS: Registry[type[TreeRule]] = Registry(
    "tree verifier", "otspec.tree_verifiers", subclass_of(TreeRule)
)
"""Rules that are made from a draft, a target and a tree, by name, in the order of tables."""
for _rule in (
    TraversalVerify,
    UniversalTree,
    UniversalTreeEarliest,
    TraversalVerifyWithoutReplacement,
    UniversalTreeWithoutReplacement,
    GreedyMultiPath,
):
    TREE_VERIFIERS.register(_rule)
