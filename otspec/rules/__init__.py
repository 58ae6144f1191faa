"""Verification rules: one file each, one contract (:class:`Rule`), one table (:data:`RULES`)."""

from otspec.rules.contract import NotExactError, Rule
from otspec.rules.drawn_draft import DrawnDraft
from otspec.rules.gumbel_coupling import GumbelCoupling
from otspec.rules.gumbel_lists import GumbelLists
from otspec.rules.importance_sampling import ImportanceSampling
from otspec.rules.k_sequential import KSequential
from otspec.rules.maximal_coupling import MaximalCoupling
from otspec.rules.naive_sampling import NaiveSampling
from otspec.rules.pair_rule import PairRule
from otspec.rules.planned import PlannedRule
from otspec.rules.pooled import PooledSelection
from otspec.rules.pooled_earliest import EarliestPooledSelection
from otspec.rules.pooled_without_replacement import PooledSelectionWithoutReplacement
from otspec.rules.priority_mixture import PriorityMixture
from otspec.rules.program_rule import ProgramRule
from otspec.rules.recursive_rejection import RecursiveRejection
from otspec.rules.recursive_rejection_independent import RecursiveRejectionIndependent
from otspec.rules.recursive_rejection_without_replacement import (
    RecursiveRejectionWithoutReplacement,
)
from otspec.rules.spechub import SpecHub
from otspec.rules.table import RULES, compared_rules
from otspec.rules.target_only import TargetOnly
from otspec.rules.truncated_alphabet import TruncatedAlphabet
from otspec.rules.two_hubs import SpecTwoHubs
from otspec.selection.partitions import Bins, ByToken, Fewest, Graded, Partition, Thresholds

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
