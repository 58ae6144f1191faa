"""Searching many instances for a failure, and shrinking what is found."""

from __future__ import annotations

from fractions import Fraction

import pytest
from instances import fractions
from searching import enough

import otspec
from otspec.auditing import Instance, audit_over, random_instances
from otspec.rules import (
    KSequential,
    NaiveSampling,
    RecursiveRejection,
    RecursiveRejectionWithoutReplacement,
    SpecHub,
    compared_rules,
)


def test_instances_are_the_same_in_every_run_and_differ_by_seed():
    first, again = list(random_instances(200, seed=3)), list(random_instances(200, seed=3))
    assert first == again
    assert len(first) == 200
    assert first != list(random_instances(200, seed=4))
    assert list(random_instances(0)) == []


def test_instances_hold_all_the_edge_cases():
    found = list(random_instances(300, most_tokens=5, most_drafts=4, seed=0))
    for instance in found:
        assert sum(instance.draft) == sum(instance.target) == 1
        assert all(type(mass) is Fraction for mass in instance.draft + instance.target)
        assert len(instance.draft) == len(instance.target)
    assert {len(instance.draft) for instance in found} == {1, 2, 3, 4, 5}
    assert {instance.k for instance in found} == {1, 2, 3, 4}

    def count(holds):
        return sum(map(holds, found))

    assert count(lambda i: 0 in i.draft) > 30
    assert count(lambda i: 0 in i.target) > 30
    assert count(lambda i: any(p == q == 0 for p, q in zip(i.draft, i.target, strict=True))) > 5
    assert count(lambda i: len(set(i.draft)) < len(i.draft)) > 30
    assert count(lambda i: i.draft == i.target and len(i.draft) > 1) > 20
    assert count(lambda i: any(1 > q > 1 - Fraction(1, 10**4) for q in i.target)) > 10
    # Simple ones first.
    assert max(max(i.draft_weights) for i in found[:20]) <= 4
    assert max(max(i.draft_weights) for i in found) >= 8


def test_an_instance_is_its_weights():
    instance = Instance((1, 2, 1), (0, 1, 0), 3)
    assert instance.draft == list(fractions("1/4", "1/2", "1/4"))
    assert instance.target == list(fractions(0, 1, 0))
    assert str(instance) == "draft 1/4,1/2,1/4  target 0,1,0  k = 3"
    # Weights that are not in lowest terms stand for the same distribution.
    assert Instance((2, 4, 2), (0, 1, 0), 3).draft == instance.draft


@pytest.mark.parametrize("rule_class", compared_rules())
def test_every_rule_passes_and_what_it_refuses_is_counted(rule_class):
    count = enough(160)
    instances = list(random_instances(count, seed=11))
    report = audit_over(rule_class, instances)
    assert report.lossless
    assert report.failure is None
    assert report.report is None
    assert report.audited + report.refused == count
    refused = 0
    worst = Fraction(0)
    for instance in instances:
        support = sum(mass > 0 for mass in instance.draft)
        if rule_class.only_k not in (None, instance.k) or (
            rule_class.law_class.distinct and support < instance.k
        ):
            refused += 1
            continue
        rule = rule_class(instance.draft, instance.target, instance.k)
        best = otspec.optimal_acceptance(rule.law, rule.target).acceptance
        worst = max(worst, best - rule.acceptance())
    assert report.refused == refused
    assert report.worst_gap == worst
    assert type(report.worst_gap) is Fraction
    assert (worst == 0) is (
        rule_class
        in (
            SpecHub,
            otspec.rules.ImportanceSampling,  # of few tokens, which are all free: nearly always
            otspec.rules.MaximalCoupling,
            otspec.rules.PooledSelection,
            otspec.rules.PooledSelectionWithoutReplacement,
            otspec.rules.DrawnDraft,
            otspec.rules.TargetOnly,
        )
    )


def greedy(_draft, target, _k):
    """Output the likeliest of the drafts."""

    def kernel(x):
        best = max(x, key=lambda token: target[token])
        return [int(token == best) for token in range(len(target))]

    return kernel


def independent_in_place_of_distinct(draft, target, k):
    return RecursiveRejection(draft, target, k).kernel


def wrong_from_three_drafts_on(draft, target, k):
    first = [Fraction(int(token == 0)) for token in range(len(target))]
    return lambda _: first if k >= 3 else target


def wrong_above_one_half(draft, target, _k):
    uniform = [Fraction(1, len(target))] * len(target)
    return lambda _: uniform if max(draft) > Fraction(1, 2) else target


@pytest.mark.parametrize(
    ("factory", "drafts", "most_tokens", "k", "most_weight"),
    [
        (greedy, "iid", 2, 1, 1),
        (independent_in_place_of_distinct, "without-replacement", 3, 2, 3),
        (wrong_from_three_drafts_on, "iid", 2, 3, 1),
        (wrong_above_one_half, "iid", 2, 1, 1),
    ],
)
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_counterexamples_are_shrunk(factory, drafts, most_tokens, k, most_weight, seed):
    def search():
        return audit_over(
            factory, random_instances(300, most_tokens=5, most_drafts=4, seed=seed), drafts=drafts
        )

    report = search()
    assert not report.lossless
    failure = report.failure
    assert len(failure.draft_weights) <= most_tokens
    assert failure.k == k
    assert max(failure.draft_weights + failure.target_weights) <= most_weight
    assert not report.report.lossless
    assert report.report.target.tolist() == failure.target
    assert seed or search().failure == failure
    # The report is that of the shrunk instance.
    law = otspec.drafts.named_law(drafts, otspec.IID(failure.draft, 1).draft, failure.k)
    again = otspec.audit(
        factory(failure.draft, failure.target, failure.k), law=law, target=failure.target
    )
    assert again.witness == report.report.witness


def test_large_weights_are_shrunk_too():
    failing = Instance((10**6 + 7, 12, 5), (3, 10**6, 77), 3)
    report = audit_over(greedy, [failing])
    assert report.audited == 1
    assert max(report.failure.draft_weights + report.failure.target_weights) == 1
    assert len(report.failure.draft_weights) == 2
    assert report.failure.k == 1


def test_the_search_stops_at_the_first_failure():
    def endless():
        yield Instance((1,), (1,), 1)
        yield Instance((1, 1), (1, 0), 1)
        raise AssertionError("looked further than the failure")

    report = audit_over(greedy, endless())
    assert report.audited == 2
    assert not report.lossless


def test_rules_bring_their_law_and_kernels_take_the_named_one():
    instances = [Instance((1, 1, 2), (1, 2, 1), 2), Instance((1, 0, 0), (1, 0, 0), 2)]
    kernels = audit_over(
        lambda p, q, k: RecursiveRejectionWithoutReplacement(p, q, k).kernel,
        instances,
        drafts="without-replacement",
    )
    assert (kernels.audited, kernels.refused, kernels.lossless) == (1, 1, True)
    rules = audit_over(RecursiveRejectionWithoutReplacement, instances)
    assert (rules.audited, rules.refused, rules.worst_gap) == (1, 1, kernels.worst_gap)
    hubs = audit_over(lambda p, q, _: SpecHub(p, q).kernel, instances, drafts="hub")
    assert (hubs.audited, hubs.lossless) == (2, True)
    top = audit_over(lambda _p, q, _k: lambda _: q, instances, drafts="top-plus-one")
    assert (top.audited, top.refused, top.lossless) == (1, 1, True)
    with_k = audit_over(SpecHub, [Instance((1,), (1,), 3)])
    assert (with_k.audited, with_k.refused) == (0, 1)


def test_the_worst_gap_is_that_of_the_worst_instance():
    equal, unlike = Instance((1, 1), (1, 1), 2), Instance((1, 1), (1, 0), 2)
    report = audit_over(NaiveSampling, [equal, unlike])
    # 1 − 3/4 in the first, 3/4 − 3/4 in the second.
    assert report.worst_gap == Fraction(1, 4)
    assert audit_over(NaiveSampling, [unlike]).worst_gap == 0
    assert audit_over(KSequential, [equal]).worst_gap == 0


def test_a_rule_object_that_fails_on_some_drafts_is_not_refused():
    class Fragile:
        def __init__(self, draft, target, k):
            self.law, self.target = otspec.IID(draft, k), target

        def kernel(self, x):
            if len(set(x)) < len(x):
                raise ValueError("duplicates were not thought of")
            return self.target

    report = audit_over(Fragile, [Instance((1, 1), (1, 1), 2)])
    assert (report.audited, report.refused, report.lossless) == (0, 0, None)
    assert "duplicates were not thought of" in report.report.witness.reason
