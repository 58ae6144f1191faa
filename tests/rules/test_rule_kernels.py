"""Every rule as a kernel: exactly lossless, and what the papers' algorithms do step by step."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import product

import numpy as np
import oracles
import pytest
from instances import EPS, law_case, pairs, turn
from programs_table import feasible_masses, program_names
from scipy.stats import binom
from searching import NIGHTLY, enough, of_all

import otspec
from otspec.optimum.plan import Plan
from otspec.rules import (
    KSequential,
    MaximalCoupling,
    NaiveSampling,
    PlannedRule,
    RecursiveRejection,
    RecursiveRejectionWithoutReplacement,
    SpecHub,
)

MOST_TUPLES = 81
"""What most instances enumerate at most; a few with 4 drafts of 5 tokens are added."""
COUNT = 320
FALSE_ALARM = 1e-6
"""Of each statistical test, by a union bound over its cells."""


@dataclass(frozen=True)
class Case:
    """A rule beside its law as a table, and the steps of its algorithm."""

    rule: otspec.rules.Rule
    table: oracles.Table
    joint: oracles.Joint


def maximal_coupling(draft, target, _k):
    rule = MaximalCoupling(draft, target)
    return Case(rule, oracles.iid_table(draft, 1), oracles.in_turn_joint(draft, target, 1))


def naive(draft, target, k):
    joint = oracles.first_draft_joint(oracles.naive_kernel(target), k)
    return Case(NaiveSampling(draft, target, k), oracles.iid_table(draft, k), joint)


def recursive(draft, target, k):
    joint = oracles.in_turn_joint(draft, target, k)
    return Case(RecursiveRejection(draft, target, k), oracles.iid_table(draft, k), joint)


def distinct(draft, target, k):
    k = min(k, sum(mass > 0 for mass in draft))
    rule = RecursiveRejectionWithoutReplacement(draft, target, k)
    joint = oracles.in_turn_joint(draft, target, k, distinct=True)
    return Case(rule, oracles.without_replacement_table(draft, k), joint)


def k_sequential(draft, target, k, excess=0):
    smallest = KSequential(draft, target, k).rho
    rule = KSequential(draft, target, k, rho=smallest + excess)
    joint = oracles.in_turn_joint(draft, target, k, rho=rule.rho)
    return Case(rule, oracles.iid_table(draft, k), joint)


def k_sequential_above(draft, target, k):
    return k_sequential(draft, target, k, excess=Fraction(k, 3))


def hub(draft, target, _k):
    table, kernel = oracles.hub_table(draft), oracles.spechub_kernel(draft, target)
    return Case(SpecHub(draft, target), table, oracles.first_draft_joint(kernel, 2))


RULES = {
    "maximal coupling": maximal_coupling,
    "naive": naive,
    "recursive": recursive,
    "distinct": distinct,
    "k-seq": k_sequential,
    "k-seq above rho*": k_sequential_above,
    "SpecHub": hub,
}


def instances(seed, count=COUNT, most_tokens=5, most_drafts=4, most_tuples=MOST_TUPLES):
    """Pairs of all kinds, k running from 1 to ``most_drafts`` where the tuples are few."""
    for index, (draft, target) in enumerate(pairs(seed, count, most_tokens)):
        k = 1 + turn(index, most_drafts)
        while len(draft) ** k > most_tuples:
            k -= 1
        yield draft, target, k


AUDITED = 5
"""One instance in so many is audited too, which asks for every kernel twice more."""


def check_joint(rule, x):
    """The rows of a joint kernel: only x_i in row i, nothing negative, all of it 1."""
    joint = rule.joint_kernel(x)
    assert joint.shape == (rule.k + 1, len(rule.target))
    for i, token in enumerate(x):
        assert all(mass == 0 for y, mass in enumerate(joint[i]) if y != token)
    assert (joint >= 0).all()
    assert joint.sum() == 1
    return joint.tolist()


def check_exactly(rule, table, joint, audited):
    """All that holds of a lossless rule in exact arithmetic, from its joint kernel ``joint``."""
    kernels = {x: [sum(column) for column in zip(*joint(x), strict=True)] for x in table}
    assert oracles.output(table, kernels.__getitem__, len(rule.target)) == rule.target.tolist()
    accepted = oracles.acceptance(table, kernels.__getitem__)
    assert type(rule.acceptance()) is Fraction
    assert rule.acceptance() == accepted
    if audited:
        check_audit(rule, table, kernels, accepted)
    by_position = rule.accepted().by_position
    assert by_position.shape == (rule.k,)
    assert by_position.tolist() == oracles.by_position(table, joint, rule.k)
    by_draft = oracles.accepted_by_draft(table, joint, rule.k)
    assert sum(by_draft) == accepted - oracles.residual_hits(table, joint)


def check_audit(rule, table, kernels, accepted):
    report = otspec.audit(rule)
    assert report.lossless
    assert report.tolerance == 0
    assert report.witness is None
    assert report.output.tolist() == rule.target.tolist()
    assert all(type(mass) is Fraction for mass in report.output)
    assert report.acceptance == accepted
    assert report.optimum == oracles.optimum(table, rule.target)
    assert report.gap == report.optimum - accepted >= 0
    assert {x: rule.kernel(x).tolist() for x in table} == kernels


@pytest.mark.parametrize("name", RULES)
def test_rules_do_what_their_algorithms_say_and_are_lossless(name):
    for index, (draft, target, k) in enumerate(instances(seed=200)):
        case = RULES[name](draft, target, k)
        rule = case.rule
        found = {x: check_joint(rule, x) for x in case.table}
        for x, rows in found.items():
            expected = case.joint(x)
            assert [sum(column) for column in zip(*rows, strict=True)] == [
                sum(column) for column in zip(*expected, strict=True)
            ]
            if x != (x[0], x[0]) or name != "SpecHub":  # that pair has a test of its own
                assert rows == expected
        check_exactly(rule, case.table, found.__getitem__, index % AUDITED == 0)


@pytest.mark.parametrize("target", [(1,), ("1/4", "3/4")])
def test_the_first_of_two_certain_hubs_is_the_accepted_draft(target):
    rule = SpecHub([1, *[0] * (len(target) - 1)], target)
    accepted = Fraction(target[0])
    assert rule.acceptance() == accepted
    assert rule.accepted().by_position.tolist() == [accepted, 0]
    assert rule.joint_kernel((0, 0))[:2, 0].tolist() == [accepted, 0]


@pytest.mark.parametrize("name", RULES)
def test_rules_are_lossless_with_four_drafts_of_five_tokens(name):
    count = 5 if NIGHTLY else 2
    for index, (draft, target) in enumerate(pairs(201, count, most_tokens=5, fewest=5)):
        if name.startswith("k-seq") and index % 2:  # a rho of hundreds of bits is slow
            continue
        rule = RULES[name](draft, target, 4).rule
        report = otspec.audit(rule)
        assert report.output.tolist() == list(target)
        assert report.acceptance == rule.acceptance()


@pytest.mark.parametrize("law_name", ["IID", "Independent", "WithoutReplacement", "Joint"])
def test_any_feasible_plan_is_a_lossless_rule(law_name):
    below = 0
    for index, (draft, target, k) in enumerate(instances(203, most_tuples=64)):
        case = law_case(law_name, draft, k, seed=index)
        if case is None:
            continue
        rule = PlannedRule(feasible_plan(case.exact, target, index, sets=index % 2 == 0))
        found = {x: check_joint(rule, x) for x in case.table}
        check_exactly(rule, case.table, found.__getitem__, index % AUDITED == 0)
        below += rule.acceptance() < oracles.optimum(case.table, target)
    assert below > of_all(100)  # suboptimal plans are among them


@pytest.mark.parametrize("light", [0.0, 5e-324, 1e-310, 1e-160, 1e-17])
@pytest.mark.parametrize("program", program_names(2))
def test_plans_of_hard_floats_are_distributions(light, program):
    for target in ([0.3, 0.3, 0.4], [1.0, 0.0, 0.0], [light, 0.5, 0.5], [0.0, 1.0, light]):
        law = otspec.IID([light, 0.5, 0.5], 2)
        rule = PlannedRule(otspec.optimal_plan(law, target, program))
        for x in product(range(3), repeat=2):
            joint = rule.joint_kernel(x)
            assert (joint >= 0).all()
            assert abs(joint.sum() - 1) <= 16 * EPS
        assert otspec.audit(rule).lossless
        assert abs(rule.accepted().by_position.sum() - rule.acceptance()) <= rule.accuracy


@pytest.mark.parametrize("sets", [True, False])
def test_optimal_plans_of_all_programs_are_lossless_rules(sets):
    count = 0
    for draft, target, k in instances(204, count=64, most_tokens=4, most_drafts=3, most_tuples=27):
        law = otspec.IID(draft, k)
        for program in program_names(k):
            rule = PlannedRule(otspec.optimal_plan(law, target, program, "rational", sets=sets))
            report = otspec.audit(rule)
            assert report.output.tolist() == list(target)
            assert report.gap == 0
            assert rule.acceptance() == report.acceptance
            assert rule.accepted().by_position.sum() == report.acceptance
            count += 1
    assert count >= of_all(150)


def feasible_plan(law, target, seed, sets=True):
    model = otspec.programs.PROGRAMS["reduced"](law, np.array(target, dtype=object), sets)
    masses = feasible_masses(np.random.default_rng(seed), model.support, target)
    return Plan(model.support, model.target, masses)


def sampled_cases():
    """Rules whose residuals, ties and duplicates all matter."""
    draft = [Fraction(w, 12) for w in (5, 4, 2, 1, 0)]
    target = [Fraction(w, 12) for w in (1, 3, 4, 2, 2)]
    yield from ((make(draft, target, 3).rule, name) for name, make in RULES.items())
    yield PlannedRule(feasible_plan(otspec.IID(draft, 2), target, 205)), "plan"


def in_floats(rule):
    options = {"rho": float(rule.rho)} if isinstance(rule, KSequential) else {}
    return type(rule)(rule.draft.astype(float), rule.target.astype(float), rule.k, **options)


def sampled_params():
    for rule, name in sampled_cases():
        yield pytest.param(rule, id=name)
        if name != "plan":
            yield pytest.param(in_floats(rule), id=f"{name}, floats")


@pytest.mark.parametrize("rule", list(sampled_params()))
def test_samples_agree_with_the_kernel(rule):
    rng, size = np.random.default_rng(206), enough(2_000)
    drafts = [x for x in rule.law.tuples()[0].tolist() if 0 in x][::13]
    cells = len(drafts) * len(rule.target)
    for x in drafts:
        counts = np.zeros(len(rule.target), dtype=int)
        for _ in range(size):
            token, accepted = rule.sample(x, rng)
            assert type(token) is int
            assert accepted is (token in x)
            counts[token] += 1
        masses = np.minimum(rule.kernel(x).astype(float), 1)
        for count, mass in zip(counts, masses, strict=True):
            # Two-sided exact binomial bound at FALSE_ALARM shared by all cells.
            tail = min(binom.cdf(count, size, mass), binom.sf(count - 1, size, mass))
            assert tail > FALSE_ALARM / (2 * cells)


@pytest.mark.parametrize("name", RULES)
def test_unusable_drafts_are_refused(name):
    rule = RULES[name]([Fraction(1, 3)] * 3, [Fraction(1, 3)] * 3, 2).rule
    for call in (
        rule.kernel,
        rule.joint_kernel,
        lambda x: rule.sample(x, np.random.default_rng(0)),
    ):
        with pytest.raises(ValueError, match=f"x has 4 drafts, but the law has k = {rule.k}"):
            call((0, 1, 2, 0))
        with pytest.raises(ValueError, match=r"x\[0\] is 3, but token ids run from 0 to 2"):
            call((3, 0)[: rule.k])
        with pytest.raises(ValueError, match=rf"x\[{rule.k - 1}\] is -1"):
            call((0, -1)[-rule.k :])


@pytest.mark.parametrize("name", RULES)
def test_kernels_leave_the_rule_as_it_was(name):
    draft, target = [Fraction(w, 6) for w in (3, 2, 1)], [Fraction(w, 6) for w in (1, 2, 3)]
    rule = RULES[name](draft, target, 2).rule
    drafts = [tuple(x) for x in rule.law.tuples()[0].tolist()]
    first = [rule.kernel(x).tolist() for x in drafts]
    assert [rule.kernel(x).tolist() for x in reversed(drafts)][::-1] == first
    assert rule.draft.tolist() == draft
    assert rule.target.tolist() == target
