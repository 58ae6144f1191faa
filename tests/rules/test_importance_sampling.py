"""Importance sampling: exactly lossless whatever is truncated, and how much it accepts."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np
import oracles
import pytest
from each_case import each
from instances import EPS, floats, fractions, pairs, shares, turn, weights
from scipy.stats import binom
from searching import enough, of_all

import otspec
from otspec.rules import ImportanceSampling

SOLVER_ERROR = 1e-9
"""What a float solver's tolerance of 1e-10 per constraint leaves of a probability here."""


def cases(seed, count, most_tokens=4, ks=(1, 2, 3)):
    """Pairs of all kinds; free tokens, alphabets and other drafts in all combinations."""
    rng = np.random.default_rng(seed)
    for index, (draft, target) in enumerate(pairs(seed, count, most_tokens)):
        n, k = len(draft), ks[turn(index, len(ks))]
        options = {}
        if index % 3:
            options["free"] = int(rng.integers(0, n + 1))
        if index % 4 == 3:
            options["alphabet"] = int(rng.integers(1, n + 1))
        if k > 1 and index % 5 > 2:
            options["others"] = [weights(rng, n, 12, 0.3) for _ in range(k - 1)]
        yield draft, target, k, options


def table_of(draft, k, options):
    others = options.get("others")
    return oracles.independent_table([draft, *others]) if others else oracles.iid_table(draft, k)


def check_rule(rule, table, target):
    """Losslessness and the joint kernel, from the table and ``joint_kernel`` alone."""
    rows = {x: rule.joint_kernel(x) for x in table}
    for x, joint in rows.items():
        assert joint.shape == (rule.k + 1, len(target))
        assert (joint >= 0).all()
        assert joint.sum() == 1
        assert rule.kernel(x).tolist() == joint.sum(axis=0).tolist()
        for i, token in enumerate(x):
            assert all(mass == 0 for y, mass in enumerate(joint[i]) if y != token)
    report = otspec.audit(rule)
    assert report.lossless
    assert report.output.tolist() == list(target)

    def kernel(x):
        return rows[x].sum(axis=0).tolist()

    assert oracles.output(table, kernel, len(target)) == list(target)
    accepted = oracles.acceptance(table, kernel)
    assert type(rule.acceptance()) is Fraction
    assert rule.acceptance() == report.acceptance == accepted
    lists = {x: joint.tolist() for x, joint in rows.items()}
    by_position = rule.accepted().by_position.tolist()
    assert by_position == oracles.by_position(table, lists.__getitem__, rule.k)
    by_draft = oracles.accepted_by_draft(table, lists.__getitem__, rule.k)
    assert sum(by_draft) == accepted - oracles.residual_hits(table, lists.__getitem__)
    assert accepted <= report.optimum == oracles.optimum(table, target)
    return accepted, report.optimum, sum(by_draft)


def test_it_is_lossless_whatever_is_truncated():
    truncated = others = 0
    for draft, target, k, options in cases(seed=240, count=160):
        rule = ImportanceSampling(draft, target, k, **options)
        table = table_of(draft, k, options)
        accepted, optimum, selected = check_rule(rule, table, target)
        b = rule.law_of_selection
        assert b.sum() == 1
        kept = sum(q for q, kept in zip(target, rule.kept_tokens, strict=True) if kept)
        aimed = np.minimum(b, rule.verified_target).sum()
        assert selected == kept * aimed
        truncated += accepted < optimum
        others += "others" in options
    assert truncated > of_all(10)
    assert others > of_all(25)


def test_two_drafts_of_all_free_tokens_are_optimal_and_fewer_lose_at_most_the_bound():
    for draft, target, k, options in cases(seed=241, count=120, ks=(2,)):
        options.pop("alphabet", None)
        n, table = len(draft), table_of(draft, k, options)
        second = options["others"][0] if "others" in options else draft
        free = options.pop("free", n)
        optimum = oracles.optimum(table, target)
        rule = ImportanceSampling(draft, target, 2, free=free, **options)
        excess = sorted(
            (q - p1 * p2 for q, p1, p2 in zip(target, draft, second, strict=True)), reverse=True
        )
        bound = sum(max(e, Fraction(0)) for e in excess[free:])
        assert optimum - bound <= rule.accepted().by_position.sum() <= rule.acceptance() <= optimum
        exact = ImportanceSampling(draft, target, 2, free=n, **options)
        assert exact.acceptance() == optimum


@pytest.mark.parametrize("k", [1, 2, 3, 4])
def test_equal_distributions_are_accepted(k):
    for draft, _ in pairs(242, 24, most_tokens=3):
        rule = ImportanceSampling(draft, draft, k, free=len(draft))
        assert rule.acceptance() == 1
        assert rule.law_of_selection.sum() == 1


def test_one_draft_is_maximal_coupling():
    for draft, target in pairs(243, 40, most_tokens=5):
        rule = ImportanceSampling(draft, target, 1)
        assert rule.stages == ()
        assert rule.acceptance() == sum(map(min, draft, target))


def test_more_free_tokens_never_lose_with_two_drafts():
    for draft, target in pairs(244, 40, most_tokens=4):
        found = [
            ImportanceSampling(draft, target, 2, free=free).accepted().by_position.sum()
            for free in range(len(draft) + 1)
        ]
        assert found == sorted(found)


def test_the_alphabet_keeps_the_likeliest_tokens_of_the_target():
    draft, target = fractions("1/2", "1/4", "1/4"), fractions("1/4", "1/2", "1/4")
    rule = ImportanceSampling(draft, target, 2, alphabet=2)
    assert rule.kept_tokens.tolist() == [True, True, False]  # of equals the lowest id
    assert rule.verified_target.tolist() == list(fractions("1/3", "2/3", 0))
    assert otspec.audit(rule).lossless
    whole = ImportanceSampling(draft, target, 2, alphabet=99)
    assert whole.kept_tokens.all()
    assert whole.acceptance() == ImportanceSampling(draft, target, 2).acceptance()


def test_floats_are_lossless_and_agree_with_the_optimum():
    for draft, target, k, options in cases(seed=245, count=96):
        if "others" in options:
            options["others"] = [floats(other) for other in options["others"]]
        rule = ImportanceSampling(floats(draft), floats(target), k, **options)
        report = otspec.audit(rule)
        assert report.lossless
        assert abs(report.acceptance - rule.acceptance()) <= 100 * EPS
        assert rule.acceptance() <= report.optimum + SOLVER_ERROR
        if k == 2 and options.get("free", 32) >= len(draft) and "alphabet" not in options:
            assert abs(rule.acceptance() - report.optimum) <= SOLVER_ERROR


HARD = (
    ([5e-324, 1.0], [0.5, 0.5]),
    ([0.5, 0.5], [5e-324, 1.0]),
    ([5e-324, 1.0, 1e-310], [1e-310, 5e-324, 1.0]),
    ([1e-160, 0.5, 0.5], [0.3, 0.3, 0.4]),
    ([0.5, 0.5, 0.0], [0.5 + EPS, 0.5 - EPS, 0.0]),
    ([0.0, 1.0], [1.0, 0.0]),
    ([1 / 3] * 3, [1 / 3] * 3),
    ([1.0], [1.0]),
    ([1e-300, 1e-150, 1.0], [1e-150, 1.0, 1e-300]),
)


@each("k", [1, 2, 3])
@each(("draft", "target"), HARD)
@each("options", [{}, {"free": 1}, {"free": 2, "alphabet": 2}])
def test_hard_floats_give_distributions(draft, target, k, options):
    rule, rng = ImportanceSampling(draft, target, k, **options), np.random.default_rng(0)
    for x in product(range(len(draft)), repeat=k):
        joint = rule.joint_kernel(x)
        assert (joint >= 0).all()
        assert abs(joint.sum() - 1) <= 8 * k * EPS
        assert rule.sample(x, rng)[0] in range(len(draft))
    assert otspec.audit(rule).lossless
    assert -EPS <= rule.acceptance() <= 1 + 8 * k * EPS
    assert rule.accepted().by_position.sum() <= rule.acceptance() + 8 * k * EPS
    if k == 2 and not options:
        optimum = otspec.optimal_acceptance(otspec.IID(shares(draft), 2), shares(target))
        assert abs(rule.acceptance() - optimum.acceptance) <= SOLVER_ERROR


@pytest.mark.parametrize("k", [2, 3])
def test_samples_agree_with_the_kernel(k):
    draft, target = [0.5, 0.3, 0.2], [0.2, 0.5, 0.3]
    rule = ImportanceSampling(draft, target, k, free=2, alphabet=2)
    rng, size = np.random.default_rng(1), enough(2_000)
    drafts = list(product(range(3), repeat=k))[:: k + 1]
    for x in drafts:
        drawn = [rule.sample(x, rng) for _ in range(size)]
        assert all(accepted is (token in x) for token, accepted in drawn)
        counts = np.bincount([token for token, _ in drawn], minlength=3)
        for count, mass in zip(counts, np.minimum(rule.kernel(x), 1), strict=True):
            # Exact binomial tails; false alarm 1e-6 in all.
            tail = min(binom.cdf(count, size, mass), binom.sf(count - 1, size, mass))
            assert tail > 1e-6 / (6 * len(drafts))


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"others": [[0.5, 0.5]] * 2}, "others has 2 distributions, but drafts 2 to 2 need 1"),
        ({"others": [[0.2, 0.3, 0.5]]}, "tokens"),
        ({"others": [["1/2", "1/2"]]}, "exact"),
        ({"others": [[0.5, 0.6]]}, "sums to 1.1"),
        ({"free": -1}, "free must be at least 0, got -1"),
        ({"alphabet": 0}, "alphabet must be at least 1, got 0"),
    ],
)
def test_unusable_options_are_refused(options, says):
    with pytest.raises(ValueError, match=says):
        ImportanceSampling([0.5, 0.5], [0.5, 0.5], 2, **options)


def test_unusable_drafts_are_refused():
    rule = ImportanceSampling([0.5, 0.5], [0.5, 0.5], 2)
    for x, says in (
        ((0,), "x has 1 drafts"),
        ((0, 0, 0), "x has 3 drafts"),
        ((0, 2), r"x\[1\] is 2"),
        ((-1, 0), r"x\[0\] is -1"),
    ):
        with pytest.raises(ValueError, match=says):
            rule.kernel(x)
