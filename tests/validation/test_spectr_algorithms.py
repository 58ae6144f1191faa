"""SpecTr's algorithms as printed, beside the rules of the package and by themselves."""

from __future__ import annotations

from fractions import Fraction
from itertools import islice

import pytest

import otspec
from otspec.rules import KSequential, MaximalCoupling, RecursiveRejection
from validation.claim import Fails
from validation.instances import cases, pairs
from validation.notation import accepted, iid, marginals, total_variation
from validation.spectr import (
    couplings,
    printed,
    selection,
    sequences,
)

HALF, ONE = Fraction(1, 2), Fraction(1)


def law_of_output(rule, x, n):
    law = [Fraction(0)] * n
    for branch in rule(x):
        law[branch.output] += branch.mass
    return law


def test_algorithm_1_is_the_maximal_coupling_of_the_package():
    for case in islice(pairs(1, 4, enumerated=60), 120):
        rule, other = printed.maximal_coupling(**case), MaximalCoupling(**case)
        for x in iid(case["draft"], 1):
            assert law_of_output(rule, x, len(case["draft"])) == other.kernel(x).tolist()


def test_algorithm_2_is_k_sequential_selection_of_the_package():
    for case in islice(cases(2, (1, 2, 3), 3, enumerated=30), 180):
        if total_variation(case["draft"], case["target"]) == 1:
            continue
        rho = Fraction(case["k"])
        rule, other = printed.k_sequential(**case, rho=rho), KSequential(**case, rho=rho)
        for x in iid(case["draft"], case["k"]):
            assert law_of_output(rule, x, len(case["draft"])) == other.kernel(x).tolist()
        found = accepted(printed.as_coupling(rule, case["draft"], case["k"]))
        assert found == other.acceptance()


def test_the_root_encloses_that_of_the_package():
    for case in islice(cases(3, (1, 2, 3), 4, enumerated=30), 150):
        if total_variation(case["draft"], case["target"]) == 1:
            with pytest.raises(Fails, match="not determined"):
                printed.rho_star(**case)
            continue
        low, high = printed.rho_star(**case)
        rho = KSequential(**case).rho
        assert low <= rho <= high + Fraction(1, 2**64)
        assert high - low <= Fraction(2, 2**printed.HALVINGS)


def test_flows_cuts_and_the_package_agree_on_the_optimum():
    for case in islice(cases(4, (1, 2, 3), 4, enumerated=30), 200):
        best = otspec.optimal_acceptance(otspec.IID(case["draft"], case["k"]), case["target"])
        assert couplings.optimum(**case) == best.acceptance == couplings.least_cut(**case)[0]


def test_the_flow_finds_paths_that_take_back_what_was_sent():
    amounts, looks = couplings.largest_flow([1, 1], [1, 1], [(0, 1), (0,)])
    assert amounts == [[0, 1], [1, 0]]
    assert looks > 0


def test_multi_round_rejection_of_one_draft_is_algorithm_1():
    for case in islice(pairs(5, 3, enumerated=30), 60):
        rule = printed.maximal_coupling(**case)
        found = printed.chance_of(rule, case["draft"], 1, printed.is_accepted)
        assert found == RecursiveRejection(**case, k=1).acceptance()


def test_the_converse_of_theorem_1_does_not_hold():
    draft, target, rho = (HALF, HALF), (Fraction(1), Fraction(0)), Fraction(5, 4)
    assert printed.rho_star(draft, target, 2) == (Fraction(3, 2), Fraction(3, 2))
    joint = printed.as_coupling(printed.k_sequential(draft, target, 2, rho), draft, 2)
    assert marginals(joint, 2) == (iid(draft, 2), target)
    assert min(joint.values()) == 0


def test_algorithm_3_with_one_token_is_the_rule_itself():
    for models in islice(sequences.model_pairs(6), 40):
        drafts = list(sequences.independent_drafts(models.draft, 1, 2))
        outputs = sequences.selected(models, sequences.sequential_plan, 1, drafts)
        rule = KSequential(models.draft[0], models.target[0], 2, rho=Fraction(2))
        extra = sum((mass for out, mass in outputs.items() if len(out) == 2), Fraction(0))
        assert extra == rule.acceptance()


@pytest.mark.parametrize("plan", list(sequences.PLANS))
@pytest.mark.parametrize("rows", [(HALF, HALF), (Fraction(2, 3), Fraction(1, 3))])
def test_sets_in_algorithm_3_are_lossy_with_either_plan(plan, rows):
    target = ((Fraction(1, 3), Fraction(2, 3)),) * 3
    with pytest.raises(Fails):
        selection.sets_continue_as_target((rows,) * 3, target, 2, 2, plan)


def test_a_prefix_tree_keeps_or_merges_equal_sequences():
    model = ((HALF, HALF),) * 3
    merged = sequences.prefix_tree(model, (2,))
    kept = sequences.prefix_tree(model, (2,), tuple)
    assert merged == {
        ((0,),): HALF / 2,
        ((1,),): HALF / 2,
        ((0,), (1,)): HALF / 2,
        ((1,), (0,)): HALF / 2,
    }
    assert {len(drawn) for drawn in kept} == {2}
