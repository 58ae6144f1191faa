"""Verification rules: one file each, one contract (:class:`otspec.rules.contract.Rule`)."""

from otspec.rules.contract import Rule
from otspec.rules.k_sequential import KSequential
from otspec.rules.maximal_coupling import MaximalCoupling
from otspec.rules.naive_sampling import NaiveSampling
from otspec.rules.recursive_rejection import RecursiveRejection
from otspec.rules.spechub import SpecHub

ALL_RULES: tuple[type[Rule], ...] = (
    KSequential,
    RecursiveRejection,
    MaximalCoupling,
    NaiveSampling,
    SpecHub,
)
"""Every rule that is made from a draft, a target and k, in the order of tables."""

__all__ = [
    "ALL_RULES",
    "KSequential",
    "MaximalCoupling",
    "NaiveSampling",
    "RecursiveRejection",
    "Rule",
    "SpecHub",
]
