"""Verification rules: one file each, one contract (:class:`otspec.rules.contract.Rule`)."""

from otspec.rules.contract import Rule
from otspec.rules.k_sequential import KSequential
from otspec.rules.maximal_coupling import MaximalCoupling
from otspec.rules.naive_sampling import NaiveSampling
from otspec.rules.recursive_rejection import RecursiveRejection
from otspec.rules.spechub import SpecHub

__all__ = [
    "KSequential",
    "MaximalCoupling",
    "NaiveSampling",
    "RecursiveRejection",
    "Rule",
    "SpecHub",
]
