"""One contract for all solvers: values, duals, outcomes, and checks that trust none of them."""

from __future__ import annotations

import dataclasses
import importlib
import warnings
from fractions import Fraction

import numpy as np
import pytest
from programs_table import INF, SOLVER_NAMES, VALUE_ERROR, dense_program

import otspec
from otspec.solvers import SOLVERS, Sense, SolverError, Status, solve
from otspec.solvers import cvxpy as cvxpy_solver

MAX, MIN = Sense.MAXIMIZE, Sense.MINIMIZE
FREE = (-INF, INF)
NONNEGATIVE = (0, INF)


# name: (sense, objective, rows, variables), value, duals; each has one vertex and one dual.
HAND_MADE = {
    "maximize with <= rows and a bound": (
        (MAX, [3, 2], [([1, 1], -INF, 4), ([1, 3], -INF, 7)], [(0, 3), NONNEGATIVE]),
        11,
        [2, 0],
    ),
    "minimize with a >= row and an equality": (
        (MIN, [2, 3], [([1, 1], 4, INF), ([1, -1], 1, 1)], [NONNEGATIVE] * 2),
        Fraction(19, 2),
        [Fraction(5, 2), Fraction(-1, 2)],
    ),
    "maximize against a >= row": ((MAX, [-3], [([2], 5, INF)], [NONNEGATIVE]), -7.5, [-1.5]),
    "minimize against a <= row": ((MIN, [-3], [([2], -INF, 5)], [NONNEGATIVE]), -7.5, [-1.5]),
    "maximize with a range of a row": ((MAX, [1], [([1], 1, 3)], [FREE]), 3, [1]),
    "minimize with a range of a row": ((MIN, [1], [([1], 1, 3)], [FREE]), 1, [1]),
    "minimize a free variable": ((MIN, [1], [([1], -3, INF)], [FREE]), -3, [1]),
    "maximize with an equality": ((MAX, [1, 4], [([1, 2], 6, 6)], [NONNEGATIVE] * 2), 12, [2]),
    "minimize with an equality": ((MIN, [1, 4], [([1, 2], 6, 6)], [NONNEGATIVE] * 2), 6, [1]),
    "only a variable's bound": ((MAX, [1, 0], [([1, 1], -INF, 9)], [(0, 7), (-5, 5)]), 7, [0]),
    "only a lower bound": ((MIN, [5, 1], [([1, 1], -INF, 9)], [(-2, 2), (-5, 5)]), -15, [0]),
}

# name: sense, objective, rows, variables; value
DEGENERATE = {
    "one by one, all zero": ((MAX, [0], [([0], 0, 0)], [NONNEGATIVE]), 0),
    "one by one, fixed": ((MIN, [7], [([2], 3, 3)], [FREE]), Fraction(21, 2)),
    "a variable fixed by its bounds": ((MAX, [1, 1], [([1, 1], -INF, 5)], [(2, 2), (0, 1)]), 3),
    "redundant equalities": (
        (MAX, [1, 2], [([1, 1], 1, 1), ([2, 2], 2, 2), ([-1, -1], -1, -1)], [NONNEGATIVE] * 2),
        2,
    ),
    "more rows than a vertex needs": (
        (MAX, [1, 1], [([1, 0], -INF, 1), ([0, 1], -INF, 1), ([1, 1], -INF, 2)], [FREE] * 2),
        2,
    ),
    "a row without bounds": ((MAX, [1], [([1], -INF, INF), ([1], -INF, 4)], [FREE]), 4),
    "a row without coefficients": ((MIN, [1], [([0], -1, 1)], [(2, INF)]), 2),
}


def data_for(solver, data):
    return dense_program(*data, exact=solver == "rational")


def distance(found, wanted):
    return max((abs(a - b) for a, b in zip(found, wanted, strict=True)), default=0)


@pytest.mark.parametrize("solver", SOLVER_NAMES)
@pytest.mark.parametrize("name", HAND_MADE)
def test_values_and_duals_of_hand_made_programs(name, solver):
    data, value, duals = HAND_MADE[name]
    solution = solve(data_for(solver, data), solver)
    error = 0 if solver == "rational" else VALUE_ERROR
    assert solution.status is Status.OPTIMAL
    assert abs(solution.value - value) <= error
    assert distance(solution.duals, duals) <= error
    assert solution.seconds >= 0
    numbers = [solution.value, *solution.primal, *solution.duals]
    assert all(isinstance(number, Fraction) == (solver == "rational") for number in numbers)


@pytest.mark.parametrize("solver", SOLVER_NAMES)
@pytest.mark.parametrize("name", DEGENERATE)
def test_degenerate_programs_are_solved_and_certified(name, solver):
    data, value = DEGENERATE[name]
    solution = solve(data_for(solver, data), solver)
    assert abs(solution.value - value) <= (0 if solver == "rational" else VALUE_ERROR)
    worst = max(vars(solution.check()).values())
    assert worst <= (0 if solver == "rational" else VALUE_ERROR)


def test_duals_are_derivatives_with_respect_to_the_right_hand_sides():
    rng = np.random.default_rng(90)
    step, compared = Fraction(1, 10**9), {"<=": 0, ">=": 0, "=": 0}
    for trial in range(60):
        sense = (MAX, MIN)[trial % 2]
        sides = rng.integers(1, 30, 3).tolist()
        kinds = ["<=", ">=", "="]
        rows = []
        for kind, side in zip(kinds, sides, strict=True):
            lower, upper = -INF if kind == "<=" else side, INF if kind == ">=" else side
            rows.append((rng.integers(-5, 9, 3).tolist(), lower, upper))
        data = [sense, rng.integers(-9, 10, 3).tolist(), rows, [(0, 20)] * 3]
        solution = SOLVERS["rational"](dense_program(*data))
        if solution.status is not Status.OPTIMAL:
            continue
        solution.check()
        for row, kind in enumerate(kinds):
            values = []
            for change in (-step, step):
                coefficients, lower, upper = rows[row]
                moved = [*rows[:row], (coefficients, lower + change, upper + change)]
                program = dense_program(sense, data[1], [*moved, *rows[row + 1 :]], data[3])
                values.append(SOLVERS["rational"](program))
            if any(moved.status is not Status.OPTIMAL for moved in values):
                continue
            below, above = (
                (moved.value - solution.value) / change
                for moved, change in zip(values, (-step, step), strict=True)
            )
            # The value is concave or convex in a side: it has a derivative where slopes agree.
            if below == above:
                assert solution.duals[row] == below
                compared[kind] += below != 0
    assert min(compared.values()) >= 5, compared


@pytest.mark.parametrize("solver", SOLVER_NAMES)
@pytest.mark.parametrize(
    ("data", "status"),
    [
        ((MAX, [1], [([1], 2, INF)], [(0, 1)]), Status.INFEASIBLE),
        ((MIN, [1, 1], [([1, 1], 1, 1), ([1, 1], 2, 2)], [FREE] * 2), Status.INFEASIBLE),
        ((MAX, [1, 0], [([1, -1], -INF, 1)], [NONNEGATIVE] * 2), Status.UNBOUNDED),
        ((MIN, [1, 1], [([1, -1], -1, 1)], [FREE] * 2), Status.UNBOUNDED),
        ((MAX, [1], [([0], 0, 0)], [NONNEGATIVE]), Status.UNBOUNDED),
        ((MAX, [1], [], [FREE]), Status.UNBOUNDED),
    ],
)
def test_programs_without_an_optimum_end_with_advice(data, status, solver):
    program = data_for(solver, data)
    assert SOLVERS[solver](program).status is status
    with pytest.raises(SolverError) as raised:
        solve(program, solver)
    assert isinstance(raised.value, ValueError)
    assert status.value in str(raised.value)
    assert solver in str(raised.value)


def test_every_status_is_an_advice_of_its_own():
    advice = [status.value for status in Status]
    assert len(set(advice)) == len(advice)
    assert all(": " in text or ", " in text or " gave up" in text for text in advice)


ROWS = ((MAX, [2, 1], [([1, 1], -INF, 4), ([1, 0], -INF, 3)], [NONNEGATIVE] * 2), 7, [1, 1])


@pytest.mark.parametrize("solver", SOLVER_NAMES)
@pytest.mark.parametrize(
    ("primal", "duals", "value"),
    [
        ([4, 1], [1, 1], 9),  # infeasible, beyond both rows
        ([3, -1], [1, 1], 5),  # infeasible, below a bound
        ([3, 1], [-1, 3], 7),  # a multiplier with the wrong sign
        ([3, 1], [0, 0], 7),  # reduced costs that no bound of a variable prices
        ([3, 1], [1, 1], 8),  # another value than that of the point
        ([0, 4], [1, 1], 4),  # a vertex that is not optimal
        ([0, 0], [2, 0], 0),  # feasible on both sides, not complementary
        ([2, 1], [1, 1], 5),  # an inner point
    ],
)
def test_tampered_solutions_are_refused(primal, duals, value, solver):
    solution = solve(data_for(solver, ROWS[0]), solver)
    assert distance([solution.value, *solution.duals], [ROWS[1], *ROWS[2]]) <= VALUE_ERROR
    kind = solution.primal.dtype
    tampered = dataclasses.replace(
        solution,
        primal=np.array([Fraction(x) for x in primal]).astype(kind),
        duals=np.array([Fraction(y) for y in duals]).astype(kind),
        value=type(solution.value)(value),
    )
    with pytest.raises(SolverError, match="violates optimality"):
        tampered.check()


@pytest.mark.parametrize("status", [status for status in Status if status is not Status.OPTIMAL])
def test_a_solution_that_says_it_is_not_optimal_is_refused(status):
    solution = solve(dense_program(*ROWS[0], exact=False), "highs")
    with pytest.raises(SolverError, match=r"test, highs: ") as raised:
        dataclasses.replace(solution, status=status).check()
    assert status.value in str(raised.value)


def test_the_smallest_change_of_a_rational_solution_is_refused():
    solution = solve(dense_program(*ROWS[0]))
    assert list(vars(solution.check()).values()) == [0, 0, 0, 0]
    shift = Fraction(1, 10**30)
    for field in ("primal", "duals", "value"):
        for sign in (1, -1):
            changed = getattr(solution, field) + sign * shift
            with pytest.raises(SolverError, match="violates optimality"):
                dataclasses.replace(solution, **{field: changed}).check()


def test_the_solver_follows_the_arithmetic_unless_it_is_named():
    exact, inexact = (dense_program(*ROWS[0], exact=exact) for exact in (True, False))
    assert solve(exact).solver == "rational"
    assert solve(inexact).solver == "highs"
    for solver in ("highs", "cvxpy"):
        rounded = solve(exact, solver)
        assert isinstance(rounded.value, float)
        assert not rounded.program.exact
        assert rounded.primal.dtype == rounded.duals.dtype == np.float64
        assert abs(rounded.value - 7) <= VALUE_ERROR


def test_an_unknown_solver_is_refused_with_the_names_that_there_are():
    with pytest.raises(ValueError, match=r"solver is 'simplex': .* highs, cvxpy, rational"):
        solve(dense_program(*ROWS[0]), "simplex")


def test_rational_refuses_floats():
    with pytest.raises(ValueError, match="needs exact distributions"):
        solve(dense_program(*ROWS[0], exact=False), "rational")


def test_programs_of_a_thousand_variables_are_solved_exactly():
    rng = np.random.default_rng(91)
    draft, target = (
        [Fraction(int(w), 1000) for w in rng.multinomial(1000, [1 / 14] * 14)] for _ in "pq"
    )
    law = otspec.IID(draft, 2)
    plan = otspec.optimal_plan(law, target, "membership")
    assert plan.solution.program.shape == (119, 1470)
    assert plan.acceptance == otspec.optimal_acceptance(law, target).acceptance


def test_a_solver_that_cvxpy_lacks_is_refused_with_those_it_has():
    with pytest.raises(ValueError, match="'NOPE' is not installed") as raised:
        cvxpy_solver.solve(dense_program(*ROWS[0]), solver="NOPE")
    installed = importlib.import_module("cvxpy").installed_solvers()
    assert all(name in str(raised.value) for name in installed)


def test_any_solver_of_cvxpy_is_right_or_is_refused_by_the_check():
    for installed in importlib.import_module("cvxpy").installed_solvers():
        is_right_or_is_refused_by_the_check(installed)


def is_right_or_is_refused_by_the_check(installed):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # cvxpy warns of low accuracy
        solution = cvxpy_solver.solve(dense_program(*ROWS[0], exact=False), solver=installed)
    assert solution.solver == f"cvxpy ({installed})"
    assert solution.status is Status.OPTIMAL
    try:
        solution.check()
    except SolverError:
        assert installed not in ("CLARABEL", "HIGHS", "SCIPY")
        with pytest.raises(SolverError, match="less than the wanted accuracy"):
            solution.check()
    else:
        assert abs(solution.value - 7) <= VALUE_ERROR
        assert distance(solution.duals, [1, 1]) <= VALUE_ERROR
