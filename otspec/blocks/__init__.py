"""Rules for drafted blocks, and the front door to all that is said of several tokens.

Models, trees and logged blocks have rooms of their own: :mod:`otspec.models`,
:mod:`otspec.blocks.trees` and :mod:`otspec.logged`. Their names are found here as well.
"""

# ruff: noqa: I001 -- rules are registered in the order of tables

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from otspec.blocks.token_verify import TokenVerify
from otspec.blocks.block_verify_published import BlockVerifyPublished
from otspec.blocks.block_verify import BlockVerify
from otspec.blocks.comparison import BlockComparison, compare_block_rules
from otspec.blocks.base import BlockRule, Outcome
from otspec.blocks.hierarchical_verify import HierarchicalVerify
from otspec.blocks.planned_block import PlannedBlock
from otspec.blocks.decoding import Decoded, decode, decoded_after, decoded_law
from otspec.blocks.handing_over import HandOverPlan, HandOverRule
from otspec.blocks.long_run import LongRun, long_run
from otspec.blocks.simulation import simulate
from otspec.blocks.single_draft import RULES, SingleDraftRule
from otspec.models import (
    CallableModel,
    EndingModel,
    Model,
    NGramModel,
    TableModel,
    WarpedModel,
    load_model,
    markov,
    memoryless,
    random_pair,
)

if TYPE_CHECKING:
    BLOCK_RULES: tuple[type[SingleDraftRule], ...]
    from otspec.logged import (
        LoggedBlock,
        LoggedTrees,
        Thresholded,
        best_trees_on_blocks,
        compare_on_blocks,
        compare_trees_on_blocks,
        dynamic_tree_on_blocks,
    )
    from otspec.blocks.trees import (
        TREE_RULES,
        BestTree,
        BestTrees,
        Configuration,
        DraftedTree,
        DraftSelection,
        DynamicTree,
        FastestTree,
        FirstHighestPath,
        GreedyMultiPath,
        Seconds,
        Shape,
        StepCost,
        TimedTree,
        TokenTree,
        TraversalVerify,
        TraversalVerifyWithoutReplacement,
        TreeComparison,
        UniversalTree,
        UniversalTreeEarliest,
        UniversalTreeWithoutReplacement,
        as_branching,
        as_seconds,
        as_shape,
        best_tree,
        best_trees,
        compare_trees,
        configurations,
        fastest_tree,
        measured,
        sweep,
    )

__all__ = [
    "BLOCK_RULES",
    "RULES",
    "TREE_RULES",
    "BestTree",
    "BestTrees",
    "BlockComparison",
    "BlockRule",
    "BlockVerify",
    "BlockVerifyPublished",
    "CallableModel",
    "Configuration",
    "Decoded",
    "DraftSelection",
    "DraftedTree",
    "DynamicTree",
    "EndingModel",
    "FastestTree",
    "FirstHighestPath",
    "GreedyMultiPath",
    "HandOverPlan",
    "HandOverRule",
    "HierarchicalVerify",
    "LoggedBlock",
    "LoggedTrees",
    "LongRun",
    "Model",
    "NGramModel",
    "Outcome",
    "PlannedBlock",
    "Seconds",
    "Shape",
    "SingleDraftRule",
    "StepCost",
    "TableModel",
    "Thresholded",
    "TimedTree",
    "TokenTree",
    "TokenVerify",
    "TraversalVerify",
    "TraversalVerifyWithoutReplacement",
    "TreeComparison",
    "UniversalTree",
    "UniversalTreeEarliest",
    "UniversalTreeWithoutReplacement",
    "WarpedModel",
    "as_branching",
    "as_seconds",
    "as_shape",
    "best_tree",
    "best_trees",
    "best_trees_on_blocks",
    "compare_block_rules",
    "compare_on_blocks",
    "compare_trees",
    "compare_trees_on_blocks",
    "configurations",
    "decode",
    "decoded_after",
    "decoded_law",
    "dynamic_tree_on_blocks",
    "fastest_tree",
    "load_model",
    "long_run",
    "markov",
    "measured",
    "memoryless",
    "random_pair",
    "simulate",
    "sweep",
]


def __getattr__(name: str) -> Any:
    """Find the rules of now, and the names of trees and logged blocks, which import this room."""
    if name == "BLOCK_RULES":  # classes; those of other packages join when it is looked at
        return tuple(RULES.values())
    if name in __all__:
        rooms = map(import_module, ("otspec.blocks.trees", "otspec.logged"))
        return next(getattr(room, name) for room in rooms if name in room.__all__)
    raise AttributeError(f"module 'otspec.blocks' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
