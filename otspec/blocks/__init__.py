"""Rules for drafted blocks, and the front door to all that is said of several tokens.

Models, trees and logged blocks have rooms of their own: :mod:`otspec.models`,
:mod:`otspec.trees` and :mod:`otspec.logged`. Their names are found here as well.
"""

# ruff: noqa: I001 -- rules are registered in the order of tables

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from otspec.blocks.token_verify import TokenVerify
from otspec.blocks.block_verify_published import BlockVerifyPublished
from otspec.blocks.block_verify import BlockVerify
from otspec.blocks.comparison import BlockComparison, compare_block_rules
from otspec.blocks.contract import BlockRule, Outcome
from otspec.blocks.decoding import Decoded, decode, decoded_after, decoded_law
from otspec.blocks.handing_over import HandOverPlan, HandOverRule
from otspec.blocks.long_run import LongRun, long_run
from otspec.blocks.simulation import simulate
from otspec.blocks.single_draft import RULES, SingleDraftRule
from otspec.models import (
    CallableModel,
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
    from otspec.logged import LoggedBlock, compare_on_blocks, compare_trees_on_blocks
    from otspec.trees import (
        TREE_RULES,
        Configuration,
        DraftedTree,
        DraftSelection,
        FirstHighestPath,
        GreedyMultiPath,
        TokenTree,
        TraversalVerify,
        TraversalVerifyWithoutReplacement,
        TreeComparison,
        UniversalTree,
        UniversalTreeWithoutReplacement,
        as_branching,
        compare_trees,
        configurations,
        sweep,
    )

__all__ = [
    "BLOCK_RULES",
    "RULES",
    "TREE_RULES",
    "BlockComparison",
    "BlockRule",
    "BlockVerify",
    "BlockVerifyPublished",
    "CallableModel",
    "Configuration",
    "Decoded",
    "DraftSelection",
    "DraftedTree",
    "FirstHighestPath",
    "GreedyMultiPath",
    "HandOverPlan",
    "HandOverRule",
    "LoggedBlock",
    "LongRun",
    "Model",
    "NGramModel",
    "Outcome",
    "SingleDraftRule",
    "TableModel",
    "TokenTree",
    "TokenVerify",
    "TraversalVerify",
    "TraversalVerifyWithoutReplacement",
    "TreeComparison",
    "UniversalTree",
    "UniversalTreeWithoutReplacement",
    "WarpedModel",
    "as_branching",
    "compare_block_rules",
    "compare_on_blocks",
    "compare_trees",
    "compare_trees_on_blocks",
    "configurations",
    "decode",
    "decoded_after",
    "decoded_law",
    "load_model",
    "long_run",
    "markov",
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
        rooms = map(import_module, ("otspec.trees", "otspec.logged"))
        return next(getattr(room, name) for room in rooms if name in room.__all__)
    raise AttributeError(f"module 'otspec.blocks' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
