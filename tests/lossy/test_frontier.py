"""What is accepted at best if the output may be off by a total variation (Theory, 29)."""

from __future__ import annotations

import dataclasses
from fractions import Fraction

import numpy as np
import pytest
from instances import LAWS, extreme_pairs, floats, fractions, law_case, law_cases

import otspec
from otspec.optimum import FrontierProgram
from otspec.solvers import solve

DRAFT, TARGET = fractions("1/2", "1/4", "1/4", 0), fractions("1/20", "1/20", "4/5", "1/10")
BUDGETS = fractions(0, "1/50", "1/7", "1/3", 1)
SIZES = {"most_tokens": 5, "most_drafts": 3}


def distance(one, other):
    return sum(abs(a - b) for a, b in zip(one, other, strict=True)) / 2


@pytest.mark.parametrize("name", LAWS)
def test_the_lossless_optimum_plus_the_budget_is_attained_by_an_output_at_that_distance(name):
    beyond = within = 0
    for index, (case, target) in enumerate(law_cases(name, seed=2201, count=24, **SIZES)):
        alpha = otspec.optimal_acceptance(case.exact, target).acceptance
        budget = BUDGETS[index % len(BUDGETS)]
        best = otspec.optimal_acceptance(case.exact, target, total_variation=budget)
        assert isinstance(best, otspec.LossyOptimum)
        assert best.acceptance == min(1, alpha + budget)
        assert best.distance == distance(best.output, target) == min(budget, 1 - alpha)
        assert best.output.sum() == 1
        assert sum(map(min, best.output, best.selection)) == best.acceptance
        # No lossless rule for the output is above it: the selection is optimal for both.
        assert otspec.optimal_acceptance(case.exact, best.output).acceptance == best.acceptance
        best.check()
        beyond, within = beyond + (alpha + budget > 1), within + (0 < alpha + budget < 1)
    assert beyond + within > 5


@pytest.mark.parametrize("name", LAWS)
def test_floats_are_that_within_rounding(name):
    for case, target in law_cases(name, seed=2202, count=8, **SIZES):
        exact = otspec.optimal_acceptance(case.exact, target, total_variation="1/8")
        best = otspec.optimal_acceptance(case.float, floats(target), total_variation=0.125)
        assert abs(best.acceptance - exact.acceptance) <= best.law.accuracy
        assert abs(best.distance - exact.distance) <= best.law.accuracy
        best.check()


@pytest.mark.parametrize("name", ["IID", "WithoutReplacement", "Hub"])
def test_the_program_of_floats_has_that_value_and_an_output_at_that_distance(name):
    """By HiGHS, which is always there."""
    for index, (case, target) in enumerate(law_cases(name, seed=2203, count=8, **SIZES)):
        budget = float(BUDGETS[index % len(BUDGETS)])
        program = FrontierProgram(case.float, floats(target), total_variation=budget)
        built, size = program.build(), program.size()
        assert built.shape[0] <= size.rows
        assert built.shape[1] <= size.columns
        solution = solve(built, "highs")
        alpha = otspec.optimal_acceptance(case.exact, target).acceptance
        # HiGHS takes constraints that are missed by 1e-7.
        assert solution.value == pytest.approx(min(1, float(alpha) + budget), abs=1e-6)
        output = program.output(solution)
        assert output.sum() == pytest.approx(1, abs=1e-6)
        assert distance(output, floats(target)) <= budget + 1e-6


def test_the_size_of_the_program_is_known_before_it_is_built():
    """Of 3 tokens and 2 drafts: 3 sets of drafts with one token, 3 with two."""
    draft, target = fractions("1/2", "1/4", "1/4"), fractions("1/20", "3/20", "4/5")
    program = FrontierProgram(otspec.IID(draft, 2), target, total_variation=Fraction(1, 7))
    sets, pairs, n = 6, 3 * 1 + 3 * 2, 3
    built, size = program.build(), program.size()
    # A row for each set and token, the sum of what is moved, and its bound; a column for each pair,
    # and for what each token gains and loses.
    assert built.shape == (sets + n + 2, pairs + 2 * n)
    # A pair is in two rows, a gain in three, a loss in two.
    assert len(built.rows) == 2 * pairs + 3 * n + 2 * n
    # Each draft may be another than the first: as many sets as there are tuples with an order.
    assert (size.rows, size.columns, size.coefficients) == (11, 15, 33)


def test_no_budget_is_the_lossless_optimum():
    law = otspec.IID(DRAFT, 2)
    lossless = otspec.optimal_acceptance(law, TARGET)
    best = otspec.optimal_acceptance(law, TARGET, total_variation=0)
    assert (best.acceptance, best.cut) == (lossless.acceptance, lossless.cut)
    assert (best.output == lossless.target).all()
    assert lossless.output is lossless.target


def test_one_token_disjoint_supports_and_more_drafts_than_tokens():
    one = otspec.optimal_acceptance(otspec.IID(["1"], 3), ["1"], total_variation="1/2")
    assert one.acceptance == 1
    assert one.distance == 0
    law = otspec.IID(["1", "0"], 2)
    apart = otspec.optimal_acceptance(law, ["0", "1"], total_variation="1/3")
    assert apart.acceptance == apart.distance == Fraction(1, 3)
    assert tuple(apart.output) == fractions("1/3", "2/3")
    for best in (one, apart):
        best.check()


@pytest.mark.parametrize("law", otspec.drafts.LAWS)
def test_all_numbers_of_drafts_at_once(law):
    draft, target = fractions("1/2", "1/3", "1/6"), fractions("1/9", "5/9", "1/3")
    ks = [k for k in (1, 2, 3) if otspec.drafts.LAWS[law].exists(np.array(draft), k)]
    found = otspec.optimal_acceptances(draft, target, ks, law=law, total_variation="1/12")
    lossless = otspec.optimal_acceptances(draft, target, ks, law=law)
    assert found.tolist() == [min(1, alpha + Fraction(1, 12)) for alpha in lossless]


@pytest.mark.parametrize("name", LAWS)
def test_a_plan_attains_it(name):
    case = law_case(name, DRAFT, 2)
    best = otspec.optimal_acceptance(case.exact, TARGET, total_variation="1/11")
    plan = otspec.optimal_plan(case.exact, TARGET, total_variation="1/11")
    plan.check()
    assert plan.acceptance == best.acceptance
    assert distance(plan.target_marginal(), TARGET) == best.distance
    roughly = otspec.optimal_plan(case.exact, TARGET, solver="highs", total_variation="1/11")
    roughly.check()
    assert abs(roughly.acceptance - float(best.acceptance)) < 1e-8


@pytest.mark.parametrize("name", LAWS)
def test_a_rule_attains_it(name):
    case = law_case(name, DRAFT, 2)
    best = otspec.optimal_acceptance(case.exact, TARGET, total_variation="1/11")
    rule = otspec.rules.lossy.rule_attaining(best)
    report = otspec.audit(rule, law=case.exact, target=TARGET)
    assert report.acceptance == rule.acceptance() == best.acceptance
    assert report.total_variation == best.distance
    assert report.lossy_gap == 0
    assert otspec.audit(rule, law=case.exact).lossless


@pytest.mark.parametrize("law_class", [otspec.IID, otspec.WithoutReplacement])
def test_a_rule_attains_it_at_full_vocabulary(law_class):
    rng = np.random.default_rng(2203)
    draft, target = rng.dirichlet(np.full(49_152, 0.05), size=2)
    best = otspec.optimal_acceptance(law_class(draft, 4), target, total_variation=0.05)
    best.check()
    rule = otspec.rules.lossy.rule_attaining(best)
    assert abs(rule.acceptance() - best.acceptance) <= best.law.accuracy
    assert abs(distance(rule.target, target) - 0.05) <= best.law.accuracy


def test_numbers_over_the_whole_range_of_floats():
    for draft, target in extreme_pairs(2206, 40, 5):
        for law in (otspec.IID(draft, 2), otspec.Hub(draft), otspec.TopK(draft, 1)):
            best = otspec.optimal_acceptance(law, target, total_variation=0.1)
            best.check()
            alpha = otspec.optimal_acceptance(law, target).acceptance
            assert best.acceptance == min(1, alpha + 0.1)


@pytest.mark.parametrize("budget", [-0.1, 1.5, float("nan"), "1/20", True, "much", None])
def test_what_is_no_budget_is_refused(budget):
    law = otspec.IID([0.5, 0.5], 2)
    if budget is None:
        with pytest.raises(ValueError, match=r"total_variation is 0.05.*'1/20'"):
            otspec.optimal_acceptance(otspec.IID(DRAFT, 2), TARGET, total_variation=0.05)
    else:
        with pytest.raises(ValueError, match="total_variation"):
            otspec.optimal_acceptance(law, [0.25, 0.75], total_variation=budget)


def test_what_was_changed_is_refused():
    best = otspec.optimal_acceptance(otspec.IID(DRAFT, 2), TARGET, total_variation="1/11")
    for changed in ("acceptance", "budget"):
        value = {
            "acceptance": best.acceptance - Fraction(1, 100),
            "budget": otspec.optimum.TotalVariation(Fraction(1, 10)),
        }[changed]
        with pytest.raises(ValueError, match="one of the two was changed"):
            dataclasses.replace(best, **{changed: value}).check()
    further = dataclasses.replace(best)
    vars(further)["output"] = best.selection
    with pytest.raises(ValueError, match=r"accepts|off by"):
        further.check()
