"""``otspec audit``: exit status 0 for lossless rules, 1 with a counterexample, 2 for bad input."""

import json
from fractions import Fraction

import pytest
from command_line import complaint, run

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
"""


@pytest.fixture
def rules(tmp_path, monkeypatch):
    """A module of rules in the working directory; each test's has a name of its own."""
    name = f"rules_{tmp_path.name.replace('-', '_')}"
    (tmp_path / f"{name}.py").write_text(RULES)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    return name


@pytest.mark.parametrize("rule", ["RecursiveRejection", "KSequential", "NaiveSampling"])
def test_a_lossless_rule_is_status_0(capsys, rule):
    printed = run(capsys, "audit", f"otspec.rules:{rule}", "--instances", "40")
    assert f"otspec.rules:{rule} is lossless on all 40 exact instances" in printed


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


def test_a_kernel_that_divides_by_zero_is_a_finding(capsys, rules):
    assert main(["audit", f"{rules}:divides_by_zero"]) == 1
    assert "ZeroDivisionError" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("{}:missing", "has no attribute 'missing'"),
        ("{}:number", "is not callable"),
        ("{}:refuses", "refused all"),
        ("{}:crashes", "failed with KeyError"),
        ("{}", "is no MODULE:NAME"),
        (":rule", "is no MODULE:NAME"),
        ("no_such_module:rule", "cannot import"),
    ],
)
def test_what_cannot_be_audited_is_one_line(capsys, rules, name, says):
    assert says in complaint(capsys, "audit", name.format(rules))


def test_counts_out_of_range_are_one_line(capsys):
    line = complaint(capsys, "audit", "otspec.rules:NaiveSampling", "--instances", "0")
    assert "--instances" in line


def test_the_functions_behind_the_command_are_public():
    for name in ("audit", "audit_over", "audit_samples", "Audit"):
        assert callable(getattr(otspec, name))
