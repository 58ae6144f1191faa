"""Draft laws: the joint distribution of the k tokens that the draft model proposes.

A law is a distribution on k-tuples of token ids. Every law answers four questions: which
tuples, inside which token sets, one draft's marginal, and a sample. Source: theory of the five
papers in one notation; see ``docs/conventions.md``.
"""

from otspec.drafts.contract import DraftLaw
from otspec.drafts.hub import Hub, TopPlusOne
from otspec.drafts.independent import IID, Independent
from otspec.drafts.joint import Joint
from otspec.drafts.naming import LAW_NAMES, named_law
from otspec.drafts.without_replacement import WithoutReplacement

__all__ = [
    "IID",
    "LAW_NAMES",
    "DraftLaw",
    "Hub",
    "Independent",
    "Joint",
    "TopPlusOne",
    "WithoutReplacement",
    "named_law",
]
