"""Mutants: which are drawn of a program, and which are known to be equivalent."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
import tomllib
from collections import Counter
from pathlib import Path

import pytest
from docs_scripts import script

ROOT = Path(__file__).parents[2]
LISTED = tomllib.loads((ROOT / "packaging" / "equivalent_mutants.toml").read_text("utf-8"))
EQUIVALENT = LISTED["equivalent"]
PROGRAM = '''"""1 + 1 is no code."""


def least(values: int | None, *others, first=0.5) -> int | None:
    total = values - 2
    full(lambda *, last: last, like=values[0])
    if total <= 3 and first:
        return -min(values)
    return others if total is not None else True
'''
MUTANTS = {
    ("least", "def least(values: int | None, *others, first=0.5) -> int | None:", each)
    for each in (
        "def least(values: int | None, *others, first= 1.5) -> int | None:",
        "def least(values: int | None, *others, first= -0.5) -> int | None:",
    )
} | {
    ("least", "total = values - 2", each)
    for each in ("total = values + 2", "total = values -  3", "total = values -  1")
} | {
    ("least", "if total <= 3 and first:", each)
    for each in (
        "if total < 3 and first:", "if total > 3 and first:", "if total <= 3 or first:",
        "if total <=  4 and first:", "if total <=  2 and first:",
    )
} | {
    ("least", "return -min(values)", each) for each in ("return min(values)", "return -max(values)")
} | {
    ("least", "return others if total is not None else True", each)
    for each in (
        "return others if total is None else True", "return others if total is not None else False"
    )
}  # fmt: skip


@pytest.fixture
def mutants():
    pytest.importorskip("cosmic_ray", reason="cosmic-ray is not installed (the extra tools)")
    return script("mutations", "packaging")


def lines_by_function(path):
    """The lines of a file, with the name of each function and class that they are of."""
    text = path.read_text("utf-8")
    lines = [line.strip() for line in text.splitlines()]
    return {("", line) for line in lines} | {
        (node.name, line)
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.FunctionDef | ast.ClassDef)
        for line in lines[node.lineno - 1 : node.end_lineno]
    }


def test_an_equivalent_mutant_is_of_a_line_that_there_is_and_has_a_reason():
    keys = Counter(tuple(each[name] for name in ("file", "function", "line", "mutant"))
                   for each in EQUIVALENT)  # fmt: skip
    assert set(keys.values()) <= {1}
    lines_of = {name: lines_by_function(ROOT / name) for name in {name for name, *_ in keys}}
    for each in EQUIVALENT:
        assert (each["function"], each["line"]) in lines_of[each["file"]], each
        assert each["mutant"] != each["line"]
        assert len(each["why"].split()) >= 3


def test_mutants_change_operators_comparisons_constants_and_functions(mutants, tmp_path):
    path = tmp_path / "program.py"
    path.write_text(PROGRAM, encoding="utf-8")
    found = [(each, mutants.changed(each)) for each in mutants.mutants(path)]
    every = [(mutant.definition_name, *lines[1:]) for mutant, lines in found if lines]
    assert len(set(every)) == len(every)
    assert {(name, old, " ".join(new.split())) for name, old, new in every} == {
        (name, old, " ".join(new.split())) for name, old, new in MUTANTS
    }


@pytest.mark.parametrize("seed", [1, 2])
def test_mutants_are_drawn_once_and_not_those_that_are_known(mutants, tmp_path, seed):
    path = tmp_path / "otspec" / "room" / "program.py"
    path.parent.mkdir(parents=True)
    path.write_text(PROGRAM, encoding="utf-8")
    name = "otspec/room/program.py"
    known = (name, "least", "return -min(values)", "return -max(values)")

    def drawn(count, before=()):
        items = mutants.draw(tmp_path, "otspec/room", count, seed, {known, *before})
        each = [item.mutations[0] for item in items]
        return [mutants.identity(tmp_path, one, *mutants.changed(one)[1:]) for one in each]

    every = drawn(100)
    assert len(set(every)) == len(every) >= 7
    assert known not in every
    assert drawn(3) == every[:3]
    assert not {*drawn(100, every[:3])} & {*every[:3]}


TESTS = """
import pytest

def test_quick():
    pass

@pytest.mark.parametrize("number", range(3))
def test_endless(number):
    while number:
        pass
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs processes that fork")
def test_tests_that_take_long_are_left_out_or_ended(tmp_path):
    """The first parameters of a function run, and what is beyond the limit does not."""
    (tmp_path / "test_them.py").write_text(TESTS, encoding="utf-8")
    (tmp_path / "none.ini").write_text("[pytest]", encoding="utf-8")
    code = (
        "from pathlib import Path; import short_tests; short_tests.LIBRARIES = ();"
        "words, log = ['-c', 'none.ini', 'test_them.py'], Path('log');"
        "print(short_tests.run(words, log, plugins=[short_tests.Short(0.1)]));"
        "print(short_tests.run(words, log, limit=2)[0])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, check=True, capture_output=True,
        encoding="utf-8", env=os.environ | {"PYTHONPATH": str(ROOT / "packaging")},
    )  # fmt: skip
    first, second = done.stdout.splitlines()
    assert first.startswith("(0, ")
    assert "2 passed, 2 skipped" in first
    assert second == "None"
