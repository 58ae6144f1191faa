"""The frontier against a linear program that has the output as a variable (Theory, 29)."""

from __future__ import annotations

from fractions import Fraction
from itertools import islice

import numpy as np
import pytest
from instances import law_cases
from searching import enough

import otspec
from otspec.optimum import FrontierProgram
from otspec.optimum.plan import Plan
from otspec.solvers import solve

NAMES = ("IID", "WithoutReplacement", "Joint", "Independent", "TopK", "Hub")
COUNT = enough(300 // len(NAMES))


def budgets(name):
    """Random budgets of one law, 0 and 1 among them."""
    rng = np.random.default_rng([2204, len(name)])
    while True:
        yield Fraction(int(rng.integers(0, 13)), 36)
        yield Fraction(int(rng.integers(0, 5)), 4)


def instances(name):
    cases = law_cases(name, seed=2205, count=300, most_tokens=4, most_drafts=3, fewest=2)
    return list(islice(zip(cases, budgets(name), strict=False), COUNT))


@pytest.mark.parametrize("name", NAMES)
def test_the_formula_is_the_value_of_the_program(name):
    given = instances(name)
    assert len(given) == COUNT
    between = 0
    for (case, target), budget in given:
        best = otspec.optimal_acceptance(case.exact, target, total_variation=budget)
        program = FrontierProgram(case.exact, target, total_variation=budget)
        solution = solve(program.build(), "rational")
        assert solution.value == best.acceptance
        alpha = otspec.optimal_acceptance(case.exact, target).acceptance
        assert best.acceptance == min(1, alpha + budget)
        between += alpha < best.acceptance < 1
    assert between >= 4


def test_the_solution_is_a_plan_for_its_output():
    law, target = otspec.IID(["1/2", "3/10", "1/5"], 2), ["1/10", "3/5", "3/10"]
    program = FrontierProgram(law, target, total_variation="1/20")
    solution = solve(program.build())
    solution.check()
    output = program.output(solution)
    assert output.sum() == 1
    assert sum(abs(output - program.target)) / 2 == Fraction(1, 20)
    plan = Plan(program.support, output, program.accepted(solution))
    plan.check()
    assert plan.acceptance == solution.value == Fraction(9, 10)
    float_law = otspec.IID([0.5, 0.3, 0.2], 2)
    rough = FrontierProgram(float_law, [0.1, 0.6, 0.3], total_variation=0.05)
    assert abs(solve(rough.build(), "highs").value - 0.9) < 1e-9


@pytest.mark.parametrize("budget", [2, -0.5, "1/20"])
def test_what_is_no_budget_is_refused(budget):
    with pytest.raises(ValueError, match="total_variation"):
        FrontierProgram(otspec.IID([0.5, 0.5], 2), [0.25, 0.75], total_variation=budget)
