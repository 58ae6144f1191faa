"""A run of the tests closes with what it left out: one line for each reason, with a command."""

import re
from pathlib import Path

import absent_packages
import pytest
from each_case import each
from skipped import REASONS, kind_of, lines

ROOT = Path(__file__).parents[2]
CONFTEST = (ROOT / "tests" / "conftest.py").read_text(encoding="utf-8")
EXAMPLE = """
import pytest

@pytest.mark.skip(reason="runs in make nightly")
@pytest.mark.parametrize("i", range(3))
def test_long(i): pass

def test_device():
    pytest.importorskip("torch_that_is_not_there")

def test_alone():
    pytest.skip("the moon is full")

def test_runs(): pass
"""


@pytest.mark.parametrize("options", [[], ["-n", "1"]])
def test_a_run_closes_with_what_it_left_out(pytester, monkeypatch, options):
    summary = re.search(r"def pytest_terminal_summary.*?\n\n\n", CONFTEST, re.DOTALL)[0]
    pytester.makeconftest(f"from skipped import lines\n\n{summary}")
    pytester.makepyfile(EXAMPLE)
    monkeypatch.setenv("PYTHONPATH", str(ROOT / "tests" / "support"))
    done = pytester.runpytest_subprocess("-p", "no:cacheprovider", *options)
    done.stdout.fnmatch_lines(
        [
            "*= 5 skipped =*",
            "     3 long searches: make nightly",
            "     1 PyTorch, Triton, JAX, transformers: make backends test",
            "     1 the moon is full: not on this machine",
        ]
    )
    done.assert_outcomes(passed=1, skipped=5)


def test_commands_are_those_of_the_makefile():
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    named = {target for _, _, command in REASONS if "make " in command
             for target in command.split("make ")[1].split()}  # fmt: skip
    assert named
    for target in named:
        assert re.search(rf"^(\w+ )*{target}\b.*:", makefile, re.MULTILINE), target


@pytest.mark.parametrize(
    ("reason", "command"),
    [
        ("torch is not installed", "make backends test"),
        ("could not import 'jax': No module named 'jax'", "make backends test"),
        ("no CUDA device", "on a machine with one: make backends test"),
        ("pycddlib is not installed (needs libcdd-dev and libgmp-dev)", "make cones test"),
        ("there is no Chromium: install it, or name one in OTSPEC_CHROMIUM", "make browser test"),
    ],
)
def test_reasons_have_their_commands(reason, command):
    assert kind_of(reason)[1] == command


def test_equal_kinds_are_one_line():
    reasons = ["Skipped: torch is not installed", "Skipped: jax is not installed", "Skipped: other"]
    assert lines(reasons) == [
        "     2 PyTorch, Triton, JAX, transformers: make backends test",
        "     1 other: not on this machine",
    ]


def halves(error, seen):
    """A test of the numbers 0 to 3, of which the odd ones raise something."""

    @each("number", range(4))
    def test(number):
        seen.append(number)
        if number % 2:
            raise error

    return test


def test_small_cases_in_one_item_are_all_tried_and_those_that_fail_are_named():
    seen = []
    with pytest.raises(ExceptionGroup, match="2 of 4 cases") as failed:
        halves(ValueError("it is odd"), seen)()
    assert seen == [0, 1, 2, 3]
    notes = [error.__notes__ for error in failed.value.exceptions]
    assert notes[0][0] == "In case 1, number = ['1']"


@pytest.mark.parametrize(
    "error", [pytest.skip.Exception("not here"), ValueError("solve needs the package moon")]
)
def test_an_item_is_skipped_if_one_of_its_small_cases_is(monkeypatch, error):
    monkeypatch.setattr(absent_packages, "ABSENT", ["needs the package moon"])
    seen = []
    with pytest.raises(pytest.skip.Exception, match=r"not here|needs the package moon"):
        halves(error, seen)()
    assert seen == [0, 1, 2, 3]


def test_small_cases_are_some():
    with pytest.raises(AssertionError, match="there are no cases"):
        each("number", [])(lambda number: number)()
