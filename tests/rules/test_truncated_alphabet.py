"""The truncated alphabet: lossless, and what it accepts and loses, by all branches (Canonical)."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import oracles
import pytest
from instances import floats, fractions, pairs
from searching import of_all

import otspec
from otspec.rules import (
    ImportanceSampling,
    KSequential,
    MaximalCoupling,
    NaiveSampling,
    PlannedRule,
    PooledSelection,
    RecursiveRejection,
    RecursiveRejectionWithoutReplacement,
    TruncatedAlphabet,
)

SAMPLES = 500
OFF = (math.log(2e9) / (2 * SAMPLES)) ** 0.5
"""How far a frequency may be off but once in 10^9 cases (Hoeffding)."""
KERNELS = {
    NaiveSampling: lambda _draft, target, _k: oracles.naive_kernel(target),
    RecursiveRejection: lambda draft, target, _k: oracles.recursive_rejection_kernel(draft, target),
    KSequential: lambda draft, target, k: oracles.k_sequential_kernel(
        draft, target, k, KSequential(draft, target, k).rho
    ),
}
"""The algorithms of the papers, for the kept drafts."""


def renormalized(law, kept):
    total = sum(law[y] for y in kept)
    return [law[y] / total for y in kept] if total else [Fraction(0)] * len(kept)


def printed(rule, inner):
    """Appendix G as it is printed, branch by branch: a kernel."""
    draft, target = rule.draft.tolist(), rule.target.tolist()
    kept, share = rule.kept, sum(rule.target[y] for y in rule.kept)
    own, wanted = renormalized(draft, kept), renormalized(target, kept)

    def kernel(x):
        left = tuple(kept.index(y) for y in x if y in kept)
        law = inner(own, wanted, len(left))(left) if left else wanted
        output = [Fraction(0) if y in kept else mass for y, mass in enumerate(target)]
        for y, mass in zip(kept, law, strict=True):
            output[y] += share * mass
        return output

    return kernel


def instances(seed, count, most_tokens=4):
    """Pairs with k, and which tokens are kept: so many of the likeliest, or any with some mass."""
    edges = (
        (fractions(1), fractions(1)),
        (fractions("1/3", "2/3"), fractions("1/3", "2/3")),
        (fractions(1, 0), fractions(0, 1)),
        (fractions(0, 1, 0), fractions("1/2", 0, "1/2")),
        (fractions("1/4", "1/4", "1/2"), fractions("1/4", "3/4", 0)),
    )
    rng = np.random.default_rng(seed)
    for index, (draft, target) in enumerate((*edges, *pairs(seed, count, most_tokens))):
        k = 1 + index % 3
        yield draft, target, k, 1 + index % len(draft)
        chosen = set(np.flatnonzero(rng.random(len(draft)) < 0.5).tolist())
        yield draft, target, k, chosen | {max(range(len(target)), key=target.__getitem__)}


@pytest.mark.parametrize("inner", KERNELS)
def test_it_is_appendix_g_branch_by_branch_and_lossless(inner):
    losing = 0
    for draft, target, k, kept in instances(830, 24):
        rule = TruncatedAlphabet(draft, target, k, kept=kept, rule=inner)
        table, kernel = oracles.iid_table(draft, k), printed(rule, KERNELS[inner])
        rows = {x: rule.kernel(x).tolist() for x in table}
        assert rows == {x: kernel(x) for x in table}
        assert oracles.output(table, rows.__getitem__, len(target)) == list(target)
        accepted = oracles.acceptance(table, kernel)
        assert rule.acceptance() == accepted
        assert type(rule.acceptance()) is Fraction
        by_token = [
            sum(mass * rows[x][y] for x, mass in table.items() if y in x)
            for y in range(len(target))
        ]
        assert rule.accepted().by_token.tolist() == by_token
        losing += accepted < oracles.optimum(table, target)
    assert losing > 10


def test_with_an_optimal_rule_inside_the_loss_is_what_truncation_loses():
    losing = 0
    for draft, target, k, kept in instances(831, 60):
        rule = TruncatedAlphabet(draft, target, k, kept=kept)
        table = oracles.iid_table(draft, k)
        loss = rule.truncation_loss()
        assert type(loss) is Fraction
        assert loss == oracles.optimum(table, target) - rule.acceptance()
        dropped = 1 - sum(draft[y] for y in rule.kept) ** k
        assert 0 <= loss <= 2 * (1 - rule.share) + dropped
        assert rule.share == sum(target[y] for y in rule.kept)
        assert sum(rule.kept_drafts) == 1
        other = TruncatedAlphabet(draft, target, k, kept=kept, rule=RecursiveRejection)
        assert other.truncation_loss() == loss
        assert other.acceptance() <= rule.acceptance()
        losing += loss > 0
    assert losing > of_all(30)


def test_all_of_the_target_kept_is_not_enough():
    rule = TruncatedAlphabet(["1/4", "1/4", "1/2"], ["1/4", "3/4", 0], 1, kept=2)
    assert rule.share == 1
    assert rule.truncation_loss() == Fraction(1, 8)


def test_with_all_tokens_kept_it_is_the_rule_inside():
    for draft, target, k, _ in instances(832, 30):
        inside = RecursiveRejection(draft, target, k)
        rule = TruncatedAlphabet(draft, target, k, rule=RecursiveRejection)
        assert rule.kept == tuple(range(len(draft)))
        assert rule.truncation_loss() == 0
        assert rule.accepted().by_token.tolist() == inside.accepted().by_token.tolist()
        for x in oracles.iid_table(draft, k):
            assert rule.joint_kernel(x).tolist() == inside.joint_kernel(x).tolist()


def test_drafts_that_are_never_kept_are_drawn_anew():
    rule = TruncatedAlphabet(["1/2", "1/2", 0], ["1/8", "1/8", "3/4"], 2, kept=[2])
    assert rule.verifiers == ()
    assert rule.kernel([0, 1]).tolist() == rule.target.tolist()
    assert rule.acceptance() == Fraction(1, 4) * Fraction(3, 4)


def test_the_likeliest_tokens_are_kept_of_equal_ones_the_first():
    target = ["1/8", "1/4", "1/4", "1/4", "1/8"]
    assert TruncatedAlphabet(target, target, 1, kept=2).kept == (1, 2)
    assert TruncatedAlphabet(target, target, 1, kept=4).kept == (0, 1, 2, 3)
    assert TruncatedAlphabet(target, target, 1, kept=10**12).kept == (0, 1, 2, 3, 4)
    assert TruncatedAlphabet(target, target, 1, kept={4, 1}).kept == (1, 4)


@pytest.mark.parametrize("inner", KERNELS)
def test_counted_laws_are_the_tuples(inner):
    for draft, target, k, kept in instances(833, 16, most_tokens=3):
        rule = TruncatedAlphabet(draft, target, k, kept=kept, rule=inner)
        accepted, rejected = rule.accepted().counted
        by_count = np.full((k + 1, len(target)), Fraction(0), dtype=object)
        for x, mass in oracles.iid_table(draft, k).items():
            for y, chance in enumerate(rule.kernel(x)):
                by_count[x.count(y), y] += mass * chance
        assert rejected.tolist() == by_count[0].tolist()
        assert accepted.tolist() == by_count[1:].tolist()


@pytest.mark.parametrize(
    "inner",
    [
        lambda draft, target, k: ImportanceSampling(draft, target, k, free=2),
        lambda draft, target, k: PlannedRule(
            otspec.optimal_plan(otspec.IID(draft, k), target, solver="rational")
        ),
    ],
    ids=["importance", "planned"],
)
def test_rules_that_solve_linear_programs_are_lossless_inside(inner):
    for draft, target, k, kept in instances(834, 8):
        rule = TruncatedAlphabet(draft, target, k, kept=kept, rule=inner)
        assert otspec.audit(rule).lossless
        assert rule.accuracy == 0


@pytest.mark.parametrize("rule", [PooledSelection, RecursiveRejection])
def test_floats_agree_with_fractions_and_samples_with_the_kernel(rule):
    rng = np.random.default_rng(835)
    for draft, target, k, kept in instances(835, 4):
        exact = TruncatedAlphabet(draft, target, k, kept=kept, rule=rule)
        made = TruncatedAlphabet(floats(draft), floats(target), k, kept=exact.kept, rule=rule)
        assert abs(made.acceptance() - exact.acceptance()) < 1e-12
        assert abs(made.truncation_loss() - exact.truncation_loss()) < 1e-12
        assert (
            np.abs(made.accepted().by_token - exact.accepted().by_token.astype(float)).max() < 1e-12
        )
        assert otspec.audit(made).lossless
        x = [int(rng.integers(len(draft))) for _ in range(k)]
        drawn = [made.sample(x, rng) for _ in range(SAMPLES)]
        assert all(accepted == (token in x) for token, accepted in drawn)
        seen = np.bincount([token for token, _ in drawn], minlength=len(draft)) / SAMPLES
        assert np.abs(seen - made.kernel(x)).max() <= OFF


def test_it_serves_full_vocabularies():
    draft, target = np.random.default_rng(836).dirichlet(np.full(20_000, 0.01), size=2)
    losses = [
        TruncatedAlphabet(draft, target, 4, kept=kept).truncation_loss()
        for kept in (10, 100, 1_000, 20_000)
    ]
    assert losses == sorted(losses, reverse=True)
    assert abs(losses[-1]) < 1e-9


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"kept": 0}, "kept must be at least 1, got 0"),
        ({"kept": []}, r"kept is \[\], of which the target draws no token"),
        ({"kept": [2]}, r"kept is \[2\], of which the target draws no token: keep some"),
        ({"kept": [3]}, "kept holds 3, but token ids run from 0 to 2"),
        ({"kept": 2.5}, "kept is 2.5: it must be a collection"),
        ({"rule": 3}, "rule is 3: it must be a class of otspec.rules"),
        ({"rule": lambda *_: 3}, "what rule makes is 3: it must be a Rule"),
        ({"rule": RecursiveRejectionWithoutReplacement, "kept": 2}, "makes .* for [12] drafts"),
        ({"rule": lambda p, q, _: MaximalCoupling(p, q)}, "for 2 drafts: it must make a rule for"),
        ({"rule": lambda _p, _q, k: NaiveSampling([0.5] * 2, [0.5] * 2, k), "kept": 1}, "1 drafts"),
    ],
)
def test_what_cannot_be_kept_or_verify_is_refused(options, message):
    with pytest.raises(ValueError, match=message):
        TruncatedAlphabet([0.5, 0.25, 0.25], [0.5, 0.5, 0.0], 2, **options)


def test_more_than_a_thousand_drafts_are_refused():
    with pytest.raises(ValueError, match="at most 1,000"):
        TruncatedAlphabet([0.5, 0.5], [0.5, 0.5], 1_001)
