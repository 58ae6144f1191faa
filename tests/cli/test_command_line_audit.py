"""``otspec audit``: exit status 0 for lossless rules, 1 with a counterexample, 2 for bad input."""

import json
import subprocess
import sys
from fractions import Fraction
from itertools import cycle, product
from pathlib import Path

import dishonest_rules
import pytest
from command_line import complaint, run
from dishonest_rules import DISAGREEING, FAILURES, PLACES
from searching import NIGHTLY, enough

import otspec
from otspec.cli.main import main

RULES = """
from fractions import Fraction

def same_residual(draft, target, k):
    # The residual of the first round in every round: lossy from the second draft on.
    def kernel(x):
        output, left = [Fraction(0)] * len(draft), Fraction(1)
        for token in x:
            chance = min(Fraction(1), target[token] / draft[token])
            output[token] += left * chance
            left *= 1 - chance
        residual = [max(q - p, 0) for p, q in zip(draft, target)]
        total = sum(residual) or 1
        return [o + left * r / total for o, r in zip(output, residual)]
    return kernel

def divides_by_zero(draft, target, k):
    return lambda x: [q / 0 for q in target]

def refuses(draft, target, k):
    raise ValueError("not today")

def crashes(draft, target, k):
    raise KeyError("k")

number = 3

calls = iter(range(10**6))

def refuses_nearly(draft, target, k):
    if next(calls) % 100:
        raise ValueError("not today")
    return lambda x: target

class Lazy:
    def __getattr__(self, name):
        raise SystemExit(0)

lazy = Lazy()

def prints(draft, target, k):
    print("made")
    def kernel(x):
        print("asked")
        return target
    return kernel

def single(draft, target, k):
    import numpy as np
    return lambda x: np.array(target, dtype=np.float32)

def half_single(draft, target, k):
    return single(draft, target, k) if k == 1 else lambda x: target

def names(draft, target, k):
    raise KeyError("\x1b[2J\u202e")
"""


@pytest.fixture
def rules(tmp_path, monkeypatch):
    """A module of rules in the working directory; each test's has a name of its own."""
    name = f"rules_{tmp_path.name.replace('-', '_')}"
    (tmp_path / f"{name}.py").write_text(RULES, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    return name


@pytest.mark.parametrize("rule", ["RecursiveRejection", "KSequential", "NaiveSampling"])
def test_a_lossless_rule_is_status_0(capsys, rule):
    printed = run(capsys, "audit", f"otspec.rules:{rule}", "--instances", "40")
    assert f"otspec.rules:{rule} is lossless on all 40 exact instances of iid drafts." in printed


def test_what_a_rule_refuses_is_counted(capsys):
    document = json.loads(
        run(capsys, "audit", "otspec.rules:SpecHub", "--instances", "40", "--json")
    )
    assert document["lossless"]
    assert document["audited"] + document["refused"] == 40
    assert document["refused"] > 0


def test_a_lossy_kernel_is_status_1_with_its_counterexample(capsys, rules):
    assert main(["audit", f"{rules}:same_residual"]) == 1
    printed = capsys.readouterr().out
    assert "is NOT lossless" in printed
    assert "total variation" in printed
    assert main(["audit", f"{rules}:same_residual", "--json"]) == 1
    found = json.loads(capsys.readouterr().out)["counterexample"]
    # One draft is handled rightly, so that the smallest counterexample has two.
    assert found["k"] == 2
    assert len(found["draft"]) <= 3
    output, target = (list(map(Fraction, found[name])) for name in ("output", "target"))
    assert output != target
    assert output[found["token"]] - target[found["token"]] == Fraction(found["error"])


def test_the_draft_law_of_a_kernel_can_be_chosen(capsys, rules):
    lossless = run(capsys, "audit", f"{rules}:same_residual", "--most-drafts", "1")
    assert "is lossless" in lossless
    option = ["--drafts", "without-replacement"]
    assert main(["audit", f"{rules}:same_residual", *option]) == 1
    assert "NOT lossless" in capsys.readouterr().out


def test_a_kernel_that_divides_by_zero_could_not_be_audited(capsys, rules):
    line = complaint(capsys, "audit", f"{rules}:divides_by_zero")
    assert f"{rules}:divides_by_zero could not be audited for draft" in line
    assert "ZeroDivisionError" in line


DISHONEST = """
import sys
sys.path.insert(0, {tests!r})
from dishonest_rules import *
rules = {{f"{{place}}_{{n}}": failing_where(place, fail)
         for place in PLACES for n, fail in enumerate(FAILURES.values())}}
globals().update(rules)
"""


@pytest.fixture
def dishonest(tmp_path, monkeypatch):
    name = f"dishonest_{tmp_path.name.replace('-', '_')}"
    text = DISHONEST.format(tests=str(Path(dishonest_rules.__file__).parent))
    (tmp_path / f"{name}.py").write_text(text, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    return name


@pytest.mark.parametrize("rule", DISAGREEING, ids=lambda each: each.__name__)
def test_a_dishonest_rule_is_never_status_0(capsys, dishonest, rule):
    arguments = ("audit", f"{dishonest}:{rule.__name__}")
    if DISAGREEING[rule] == "comes out too":  # its output was measured
        assert main([*arguments]) == 1
        assert "is NOT lossless" in capsys.readouterr().out
    else:
        assert "could not be audited" in complaint(capsys, *arguments)


def test_code_that_fails_is_status_2_wherever_it_does(capsys, dishonest):
    # By day each place and each failure; the audits of all pairs are those of test_audit_trust.
    numbers = range(len(FAILURES))
    pairs = product(PLACES, numbers) if NIGHTLY else zip(cycle(PLACES), numbers, strict=False)
    for place, number in pairs:
        line = complaint(capsys, "audit", f"{dishonest}:{place}_{number}", "--instances", "9")
        assert "could not be audited" in line
        assert "fails with" in line
        assert "add --traceback to see where" in line
        assert "NOT lossless" not in line


def test_the_traceback_is_shown_on_request(capsys, dishonest, rules):
    for options in ([], ["--json"]):
        assert main(["audit", f"{dishonest}:call_0", "--traceback", *options]) == 2
        printed = capsys.readouterr()
        assert "Traceback (most recent call last):" in printed.err
        assert "dishonest_rules.py" in printed.err
        assert "fails with SystemExit: 0" in printed.err
        assert printed.out == ""
    Path(f"{rules}_ends.py").write_text("import sys; sys.exit(0)", encoding="utf-8")
    assert main(["audit", f"{rules}_ends:rule", "--traceback"]) == 2
    printed = capsys.readouterr()
    assert "import sys; sys.exit(0)" in printed.err
    assert printed.out == ""


def test_the_process_itself_ends_with_a_status_that_is_not_0(dishonest):
    places = (("call", 0), ("making", 0), ("call", 2))
    for place, number in places[: enough(3, least=1)]:
        command = [sys.executable, "-m", "otspec", "audit", f"{dishonest}:{place}_{number}"]
        done = subprocess.run(command, capture_output=True, check=False)
        assert done.returncode == 2


def test_the_process_imports_what_the_code_needs(tmp_path):
    """Even what the package does without, where it can."""
    pytest.importorskip("pandas")
    code = "import pandas\n\n\ndef rule(draft, target, k):\n    return lambda x: list(target)\n"
    (tmp_path / "tabular.py").write_text(code, encoding="utf-8")
    command = [sys.executable, "-m", "otspec", "audit", "tabular:rule", "--instances", "1"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, encoding="utf-8", check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_what_the_code_prints_is_not_in_the_output(capsys, rules):
    assert main(["audit", f"{rules}:prints", "--json", "--instances", "3"]) == 0
    printed = capsys.readouterr()
    assert json.loads(printed.out)["lossless"]
    assert "made" in printed.err
    assert "asked" in printed.err


def test_names_in_messages_of_the_code_do_not_act_on_the_terminal(capsys, rules):
    for options in ([], ["--json"], ["--traceback"]):
        assert main(["audit", f"{rules}:names", *options]) == 2
        assert "\\x1b[2J\\u202e" in capsys.readouterr().err.replace("\\\\", "\\")


def test_single_precision_passes_with_a_tolerance(capsys, rules):
    few = ("--instances", "60")
    assert main(["audit", f"{rules}:single", *few]) == 1
    assert "NOT lossless" in capsys.readouterr().out
    printed = run(capsys, "audit", f"{rules}:single", *few, "--tolerance", "1e-6")
    assert "is lossless to within 1.0e-06 per token on all 60 instances of iid drafts" in printed
    assert "; the largest error is " in printed
    option = (*few, "--tolerance", "1e-6", "--json")
    document = json.loads(run(capsys, "audit", f"{rules}:half_single", *option))
    assert 0 < document["exact"] < document["audited"]
    assert document["tolerance"] == 1e-6
    assert 0 < document["largest_error"] < 1e-7
    assert document["drafts"] == ["iid"]
    for wrong in ("nan", "inf", "1", "-1e-9"):
        assert "tolerance is" in complaint(capsys, "audit", f"{rules}:single", "--tolerance", wrong)


def test_a_factory_that_crashes_could_not_be_audited(capsys, rules):
    line = complaint(capsys, "audit", f"{rules}:crashes")
    assert "making the rule fails with KeyError: 'k'" in line


def test_for_a_law_that_the_rule_is_not_for_it_could_not_be_audited(capsys):
    line = complaint(capsys, "audit", "otspec.rules:SpecHub", "--drafts", "iid")
    assert "could not be audited" in line
    assert "the rule is for hub drafts" in line


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("{}:missing", "has no attribute 'missing'"),
        ("{}:number", "is not callable"),
        ("{}:refuses", "refused all"),
        ("{}:refuses_nearly", "refused 99 of 100 instances"),
        ("{}_ends:rule", "fails with SystemExit: 0"),
        ("{}_interrupts:rule", "fails with KeyboardInterrupt"),
        ("{}:lazy.thing", "fails with SystemExit: 0"),
        ("{}", "is no MODULE:NAME"),
        (":rule", "is no MODULE:NAME"),
        ("no_such_module:rule", "cannot import"),
    ],
)
def test_what_cannot_be_audited_is_one_line(capsys, rules, name, says):
    Path(f"{rules}_ends.py").write_text("import sys; sys.exit(0)", encoding="utf-8")
    Path(f"{rules}_interrupts.py").write_text("raise KeyboardInterrupt", encoding="utf-8")
    assert says in complaint(capsys, "audit", name.format(rules), "--instances", "100")


def test_counts_out_of_range_are_one_line(capsys):
    line = complaint(capsys, "audit", "otspec.rules:NaiveSampling", "--instances", "0")
    assert "--instances" in line


def test_the_functions_behind_the_command_are_public():
    for name in ("audit", "audit_over", "audit_samples", "Audit"):
        assert callable(getattr(otspec, name))
