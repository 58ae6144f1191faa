"""Rules for drafted blocks and trees, the best tree, and what the rules keep in the long run."""

# ruff: noqa: I001 -- rules are registered in the order of tables

from otspec.blocks.block_verification import BlockVerification, TokenVerification
from otspec.blocks.block_verification import BlockVerificationPreprint
from otspec.blocks.base import BlockRule, Outcome
from otspec.blocks.carry_over import CarryOverVerification
from otspec.blocks.comparison import BlockComparison, compare_block_rules
from otspec.blocks.decoding import Decoded, decode, decoded_after, decoded_law, simulate
from otspec.blocks.drafted_tree import DraftedTree
from otspec.blocks.handing_over import HandOverPlan, HandOverRule
from otspec.blocks.block_verification import HierarchicalVerification
from otspec.blocks.long_run import LongRun, long_run
from otspec.blocks.planned_block import PlannedBlock
from otspec.blocks.single_draft import BLOCK_RULES, SingleDraftRule
from otspec.blocks.trees.best.best_shape import BestTree, BestTrees, best_tree, best_trees
from otspec.blocks.trees.best.comparison import TreeComparison, compare_trees
from otspec.blocks.trees.best.costs import Seconds, StepCost, as_seconds, measured
from otspec.blocks.trees.best.load_costs import LoadSeconds, as_load_seconds
from otspec.blocks.trees.best.dynamic_tree import DynamicTree
from otspec.blocks.trees.best.fastest import FastestTree, TimedTree, fastest_tree
from otspec.blocks.trees.best.comparison import Configuration, configurations, sweep
from otspec.blocks.trees.shapes import Shape, as_shape, together
from otspec.blocks.trees.token_tree import TokenTree, as_branching
from otspec.blocks.trees.verifiers.base import TreeRule
from otspec.blocks.trees.verifiers.draft_selection import DraftSelection
from otspec.blocks.trees.verifiers.greedy_multi_path import FirstHighestPath, GreedyMultiPath
from otspec.blocks.trees.verifiers.layer_verification import LayerVerification
from otspec.blocks.trees.verifiers.planned_tree import PlannedTree
from otspec.blocks.trees.verifiers.program_tree import ProgramTree
from otspec.blocks.trees.verifiers.table import TREE_VERIFIERS
from otspec.blocks.trees.verifiers.nodes import TREE_RULES
from otspec.blocks.trees.verifiers.traversal_verify import (
    TraversalVerify,
    TraversalVerifyWithoutReplacement,
)
from otspec.blocks.trees.verifiers.traversal_verify import (
    UniversalTree,
    UniversalTreeEarliest,
    UniversalTreeWithoutReplacement,
)

__all__ = [
    "BLOCK_RULES",
    "TREE_RULES",
    "TREE_VERIFIERS",
    "BestTree",
    "BestTrees",
    "BlockComparison",
    "BlockRule",
    "BlockVerification",
    "BlockVerificationPreprint",
    "CarryOverVerification",
    "Configuration",
    "Decoded",
    "DraftSelection",
    "DraftedTree",
    "DynamicTree",
    "FastestTree",
    "FirstHighestPath",
    "GreedyMultiPath",
    "HandOverPlan",
    "HandOverRule",
    "HierarchicalVerification",
    "LayerVerification",
    "LoadSeconds",
    "LongRun",
    "Outcome",
    "PlannedBlock",
    "PlannedTree",
    "ProgramTree",
    "Seconds",
    "Shape",
    "SingleDraftRule",
    "StepCost",
    "TimedTree",
    "TokenTree",
    "TokenVerification",
    "TraversalVerify",
    "TraversalVerifyWithoutReplacement",
    "TreeComparison",
    "TreeRule",
    "UniversalTree",
    "UniversalTreeEarliest",
    "UniversalTreeWithoutReplacement",
    "as_branching",
    "as_load_seconds",
    "as_seconds",
    "as_shape",
    "best_tree",
    "best_trees",
    "compare_block_rules",
    "compare_trees",
    "configurations",
    "decode",
    "decoded_after",
    "decoded_law",
    "fastest_tree",
    "long_run",
    "measured",
    "simulate",
    "sweep",
    "together",
]
