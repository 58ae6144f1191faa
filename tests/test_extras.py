"""Packages that are imported where they are used, or not at all."""

import ast
import configparser
import json
import os
import re
import subprocess
import sys
from fractions import Fraction
from itertools import product
from math import prod
from pathlib import Path

import absent_packages
import base_install
import pytest

ROOT = Path(__file__).parents[1]
OTHERWISE = {"cdd": "pycddlib", "cdd.gmp": "pycddlib"}
"""Packages that are imported by another name."""
PROGRAM = Path(base_install.__file__)
ARROW_FIRST = """
import sys

import pyarrow as pa
from otspec._base.extras import let_arrow_do_without_pandas

let_arrow_do_without_pandas()
table = pa.table({"kept": pa.array([1.0, 2.0])})
assert "pandas" not in sys.modules
assert table.to_pandas()["kept"].sum() == 3
import pandas

assert pa.array(pandas.Series([1, 2])).to_pylist() == [1, 2]
"""


def extras():
    """Return the packages of each extra, with those of the extras that it consists of."""
    config = configparser.ConfigParser()
    config.read(ROOT / "setup.cfg", encoding="utf-8")
    lines = {name: text.split("\n") for name, text in config["options.extras_require"].items()}

    def packages(name):
        for line in filter(None, lines[name]):
            of_otspec = re.fullmatch(r"otspec\[(.*)\]", line)
            if of_otspec:
                for inside in of_otspec[1].split(","):
                    yield from packages(inside)
            else:
                yield re.match(r"[\w-]+", line)[0]

    return {name: set(packages(name)) for name in lines}


OPTIONAL = extras()["all"]
"""Packages that a base install lacks."""


def test_arrow_does_without_pandas_until_it_is_asked_for():
    pytest.importorskip("pandas")
    done = subprocess.run(
        [sys.executable, "-c", ARROW_FIRST], capture_output=True, encoding="utf-8", check=False
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_tests_are_skipped_for_what_is_absent_and_nothing_else(monkeypatch):
    monkeypatch.setattr(absent_packages, "ABSENT", ["needs the package cdd"])
    with (
        pytest.raises(pytest.skip.Exception, match="a cone needs the package cdd"),
        absent_packages.skipped_without_packages(),
    ):
        raise ValueError("a cone needs the package cdd: pip install 'otspec[cones]'")
    with (
        pytest.raises(ValueError, match="a cone needs room"),
        absent_packages.skipped_without_packages(),
    ):
        raise ValueError("a cone needs room")


@pytest.fixture(scope="module")
def base_outcomes(tmp_path_factory):
    """What each command of a base install did, by the command."""
    done = subprocess.run(
        [sys.executable, PROGRAM, *OPTIONAL, "cdd"],
        capture_output=True, encoding="utf-8", check=False,
        cwd=tmp_path_factory.mktemp("base"),
        env=os.environ | {"PYTHONPATH": str(ROOT), "PYTHONIOENCODING": "utf-8"}
        | {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTEST_ADDOPTS": ""},
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    found = map(json.loads, done.stdout.splitlines())
    return {tuple(command): (status, out, error) for command, status, out, error in found}


def test_the_plugin_of_pytest_needs_no_extra(base_outcomes):
    status, out, _ = base_outcomes["pytest",]
    assert (status, "1 passed" in out) == (0, True), out


@pytest.mark.parametrize("command", base_install.WORK, ids=" ".join)
def test_a_base_install_does_the_main_work(base_outcomes, command):
    status, out, error = base_outcomes[tuple(command)]
    assert (status, error) == (0, "")
    if "--json" in command:
        assert "17/20" in out or json.loads(out)["lossless"] is True
    else:
        assert re.search(r"17/20|0\.85|is lossless on all 10|19/20", out)


@pytest.mark.parametrize(
    ("extra", "command"),
    [(extra, command) for extra, several in base_install.REFUSED.items() for command in several],
    ids=lambda each: each if isinstance(each, str) else " ".join(each),
)
def test_what_needs_an_extra_says_so_in_one_line(base_outcomes, extra, command):
    status, out, error = base_outcomes[tuple(command)]
    assert (status, out) == (2, "")
    package = {"runs": "pyarrow", "plots": "matplotlib", "cvxpy": "cvxpy"}[extra]
    assert re.fullmatch(
        rf"otspec: .* needs the package {package}: pip install 'otspec\[{extra}\]'\n", error
    )


def test_a_base_install_solves_exact_programs(base_outcomes):
    status, out, _ = base_outcomes["exact",]
    found = {name: Fraction(value) for name, value in json.loads(out).items()}
    assert status == 0
    # One draft: what is kept of the best coupling is the common mass of all beginnings.
    masses = {0: Fraction(1, 4), 1: Fraction(3, 4)}
    texts = [text for length in (1, 2) for text in product(masses, repeat=length)]
    kept = [min(Fraction(1, 2) ** len(text), prod(masses[x] for x in text)) for text in texts]
    assert found.pop("blocks") == sum(kept)
    assert found.pop("long run") == 3  # draft = target: both drafted tokens, and one more
    assert len(found) == 5
    assert set(found.values()) == {1 - Fraction(1, 4) + Fraction(1, 10)}  # the cut of token 0


def test_formulas_in_symbols_need_an_extra(base_outcomes):
    _, _, error = base_outcomes["formula",]
    assert error == ("a formula in symbols needs the package sympy: pip install 'otspec[symbolic]'")


@pytest.fixture(scope="module")
def trees():
    """The modules that name a package of an extra, parsed, by the path."""
    texts = {str(path): path.read_text("utf-8") for path in (ROOT / "otspec").rglob("*.py")}
    names = re.compile(rf"\b({'|'.join(OPTIONAL)})\b")
    return {name: ast.parse(text) for name, text in texts.items() if names.search(text)}


def asked_for(tree):
    """Return (package, extra) of the calls of needed in a module, so far as it names them."""
    named = {
        ast.unparse(node.targets[0]): node.value
        for node in tree.body
        if isinstance(node, ast.Assign)
    }
    calls = (node for node in ast.walk(tree) if isinstance(node, ast.Call))
    ends = [
        [named.get(ast.unparse(word), word) for word in (call.args[0], call.args[-1])]
        for call in calls
        if ast.unparse(call.func) == "needed"
    ]
    return {
        (OTHERWISE.get(package.value, package.value.partition(".")[0]), extra.value)
        for package, extra in ends
        if isinstance(package, ast.Constant)
    }


def imported(tree):
    """Yield the packages that are imported by the statements of a tree, but for type checkers."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            continue
        if isinstance(node, ast.Import):
            yield from (name.name.partition(".")[0] for name in node.names)
        if isinstance(node, ast.ImportFrom):
            yield node.module.partition(".")[0]
        if not isinstance(node, ast.FunctionDef):
            yield from imported(node)


def test_each_extra_that_an_error_names_has_the_package(trees):
    of_extras = extras()
    found = set().union(*map(asked_for, trees.values()))
    assert {("pyarrow", "runs"), ("matplotlib", "plots"), ("sympy", "symbolic")} <= found
    assert {pair for pair in found if pair[0] not in of_extras[pair[1]]} == set()


def test_packages_of_extras_are_imported_through_one_door(trees):
    """A module that imports one calls `needed` for it, which says what to install.

    Those that draw get their axes from `panel_on`, which does.
    """
    careful = OPTIONAL - {"numba"}  # without which the same loops run as plain Python
    unasked, used = [], set()
    for name, tree in trees.items():
        asked = {package for package, _ in asked_for(tree)}
        if "panel_on(" in ast.unparse(tree):
            asked.add("matplotlib")
        functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
        inside = {package for each in functions for package in imported(each)} & careful
        unasked += [(name, package) for package in inside - asked]
        used |= asked
        assert not set(imported(tree)) & careful, name  # where the module is imported
    assert {"cvxpy", "dask", "matplotlib", "pyarrow", "sympy"} <= used
    assert unasked == []
