"""Verification of drafts for whole batches at full vocabulary, on any array library."""

from otspec.batch import acceptance
from otspec.batch.acceptance import optimal_acceptance
from otspec.batch.block import block_verification
from otspec.batch.drafting import sample_iid, sample_spechub, sample_without_replacement
from otspec.batch.k_sequential import k_sequential
from otspec.batch.pooled import pooled_selection
from otspec.batch.results import Verified, VerifiedBlock
from otspec.batch.sequential import (
    maximal_coupling,
    recursive_rejection,
    recursive_rejection_without_replacement,
)
from otspec.batch.spechub import spechub
from otspec.batch.warping import warp

__all__ = [
    "Verified",
    "VerifiedBlock",
    "acceptance",
    "block_verification",
    "k_sequential",
    "maximal_coupling",
    "optimal_acceptance",
    "pooled_selection",
    "recursive_rejection",
    "recursive_rejection_without_replacement",
    "sample_iid",
    "sample_spechub",
    "sample_without_replacement",
    "spechub",
    "warp",
]
