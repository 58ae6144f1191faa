"""The tests, and the package, wherever they run: in the background, under -O, in any locale."""

from __future__ import annotations

import ast
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from searching import NIGHTLY

from otspec.cli.main import main, otspec

ROOT = Path(__file__).parents[2]
SHIPPED = [path for part in ("otspec", "validation", "figures") for path in
           sorted((ROOT / part).rglob("*.py"))]  # fmt: skip
OURS = [*SHIPPED, *sorted((ROOT / "tests").rglob("*.py")), *sorted((ROOT / "docs").glob("*.py"))]
PYTEST = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
COMMANDS = {
    "accept": ("accept", "1/2,3/10,1/5", "1/10,3/5,3/10", "-k", "1,2"),
    "advise": (
        "advise",
        "--draft-cost",
        "1",
        "--target-cost",
        "2",
        "--nodes",
        "2",
        "--rule",
        "spechub",
    ),
    "audit": ("audit", "otspec.rules:PooledSelection", "--instances", "20"),
    "blocks": ("blocks", "--draft", "1/2,1/2", "--target", "1/4,3/4", "--tree", "2x2"),
    "compare": ("compare", "0.5,0.3,0.2", "0.1,0.6,0.3", "-k", "1,2"),
    "conform": (
        "conform",
        "otspec.batch:gumbel_coupling",  # has no loops, which would be compiled anew
        "--same-seed",
        "--shape",
        "1",
        "--detect",
        "0.2",
        "--vocabulary",
        "8",
        "--entries",
        "4000",
        "--json",
    ),
    "laws": ("laws", "-k", "1", "--drafts", "iid", "--json"),
    "policies": ("policies", "confidence-kept", "-L", "1"),
    "simulate": ("simulate", "--tree", "1x1"),
    "solve": ("solve", "1/2,1/2", "1/4,3/4", "-k", "2", "--solver", "highs", "--json"),
    "trace": ("trace", "-k", "1", "--json"),
    "vectors": ("vectors", "--kind", "block"),
}


def nodes(path, words):
    """All nodes of a file's syntax tree; none of a file without any of the words."""
    text = path.read_text(encoding="utf-8")
    return list(ast.walk(ast.parse(text))) if re.search(rf"\b({words})\b", text) else []


IGNORING_INTERRUPTS = ["sh", "-c", 'trap "" INT; exec "$@"', "sh"]
"""Runs the program that follows as a shell runs one in the background."""


def environment(**changes):
    """That of this process, without what the tests themselves have set."""
    rest = {name: value for name, value in os.environ.items() if name != "PYTHONIOENCODING"}
    return rest | changes


# In the background


def test_children_hear_ctrl_c():
    program = "import signal; print(signal.getsignal(signal.SIGINT) is signal.default_int_handler)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    assert done.stdout.strip() == b"True"


# Under -O


def test_tests_without_asserts_are_refused():
    done = subprocess.run(
        [*PYTEST, "tests/house/test_package.py"],
        cwd=ROOT, capture_output=True, encoding="utf-8", check=False,
        env=environment(PYTHONOPTIMIZE="1"),
    )  # fmt: skip
    assert done.returncode != 0
    assert "passed" not in done.stdout
    assert "because assert statements are not executed" in done.stderr


@pytest.mark.parametrize("variable", ["PYTHONOPTIMIZE", "PYTHONDONTWRITEBYTECODE"])
def test_make_runs_the_tests_with_asserts_and_compiled_files(variable):
    make = shutil.which("make")
    assert make is not None
    done = subprocess.run(
        [make, "--no-print-directory", "--eval", f"probe: ; @echo [$${variable}]", "probe"],
        cwd=ROOT, capture_output=True, encoding="utf-8", check=True,
        env=environment(**{variable: "1"}),
    )  # fmt: skip
    assert done.stdout.strip() == "[]"


def test_the_package_does_not_depend_on_asserts():
    assert len(SHIPPED) > 200
    for path in SHIPPED:
        found = nodes(path, "assert|__debug__")
        assert not [(path, node.lineno) for node in found if isinstance(node, ast.Assert)]
        assert "__debug__" not in {node.id for node in found if isinstance(node, ast.Name)}


def test_a_command_of_each_kind_is_run():
    needing_a_model = {"generate"}  # tests/decoding runs it
    assert set(COMMANDS) == set(otspec.commands) - needing_a_model


ALL_COMMANDS = """
import contextlib, io, json, sys
from otspec.cli.shared import progress
from otspec.cli.main import main, run
from otspec.traces.runs import parallel
progress._LINE_S = float("inf")  # as in the process of the tests
assert False, "is not executed here"
found = {}
def keep(name, command):
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        status = command()
    found[name] = status, out.getvalue(), err.getvalue()
for name, words in json.load(sys.stdin).items():
    parallel.cores = lambda: 2 if name == "trace" else 1  # a process imports the package again
    keep(name, lambda: main(words))
from figures.__main__ import main as book
keep("book", lambda: run(book, ["--list"], "python -m figures"))
print(json.dumps(found))
"""


@pytest.fixture(scope="module")
def optimized():
    """What each command prints under -OO, all in one process."""
    done = subprocess.run(
        [sys.executable, "-OO", "-W", "error", "-c", ALL_COMMANDS],
        input=json.dumps(COMMANDS), capture_output=True, encoding="utf-8", check=False, cwd=ROOT,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    return json.loads(done.stdout)


@pytest.mark.parametrize("name", COMMANDS)
def test_commands_do_the_same_under_optimization(name, optimized, capsys):
    status, out, err = optimized[name]
    assert status == main(COMMANDS[name]) == 0
    printed = capsys.readouterr()
    assert err == printed.err
    if name == "solve":  # it prints times
        assert len(out.splitlines()) == len(printed.out.splitlines())
    else:
        assert out == printed.out


def test_a_book_runs_under_optimization(optimized):
    status, out, err = optimized["book"]
    assert (status, err) == (0, "")
    assert len(out.splitlines()) > 20


# In any locale


READING = "read_text|write_text|open|run|Popen|check_output"


def unencoded(found):
    """Yield lines of nodes that read or write text in the encoding of the locale."""
    for node in found:
        if not isinstance(node, ast.Call):
            continue
        function = node.func
        name = getattr(function, "attr", getattr(function, "id", ""))
        named = {keyword.arg for keyword in node.keywords}
        positional = {"read_text": 1, "write_text": 2}.get(name)
        if positional is not None and len(node.args) < positional and "encoding" not in named:
            yield node.lineno
        if name == "open" and isinstance(function, ast.Name) and "encoding" not in named:
            yield node.lineno
        if {"text", "universal_newlines"} & named and name in ("run", "Popen", "check_output"):
            yield node.lineno


def test_text_is_read_and_written_in_a_named_encoding():
    for path in OURS:
        lines = list(unencoded(nodes(path, READING)))
        assert not lines, (path, lines)


def test_an_encoding_of_the_locale_is_noticed():
    text = "p.read_text()\np.write_text(x)\nopen(p)\nsubprocess.run(a, text=True)\n"
    assert list(unencoded(ast.walk(ast.parse(text)))) == [1, 2, 3, 4]
    named = "p.read_text('utf-8')\np.write_text(x, 'utf-8')"
    assert list(unencoded(ast.walk(ast.parse(named)))) == []


LATIN = {"PYTHONIOENCODING": "latin-1"}
PLAIN = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}


@pytest.mark.parametrize(
    "changes",
    [
        pytest.param(LATIN, marks=pytest.mark.nightly),
        pytest.param(PLAIN, marks=pytest.mark.nightly),
        LATIN | PLAIN,
    ],
)
def test_tests_pass_in_other_locales_and_in_the_background(changes):
    some = "" if NIGHTLY else "::test_files_are_refused_in_one_line"
    chosen = (
        f"tests/cli/test_command_line_files.py{some}",
        "tests/house/test_environment.py::test_children_hear_ctrl_c",
        "tests/auditing/test_audit_trust.py::test_ctrl_c_is_the_users_own",
    )
    command = [*IGNORING_INTERRUPTS, *PYTEST, "-rp", *chosen]
    done = subprocess.run(
        command, cwd=ROOT, capture_output=True, check=False, env=environment(**changes)
    )
    printed = done.stdout.decode("utf-8", "replace")
    assert done.returncode == 0, printed
    assert all(f"PASSED {name}" in printed for name in chosen[1:])
