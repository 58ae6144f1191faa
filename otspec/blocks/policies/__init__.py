"""Drafting policies: programs that grow a chain or tree of drafts, and stop or prune it."""

from otspec.blocks.policies.base import Policy, PolicyRule, by_match, by_ratio
from otspec.blocks.policies.best_stopping import (
    BestStopping,
    Tuned,
    best_stopping,
    best_threshold,
    rate_of,
)
from otspec.blocks.policies.sequence_race import SequenceRace
from otspec.blocks.policies.shipped import chain, policies, sampled

__all__ = [
    "BestStopping",
    "Policy",
    "PolicyRule",
    "SequenceRace",
    "Tuned",
    "best_stopping",
    "best_threshold",
    "by_match",
    "by_ratio",
    "chain",
    "policies",
    "rate_of",
    "sampled",
]
