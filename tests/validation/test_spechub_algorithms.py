"""SpecHub's algorithms and programs as printed, beside those of the package."""

from __future__ import annotations

from fractions import Fraction
from itertools import islice

import numpy as np
import pytest

import otspec
from otspec import rules
from validation.instances import cases
from validation.notation import distinct, iid, support
from validation.oracles import least_bound
from validation.spechub import (
    lp,
    printed,
    proofs,
)
from validation.spechub.instances import exact, hub_pairs, joints
from validation.simplex import Program

FIGURES = exact("1/2", "3/10", "1/5"), exact("1/10", "3/5", "3/10")


def test_algorithm_1_is_the_package_s_recursive_rejection():
    for case in islice(cases(3, (1, 2, 3), 3, enumerated=20), 150):
        draft, target, k = case["draft"], case["target"], case["k"]
        for replacement, rule in (
            (True, rules.RecursiveRejection),
            (False, rules.RecursiveRejectionWithoutReplacement),
        ):
            if replacement or support(draft) >= k:
                run = printed.token_rejection(draft, target, k, replacement=replacement)
                other = rule(draft, target, k=k)
                assert run.acceptance() == other.acceptance()
                assert run.by_draft() == other.acceptance_by_draft().tolist()
                assert run.hits == 0


def test_algorithm_3_with_its_updates_is_the_package_s_spechub():
    agreeing = 0
    for pair in islice(hub_pairs(4), 300):
        run, rule = printed.spechub(**pair), rules.SpecHub(**pair)
        assert run.acceptance() == rule.acceptance()
        assert run.by_draft() == rule.acceptance_by_draft().tolist()
        assert run.acceptance() == otspec.closed_forms.hub_acceptance(**pair)
        law = rule.law.tuples()
        assert printed.hub_table(pair["draft"]) == dict(
            zip(map(tuple, law[0].tolist()), law[1].tolist(), strict=True)
        )
        # As printed it agrees where the hub needs only one kind of pair, and all are accepted.
        left = proofs.what_is_left(**pair)
        if sum(left.twice) == 0 == min(sum(left.first_left), sum(left.last_left)):
            agreeing += 1
            assert printed.spechub_as_printed(**pair).accepted == run.accepted
    assert agreeing > 20


def test_the_figures_example():
    draft, target = FIGURES
    run = printed.token_rejection(draft, target, 2, replacement=False)
    assert run.acceptance() == Fraction(47, 50)
    assert printed.spechub(draft, target).acceptance() == 1
    assert least_bound(distinct(draft, 2), target) == 1


def test_known_counterexamples():
    draft, target = (Fraction(1, 4),) * 4, exact("0", "1", "0", "0")
    rejection = printed.token_rejection(draft, target, 2, replacement=True)
    assert printed.spechub(draft, target).acceptance() == Fraction(1, 3)
    assert rejection.acceptance() == Fraction(7, 16)
    draft, target = exact("49/100", "49/100", "1/100", "1/100"), exact("0", "0", "1", "0")
    assert printed.spechub(draft, target).acceptance() == Fraction(1, 51)
    assert least_bound(iid(draft, 2), target) == Fraction(199, 10_000)


def test_the_written_out_programs_agree_with_the_package():
    for joint in islice(joints(5, enumerated=40), 120):
        target, k = joint["target"], joint["k"]
        n = len(target)
        law = otspec.Joint(np.array(joint["joint"], dtype=object).reshape((n,) * k))
        table = lp.joint_table(joint["joint"], n, k)
        best = otspec.optimal_acceptance(law, target).acceptance
        assert least_bound(table, target) == best
        assert lp.transport(table, target)[0] == 1 - best
        assert lp.simplified(table, target)[0] == 1 - best
        assert lp.simplified(table, target, once=True)[0] == 1 - best


def test_the_simplex_method():
    program = Program(2)
    program.objective = [Fraction(3), Fraction(2)]
    program.add([(0, 1), (1, 1)], Fraction(4), equal=False)
    program.add([(0, 1), (1, 3)], Fraction(6), equal=False)
    assert program.solve() == (12, [4, 0])
    program.add([(0, 1)], Fraction(3), equal=True)
    assert program.solve() == (11, [3, 1])
    program.add([(0, 1), (1, 1)], Fraction(5), equal=True)
    with pytest.raises(ValueError, match="no point"):
        program.solve()
    program = Program(2)
    program.objective = [Fraction(1), Fraction(0)]
    with pytest.raises(ValueError, match="no maximum"):
        program.solve()
    for _ in range(2):  # one of them is redundant
        program.add([(0, 1), (1, 1)], Fraction(1), equal=True)
    assert program.solve() == (1, [1, 0])
