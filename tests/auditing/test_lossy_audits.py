"""Audits of rules that are lossy: what they declare, how far off they are, and the frontier."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
import oracles
import pytest
from instances import fractions, pairs

import otspec
from otspec.auditing import random_instances
from otspec.cli.main import main
from otspec.rules.lossy import LOSSY_RULES, Lenience

HALF = fractions("1/2", "1/2")
SKEW = fractions("1/4", "3/4")


@dataclass(frozen=True, eq=False)
class Flattered(Lenience):
    """Declares the target, which it does not have."""

    @cached_property
    def declared_output(self):
        return self.target


class Misshapen:
    drafts = "iid"

    def __init__(self, _draft, target, _k):
        self.declared_output, self.kernel = [1], lambda _: target


@pytest.mark.parametrize("name", LOSSY_RULES)
def test_lossy_rules_are_as_they_declare(name):
    lossy = 0
    for index, (draft, target) in enumerate(pairs(930, 16, most_tokens=4)):
        rule_class = LOSSY_RULES[name]
        k = rule_class.only_k or 1 + index % 2
        if not rule_class.law_class.exists(np.array(draft, dtype=object), k):
            continue
        rule = rule_class.of_pair(draft, target, k)
        report = otspec.audit(rule)
        assert (report.as_declared, report.witness, report.exact) == (True, None, True)
        assert report.declared.tolist() == report.output.tolist() == rule.declared_output.tolist()
        assert report.acceptance == rule.acceptance()
        assert report.lossless is (report.total_variation == 0)
        assert report.total_variation == sum(map(abs, rule.declared_output - rule.target)) / 2
        assert report.frontier == min(1, report.optimum + report.total_variation)
        assert report.lossy_gap == report.frontier - report.acceptance >= 0
        assert 0 <= report.spare_variation <= report.total_variation
        assert type(report.lossy_gap) is type(report.spare_variation) is Fraction
        held = [(o, q) for o, q in zip(report.output, target, strict=True) if o]
        if all(q for _, q in held):
            wanted = sum(float(o) * math.log(o / q) for o, q in held)
            assert report.kullback_leibler == pytest.approx(wanted, abs=1e-12)
        else:
            assert report.kullback_leibler == math.inf
        lossy += not report.lossless
    assert lossy >= 3


def test_no_kernel_at_all_is_above_the_frontier():
    rng, attained = np.random.default_rng(931), 0
    for index, (draft, target) in enumerate(pairs(932, 200, most_tokens=3)):
        k, n = 1 + index % 2, len(draft)
        table = oracles.iid_table(draft, k)
        greed = int(rng.integers(4))  # how much the kernel likes its drafts
        rows = {}
        for x in np.ndindex(*(n,) * k):
            parts = [int(rng.integers(3)) + 3 * greed * (y in x) for y in range(n)]
            parts[x[0]] += not any(parts)
            rows[x] = [Fraction(part, sum(parts)) for part in parts]
        report = otspec.audit(rows.__getitem__, law=otspec.IID(draft, k), target=target)
        assert report.acceptance == oracles.acceptance(table, rows.__getitem__)
        assert report.lossy_gap >= 0
        assert report.spare_variation >= 0
        attained += report.lossy_gap == 0 < report.total_variation
    assert attained


def test_a_wrong_declaration_is_a_witness():
    report = otspec.audit(Flattered(HALF, SKEW))
    assert (report.lossless, report.as_declared) == (False, False)
    assert report.witness.about == "declared_output"
    assert report.witness.error == Fraction(1, 4)
    assert report.witness.reason == (
        "token 0 comes out too often for what the rule declares, by 1/4; drafts (0,) account for it"
    )
    assert report.declared.tolist() == list(SKEW)
    assert otspec.audit(Flattered(HALF, HALF)).as_declared
    found = otspec.audit_over(Flattered, random_instances(200))
    assert (found.lossless, found.as_declared) == (False, False)
    assert found.report.witness.about == "declared_output"
    assert found.failure.k == 1
    assert len(found.failure.draft) == 2
    # A rule that declares nothing is held to the target, as ever.
    plain = otspec.audit(Lenience(HALF, SKEW).kernel, law=otspec.IID(HALF, 1), target=SKEW)
    assert (plain.as_declared, plain.declared, plain.witness.about) == (None, None, "output")


def test_a_declaration_that_is_no_distribution():
    misshapen = Misshapen(HALF, SKEW, 1)
    with pytest.raises(ValueError, match="declared_output has 1 tokens, and the target 2"):
        otspec.audit(misshapen, law=otspec.IID(HALF, 1), target=SKEW)
    found = otspec.audit_over(Misshapen, random_instances(60))
    assert found.report.witness.about == "declared_output"
    assert "declared_output has 1 tokens" in found.report.witness.reason


def test_a_lossy_rule_is_audited_on_all_instances():
    instances = list(random_instances(90, most_drafts=1))
    found = otspec.audit_over(LOSSY_RULES["typical-acceptance"].of_pair, instances)
    assert (found.lossless, found.as_declared, found.conclusive) == (False, True, True)
    assert (found.audited, found.exact, found.refused) == (90, 90, 0)
    reports = [
        otspec.audit(LOSSY_RULES["typical-acceptance"](each.draft, each.target))
        for each in instances
    ]
    off = [report for report in reports if not report.lossless]
    assert found.worst_total_variation == max(report.total_variation for report in off)
    assert found.worst_lossy_gap == max(report.lossy_gap for report in off) > 0
    assert found.worst_kullback_leibler == max(report.kullback_leibler for report in off)
    # The instance that is told is as simple as can be, and lossy.
    assert not found.report.lossless
    assert len(found.failure.draft) == 2
    lossless = otspec.audit_over(otspec.rules.MaximalCoupling, instances)
    assert (lossless.lossless, lossless.as_declared) == (True, None)
    assert lossless.worst_total_variation == lossless.worst_lossy_gap == 0


@pytest.mark.parametrize("name", LOSSY_RULES)
def test_the_command_knows_lossy_rules_by_name(name, capsys):
    assert main(["audit", name, "--instances", "60", "--json"]) == 1
    report = json.loads(capsys.readouterr().out)
    assert (report["lossless"], report["as_declared"]) == (False, True)
    assert Fraction(report["worst_total_variation"]) > 0
    assert Fraction(report["worst_lossy_gap"]) >= 0
    told = report["counterexample"]
    assert Fraction(told["acceptance"]) <= Fraction(told["frontier"])
    assert "token" not in told


def test_the_command_says_how_far_off_a_lossy_rule_is(capsys):
    assert main(["audit", "typical-acceptance", "--instances", "60"]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == (
        "typical-acceptance is NOT lossless, and has the output that it declares on all 15 exact "
        "instances of iid drafts."
    )
    assert lines[1].startswith("At worst that is off by ")
    assert lines[-1].startswith("  total variation ")
