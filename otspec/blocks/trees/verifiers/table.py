"""The rules for whole trees by name, which comparisons show beside those applied by depth."""

from otspec._base import Registry, subclass_of
from otspec.blocks.trees.verifiers import traversal_verify
from otspec.blocks.trees.verifiers.base import TreeRule
from otspec.blocks.trees.verifiers.greedy_multi_path import GreedyMultiPath

TREE_VERIFIERS: Registry[type[TreeRule]] = Registry(
    "tree verifier", "otspec.tree_verifiers", subclass_of(TreeRule)
)
"""Rules that are made from a draft, a target and a tree, by name, in the order of tables."""
for _rule in (
    traversal_verify.TraversalVerify,
    traversal_verify.UniversalTree,
    traversal_verify.UniversalTreeEarliest,
    traversal_verify.TraversalVerifyWithoutReplacement,
    traversal_verify.UniversalTreeWithoutReplacement,
    GreedyMultiPath,
):
    TREE_VERIFIERS.register(_rule)
