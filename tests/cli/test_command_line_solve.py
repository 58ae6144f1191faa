"""``otspec solve``: programs and solvers side by side."""

import json
import sys
from fractions import Fraction

import pytest
from command_line import complaint, run

import otspec
from otspec.programs import PROGRAMS
from otspec.solvers import SOLVERS

DRAFT, TARGET = "1/2,3/10,1/5", "1/10,3/5,3/10"


def solved(capsys, *arguments):
    return json.loads(run(capsys, "solve", *arguments, "--json"))


@pytest.mark.parametrize("drafts", ["iid", "without-replacement", "hub", "top-plus-one", "top"])
@pytest.mark.parametrize("tuples", [[], ["--tuples"]])
def test_every_program_and_solver_gives_the_optimum(capsys, drafts, tuples):
    programs = [word for name in PROGRAMS for word in ("--program", name)]
    document = solved(capsys, DRAFT, TARGET, "-k", "2", "--drafts", drafts, *programs, *tuples)
    optimum = Fraction(document["optima"][0]["acceptance"])
    found = {(row["program"], row["solver"]): row["acceptance"] for row in document["solutions"]}
    assert set(found) == {(program, solver) for program in PROGRAMS for solver in SOLVERS}
    for (_, solver), acceptance in found.items():
        if solver == "rational":
            assert Fraction(acceptance) == optimum
        else:
            assert acceptance == pytest.approx(float(optimum), abs=1e-9)


def test_floats_are_not_given_to_the_rational_solver(capsys):
    document = solved(capsys, "0.5,0.3,0.2", "0.1,0.6,0.3")
    assert [row["solver"] for row in document["solutions"]] == ["highs", "cvxpy"]


def test_the_table_shows_size_value_cut_and_time(capsys):
    printed = run(capsys, "solve", DRAFT, TARGET, "-k", "1,2", "--solver", "highs")
    header, first, second = printed.splitlines()[:3]
    assert header.split() == ["k", "program", "solver", "rows", "variables", "iterations",
                              "build", "s", "solve", "s", "value"]  # fmt: skip
    assert first.split()[:5] == ["1", "reduced", "highs", "6", "3"]
    assert second.split()[:5] == ["2", "reduced", "highs", "9", "9"]
    assert "the cut A = {0} proves that 0.850000000 = 17/20 is the optimum" in printed


def test_rows_per_tuple_are_more_than_rows_per_set(capsys):
    rows = [
        solved(capsys, DRAFT, TARGET, "-k", "3", "--solver", "highs", *option)["solutions"][0]
        for option in ([], ["--tuples"])
    ]
    # Σ C(3, j) sets and 27 tuples, and three tokens.
    assert [row["rows"] for row in rows] == [7 + 3, 27 + 3]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--program", "simplex"], "'simplex' is not one of"),
        (["--solver", "abacus"], "'abacus' is not one of"),
        (["--program", "compact", "-k", "3"], 'use program="maxflow"'),
    ],
)
def test_unusable_options_are_one_line(capsys, arguments, says):
    assert says in complaint(capsys, "solve", DRAFT, TARGET, *arguments)


def test_a_program_too_large_for_memory_is_one_line_with_its_size(capsys, monkeypatch):
    monkeypatch.setattr("otspec.programs.formulation.memory", lambda: 5_000)
    line = complaint(capsys, "solve", DRAFT, TARGET, "-k", "3", "--program", "membership")
    assert "10 rows, 21 variables, 42 coefficients" in line
    assert 'use program="reduced"' in line


def test_the_rational_solver_on_floats_is_one_line(capsys):
    line = complaint(capsys, "solve", "0.5,0.5", "0.5,0.5", "--solver", "rational")
    assert "needs exact distributions" in line


def test_a_missing_package_is_one_line(capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "cvxpy", None)
    line = complaint(capsys, "solve", DRAFT, TARGET, "--solver", "cvxpy")
    assert "needs the package cvxpy" in line


def test_the_plan_behind_the_command_is_public():
    plan = otspec.optimal_plan(otspec.IID([0.5, 0.3, 0.2], 2), [0.1, 0.6, 0.3])
    plan.check()
    assert plan.acceptance == pytest.approx(0.85, abs=1e-9)
