"""Programs are what the papers write, know their size, and are built without a loop.

SpecTr, eq. 4; SpecHub, eq. 1, sec. 3.2, app. E; Canonical, thms. 1 and 4; Programs, 4.
"""

from __future__ import annotations

import math
import re
import sys
from fractions import Fraction

import numpy as np
import pytest
from each_case import each
from instances import LAWS, floats
from programs_table import (
    SOLVER_NAMES,
    VALUE_ERROR,
    chosen,
    formulate,
    instances,
    program_names,
    written_out,
)

import otspec
from otspec.programs import formulation
from otspec.solvers import Names, Sense

PROGRAM_NAMES = program_names(2)


def iid(n, k):
    weights = range(1, n + 1)
    draft = [Fraction(weight, sum(weights)) for weight in weights]
    return otspec.IID(draft, k), draft[::-1]


@each("sets", [True, False])
@each("program", PROGRAM_NAMES)
@each("name", LAWS)
def test_programs_equal_those_written_out_from_the_definition(name, program, sets):
    ks = (2,) if program == "compact" else (1, 2, 3)
    for case, target in instances(name, seed=110, count=16, most_tokens=3, ks=ks):
        built = formulate(program, case.exact, target, sets).build()
        expected = written_out(program, case.table, target, sets)
        assert built.sense.value == expected.sense
        for names, lower, upper, bounds in (
            (built.row_names, built.row_lower, built.row_upper, expected.rows),
            (built.column_names, built.lower, built.upper, expected.columns),
        ):
            assert len(names) == len(bounds)
            assert dict(zip(names, zip(lower, upper, strict=True), strict=True)) == bounds
        assert dict(zip(built.column_names, built.objective, strict=True)) == expected.goal
        places = zip(built.rows.tolist(), built.columns.tolist(), strict=True)
        entries = [(built.row_names[i], built.column_names[j]) for i, j in places]
        assert len(entries) == len(set(entries))
        assert dict(zip(entries, built.coefficients, strict=True)) == expected.entries


@each("sets", [True, False])
@each("program", PROGRAM_NAMES)
@each("name", LAWS)
def test_sizes_are_bounds_known_before_building(name, program, sets):
    ks = (2,) if program == "compact" else (1, 2, 3, 4)
    for case, target in instances(name, seed=111, count=24, most_tokens=4, ks=ks):
        model = formulate(program, case.exact, target, sets)
        size, built = model.size(), model.build()
        assert built.shape[0] <= size.rows
        assert built.shape[1] <= size.columns
        assert len(built.rows) <= size.coefficients
        assert size.bytes > 0


@pytest.mark.parametrize(("n", "k"), [(1, 1), (5, 1), (2, 2), (6, 2), (4, 3), (3, 4), (5, 4)])
@pytest.mark.parametrize("program", program_names(1))
def test_sizes_are_exact_for_full_support(program, n, k):
    law, target = iid(n, k)
    model = formulate(program, law, target, sets=True)
    size, built = model.size(), model.build()
    rows = sum(math.comb(n, j) for j in range(1, k + 1))
    assert (size.rows, size.columns) == built.shape
    assert size.coefficients == len(built.rows)
    assert size.rows == rows + n
    assert f"{size.columns:,} variables" in str(size)


@pytest.mark.parametrize(("n", "k"), [(1, 3), (2, 2), (5, 2), (3, 3), (3, 4)])
def test_membership_of_tuples_has_one_variable_for_every_tuple_and_token(n, k):
    law, target = iid(n, k)
    model = formulate("membership", law, target, sets=False)
    built = model.build()
    assert built.shape == (n**k + n, n ** (k + 1)) == (model.size().rows, model.size().columns)
    assert len(built.rows) == 2 * n ** (k + 1) == model.size().coefficients


def refuse_tables(monkeypatch):
    def table(self):
        raise AssertionError("the table of tuples was asked for")

    monkeypatch.setattr(otspec.IID, "_table", table)


@pytest.mark.parametrize(
    ("program", "smaller"),
    [
        ("membership", 'program="reduced"'),
        ("importance", 'program="reduced"'),
        ("maxflow", 'program="reduced"'),
        ("reduced", "optimal_acceptance(law, target)"),
        ("compact", "optimal_acceptance(law, target)"),
    ],
)
def test_a_program_beyond_the_memory_is_refused_before_it_is_built(monkeypatch, program, smaller):
    law, target = otspec.IID([0.01] * 100, 2), [0.01] * 100
    model = formulate(program, law, target, sets=True)
    monkeypatch.setattr(formulation, "memory", lambda: model.size().bytes - 1)
    refuse_tables(monkeypatch)
    with pytest.raises(ValueError, match=re.escape(f"has {model.size()}, more than")) as raised:
        model.build()
    assert f"of this machine: use {smaller}" in str(raised.value)
    # What the user already asked for is no advice.
    with pytest.raises(ValueError, match=re.escape(f"of this machine: use {smaller}")):
        otspec.optimal_plan(law, target, program, sets=True)


@pytest.mark.parametrize("program", program_names(1))
def test_tuples_beyond_the_memory_are_refused_in_favor_of_sets(monkeypatch, program):
    law, target = otspec.IID([0.02] * 50, 3), [0.02] * 50
    size = formulate(program, law, target, sets=False).size()
    monkeypatch.setattr(formulation, "memory", lambda: size.bytes - 1)
    refuse_tables(monkeypatch)
    with pytest.raises(ValueError, match="sets=True") as raised:
        otspec.optimal_plan(law, target, program, sets=False)
    assert str(size) in str(raised.value)
    assert formulate(program, law, target, sets=True).size().bytes < size.bytes


def test_a_program_of_the_size_of_the_memory_is_built(monkeypatch):
    law, target = iid(4, 2)
    model = formulate("reduced", law, target, sets=True)
    monkeypatch.setattr(formulation, "memory", lambda: model.size().bytes)
    assert model.build().shape == (14, 16)


def test_a_large_membership_program_is_refused_by_its_size_alone():
    law = otspec.IID([0.001] * 1000, 4)
    with pytest.raises(ValueError, match=r"1,000,000,001,000 rows, 1,000,000,000,000,000 var"):
        otspec.optimal_plan(law, [0.001] * 1000, "membership", sets=False)


@pytest.mark.parametrize("k", [1, 3])
def test_the_compact_network_is_for_two_drafts(k):
    law, target = iid(4, k)
    with pytest.raises(ValueError, match=f'k = {k}: use program="maxflow"'):
        otspec.optimal_plan(law, target, "compact")


def test_an_unknown_program_is_refused_with_the_names_that_there_are():
    law, target = iid(2, 1)
    with pytest.raises(ValueError, match="'simplex': it must be one of membership, reduced"):
        otspec.optimal_plan(law, target, "simplex")


def bytecodes(action):
    """How many bytecode instructions Python executes in an action."""
    count, before = 0, sys.gettrace()

    def trace(frame, event, argument):
        nonlocal count
        frame.f_trace_lines, frame.f_trace_opcodes = False, True
        count += event == "opcode"
        return trace

    sys.settrace(trace)
    try:
        action()
    finally:
        sys.settrace(before)
    return count


@pytest.mark.parametrize("sets", [True, False])
@pytest.mark.parametrize("program", program_names(1))
def test_building_runs_no_python_loop_over_tuples_or_tokens(program, sets):
    def work(n):
        law, target = otspec.IID([1 / n] * n, 3), np.full(n, 1 / n)
        return bytecodes(lambda: formulate(program, law, target, sets).build())

    work(5)  # Python 3.13 counts all instructions of a function from its second call on
    if program == "membership" and not sets:
        assert work(5) == work(20)  # 20^4 variables; 50^4 would take gigabytes
    else:
        # 125,000 tuples and 20,875 sets cost not one instruction more than 20 tuples would.
        assert work(5) == work(50)
    assert 100 < work(5) < 20_000


def test_a_python_loop_would_be_noticed():
    once, often = (bytecodes(lambda n=n: [i * i for i in range(n)]) for n in (1, 1001))
    assert often - once >= 4000


def test_names_are_made_when_they_are_read():
    pairs = np.array([[0, 1, -1, 1], [2, 2, -1, 0]])
    names = Names((("pi", pairs), ("none", pairs[:0]), ("t", np.arange(3)[:, None])))
    written = ["pi(0, 1 -> 1)", "pi(2, 2 -> 0)", "t(0)", "t(1)", "t(2)"]
    assert len(names) == 5
    assert list(names) == [names[i] for i in range(5)] == written
    assert [names[i] for i in range(-5, 0)] == written
    assert names[1:4] == written[1:4]
    assert names[::-2] == written[::-2]
    assert "t(1)" in names
    assert names.index("t(2)") == 4
    for position in (5, -6, 100):
        with pytest.raises(IndexError, match="out of range"):
            names[position]
    assert list(Names((("block", np.array([[1, -1, 0, 2]])),))) == ["block(1 -> 0, 2)"]


def test_a_program_says_its_size():
    law, target = iid(2, 2)
    program = formulate("reduced", law, target, sets=True).build()
    expected = "reduced (SpecHub, sec. 3.2): maximize over 4 variables, 5 rows, 8 coefficients"
    assert str(program) == expected
    law, target = iid(40, 2)
    text = str(formulate("reduced", law, target, sets=True).build())
    assert text.endswith("1,600 variables, 860 rows, 3,200 coefficients")


def skewed(rng, n):
    """A float distribution whose masses span many orders of magnitude."""
    drawn = rng.exponential(size=n) ** 3
    return drawn / drawn.sum()


@pytest.mark.parametrize("solver", ["highs", "cvxpy"])
@pytest.mark.parametrize("program", PROGRAM_NAMES)
def test_masses_of_many_orders_of_magnitude_are_no_obstacle(program, solver):
    rng = np.random.default_rng(112)
    for index, n in enumerate([*range(3, 11)] * 8 if solver == "highs" else [*range(2, 9)] * 2):
        law, target = otspec.IID(skewed(rng, n), 2), skewed(rng, n)
        best = otspec.optimal_acceptance(law, target).acceptance
        # Warnings are errors here: what is accurate enough is for the check to say, and it does.
        plan = otspec.optimal_plan(law, target, program, solver, sets=index % 16 < 8)
        assert abs(plan.acceptance - best) <= VALUE_ERROR


def optimality_is_violated_by(solution):
    """The worst of feasibility, of signs of multipliers and of complementary slackness.

    With multipliers y of rows and r = c − yA of variables, a point is optimal iff it is feasible
    and every multiplier that asks for more (positive when maximizing) has its upper bound met,
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
        wants_more = (multiplier > 0) == (program.sense is Sense.MAXIMIZE)
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
    cases = instances(name, seed=82, count=24, most_tokens=3, ks=(2, 3))
    for number, (case, target) in enumerate(cases):
        law = case.build(convert)
        for program in chosen(program_names(law.k), solver, number):
            solution = otspec.optimal_plan(law, convert(target), program, solver).solution
            worst = optimality_is_violated_by(solution)
            # Ten times the solvers' 1e-10, and sums of fewer than 200 rounded numbers below 2.
            assert worst == 0 if law.exact else worst <= 1e-9 + 400 * np.finfo(float).eps


@pytest.mark.parametrize("name", LAWS)
def test_rational_certificates_are_exactly_zero(name):
    for case, target in instances(name, seed=83, count=24, most_tokens=3, ks=(1, 2, 3)):
        for program in program_names(case.exact.k):
            solution = otspec.optimal_plan(case.exact, target, program, "rational").solution
            assert list(vars(solution.check()).values()) == [0, 0, 0, 0]
