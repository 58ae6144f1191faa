"""All programs with all solvers give the optimum, for every draft law."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import numpy as np
import oracles
import pytest
from instances import LAWS, floats, fractions, law_case
from programs_table import SOLVER_NAMES, VALUE_ERROR, instances, needs_cdd, program_names

import otspec
from otspec.programs import PROGRAMS
from otspec.solvers import Sense

INSTANCES = 200
TUPLE_INSTANCES = 60


def agree(value, exact):
    """Equal for fractions, within the stated error for floats."""
    if isinstance(value, Fraction):
        return value == exact
    assert type(value) is float
    return abs(value - exact) <= VALUE_ERROR


def values_of_all_programs(law, target, solver, sets):
    """The acceptance of each program: its value, and that of its plan."""
    for program in program_names(law.k):
        plan = otspec.optimal_plan(law, target, program, solver, sets=sets)
        value = plan.solution.value
        yield program, 1 - value if program == "membership" else value, plan.acceptance


@pytest.mark.parametrize("solver", SOLVER_NAMES)
@pytest.mark.parametrize("name", LAWS)
def test_every_program_has_the_optimum_as_its_value(name, solver):
    convert = list if solver == "rational" else floats
    solved = 0
    for case, target in instances(name, seed=80, count=INSTANCES):
        exact, law = oracles.optimum(case.table, target), case.build(convert)
        best = otspec.optimal_acceptance(law, convert(target)).acceptance
        assert agree(best, exact)
        for program, value, acceptance in values_of_all_programs(
            law, convert(target), solver, sets=True
        ):
            assert law.exact == isinstance(value, Fraction) == isinstance(acceptance, Fraction)
            assert agree(value, exact), program
            assert agree(acceptance, exact), program
        solved += 1
    assert solved == INSTANCES


@pytest.mark.parametrize("solver", SOLVER_NAMES)
@pytest.mark.parametrize("name", LAWS)
def test_rows_of_tuples_give_the_same_value_as_rows_of_sets(name, solver):
    convert = list if solver == "rational" else floats
    # A dense rational tableau over more tuples takes seconds.
    most = 27 if solver == "rational" else 81
    for case, target in instances(
        name, seed=81, count=TUPLE_INSTANCES, most_tokens=3, most_tuples=most
    ):
        exact, law = oracles.optimum(case.table, target), case.build(convert)
        of_sets = values_of_all_programs(law, convert(target), solver, sets=True)
        of_tuples = values_of_all_programs(law, convert(target), solver, sets=False)
        for (program, *by_sets), (_, *by_tuples) in zip(of_sets, of_tuples, strict=True):
            assert all(agree(value, exact) for value in by_sets + by_tuples), program
            assert all(agree(a, Fraction(b)) for a, b in zip(by_sets, by_tuples, strict=True))


@needs_cdd
@pytest.mark.parametrize("name", ["IID", "Joint"])
def test_all_tuples_of_four_drafts_in_rational_arithmetic(name):
    draft, target = fractions("2/5", "1/3", "4/15"), fractions("1/12", "1/4", "2/3")
    case = law_case(name, draft, 4)
    plan = otspec.optimal_plan(case.exact, target, "reduced", "rational", sets=False)
    assert plan.acceptance == plan.solution.value == oracles.optimum(case.table, target)


@pytest.mark.parametrize("name", LAWS)
def test_the_instances_have_all_the_edge_cases_among_them(name):
    ks, sizes, found = set(), set(), set()
    for case, target in instances(name, seed=80, count=INSTANCES):
        n, k = len(target), case.exact.k
        marginals = [oracles.marginal(case.table, i, n) for i in range(k)]
        drafted = {token for x in case.table for token in x}
        accepted = {token for token in range(n) if target[token] > 0}
        ks.add(k)
        sizes.add(n)
        found |= {
            kind
            for kind, present in {
                "undrafted token": len(drafted) < n,
                "unwanted token": len(accepted) < n,
                "draft equal to target": n > 1 and list(target) in marginals,
                "disjoint": not drafted & accepted,
                "tied masses": any(a == b for a, b in pairwise(sorted(target))),
                "tied tuples": len(set(case.table.values())) < len(case.table),
            }.items()
            if present
        }
    assert ks == ({2} if name == "Hub" else {1, 2, 3, 4})
    assert sizes == {1, 2, 3, 4}
    assert len(found) == 6, found


def optimality_is_violated_by(solution):
    """The worst of feasibility, of signs of multipliers and of complementary slackness.

    With multipliers y of rows and r = c − yA of variables, a point is optimal iff it is feasible
    and every multiplier that asks for more (positive when maximising) has its upper bound met,
    every one that asks for less its lower bound.
    """
    program = solution.program
    dense = np.zeros(program.shape, dtype=program.coefficients.dtype)
    np.add.at(dense, (program.rows, program.columns), program.coefficients)
    values = [*(dense @ solution.primal), *solution.primal]
    multipliers = [*solution.duals, *(program.objective - solution.duals @ dense)]
    lower, upper = [*program.row_lower, *program.lower], [*program.row_upper, *program.upper]
    worst = 0
    for value, multiplier, low, high in zip(values, multipliers, lower, upper, strict=True):
        wants_more = (multiplier > 0) == (program.sense is Sense.MAXIMISE)
        slack = (high - value) if wants_more else (value - low)
        if multiplier:
            # A multiplier without a bound is worth its own size, for then nothing limits it.
            product = abs(multiplier) if slack == np.inf else abs(multiplier * slack)
            worst = max(worst, product)
        worst = max(worst, low - value, value - high)
    return worst


@pytest.mark.parametrize("solver", SOLVER_NAMES)
@pytest.mark.parametrize("name", LAWS)
def test_solutions_are_feasible_and_complementary_by_an_independent_check(name, solver):
    convert = list if solver == "rational" else floats
    for case, target in instances(name, seed=82, count=24, most_tokens=3, ks=(2, 3)):
        law = case.build(convert)
        for program in program_names(law.k):
            solution = otspec.optimal_plan(law, convert(target), program, solver).solution
            worst = optimality_is_violated_by(solution)
            # Ten times the solvers' 1e-10, and sums of fewer than 200 rounded numbers below 2.
            assert worst == 0 if law.exact else worst <= 1e-9 + 400 * np.finfo(float).eps


@needs_cdd
@pytest.mark.parametrize("name", LAWS)
def test_rational_certificates_are_exactly_zero(name):
    for case, target in instances(name, seed=83, count=24, most_tokens=3, ks=(1, 2, 3)):
        for program in program_names(case.exact.k):
            solution = otspec.optimal_plan(case.exact, target, program, "rational").solution
            assert list(vars(solution.check()).values()) == [0, 0, 0, 0]


def test_the_named_programs_are_the_ones_that_are_tested():
    assert set(PROGRAMS) == set(program_names(2))
