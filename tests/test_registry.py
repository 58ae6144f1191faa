"""Tables of named things: in order, without doubles, open to other packages."""

from __future__ import annotations

import importlib.metadata
import re
import subprocess
import sys
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

import otspec
from otspec._base.registry import Registry, meant
from otspec.drafts import LAWS, SingleDraftLaw
from otspec.programs import PROGRAMS, Formulation, MaxFlow, Reduced
from otspec.solvers import SOLVERS, Solver, highs

ROOT = Path(__file__).parents[1]
LAW = otspec.IID(["1/2", "3/10", "1/5"], k=2)


class Thing:
    name = "mine"


def entry_points(monkeypatch, *points):
    found = [EntryPoint(name, value, "tests.things") for name, value in points]
    monkeypatch.setattr(
        importlib.metadata,
        "entry_points",
        lambda group: [point for point in found if point.group == group],
    )


def test_the_closest_of_some_names_is_meant():
    known = ["--draft", "--drafts", "--target"]
    assert meant("--drafs", known) == "; did you mean '--drafts'?"
    assert meant("trget", known) == "; did you mean '--target'?"
    assert meant("--x", known) == meant("", known) == meant("x", []) == ""
    assert meant("x" * 10**6, known) == ""


def test_entries_keep_their_order_and_their_names():
    things = Registry("thing", "tests.things")
    things.add("b", 1)
    things.add("a", 2)
    assert (list(things), things["a"], len(things), "c" in things) == (["b", "a"], 2, 2, False)
    assert repr(things) == "<things: b, a>"


def test_a_name_is_given_once():
    things = Registry("thing", "tests.things")
    assert things.register(Thing) is Thing
    assert things.register(Thing) is Thing
    with pytest.raises(ValueError, match=r"another thing named 'mine': rename"):
        things.add("mine", object())


def test_other_packages_add_entries(monkeypatch):
    entry_points(monkeypatch, ("root", "math:sqrt"))
    things = Registry("thing", "tests.things")
    things.add("own", len)
    assert list(things) == ["own", "root"]
    assert things["root"](4) == 2


@pytest.mark.parametrize(
    ("value", "why"),
    [("no_such_module_here:x", "No module named"), ("math:nothing", "has no attribute"),
     ("math:pi", "is no function")],
)  # fmt: skip
def test_what_cannot_be_an_entry_is_left_out_with_a_warning(monkeypatch, value, why):
    def check(name, entry):
        if not callable(entry):
            raise ValueError(f"{name} is no function")

    entry_points(monkeypatch, ("theirs", value), ("root", "math:sqrt"))
    things = Registry("thing", "tests.things", check)
    with pytest.warns(UserWarning, match=why) as found:
        assert list(things) == ["root"]
    assert len(found) == 1
    assert "thing 'theirs'" in str(found[0].message)
    assert list(things) == ["root"]


@pytest.mark.parametrize(
    ("registry", "base", "other"),
    [(LAWS, SingleDraftLaw, otspec.WithoutReplacement), (PROGRAMS, Formulation, MaxFlow)],
)
def test_classes_say_their_name(registry, base, other):
    renamed = type("Renamed", (base,), {"name": "other"})
    for name, kind, why in (
        (next(iter(registry)), other, "is named"),
        ("x", len, f"is no subclass of {base.__name__}"),
        ("y", renamed, "is named 'other', not 'y'"),
    ):
        with pytest.raises(ValueError, match=why):
            registry.add(name, kind)


def test_solvers_say_their_name():
    for name, solver, why in (
        ("highs", Solver("highs", highs.solve), "another solver named 'highs'"),
        ("x", highs.solve, "is no Solver"),
        ("y", Solver("other", highs.solve), "is named 'other', not 'y'"),
    ):
        with pytest.raises(ValueError, match=why):
            SOLVERS.add(name, solver)


def test_what_is_registered_can_be_used_by_name(monkeypatch):
    monkeypatch.setattr(SOLVERS, "_entries", dict(SOLVERS))
    monkeypatch.setattr(PROGRAMS, "_entries", dict(PROGRAMS))
    SOLVERS.register(Solver("mine", highs.solve))
    PROGRAMS.register(type("Mine", (Reduced,), {"name": "mine"}))
    plan = otspec.optimal_plan(LAW, ["1/10", "3/5", "3/10"], program="mine", solver="mine")
    assert plan.acceptance == pytest.approx(0.85, abs=1e-9)
    assert plan.solution.program.title.startswith("mine")


@pytest.mark.parametrize(("registry", "heading"), [(PROGRAMS, "program="), (SOLVERS, "solver=")])
def test_the_documentation_has_a_table_of_all(registry, heading):
    page = (ROOT / "docs" / "programs.md").read_text(encoding="utf-8")
    table = page.split(f"| `{heading}` |")[1].split("\n\n")[0]
    rows = [re.match(r'\| `"([a-z]+)"` \|', line) for line in table.splitlines()[2:]]
    assert [row.group(1) for row in rows] == list(registry)


def test_the_documentation_has_a_table_of_all_laws():
    page = (ROOT / "docs" / "conventions.md").read_text(encoding="utf-8")
    table = page.split("| law | name |")[1].split("\n\n")[0]
    rows = re.findall(r"^\| `(\w+)\(.+?\)` \| `([a-z-]+)` \|", table, re.MULTILINE)
    assert rows == [(law.__name__, name) for name, law in LAWS.items()]


@pytest.mark.parametrize("program", PROGRAMS.values())
def test_the_table_of_programs_says_where_they_come_from(program):
    page = (ROOT / "docs" / "programs.md").read_text(encoding="utf-8")
    (row,) = (line for line in page.splitlines() if line.startswith(f'| `"{program.name}"` |'))
    assert program.source.split(",")[0] in row


def test_importing_looks_for_no_entry_points():
    program = "import otspec, otspec.rules, sys; print('importlib.metadata' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    assert done.stdout.strip() == b"False"
