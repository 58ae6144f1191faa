"""SpecTr's algorithms as printed, beside the rules of the package and by themselves."""

from fractions import Fraction
from itertools import islice

import numpy as np
import pytest

import otspec
from otspec.rules import KSequential, MaximalCoupling, RecursiveRejection
from validation import oracles
from validation.claim import Fails
from validation.domains import cases, pairs
from validation.models import memoryless, models
from validation.notation import accepted, as_row, iid, marginals, overlap
from validation.spectr import algorithms, section_7_d, sequences

HALF, ONE = Fraction(1, 2), Fraction(1)


def some(domain, seed, count):
    """Small instances of a domain and as many random ones."""
    return [
        *islice(domain.small(), count),
        *islice(domain.random(np.random.default_rng(seed)), count),
    ]


def test_algorithm_1_is_the_maximal_coupling_of_the_package():
    for case in some(pairs(), 1, 60):
        kernel, other = algorithms.alg_1(**case).kernel(), MaximalCoupling(**case)
        for x, law in kernel.items():
            assert list(as_row(law, len(case["draft"]))) == other.kernel(x).tolist()


def test_algorithm_2_is_k_sequential_selection_of_the_package():
    for case in some(cases(n=3), 2, 90):
        if not overlap(case["draft"], case["target"]):
            continue
        rho = Fraction(case["k"])
        run, other = algorithms.alg_2(**case, rho=rho), KSequential(**case, rho=rho)
        for x, law in run.kernel().items():
            assert list(as_row(law, len(case["draft"]))) == other.kernel(x).tolist()
        assert accepted(run.coupling()) == other.acceptance()


def test_the_root_encloses_that_of_the_package():
    for case in some(cases(), 3, 75):
        if not overlap(case["draft"], case["target"]):
            with pytest.raises(Fails, match="not determined"):
                algorithms.rho_star(**case)
            continue
        low, high = algorithms.rho_star(**case)
        assert low <= KSequential(**case).rho <= high + Fraction(1, 2**64)
        assert high - low <= Fraction(2, 2**40)


def test_flows_from_sets_and_from_tuples_and_the_package_agree_on_the_optimum():
    for case in some(cases(), 4, 100):
        law, target = iid(case["draft"], case["k"]), case["target"]
        best = otspec.optimal_acceptance(otspec.IID(case["draft"], case["k"]), target).acceptance
        coupling = oracles.best_coupling(law, target)
        assert oracles.optimum(**case) == best == accepted(coupling)
        assert marginals(coupling, len(target)) == (law, target)


def test_the_flow_finds_paths_that_take_back_what_was_sent():
    sent, looks = oracles.largest_flow({(0, 1): HALF, (0,): HALF}, (HALF, HALF))
    assert sent == {((0, 1), 0): 0, ((0, 1), 1): HALF, ((0,), 0): HALF}
    assert looks > 0


def test_multi_round_rejection_of_one_draft_is_algorithm_1():
    for case in some(pairs(n=3), 5, 30):
        assert algorithms.alg_1(**case).accepted() == RecursiveRejection(**case, k=1).acceptance()


def test_the_converse_of_theorem_1_does_not_hold():
    draft, target, rho = (HALF, HALF), (ONE, Fraction(0)), Fraction(5, 4)
    assert algorithms.rho_star(draft, target, 2) == (Fraction(3, 2), Fraction(3, 2))
    joint = algorithms.alg_2(draft, target, 2, rho).coupling()
    assert marginals(joint, 2) == (iid(draft, 2), target)
    assert min(joint.values()) > 0


def test_algorithm_3_with_one_token_is_the_rule_itself():
    for case in some(models(((2, 1),)), 6, 20):
        outputs = section_7_d.decoded(**case, k=2, plan="k-Seq")
        rule = KSequential(case["draft"](()), case["target"](()), 2, rho=Fraction(2))
        assert sum(mass for out, mass in outputs.items() if len(out) == 2) == rule.acceptance()


@pytest.mark.parametrize("plan", list(sequences.PLANS))
@pytest.mark.parametrize("row", [(HALF, HALF), (Fraction(2, 3), Fraction(1, 3))])
def test_sets_in_algorithm_3_are_lossy_with_either_plan(plan, row):
    target = memoryless((Fraction(1, 3), Fraction(2, 3)))
    with pytest.raises(Fails):
        section_7_d.sets_continue(draft=memoryless(row), target=target, length=2, k=2, plan=plan)


def test_a_prefix_tree_keeps_or_merges_equal_sequences():
    model = memoryless((HALF, HALF))
    merged, kept = (
        sequences.prefix_tree(model, (2,), gather) for gather in (sequences.as_set, tuple)
    )
    quarter = HALF / 2
    assert merged == {((0,),): quarter, ((1,),): quarter,
                      ((0,), (1,)): quarter, ((1,), (0,)): quarter}  # fmt: skip
    assert {len(drawn) for drawn in kept} == {2}


def test_the_leaves_of_a_tree_are_nodes_that_share_their_tokens():
    leaves = ((0, 1), (0, 0), (1, 1), (1, 1))
    assert sequences.as_nodes(leaves, (2, 2)) == (
        (0, ((1, ()), (0, ()))),
        (1, ((1, ()), (1, ()))),
    )
    assert sequences.as_nodes(leaves[:2]) == ((0, ((1, ()),)), (0, ((0, ()),)))
