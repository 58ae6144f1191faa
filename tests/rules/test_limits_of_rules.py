"""From where on a rule answers with an estimate, or refuses: what users rely on."""

from fractions import Fraction

import pytest

from otspec import IID, Independent
from otspec.rules import (
    Graded,
    GumbelCoupling,
    GumbelLists,
    NaiveSampling,
    PooledSelection,
    PriorityMixture,
    RecursiveRejectionIndependent,
    RecursiveRejectionWithoutReplacement,
)
from otspec.rules.base import accepted
from tests.support.limits import least, of_module

LIMITS = {
    "base.counts": {"MOST_STEPS": 10**9, "MOST_EXACT_STEPS": 10**7, "HALVINGS": 200},
    "base.pair_rule": {"MOST_LISTED": 10**6},
    "base.accepted": {"FEW": 20_000, "ENUMERATION_LIMIT": 20_000, "FEW_IN_FLOATS": 500},
    "importance.acceptance": {
        "MOST_STEPS": 10**7, "MOST_EXACT_STEPS": 2 * 10**6, "MOST_COMPARED": 10**8
    },
    "importance.importance_sampling": {"MOST_STAGES": 10_000},
    "lossy.base": {"LARGEST": 1e300},
    "pooled.partitions": {"MOST_STEPS": 512, "MOST_BINS": 2**20, "MOST_GRADES": 256},
    "pooled.selection": {"MOST_COUNTED": 4_000, "MOST_DRAFTS": 10**9},
    "priority.priority_mixture": {"MOST_POOLS": 4_096},
    "rejection.k_sequential_rho": {"MOST_EXACT": 2_000},
    "rejection.recursive_rejection": {
        "MOST_ROUNDS": 10**5, "MOST_EXACT_ROUNDS": 10**4,
        "MOST_ROUNDS_OF_MODELS": 1_000, "MOST_ORDERED": 7,
    },
    "rejection.without_replacement": {"SUM_LIMIT": 4_000, "_SIZE": 2_000},
    "shared_noise.base": {"MOST_TERMS": 10**6},
    "truncated_alphabet": {"MOST_DRAFTS": 1_000},
}  # fmt: skip


@pytest.mark.parametrize("module", LIMITS)
def test_limits_are_those_that_they_were(module):
    assert of_module(f"rules.{module}", LIMITS[module]) == LIMITS[module]


EXACT = ["1/2", "3/10", "1/5"], ["1/10", "3/5", "3/10"]
THREE = [0.5, 0.3, 0.2], [0.1, 0.6, 0.3]
LONG = ["1/2", Fraction(1, 2) - Fraction(1, 2**600), Fraction(1, 2**600)]
LARGEST = [
    ("rejection.recursive_rejection.MOST_ORDERED", 3,
     lambda: RecursiveRejectionIndependent(
         Independent([EXACT[0], EXACT[1], EXACT[0]]), EXACT[1]).best_order()),
    # 3 tokens to the power of k − 2.
    ("rejection.without_replacement.SUM_LIMIT", 3,
     lambda: RecursiveRejectionWithoutReplacement(*EXACT, 3).acceptance()),
    # 3 ratios and C(3, 1) sets, C(3 + 2, 2) terms of 3 tokens; 2 of 601 bits are 4 times 256.
    ("shared_noise.base.MOST_TERMS", 9, lambda: GumbelCoupling(*EXACT, 2).acceptance()),
    ("shared_noise.base.MOST_TERMS", 30, lambda: GumbelLists(*EXACT, 2).acceptance()),
    ("shared_noise.base.MOST_TERMS", 30, lambda: GumbelLists(*THREE, 2).kernel([0, 1])),
    ("shared_noise.base.MOST_TERMS", 36, lambda: GumbelCoupling(LONG, EXACT[1], 2).acceptance()),
    # Pairs of 3 tokens.
    ("base.accepted.FEW", 9, lambda: accepted.few_by_position(NaiveSampling(*EXACT, 2))),
    ("base.accepted.ENUMERATION_LIMIT", 9,
     lambda: accepted.refuse_many_tuples(IID(EXACT[0], 2))),
    ("pooled.selection.MOST_COUNTED", 3, lambda: PooledSelection(*THREE, 2).accepted().by_position),
]  # fmt: skip


@pytest.mark.parametrize(("name", "number", "call"), LARGEST)
def test_what_is_as_large_as_a_limit_is_no_larger(monkeypatch, name, number, call):
    assert least(monkeypatch, f"rules.{name}", call) == number


PAIR = [0.5, 0.5], [0.25, 0.75]
CALLS = {
    "pools": lambda **given: PooledSelection(*PAIR, 2, **given),
    "drafts": lambda **given: PooledSelection(*PAIR, **given),
    "grades": Graded,
    "mixture": lambda **given: PriorityMixture(IID(PAIR[0], 2), PAIR[1], **given),
    "naive": lambda **given: NaiveSampling(*PAIR, **given),
    "estimate": lambda **given: PooledSelection(*PAIR, 2).estimate(**given),
}
BOUNDS = [
    ("pools", "pools", -1, 2**20 + 1, "pools is -1", "must be at most 1,048,576"),
    ("drafts", "k", 0, 10**9 + 1, "must be at least 1", "must be at most 1,000,000,000"),
    ("grades", "count", 1, 257, "must be at least 2", "must be at most 256"),
    ("grades", "heavy", -1, None, "must be at least 0", ""),
    ("mixture", "pools", 1, 4_097, "must be at least 2", "must be at most 4,096"),
    ("mixture", "most", 0, None, "must be at least 1", ""),
    ("mixture", "gap", -1e-9, None, "must be at least 0", ""),
    ("naive", "k", 0, None, "must be at least 1", ""),
    ("estimate", "size", 1, None, "must be at least 2", ""),
    ("estimate", "seed", -1, None, "must be at least 0", ""),
]


def test_two_draws_are_an_estimate():
    for rule in (PooledSelection(*PAIR, 2), NaiveSampling(*PAIR, 2)):
        assert rule.estimate(size=2).probability.size == 2


@pytest.mark.parametrize(("name", "argument", "low", "high", "least", "most"), BOUNDS)
def test_numbers_of_rules_have_bounds(name, argument, low, high, least, most):
    for value, bound in ((low, least), (high, most)):
        if value is not None:
            with pytest.raises(ValueError, match=f"{bound}(\\D|$)"):
                CALLS[name](**{argument: value})


def test_simulated_hits_are_added_to_what_is_known_and_kept_within_bounds():
    drawn = NaiveSampling(*PAIR, 2).estimate(size=20)
    for hits, found in ((0.25, 0.75), (0.6, 0.9), (0.0, 0.5)):
        estimate = drawn.with_hits(lambda _, each=hits: each, (0.5, 0.9))
        assert estimate.value == found
        assert 0.5 <= estimate.low <= found <= estimate.high <= 0.9


@pytest.mark.parametrize(
    ("rule", "kept"),
    [(RecursiveRejectionWithoutReplacement, 6), (PooledSelection, 2), (NaiveSampling, 2)],
)
def test_a_size_beyond_memory_says_how_many_numbers_a_sample_takes(rule, kept):
    with pytest.raises(ValueError, match=f"each sample takes {kept} numbers"):
        rule(*PAIR, 2).estimate(size=10**15)
