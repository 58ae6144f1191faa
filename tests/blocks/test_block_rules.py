"""Rules for one drafted block: E[τ] by theorem, by algorithm and as an optimum, exactly."""

from __future__ import annotations

import sys
import time
import tracemalloc
from fractions import Fraction
from math import comb

import numpy as np
import pytest
from block_models import ALGORITHMS, SIZES, capped_mass, model_pairs, within
from instances import EPS, HEAVY_DRAFTS
from programs import verified, ways
from searching import enough

from otspec.auditing import audit_blocks
from otspec.blocks import (
    BLOCK_RULES,
    BlockVerification,
    BlockVerificationPreprint,
    TokenVerification,
    compare_block_rules,
    single_draft,
)
from otspec.blocks.base import enumerated_expected
from otspec.models import memoryless, random_pair
from otspec.programs import BlockProgram
from otspec.solvers import solve
from validation import block_algorithms as printed
from validation.verified_blocks import (
    best_transport,
    common_chances,
    common_mass,
    common_prefix,
)

RATIONAL = {(2, 1): 24, (2, 2): 32, (2, 3): 20, (3, 1): 24, (3, 2): 8}
"""How many block programs the rational solver solves."""

FORMULAS = {
    TokenVerification: common_chances,
    BlockVerification: capped_mass,
    BlockVerificationPreprint: common_mass,
}


@pytest.mark.parametrize(("n", "length"), SIZES)
def test_expected_is_the_formula_and_the_enumerated_algorithm_exactly(n, length):
    seen = []
    for case in model_pairs(700, n, length, SIZES[n, length]):
        found = []
        for rule_class, formula in FORMULAS.items():
            rule = rule_class(*case.exact, length)
            found.append(rule.expected())
            assert type(found[-1]) is Fraction
            assert found[-1] == formula(*case.literal, length) == enumerated_expected(rule)
            assert rule.efficiency() == found[-1] + 1
            assert sum(outcome.mass for outcome in rule.outcomes()) == 1
        token, published, preprint = found
        assert token <= published <= preprint <= length
        if length == 1:
            assert token == preprint
        seen.append(found)
    assert len(seen) == enough(SIZES[n, length])
    assert min(seen) == [0, 0, 0]
    assert max(seen) == [length] * 3
    # Of both inequalities each is strict somewhere, and for single tokens none is.
    assert any(token < published < preprint for token, published, preprint in seen) is (length > 1)


@pytest.mark.parametrize(("n", "length"), SIZES)
def test_the_preprints_rule_attains_the_best_transport_of_blocks_exactly(n, length):
    for case in model_pairs(700, n, length, SIZES[n, length]):
        target, draft = case.literal
        best = best_transport(draft.blocks(length), target.blocks(length), common_prefix)
        assert BlockVerificationPreprint(*case.exact, length).expected() == best


@pytest.mark.parametrize(("n", "length"), RATIONAL)
def test_the_preprints_rule_attains_the_block_program_exactly(n, length):
    for case in model_pairs(700, n, length, RATIONAL[n, length]):
        solution = solve(BlockProgram(*case.exact, length).build())
        assert solution.solver == "rational"
        assert BlockVerificationPreprint(*case.exact, length).expected() == solution.value


def test_there_are_at_least_a_hundred_models_and_programs():
    assert sum(SIZES.values()) >= 100
    assert sum(RATIONAL.values()) >= 100


@pytest.mark.parametrize("rule_class", BLOCK_RULES.values())
@pytest.mark.parametrize(("n", "length"), SIZES)
def test_every_draft_is_verified_as_the_algorithm_says_branch_by_branch(n, length, rule_class):
    for case in model_pairs(701, n, length, 12):
        rule, (target, draft) = rule_class(*case.exact, length), case.literal
        followed = set()
        for block in draft.blocks(length):
            found = ways(rule, block)
            kept = [Fraction(0)] * (length + 1)
            for branch in ALGORITHMS[rule_class](target, draft, block):
                kept[branch.accepted] += branch.mass
                head = block[: branch.accepted]
                if branch.mass and head not in followed:
                    followed.add(head)
                    wanted = branch.following.blocks(length - len(head) + 2)
                    assert dict(found[head].following.texts(length - len(head) + 2)) == wanted
            assert rule.kept(block).tolist() == kept


def errors_of_kept(case, block):
    """How far the law of τ in floats may be from the exact one, for the block rules.

    A factor of M_b/M_s, or of p_i, is off by three roundings, so that an entry of a residual is
    off by e = 4 (L + 1) EPS max(1, M_b/M_s) and a sum of n of them by n·e. A chance is a
    fraction of sums, of which the larger one, if any is not 0, is at least κ: it is off by 2 n e
    / κ. Where both are 0 (p = q after texts of one probability) a longer text is kept for
    certain, up to the same error. L + 1 chances, each of them taken and not taken, add up.
    """
    target, draft = case.literal
    length, largest, least = case.length, Fraction(1), Fraction(1)
    weight = Fraction(1)
    for depth in range(length + 1):
        head = block[:depth]
        largest = max(largest, target.mass(head) / draft.mass(head))
        if depth:
            before, token = head[:-1], head[-1]
            weight = min(Fraction(1), weight * target(before)[token] / draft(before)[token])
        rows = list(zip(target(head), draft(head), strict=True))
        excess = sum(max(weight * wanted - drafted, 0) for wanted, drafted in rows)
        mass = draft.mass(head)
        sums = [
            max(printed.rejected(target, draft, head), printed.remaining(target, draft, head))
            / mass,
            excess + 1 - weight,
        ]
        least = min([least, *(each for each in sums if each > 0)])
    chance = 2 * target.n * 4 * (length + 1) * EPS * float(largest / least)
    return 4 * (length + 1) * chance


@pytest.mark.parametrize("rule_class", BLOCK_RULES.values())
@pytest.mark.parametrize(("n", "length"), [(2, 3), (3, 2), (3, 3)])
def test_floats_agree_with_fractions_to_rounding(n, length, rule_class):
    for case in model_pairs(702, n, length, 24):
        exact, rule = (rule_class(*models, length) for models in (case.exact, case.float))
        # Each term is a product of at most 4 L rounded factors; n^L of them add up, at L depths.
        limit = EPS * length**2 * (4 + n**length)
        assert type(rule.expected()) is float
        assert abs(rule.expected() - exact.expected()) <= limit
        for block, _ in exact.draft.texts(length):
            kept = rule.kept(block)
            assert kept.dtype == np.float64
            difference = kept - exact.kept(block).astype(float)
            assert np.abs(difference).max() <= errors_of_kept(case, block)
            assert abs(kept.sum() - 1) <= 4 * (length + 1) * EPS


@pytest.mark.parametrize("rule_class", BLOCK_RULES.values())
@pytest.mark.parametrize("row", HEAVY_DRAFTS)
def test_drafts_that_are_next_to_impossible_do_no_harm(row, rule_class):
    n = len(row)
    uniform, first, last = np.full(n, 1 / n), np.eye(n)[0], np.eye(n)[-1]
    for wanted in (uniform, np.array(row[::-1]), first, last):
        report = audit_blocks(rule_class(memoryless(list(row)), memoryless(wanted), 2), 3)
        assert report.lossless
        assert -100 * EPS <= report.gap <= 2
        assert abs(sum(report.texts.values()) - 1) <= 100 * EPS


@pytest.mark.parametrize("rule_class", BLOCK_RULES.values())
def test_drafts_that_are_none_are_refused(rule_class):
    draft, target = memoryless(["1/2", "1/2", 0]), memoryless(["1/4", "1/4", "1/2"])
    rule, rng = rule_class(draft, target, 2), np.random.default_rng(0)
    for block, message in [
        ((0,), r"block has 1 tokens, but the length is 2"),
        ((0, 1, 0), r"block has 3 tokens, but the length is 2"),
        ((0, 3), r"block\[1\] is 3, but token ids run from 0 to 2"),
        ((-1, 0), r"block\[0\] is -1, but token ids"),
        ((0, 2), r"block\[1\] is 2, which the draft model never drafts there"),
    ]:
        with pytest.raises(ValueError, match=message):
            rule.kept(block)
        with pytest.raises(ValueError, match=message):
            verified(rule, (block,), rng)
    assert rule.kept(np.array([0, 1])).sum() == 1
    for length in (0, -1, 1.5, True, "2"):
        with pytest.raises(ValueError, match="length"):
            rule_class(draft, target, length)
    with pytest.raises(ValueError, match=r"draft\(\(\)\) is exact but target\(\(\)\) is float"):
        rule_class(draft, lambda _: [0.5, 0.25, 0.25], 2)
    with pytest.raises(ValueError, match="has 3 tokens and"):
        rule_class(draft, memoryless(["1/2", "1/2"]), 2)


@pytest.mark.parametrize("rule_class", BLOCK_RULES.values())
@pytest.mark.parametrize("kind", [0, 1, 2, 12])
def test_samples_have_the_frequencies_of_the_outcomes(kind, rule_class):
    case, size = list(model_pairs(703, 3, 2, 13))[kind], enough(2_000, 800)
    rule, rng = rule_class(*case.float, 2), np.random.default_rng((7, kind))
    law = {
        (outcome.accepted, token): float(outcome.mass * chance)
        for outcome in rule_class(*case.exact, 2).outcomes()
        for token, chance in enumerate(outcome.following(()))
        if chance > 0
    }
    counts: dict = {}
    for _ in range(size):
        outcome = rule.sample(rng)
        assert outcome.mass == 1
        cell = outcome.accepted, rule.next_token(outcome, rng)
        counts[cell] = counts.get(cell, 0) + 1
    assert within(counts, law, size)
    block = max(rule.draft.texts(2), key=lambda text: text[1])[0]
    kept = rule.kept(block)
    taus = np.bincount(
        [len(verified(rule, (block,), rng).accepted) for _ in range(size)], minlength=3
    )
    cells = {tau: chance for tau, chance in enumerate(kept.tolist()) if chance > 0}
    assert within({tau: count for tau, count in enumerate(taus.tolist()) if count}, cells, size)


def binomial_variation(i, p, q):
    masses = [
        [comb(i, j) * chance**j * (1 - chance) ** (i - j) for j in range(i + 1)]
        for chance in (p, q)
    ]
    return sum(abs(one - other) for one, other in zip(*masses, strict=True)) / 2


@pytest.mark.parametrize(
    ("p", "q"), [("1/2", "1/4"), ("1/3", "3/5"), ("9/10", "1/10"), ("2/7", "2/7"), ("0", "1/3")]
)
def test_bernoulli_blocks_are_binomial_total_variations_exactly(p, q):
    one, other = Fraction(p), Fraction(q)
    draft, target = (memoryless([1 - chance, chance]) for chance in (one, other))
    agree = 1 - abs(one - other)
    rows = compare_block_rules(draft, target, range(1, 13))
    for length in range(1, 13):
        token, published, preprint = rows[3 * length - 3 : 3 * length]
        assert token.expected == sum(agree**i for i in range(1, length + 1))
        binomials = sum(1 - binomial_variation(i, one, other) for i in range(1, length + 1))
        assert preprint.expected == preprint.optimum == token.optimum == binomials
        assert token.expected <= published.expected <= preprint.expected
        assert preprint.gap == 0
        assert token.gap == binomials - token.expected
        assert [row.efficiency for row in (token, preprint)] == [token.expected + 1, binomials + 1]
        assert {row.length for row in (token, published, preprint)} == {length}
        assert token.error == 0


def largest_memory():
    """The most bytes that this process has held."""
    resource = pytest.importorskip("resource")
    used = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return used * (1 if sys.platform == "darwin" else 1024)


@pytest.mark.parametrize("divergence", ["1/5", 0.2])
def test_blocks_of_eight_over_four_tokens_are_quick_and_small(divergence):
    models = random_pair(4, divergence, np.random.default_rng(0))
    before, start = largest_memory(), time.process_time()
    found = [rule(*models, 8).expected() for rule in BLOCK_RULES.values()]
    assert time.process_time() - start < 10
    assert largest_memory() - before < 2**30
    assert found[0] < found[1] < found[2] < 8
    assert {type(value) for value in found} == {float if divergence == 0.2 else Fraction}


def test_the_memory_of_a_long_block_is_that_of_its_states():
    models = random_pair(4, 0.2, np.random.default_rng(0))
    tracemalloc.start()
    try:
        BlockVerificationPreprint(*models, 8).expected()
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 1_000 * 4**7  # no more than 4^7 texts, each with a prefix and three numbers


def test_too_many_states_are_refused_by_number(monkeypatch):
    monkeypatch.setattr(single_draft, "STATE_LIMIT", 100)
    draft, target = random_pair(3, "1/3", np.random.default_rng(1))
    message = r"length is 8: after 4 tokens there are [\d,]+ states, too many .*simulate\(\)"
    with pytest.raises(ValueError, match=message):
        BlockVerificationPreprint(draft, target, 8).expected()
    assert TokenVerification(draft, target, 8).expected() < 8  # three states at each depth


def test_states_of_equal_context_and_ratio_are_one(monkeypatch):
    monkeypatch.setattr(single_draft, "STATE_LIMIT", 77)
    draft, target = memoryless(["1/2", "1/2"]), memoryless(["1/4", "3/4"])
    assert (
        BlockVerificationPreprint(draft, target, 12).expected() > 0
    )  # counts of a token, not 2^12 texts
