"""Blocks of several tokens: language models, block rules, trees, block efficiency."""

from otspec.blocks.block_verify import BlockVerify
from otspec.blocks.comparison import (
    BLOCK_RULES,
    BlockComparison,
    compare_block_rules,
    compare_on_blocks,
)
from otspec.blocks.contract import BlockRule, Outcome
from otspec.blocks.decoding import Decoded, decode, decoded_after, decoded_law
from otspec.blocks.draft_selection import DraftedTree, DraftSelection
from otspec.blocks.efficiency import Configuration, configurations, simulate, sweep
from otspec.blocks.files import load_model
from otspec.blocks.logged import LoggedBlock
from otspec.blocks.models import CallableModel, Model
from otspec.blocks.published import BlockVerifyPublished
from otspec.blocks.random_models import random_pair
from otspec.blocks.single import SingleDraftRule
from otspec.blocks.tables import TableModel, markov, memoryless
from otspec.blocks.token_verify import TokenVerify
from otspec.blocks.tree_comparison import (
    TREE_RULES,
    TreeComparison,
    compare_trees,
    compare_trees_on_blocks,
)
from otspec.blocks.trees import TokenTree, as_branching

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
