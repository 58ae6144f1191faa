"""Drafting policies: programs that grow a chain or tree of drafts, and stop or prune it."""

from otspec.blocks.policies.base import Policy, PolicyRule, by_match, by_ratio
from otspec.blocks.policies.sequence_race import SequenceRace
from otspec.blocks.policies.shipped import chain, policies, sampled

__all__ = [
    "Policy",
    "PolicyRule",
    "SequenceRace",
    "by_match",
    "by_ratio",
    "chain",
    "policies",
    "sampled",
]
