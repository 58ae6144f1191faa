"""Which known faults are asked for, which of them are left, and which are named, by hand."""

from itertools import product
from types import SimpleNamespace

import numpy as np
import pytest
from each_case import each

from otspec.conformance.cases.cases import PADDING
from otspec.conformance.cases.generated import Texts
from otspec.conformance.cases.kinds import Block, Tokens
from otspec.conformance.faults import explanations as module
from otspec.conformance.faults import two_faults
from otspec.conformance.faults.explanations import Candidate, Explanations, _left, _named


def fault(name, pipeline=False, other_rows=False, across=False):
    machine = SimpleNamespace(other_rows=other_rows, across=across)
    return SimpleNamespace(name=name, pipeline=pipeline, machine=machine)


def candidate(name, likelihood=0.0, misfits=0):
    made = fault(name)
    return Candidate(made, "rule", made.machine, False, likelihood, misfits)


def case(off=True, other=None, behind="same", marks=1):
    counts = np.zeros((2, 3), dtype=int)
    counts[marks - 1, 0] = 5
    about = SimpleNamespace(behind=behind, sizes=np.ones(3, dtype=int), ways=1)
    return SimpleNamespace(case=about, counts=counts, off=off, other=other)


ADJECTIVES = "drafts", "rows", "across"
FAULTS = [
    fault("-".join(word for word, on in zip(ADJECTIVES, flags, strict=True) if on), *flags)
    for flags in product((False, True), repeat=3)
]


class Recorded:
    """What is asked for of candidates, none of which is left but at the call that is named."""

    def __init__(self, monkeypatch, left=(), strong=(), pair=()):
        self.passes, self.strengths, self.pairs = [], [], []
        answers = [list(left), list(strong)]

        def _left(candidates, _kind, order, marked, forgiven):
            names = [(one.rule, one.fault.name, one.other) for one in candidates]
            self.passes.append((names, len(order), bool(marked), forgiven))
            return answers.pop(0)

        def _of_some_strength(candidates, _kind, _order, _marked):
            self.strengths = [one.fault.name for one in candidates]
            return []

        def two_faults(_kind, _order, faults):
            self.pairs = [(one.name, rule) for one, rule in faults]
            return list(pair)

        monkeypatch.setattr(module, "_left", _left)
        monkeypatch.setattr(module, "_of_some_strength", _of_some_strength)
        monkeypatch.setattr(module, "two_faults", two_faults)
        monkeypatch.setattr(module, "faults_of", lambda _name: FAULTS)
        monkeypatch.setattr(module, "rules_of", lambda _kind: ["one", "two"])


@each(
    "pipeline,beside,names",
    [
        (False, False, ["", "rows"]),
        (True, False, ["", "rows", "drafts", "drafts-rows"]),
        (False, True, ["rows"]),
        (True, True, ["rows", "drafts-rows"]),
    ],
)
def test_which_faults_are_looked_at(monkeypatch, pipeline, beside, names):
    """Those of drafts in a pipeline only, those of rows alone beside others; across steps last."""
    asked = Recorded(monkeypatch)
    module.explanations(Tokens(1), [case()], pipeline=pipeline, beside=beside)
    of_rules = [(rule, name, False) for rule in ("one", "two") for name in names]
    assert asked.passes == [(of_rules, 1, False, 0), ([], 1, False, 0)]
    assert asked.strengths == names * 2
    assert asked.pairs == [(name, rule) for rule, name, _ in of_rules]
    asked = Recorded(monkeypatch)
    module.explanations(Texts(Block.of_length(2)), [case()], pipeline=pipeline, beside=beside)
    across = ["-".join(filter(None, (name, "across"))) for name in names]
    assert asked.passes[0] == (of_rules, 1, False, 0)
    later = [(rule, name, False) for rule in ("one", "two") for name in across]
    assert asked.passes[1] == (later, 1, False, 0)


@each(
    "seen,forgiven,marked",
    [
        ([case()], 0, False),
        ([case(), case(off=False)], 0, False),
        ([case(), case(marks=2)], 1, True),
        ([case()] * 3, 1, False),
    ],
)
def test_one_case_of_several_with_findings_is_forgiven(monkeypatch, seen, forgiven, marked):
    asked = Recorded(monkeypatch)
    module.explanations(Tokens(1), seen)
    assert [each[1:] for each in asked.passes] == [
        (len(seen), marked, forgiven), (len(seen), marked, 0)
    ]  # fmt: skip


def test_cases_are_read_as_what_they_may_be_too(monkeypatch):
    asked = Recorded(monkeypatch)
    module.explanations(Tokens(1), [case(), case(off=False, other="another")])
    ((names, *_), _) = asked.passes
    assert names[:2] == [("one", "", False), ("one", "", True)]


def test_nothing_explains_what_is_right_and_padding_what_stands_behind(monkeypatch):
    asked = Recorded(monkeypatch)
    assert module.explanations(Tokens(1), []) == ([], True)
    assert module.explanations(Tokens(1), [case(off=False)]) == ([], True)
    behind = [case(behind="nan"), case(behind="garbage"), case(off=False)]
    assert module.explanations(Tokens(1), behind) == ([PADDING], False)
    assert asked.passes == []
    module.explanations(Tokens(1), [*behind, case()])
    assert asked.passes


@each(
    "answers,wanted",
    [
        ({"left": [candidate("a", -1), candidate("b", -9, 1)]}, (["a"], True)),
        ({"left": [candidate("a", -1, 1), candidate("b", -2, 1)]}, (["a", "b"], False)),
        ({"left": [candidate("a", -1, 1)]}, (["a"], False)),
        # What misfits a case gives way to other strengths, and to two faults.
        ({"left": [candidate("a", 0, 1)], "strong": [candidate("c", -9)]}, (["c"], True)),
        ({"left": [candidate("a", 0, 1)], "pair": ["a together with b"]},
         (["a together with b"], True)),
        ({"pair": ["a together with b"]}, (["a together with b"], True)),
        ({}, ([], False)),
    ],
)  # fmt: skip
def test_what_explains_all_cases_comes_first(monkeypatch, answers, wanted):
    Recorded(monkeypatch, **answers)
    found = module.explanations(Tokens(1), [case()])
    assert found.names == wanted[0]
    assert not found.names or found == wanted


@each(
    "likelihoods,names",
    [
        ([("a", -3.0)], ["a"]),
        ([("b", -4.0), ("a", -3.0), ("b", -2.0)], ["b", "a"]),  # in two rules
        ([("a", 0.0), ("b", -5e-7), ("c", -1.5e-6)], ["a or b", "c"]),
        ([("a", -1.0), ("b", -12.9), ("c", -13.0)], ["a", "b"]),
        ([(name, -float(place)) for place, name in enumerate("abcdefg")], list("abcde")),
    ],
)
def test_likely_faults_are_named_and_equally_likely_ones_together(likelihoods, names):
    found = _named([candidate(*each) for each in likelihoods])
    assert found == Explanations(names, len(names) == 1)


@pytest.mark.parametrize(
    ("law", "fits", "forgiven", "looked", "wanted"),
    [
        ("law", [-1.0, -2.5], 0, 2, (-3.5, 0)),
        ("law", [-1.0, None, -2.0], 1, 3, (-3.0, 1)),
        ("law", [None, None, -1.0], 1, 2, None),
        ("law", [None, -1.0], 0, 1, None),
        (None, [-1.0], 1, 1, None),
    ],
)
def test_a_fault_fits_the_cases_or_all_but_some(monkeypatch, law, fits, forgiven, looked, wanted):
    one, read = candidate("a"), []

    class Case:
        case = "case"

        def __init__(self, fit):
            self.fit = fit

        def read_as(self, *, other):
            read.append(other)
            return self

        def likelihood(self, given, *, marked):
            assert (given, marked) == (law, True)
            return self.fit

    monkeypatch.setattr(two_faults, "law_or_none", lambda *_: law)
    left = _left([one], "kind", list(map(Case, fits)), True, forgiven)
    assert [(each.likelihood, each.misfits) for each in left] == [wanted] * (wanted is not None)
    assert read == [False] * looked
