"""Measuring how far the exact methods reach."""

from __future__ import annotations

import sys

import pytest
from click.testing import CliRunner
from programs_table import needs_cdd

from otspec.cones import __main__ as command
from otspec.cones import reach as module
from otspec.cones.reach import METHODS, Attempt, Reached, attempt, reach

# size, found, cuts at n = 3, k = 2; by hand: 6 sets, 9 tuples, 6 or 8 cuts, 3! vertices.
FOUND = {
    "certainty cone, sets": (6, 12, 6),
    "certainty cone, tuples": (9, 15, 6),
    "optimum cone, sets": (6, 17, 8),
    "optimum cone, tuples": (9, 20, 8),
    "elimination, certainty": (16, 13, 7),
    "elimination, optimum": (24, 17, 8),
    "selection polytope": (6, 6, 6),
}


@needs_cdd
@pytest.mark.parametrize("method", METHODS)
def test_each_method_is_measured(method):
    assert METHODS[method](3, 2) == Reached(*FOUND[method], proved=True)


@needs_cdd
def test_an_attempt_runs_in_a_process_of_its_own():
    tried = attempt("certainty cone, sets", 3, 2, 60)
    assert tried.reached == Reached(*FOUND["certainty cone, sets"], proved=True)
    assert 0 <= tried.seconds < 60


@needs_cdd
def test_a_ladder_ends_when_the_time_is_over():
    ladders = [("certainty cone, sets", ((8, 8), (9, 9)))]
    tried = list(reach(0.2, ladders))
    assert tried == [Attempt("certainty cone, sets", 8, 8, None, 0.2)]


@needs_cdd
def test_a_process_that_fails_is_an_error(capfd):
    with pytest.raises(RuntimeError, match="elimination, optimum, n = 3, k = 3: the process fail"):
        attempt("elimination, optimum", 3, 3, 60)
    assert "k is 3: elimination is for two drafts" in capfd.readouterr().err


def test_bad_input_is_named():
    with pytest.raises(ValueError, match="method is 'simplex': it must be one of certainty cone"):
        attempt("simplex", 3, 2, 1)
    with pytest.raises(ValueError, match="seconds is 0: it must be positive"):
        next(reach(0))


def test_the_command_prints_a_table(monkeypatch):
    tried = [
        Attempt("certainty cone, sets", 4, 2, Reached(10, 1024, 14, proved=True), 0.04),
        Attempt("selection polytope", 7, 2, None, 60.0),
    ]
    monkeypatch.setattr(command, "require", lambda: None)
    monkeypatch.setattr(command, "reach", lambda _: iter(tried))
    done = CliRunner().invoke(command.main, ["--seconds", "60"])
    assert done.exit_code == 0
    assert done.stdout.splitlines()[:3] == [
        "method                n  k  size  found  cuts  proved  seconds",
        "certainty cone, sets  4  2    10  1,024    14     yes      0.0",
        "selection polytope    7  2                                > 60",
    ]


def test_the_command_says_what_is_missing(monkeypatch):
    monkeypatch.setitem(sys.modules, "cdd", None)
    done = CliRunner().invoke(command.main, [])
    assert done.exit_code == 1
    assert "pip install 'otspec[cones]'" in done.stderr


def test_ladders_climb():
    for method, sizes in module.LADDERS:
        assert method in METHODS
        costs = [n**k for n, k in sizes]
        assert costs == sorted(set(costs))
