"""``otspec conform``: exit status 0 if a verifier passes, 1 with findings, 2 for bad input."""

import inspect
import json
import re
from pathlib import Path

import pytest
from command_line import complaint, run

from otspec.cli.commands.conform import conform
from otspec.cli.main import main
from otspec.conformance import check as checking
from otspec.conformance.cases.arrays import DTYPES, LIBRARIES
from otspec.conformance.check import KINDS, MODES

ENGINE = """
import numpy as np
from otspec import batch

def right(draft, target, drafts, uniforms):
    return batch.maximal_coupling(draft, target, drafts, uniforms).token

def block(draft, target, drafts, uniforms):
    print("called", *drafts.shape[1:])
    return batch.block_verification(draft, target, drafts, uniforms)

def pipeline(draft, target, rng):
    drafts = batch.sample_iid(draft, rng.random((len(draft), 1)))
    return batch.maximal_coupling(draft, target, drafts, rng.random((len(draft), 2))).token

def followed(draft, target, drafts, rng):
    def one(p, q, x):
        if rng.random() < q[x] / p[x]:
            return x
        rest = np.maximum(q - p, 0)
        return rng.choice(len(p), p=rest / rest.sum())
    return np.array([one(*row) for row in zip(draft, target, drafts[:, 0])])

def tree(draft, target, drafts, parents, rng):
    uniforms = rng.random((len(drafts), len(parents) + 1))
    return batch.traversal_verification(draft, target, drafts, uniforms, parents)

def seeded(target, drafts, noise):
    return batch.gumbel_coupling(target, drafts, noise)

def careless(draft, target, drafts):
    return drafts[:, 0]

def crashes(draft, target, drafts):
    raise KeyError("\\x1b[2J")

def refuses(engine_state):
    return 0

number = 3
"""
SMALL = ("--detect", "0.5", "--vocabulary", "8", "--dtype", "float64", "--entries", "9")


@pytest.fixture
def engine(tmp_path, monkeypatch):
    """A module in the working directory; each test's has a name of its own."""
    name = f"engine_{tmp_path.name.replace('-', '_')}"
    (tmp_path / f"{name}.py").write_text(ENGINE, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return name


def test_a_right_verifier_passes(capsys, engine):
    command = ("conform", f"{engine}:right", "--shape", "1", *SMALL)
    printed = run(capsys, *command)
    assert printed.startswith("passed: the output was found to differ from the target on none")
    assert "all positive" not in printed
    assert "all positive, among 8 tokens" in run(capsys, *command, "--cases")


def test_a_wrong_one_has_findings(capsys, engine):
    assert main(["conform", f"{engine}:careless", *SMALL]) == 1
    printed = capsys.readouterr().out
    assert printed.startswith("failed: the verifier is wrong on ")
    assert "disjoint supports" in printed
    assert "What to do:" in printed


def test_json_is_the_document_of_the_report(capsys, engine):
    options = ("--shape", "1", "--false-alarm", "1e-4", "--seed", "3", "--json")
    document = json.loads(run(capsys, "conform", f"{engine}:right", *SMALL, *options))
    assert (document["outcome"], document["passed"]) == ("passed", True)
    assert document["false_alarm"] == 1e-4
    assert document["verifier"] == f"{engine}.right"


def test_too_small_a_budget_is_undecided(capsys, engine):
    """Nothing is wrong as far as was looked: neither passed, 0, nor failed, 1."""
    command = ["conform", f"{engine}:right", "--shape", "1", *SMALL, "--budget"]
    assert main([*command, "200"]) == 2
    printed = capsys.readouterr().out
    assert printed.startswith("undecided: not looked at closely enough; ")
    enough = re.search(r"budget=(\d+) is enough, which takes \d+ seconds at most", printed)
    assert main([*command, enough[1]]) == 0
    assert capsys.readouterr().out.startswith("passed")


def test_the_same_seed_gives_the_same_text_or_not(capsys, engine):
    options = ("--same-seed", "--vocabulary", "8", "--entries", "9", "--json")
    document = json.loads(run(capsys, "conform", f"{engine}:seeded", *options))
    assert (document["same_seed"], document["outcome"], document["false_alarm"]) == (
        True,
        "passed",
        0,
    )
    assert main(["conform", f"{engine}:followed", *options]) == 2
    assert "verifier takes 'rng'" in capsys.readouterr().err


@pytest.mark.parametrize(("kind", "shape"), [("block", "3"), ("tree", "2x1"), ("tree", "[[]][]")])
def test_blocks_and_trees_of_any_shape(capsys, engine, kind, shape):
    printed = run(capsys, "conform", f"{engine}:{kind}", "--kind", kind, "--shape", shape, *SMALL)
    assert printed.startswith("passed")


@pytest.mark.parametrize(("function", "mode"), [("pipeline", "pipeline"), ("followed", "exact")])
def test_modes(capsys, engine, function, mode):
    options = ("--mode", mode, "--shape", "1", "--json")
    document = json.loads(run(capsys, "conform", f"{engine}:{function}", *SMALL, *options))
    assert document["mode"] == mode


def test_what_the_code_prints_is_not_in_the_output(capsys, engine):
    assert main(["conform", f"{engine}:block", "--kind", "block", *SMALL, "--json"]) == 0
    printed = capsys.readouterr()
    assert json.loads(printed.out)["passed"]
    assert "called 2" in printed.err


def test_reports_are_written_in_the_form_of_their_endings(capsys, engine):
    names = ["report.html", "report.md", "report.txt", "report.json"]
    options = [word for name in names for word in ("--report", name)]
    run(capsys, "conform", f"{engine}:right", "--shape", "1", *SMALL, *options)
    for name, beginning in zip(names, ("<!doctype", "# Conf", "passed", "{"), strict=True):
        assert Path(name).read_text("utf-8").startswith(beginning)


def test_a_report_that_cannot_be_written_is_said_before_the_check(capsys, engine):
    for name in ("report.pdf", "report", "missing/report.md"):
        line = complaint(capsys, "conform", f"{engine}:right", "--report", name)
        assert name in line


def test_text_of_the_code_does_not_act_on_the_terminal(capsys, engine):
    assert main(["conform", f"{engine}:crashes", *SMALL]) == 2  # nothing could be judged
    printed = capsys.readouterr().out
    assert printed.startswith("undecided: the verifier raises on ")
    assert "\x1b" not in printed
    assert re.search(r"\(and \d+ more cases\): the call fails", printed)
    assert "Traceback" in printed


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("{}:missing",), "has no attribute 'missing'"),
        (("{}:number",), "is not callable: it must take draft, target, drafts"),
        (("{}",), "is no MODULE:NAME: write for instance my_engine:verify"),
        (("{}:refuses",), "verifier takes 'engine_state'"),
        (("{}:right", "--shape", "two"), "--shape 'two' is no number"),
        (("{}:tree", "--kind", "tree", "--shape", "2y1"), "--shape"),
        (("{}:right", "--detect", "2"), "detect is 2"),
        (("{}:right", "--false-alarm", "0"), "false_alarm is 0"),
        (("{}:right", "--budget", "0"), "--budget"),
        (("{}:right", "--kind", "text"), "--kind"),
    ],
)
def test_bad_input_is_one_line(capsys, engine, arguments, says):
    line = complaint(capsys, "conform", *(word.format(engine) for word in arguments))
    assert says in line


def test_the_command_is_in_the_help(capsys):
    assert main(["conform", "--help"]) == 0
    printed = capsys.readouterr().out
    assert "Example: otspec conform my_engine:verify --kind block --report report.html" in printed
    assert "Exit status: 0 no fault was found, 1 a fault was found, 2 undecided" in " ".join(
        printed.split()
    )


def test_options_are_those_of_the_function():
    options = {option.name: option for option in conform.params}
    choices = {"kind": KINDS, "mode": MODES, "arrays": LIBRARIES, "dtype": tuple(DTYPES)}
    for name, known in choices.items():
        assert tuple(options[name].type.choices) == tuple(known)
    parameters = inspect.signature(checking).parameters
    own = {"verifier", "reports", "certificate", "cases", "traceback", "as_json"}
    assert set(options) - own == set(parameters) - {"verifier", "progress", "policy"}
    given = conform.make_context("conform", ["engine:verify"]).params
    for name in set(given) - own - {"budget", "vocabulary", "entries"}:  # these are left out
        assert given[name] == parameters[name].default
