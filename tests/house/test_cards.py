"""What one sees first of a result: short, exact, escaped, and never after a long computation."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar
from xml.etree import ElementTree

import numpy as np
import pytest
from frozen_instances import EXACT, FLOAT
from frozen_walk import Give
from plain_instances import PLAIN
from rich.pretty import pretty_repr

import otspec
from otspec import auditing, conformance, rules
from otspec._base.frozen import Shown
from otspec.display import decimal, said, token_set
from otspec.display.fields import TABLE
from otspec.estimate import Estimate
from otspec.frames import Rows
from otspec.rules import PairRule
from otspec.traces import compare

DRAFT, TARGET = ["1/2", "3/10", "1/5"], ["1/10", "3/5", "3/10"]
LAW = otspec.IID(DRAFT, 2)
BEST = otspec.optimal_acceptance(LAW, TARGET)
MOST_CHARACTERS = 2_000
"""Of one line, of the largest of the small instances."""


def page(thing):
    """Return what a notebook shows, as a tree; what is not well-formed is refused."""
    return ElementTree.fromstring(f"<div>{thing._repr_html_()}</div>")  # noqa: S314


def texts(thing):
    return ["".join(cell.itertext()) for cell in page(thing).iter() if cell.tag in ("th", "td")]


def in_shell(thing):
    """Return what IPython's shell shows."""
    pretty = pytest.importorskip("IPython.lib.pretty", reason="IPython is not installed")
    return pretty.pretty(thing)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (Fraction(17, 20), "17/20 (0.85)"),
        (Fraction(1, 3), "1/3 (0.333333)"),
        (Fraction(2), "2"),
        (Fraction(-3, 40), "-3/40 (-0.075)"),
        (Fraction(1, 3**10_000), "1/163…001 (4,772 digits)"),
        (Fraction(3**10_000, 7), "163…001/7 (4,772 digits)"),
        (0.85, "0.85"),
        (1 - 2**-53, "0.9999999999999999"),
        (5e-324, "4.94066e-324"),
        (float("nan"), "nan"),
        (np.float64(0.1), "0.1"),
        (np.int64(3), "3"),
        (True, "True"),
        (12, "12"),
        ("a b", "a b"),
        (np.array([0.5, 1 / 3]), "[0.5, 0.3333]"),
        (np.array([Fraction(1, 2), Fraction(0)]), "[1/2, 0]"),
        (np.array([True, False]), "[True, False]"),
        (np.zeros((2, 3)), "float64 of shape (2, 3)"),
        (np.array([[Fraction(1)]]), "numbers of shape (1, 1)"),
        (np.arange(9), "[0, 1, 2, 3, … 9 in all]"),
        ((1,), "(1,)"),
        ([], "[]"),
        (("a", "a b"), "(a, 'a b')"),
        (("x" * 50 + " y",), f"('{'x' * 40}…',)"),
        ((np.ones(2), np.ones(9)), "([1, 1], float64 of shape (9,))"),
        ({1: 2}, "1 entry"),
        ({}, "0 entries"),
        (None, "None"),
        (Estimate.between(0.25, 0.5), "≈0.25 (0.25 to 0.5)"),
    ],
    ids=lambda part: part[:30] if isinstance(part, str) else "",
)
def test_a_value_is_short_and_exact(value, text):
    assert said(value) == text


def test_decimals_are_told_from_the_ends():
    assert [decimal(value) for value in (0.0, 1.0, 0.9999999)] == ["0", "1", "0.9999999"]
    assert token_set((), 3) == "{}"
    assert token_set(range(1000), 128_256) == "{0, 1, 2, 3, … 1,000 of 128,256 tokens}"


def test_an_optimum_says_number_cut_and_pair():
    assert repr(BEST) == (
        "Optimum(acceptance=17/20 (0.85), cut={0}, law=IID(draft=[1/2, 3/10, 1/5], k=2), "
        "target=[1/10, 3/5, 3/10])"
    )
    assert pretty_repr(BEST, max_width=60).splitlines()[1:3] == [
        "    acceptance=17/20 (0.85),",
        "    cut={0},",
    ]
    assert "  selection   [1/4, 9/20, 3/10]" in in_shell(BEST).splitlines()
    assert in_shell([BEST, LAW]).count("\n  ") <= 1  # each is one line in a list
    shown = texts(BEST)
    assert shown[shown.index("acceptance") + 1] == "17/20 (0.85)"
    assert shown[shown.index("token") :] == [
        "token", "target", "selection", "0", "1/10", "1/4", "1", "3/5", "9/20", "2", "3/10", "3/10",
    ]  # fmt: skip


def test_an_optimum_that_may_be_lossy_says_its_budget():
    lossy = otspec.optimal_acceptance(LAW, TARGET, total_variation="1/20")
    assert "budget=TotalVariation(amount=1/20 (0.05))" in repr(lossy)
    assert "  lossless    17/20 (0.85)" in in_shell(lossy)
    assert "3/20" in texts(lossy)


def test_an_audit_says_lossless_or_not_and_why():
    right = otspec.audit(rules.KSequential(DRAFT, TARGET, 2))
    assert repr(right).startswith("Audit(lossless=True, acceptance=92047916029/112937133930 (0.815")
    assert in_shell(right).startswith("The rule is lossless, exactly\n")
    wrong = otspec.audit(lambda _x: [1, 0, 0], law=LAW, target=TARGET)
    assert "lossless=False, witness='token 0 comes out too often, by 9/10;" in repr(wrong)
    assert page(wrong).find(".//caption").text == "The rule is NOT lossless"
    floats = otspec.audit(rules.KSequential([0.5, 0.5], [0.25, 0.75], 2))
    assert in_shell(floats).startswith("The rule is lossless, within ")
    declared = otspec.audit(
        otspec.rules.lossy.LOSSY_RULES["lenience"](DRAFT, TARGET, lenience="1/2")
    )
    assert in_shell(declared).startswith("The rule is NOT lossless, as it declares\n")


def test_other_audits_say_what_they_found():
    sampled = otspec.audit_samples(lambda x: int(x[0]), LAW, TARGET, 500, 0)
    assert in_shell(sampled).startswith("The rule is NOT lossless, by 500 samples")
    search = otspec.audit_over(rules.KSequential, auditing.random_instances(3))
    assert in_shell(search).startswith("The rule is lossless on 3 instances")
    models = [otspec.models.memoryless(law) for law in (DRAFT, TARGET)]
    blocks = otspec.audit_blocks(otspec.blocks.BlockVerificationPreprint(*models, 2))
    assert in_shell(blocks).startswith("Texts are the target's, exactly")
    assert repr(blocks).startswith("BlockAudit(lossless=True, expected=")
    assert repr(models[0]) == "TableModel(n=3, exact=True)"


def test_a_rule_says_what_it_accepts_where_that_is_at_hand():
    rule = rules.PooledSelection(DRAFT, TARGET, 2)
    assert repr(rule) == (
        "PooledSelection(draft=[1/2, 3/10, 1/5], target=[1/10, 3/5, 3/10], k=2, pools=ByToken())"
    )
    lines = in_shell(rule).splitlines()
    assert lines[0] == "Pooled selection, a rule for 2 drafts of 3 tokens"
    assert [line.split()[-2:] for line in lines[-3:-1]] == [["17/20", "(0.85)"]] * 2


@dataclass(frozen=True, eq=False)
class Asked(PairRule):
    """A rule that notes whether it was asked, and does not know what it accepts."""

    title = "asked"
    asked: ClassVar[list[int]] = []

    def verify(self, drafts, chance):  # noqa: ARG002
        """Refuse to answer."""
        raise AssertionError("asked for its kernel")

    def acceptance(self):
        """Refuse to answer."""
        self.asked.append(self.k)
        raise ZeroDivisionError("wrong")


def test_what_is_large_is_not_computed_and_what_fails_is_left_out():
    Asked.asked.clear()
    large = Asked(np.full(128_256, 1 / 128_256), np.full(128_256, 1 / 128_256), 4)
    assert len(repr(large)) < 200
    assert "bar" not in large._repr_html_()
    assert in_shell(large)
    assert Asked.asked == []
    small = Asked(DRAFT, TARGET, 2)
    assert repr(small) == "Asked(draft=[1/2, 3/10, 1/5], target=[1/10, 3/5, 3/10], k=2)"
    assert Asked.asked == []
    assert "acceptance" not in texts(small)
    assert Asked.asked == [2]


def test_a_report_and_rows_are_escaped():
    report = conformance.Report("single", "exact", (), (), 0.001, verifier="<script>&")
    assert page(report).find(".//caption").text == "<script>&: nothing is wrong"
    assert "<script>" not in report._repr_html_()
    rows = Rows(compare(DRAFT, TARGET, [1, 2, 3]), source="<b>\x1b[2J")
    assert page(rows).find(".//caption").text == (
        f"20 of {len(rows)} rows of Comparison: <b>\\x1b[2J"
    )
    assert len(rows) > 20
    assert [cell.text for cell in page(rows).iter("th")] == [
        "rule", "drafts", "k", "acceptance", "optimum", "gap",
    ]  # fmt: skip
    assert len(list(page(rows).iter("tr"))) == 21
    assert in_shell(rows[:1]).splitlines()[1].split() == [
        "rule", "drafts", "k", "acceptance", "optimum", "gap",
    ]  # fmt: skip
    assert in_shell(Rows()) == "[]"
    assert texts(Rows([], Odd)) == ["what", "why"]
    odd = Rows([Odd(object, {1: 2}), Odd(None, "b")])  # of which no table can be made
    assert texts(odd) == ["what", "why", "<class 'object'>", "1 entry", "", "b"]


@dataclass
class Odd:
    """A row that no table can hold."""

    what: object
    why: object


def instances():
    """Yield one instance of every class of the package."""
    for exact, made in ((True, {**EXACT, **PLAIN}), (False, FLOAT)):
        for name, make in made.items():
            yield name, make(Give(exact, "writeable"))


def test_every_result_has_a_short_line_and_a_card():
    seen = set()
    for name, thing in instances():
        if not isinstance(thing, Shown) or type(thing) in seen:
            continue
        seen.add(type(thing))
        line = repr(thing)
        assert "\n" not in line, name
        assert len(line) < MOST_CHARACTERS, name
        assert not any(word in line for word in ("array(", "Fraction(", "object at")), line
        tree = page(thing)
        assert not list(tree.iter("script")) + list(tree.iter("style")), name
        assert all(cell.get("scope") in ("row", "col") for cell in tree.iter("th")), name
    assert len(seen) > 100


@pytest.mark.parametrize("kind", [rules.PooledSelection, otspec.Optimum, otspec.IID])
def test_an_object_that_is_not_made_yet_has_a_repr(kind):
    # Tracebacks and debuggers show self in the middle of __init__.
    assert repr(object.__new__(kind)) == f"{kind.__name__}()"


def test_the_table_names_one_class_each():
    """Names alone say which class a row is of, so that no other may have the same."""
    named = [
        kind.__qualname__ for kind in subclasses(Shown) if kind.__module__.startswith("otspec.")
    ]
    assert {name: named.count(name) for name in TABLE} == dict.fromkeys(TABLE, 1)


def subclasses(kind):
    """Return all classes that inherit from one, each once."""
    list(instances())  # all modules are loaded then
    below, found = [kind], set()
    while below:
        new = set(below.pop().__subclasses__()) - found
        found |= new
        below += new
    return found
