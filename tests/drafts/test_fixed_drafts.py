"""Certain drafts (Theory, 13): every lossless rule accepts the target's mass on them."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from instances import CERTAIN, law_case, law_cases
from searching import enough

import otspec
from otspec import rules
from otspec.datasets import load_smollm2
from otspec.drafts.single import likeliest

EXACT, FLOAT = ["1/10", "3/5", "3/10"], [0.1, 0.6, 0.3]
SIZES = {"count": 120, "most_tokens": 5, "most_drafts": 4}


@pytest.mark.parametrize("name", CERTAIN)
def test_the_optimum_is_the_mass_of_the_drafts_and_they_are_the_cut(name):
    for case, target in law_cases(name, seed=910, **SIZES):
        ((drafts, _),) = case.table.items()
        best = otspec.optimal_acceptance(case.exact, target)
        assert best.acceptance == sum(target[y] for y in set(drafts))
        assert best.cut == (() if best.acceptance == 1 else tuple(sorted(set(drafts))))
        assert [y for y, mass in enumerate(best.selection) if mass and y not in drafts] == []
        best.check()


@pytest.mark.parametrize("name", CERTAIN)
def test_every_lossless_rule_accepts_as_much(name):
    for case, target in law_cases(name, seed=911, **{**SIZES, "count": 40}):
        best = otspec.optimal_acceptance(case.exact, target).acceptance
        for rule in (
            rules.PriorityMixture(case.exact, target, most=1),
            rules.PlannedRule(otspec.optimal_plan(case.exact, target)),
        ):
            report = otspec.audit(rule)
            assert report.lossless
            assert report.exact
            assert rule.acceptance() == report.acceptance == report.optimum == best


def test_a_fixed_tuple_serves_targets_of_either_arithmetic():
    law = otspec.Fixed([2, 0], 3)
    assert law.exact
    assert not otspec.Fixed([2, 0], 3, exact=False).exact
    for target, kind in ((EXACT, Fraction), (FLOAT, float)):
        for given in (law, otspec.Fixed([2, 0], 3, exact=False)):
            best = otspec.optimal_acceptance(given, target)
            best.check()
            plan = otspec.optimal_plan(given, target)
            plan.check()
            mixture = rules.PriorityMixture(given, target)
            report = otspec.audit(lambda _, row=target: row, law=given, target=target)
            assert report.lossless
            assert report.exact is (kind is Fraction)
            found = [best.acceptance, plan.acceptance, mixture.acceptance(), report.acceptance]
            assert {type(value) for value in found} == {kind}
            assert found == pytest.approx([0.4] * 4, abs=1e-12)
    with pytest.raises(ValueError, match="law has 3 tokens and target has 2"):
        otspec.optimal_acceptance(law, ["1/2", "1/2"])


def test_black_boxes_are_audited_on_a_fixed_tuple():
    law = otspec.Fixed([1], 3)
    generator = np.random.default_rng(912)
    for target in (EXACT, FLOAT):
        honest = otspec.audit_samples(
            lambda _: int(generator.choice(3, p=FLOAT)), law, target, size=enough(4_000), seed=1
        )
        greedy = otspec.audit_samples(lambda x: int(x[0]), law, target, size=enough(4_000), seed=1)
        assert honest.consistent
        assert not greedy.consistent


def test_a_token_may_be_drafted_twice():
    law = otspec.Fixed([1, 1, 0], 3)
    assert law.tuples()[0].tolist() == [[1, 1, 0]]
    assert [law.marginal(i).tolist() for i in range(3)] == [[0, 1, 0], [0, 1, 0], [1, 0, 0]]
    assert otspec.optimal_acceptance(law, EXACT).acceptance == Fraction(7, 10)
    assert law.sample(2, np.random.default_rng(913)).tolist() == [[1, 1, 0]] * 2
    assert repr(law) == "Fixed((1, 1, 0), n=3)"


@pytest.mark.parametrize(
    ("tokens", "n", "says"),
    [
        ([], 3, "tokens is empty"),
        ([0, 3], 3, r"tokens\[1\] is 3, but token ids run from 0 to 2"),
        ([0.0], 3, "token ids are integers"),
        ([0], 0, "n must be at least 1"),
        ([0], 10**9, "n must be at most 10,000,000"),
    ],
)
def test_unusable_tokens_and_vocabularies_are_refused(tokens, n, says):
    with pytest.raises(ValueError, match=says):
        otspec.Fixed(tokens, n)


def test_certain_drafts_need_no_table_at_full_vocabulary():
    _, draft, target = next(iter(load_smollm2().pairs()))
    top = np.argsort(-draft, kind="stable")[:16]
    for law in (otspec.TopK(draft, 16), otspec.Fixed(top, len(draft))):
        best = otspec.optimal_acceptance(law, target)
        best.check()
        assert best.acceptance == pytest.approx(target[top].sum(), abs=1e-15)
        assert law.sample(1, np.random.default_rng(914)).tolist() == [top.tolist()]
        order = np.concatenate([top, np.setdiff1d(np.arange(len(draft)), top)])
        inside = law.inside_prefixes(order)
        assert inside[15] == 0
        assert (inside[16:] == 1).all()
        assert law.inside(top) == 1
        assert law.inside(top[1:]) == 0
        assert law.marginal(3).argmax() == top[3]
    rule = rules.TargetOnly(draft, target, 16)
    assert rule.acceptance() == pytest.approx(best.acceptance, abs=1e-15)


def test_target_only_verification_by_draft():
    rule = rules.TargetOnly(["1/6", "1/2", "1/3"], EXACT, 2)
    assert rule.accepted().by_position.tolist() == [Fraction(3, 5), Fraction(3, 10)]
    assert rule.accepted().by_token.tolist() == [0, Fraction(3, 5), Fraction(3, 10)]
    assert rule.joint_kernel([1, 2]).tolist() == [
        [0, Fraction(3, 5), 0],
        [0, 0, Fraction(3, 10)],
        [Fraction(1, 10), 0, 0],
    ]
    assert law_case("TopK", rule.draft, 2).table == {(1, 2): 1}


def test_the_likeliest_tokens_are_those_of_a_sort_with_ties_by_id():
    rng = np.random.default_rng(174)
    for _ in range(200):
        draft = rng.choice([0.0, 1.0, 2.0, 1 / 3], rng.integers(1, 12))
        in_order = np.argsort(-draft, kind="stable")
        for count in range(len(draft) + 1):
            assert likeliest(draft, count).tolist() == in_order[:count].tolist()
