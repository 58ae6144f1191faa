"""Draft laws: the joint distribution of the k tokens that the draft model proposes."""

# ruff: noqa: I001 -- laws with a name are registered in the order of tables

from otspec.drafts.base import DraftLaw
from otspec.drafts.independent import IID, Independent
from otspec.drafts.without_replacement import WithoutReplacement
from otspec.drafts.hub import Hub, TopPlusOne
from otspec.drafts.fixed import Fixed, TopK
from otspec.drafts.independent import Joint
from otspec.drafts.hub import TwoHubs
from otspec.drafts.masked import Masked
from otspec.drafts.other_vocabulary import on_target_strings, on_target_tokens
from otspec.drafts.single import LAWS, SingleDraftLaw, TooFewTokensError, named_law

__all__ = [
    "IID",
    "LAWS",
    "DraftLaw",
    "Fixed",
    "Hub",
    "Independent",
    "Joint",
    "Masked",
    "SingleDraftLaw",
    "TooFewTokensError",
    "TopK",
    "TopPlusOne",
    "TwoHubs",
    "WithoutReplacement",
    "named_law",
    "on_target_strings",
    "on_target_tokens",
]
