"""Verification rules: one file each, one contract (:class:`otspec.rules.contract.Rule`)."""

from otspec.rules.contract import PairRule, Rule
from otspec.rules.importance_sampling import ImportanceSampling
from otspec.rules.k_sequential import KSequential
from otspec.rules.maximal_coupling import MaximalCoupling
from otspec.rules.naive_sampling import NaiveSampling
from otspec.rules.planned import PlannedRule
from otspec.rules.pooled import PooledSelection
from otspec.rules.pooled_without_replacement import PooledSelectionWithoutReplacement
from otspec.rules.priority_mixture import PriorityMixture
from otspec.rules.recursive_rejection import RecursiveRejection
from otspec.rules.recursive_rejection_without_replacement import (
    RecursiveRejectionWithoutReplacement,
)
from otspec.rules.spechub import SpecHub

ALL_RULES: tuple[type[PairRule], ...] = (
    KSequential,
    RecursiveRejection,
    MaximalCoupling,
    NaiveSampling,
    RecursiveRejectionWithoutReplacement,
    SpecHub,
    PooledSelection,
    PooledSelectionWithoutReplacement,
)
"""Every rule that is made from a draft, a target and k, in the order of tables."""

__all__ = [
    "ALL_RULES",
    "ImportanceSampling",
    "KSequential",
    "MaximalCoupling",
    "NaiveSampling",
    "PairRule",
    "PlannedRule",
    "PooledSelection",
    "PooledSelectionWithoutReplacement",
    "PriorityMixture",
    "RecursiveRejection",
    "RecursiveRejectionWithoutReplacement",
    "Rule",
    "SpecHub",
]
