"""Rules for drafted blocks, and the front door to all that is said of several tokens.

Models, trees and logged blocks have rooms of their own: :mod:`otspec.models`,
:mod:`otspec.trees` and :mod:`otspec.logged`. Their names are found here as well.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from otspec.blocks.block_verify import BlockVerify
from otspec.blocks.block_verify_published import BlockVerifyPublished
from otspec.blocks.comparison import BLOCK_RULES, BlockComparison, compare_block_rules
from otspec.blocks.contract import BlockRule, Outcome
from otspec.blocks.decoding import Decoded, decode, decoded_after, decoded_law
from otspec.blocks.simulation import simulate
from otspec.blocks.single_draft import SingleDraftRule
from otspec.blocks.token_verify import TokenVerify
from otspec.models import (
    CallableModel,
    Model,
    TableModel,
    load_model,
    markov,
    memoryless,
    random_pair,
)

if TYPE_CHECKING:
    from otspec.logged import LoggedBlock, compare_on_blocks, compare_trees_on_blocks
    from otspec.trees import (
        TREE_RULES,
        Configuration,
        DraftedTree,
        DraftSelection,
        TokenTree,
        TreeComparison,
        as_branching,
        compare_trees,
        configurations,
        sweep,
    )

__all__ = [
    "BLOCK_RULES",
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
    "LoggedBlock",
    "Model",
    "Outcome",
    "SingleDraftRule",
    "TableModel",
    "TokenTree",
    "TokenVerify",
    "TreeComparison",
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
    "markov",
    "memoryless",
    "random_pair",
    "simulate",
    "sweep",
]


def __getattr__(name: str) -> Any:
    """Find the names of trees and logged blocks, which lie above this room and import it."""
    if name in __all__:
        for room in ("otspec.trees", "otspec.logged"):
            if name in import_module(room).__all__:
                return getattr(import_module(room), name)
    raise AttributeError(f"module 'otspec.blocks' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
