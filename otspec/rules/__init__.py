"""Verification rules: one contract (:class:`Rule`) and one table (:data:`RULES`)."""

from otspec.rules.base.law_rule import ProgramRule
from otspec.rules.base.pair_rule import RULES, DrawnDraft, PairRule, compared_rules
from otspec.rules.base.rule import NotExactError, Rule
from otspec.rules.importance.importance_sampling import ImportanceSampling
from otspec.rules.maximal_coupling import MaximalCoupling
from otspec.rules.naive_sampling import NaiveSampling, TargetOnly
from otspec.rules.planned import PlannedRule
from otspec.rules.pooled.partitions import Bins, ByToken, Fewest, Graded, Partition, Thresholds
from otspec.rules.pooled.selection import EarliestPooledSelection, PooledSelection
from otspec.rules.pooled.without_replacement import PooledSelectionWithoutReplacement
from otspec.rules.priority.priority_mixture import PriorityMixture
from otspec.rules.rejection.k_sequential import KSequential
from otspec.rules.rejection.recursive_rejection import (
    RecursiveRejection,
    RecursiveRejectionIndependent,
)
from otspec.rules.rejection.without_replacement import RecursiveRejectionWithoutReplacement
from otspec.rules.shared_noise.gumbel_coupling import GumbelCoupling
from otspec.rules.shared_noise.gumbel_lists import GumbelLists
from otspec.rules.spechub import SpecHub, SpecTwoHubs
from otspec.rules.truncated_alphabet import TruncatedAlphabet

for _rule in (
    KSequential,
    RecursiveRejection,
    ImportanceSampling,
    MaximalCoupling,
    NaiveSampling,
    RecursiveRejectionWithoutReplacement,
    SpecHub,
    SpecTwoHubs,
    PooledSelection,
    EarliestPooledSelection,
    PooledSelectionWithoutReplacement,
    DrawnDraft,
    GumbelCoupling,
    GumbelLists,
    TargetOnly,
    TruncatedAlphabet,
    PriorityMixture,
    RecursiveRejectionIndependent,
    PlannedRule,
):
    RULES.register(_rule)

__all__ = [
    "RULES",
    "Bins",
    "ByToken",
    "DrawnDraft",
    "EarliestPooledSelection",
    "Fewest",
    "Graded",
    "GumbelCoupling",
    "GumbelLists",
    "ImportanceSampling",
    "KSequential",
    "MaximalCoupling",
    "NaiveSampling",
    "NotExactError",
    "PairRule",
    "Partition",
    "PlannedRule",
    "PooledSelection",
    "PooledSelectionWithoutReplacement",
    "PriorityMixture",
    "ProgramRule",
    "RecursiveRejection",
    "RecursiveRejectionIndependent",
    "RecursiveRejectionWithoutReplacement",
    "Rule",
    "SpecHub",
    "SpecTwoHubs",
    "TargetOnly",
    "Thresholds",
    "TruncatedAlphabet",
    "compared_rules",
]
