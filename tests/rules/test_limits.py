"""From where on a rule answers with an estimate, or refuses: what users rely on."""

import pytest

from tests.support.limits import of_module

LIMITS = {
    "base.counts": {"MOST_STEPS": 10**9, "MOST_EXACT_STEPS": 10**7, "HALVINGS": 200},
    "base.pair_rule": {"MOST_LISTED": 10**6},
    "base.tuples": {"FEW": 20_000, "ENUMERATION_LIMIT": 20_000, "FEW_IN_FLOATS": 500},
    "importance.acceptance": {
        "MOST_STEPS": 10**7, "MOST_EXACT_STEPS": 2 * 10**6, "MOST_COMPARED": 10**8
    },
    "importance.importance_sampling": {"MOST_STAGES": 10_000},
    "lossy.base": {"LARGEST": 1e300},
    "pooled.fewest": {"MOST_STEPS": 512},
    "pooled.partitions": {"MOST_BINS": 2**20, "MOST_GRADES": 256},
    "pooled.selection": {"MOST_COUNTED": 4_000, "MOST_DRAFTS": 10**9},
    "priority.priority_mixture": {"MOST_POOLS": 4_096},
    "rejection.independent": {"MOST_ROUNDS": 1_000, "MOST_ORDERED": 7},
    "rejection.k_sequential_rho": {"MOST_EXACT": 2_000},
    "rejection.recursive_rejection": {"MOST_ROUNDS": 10**5, "MOST_EXACT_ROUNDS": 10**4},
    "rejection.without_replacement": {"SUM_LIMIT": 4_000, "_SIZE": 2_000},
    "shared_noise.base": {"MOST_TERMS": 10**6},
    "truncated_alphabet": {"MOST_DRAFTS": 1_000},
}  # fmt: skip


@pytest.mark.parametrize("module", LIMITS)
def test_limits_are_those_that_they_were(module):
    assert of_module(f"rules.{module}", LIMITS[module]) == LIMITS[module]
