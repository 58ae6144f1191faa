"""What one case comes to, and what all together do: budgets, stops, findings and their causes."""

import math
import re
import time
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from otspec.conformance import Finding, Tried, check
from otspec.conformance.cases.cases import memoryless, mixed
from otspec.conformance.cases.kinds import Block, Tokens
from otspec.conformance.cases.tasks import SPECIAL
from otspec.conformance.evidence import case_by_case, trial
from otspec.conformance.evidence.batches import KernelBatches
from otspec.conformance.evidence.case_by_case import UNJUDGED, Check, _certain, _judged, _special
from otspec.conformance.evidence.dependence import RowPairs
from otspec.conformance.evidence.evidence import Evidence, Requirement, requirement
from otspec.conformance.evidence.statistics import Statistic
from otspec.conformance.evidence.trial import acceptance_note, accepted, first_off, most_accepted
from otspec.estimate import Estimate
from tests.conformance.small_verifiers import ignores_drafts


@pytest.mark.parametrize(
    ("budget", "tasks", "shares"),
    [
        # All that is needed, 800, is there: each may take what is left.
        (1_000, [(1, 300, 150), (1, 300, 150), (10, 20, 10)], [1_000, 850, 700]),
        (800, [(1, 300, 300), (1, 300, 300), (10, 20, 20)], [800, 500, 200]),
        # A fifth is for the case of which rows cost much, and what the others leave.
        (799, [(1, 300, 300), (1, 300, 100), (10, 20, 20)], [639.2, 339.2, 399.0]),
        # Of four the first may take twice its fourth.
        (400, [(1, 300, 100)] * 3 + [(1, 200, 20)], [200.0, 200.0, 200.0, 100.0]),
        # Without such a case all of it is for the others.
        (100, [(1, 90, 40), (1, 90, 40)], [100.0, 60.0]),
    ],
)
def test_a_budget_is_shared_among_the_cases(monkeypatch, budget, tasks, shares):
    """Each task has the numbers of a row, the rows that it needs and those that it takes."""
    named = [
        SimpleNamespace(numbers=numbers, rows=rows, takes=takes, costly=numbers > 1)
        for numbers, rows, takes in tasks
    ]
    given, done = [], []

    def tried(_self, task, _alarm, share, _rng, _marked):
        given.append(share)
        return SimpleNamespace(size=task.takes), None

    monkeypatch.setattr(Check, "_rows", lambda _self, task, _alarm: task.rows)
    monkeypatch.setattr(Check, "_tried", tried)
    check = Check(tuple(named), "tokens", "kernel", None, 0.1, 1e-6, 1e-6, budget, 0, 0.1)
    found = check._sampled(1e-6, SimpleNamespace(marked=False), lambda *each: done.append(each))
    assert given == pytest.approx(shares)
    assert done == [(count, len(tasks)) for count in range(1, len(tasks) + 1)]
    assert [task for task, *_ in found] == named


FIRST = Statistic("first", np.array([[0, 0, 1]]), np.array([0.5, 0.5]), ("a", "b"))
LAST = Statistic("last", np.array([[0, 1, 2]]), np.array([0.25, 0.25, 0.5]), ("a", "b", "c"))


@pytest.mark.parametrize(
    ("counts", "name", "reason"),
    [
        # All that is off is how the first cell is parted.
        ([[100, 350, 550]], "last", "a has frequency 0.100000 and probability 0.250000 in 1,000"),
        ([[400, 400, 200]], "first", "[ab] has frequency 0.[82]00000 and probability 0.500000 in"),
        ([[40, 440, 520]], "last", "a has frequency 0.040000 and probability 0.250000 in 1,000"),
    ],
)
def test_the_first_statistic_that_is_off_is_named(counts, name, reason):
    needs = Requirement(3, 0.1, 1e-6, 0.0, 1_000, 100.0)
    found = first_off("case", [FIRST, LAST], np.array(counts), needs)
    assert (found.case, found.statistic) == ("case", name)
    assert re.match(reason, found.reason)
    assert found.reason.endswith(" in 1,000 samples")
    statistic = FIRST if name == "first" else LAST
    assert found.labels == statistic.labels
    assert found.expected == tuple(statistic.expected)
    seen = statistic.counts(np.array(counts))
    assert found.observed == tuple(seen / 1_000)
    assert found.evidence == Evidence(statistic.expected, needs).logarithm(seen)
    meant = replace(LAST, meaning="rows depend on each other")
    assert first_off("case", [meant], np.array([[100, 350, 550]]), needs).reason == (
        "rows depend on each other: a in 10.0% of 1,000 comparisons, and independent ones in 25%"
    )


def looked(law, needs, largest=10**6):
    """Return what was seen of samples of a law, and the sizes of the batches."""
    rng, sizes = np.random.default_rng(0), []

    def batch(size):
        sizes.append(size)
        return rng.multinomial(size, law)[None]

    return (*trial.tried("case", batch, [trial.Tested([LAST], needs)], largest), sizes)


def test_a_test_stops_when_it_is_clear():
    needs = requirement(3, 0.1, 1e-6, 0.0)
    assert 1_024 < needs.size < 3_000
    right, finding, sizes = looked([0.25, 0.25, 0.5], needs)
    assert finding is None
    assert right.size == sum(sizes) == math.ceil(needs.size / 2)
    assert right.counts.sum() == right.size
    assert sizes[0] == 512
    assert right.evidence == Evidence(LAST.expected, needs).logarithm(right.counts[0])
    wrong, finding, sizes = looked([0.75, 0.0, 0.25], needs)
    assert (wrong.size, sizes, finding.statistic) == (512, [512], "last")
    *_, sizes = looked([0.75, 0.0, 0.25], needs, largest=200)
    assert sizes == [200, 200, 112]

    def fails(_size):
        raise trial.FaultError("call", "it raises", "a traceback")

    none, finding = trial.tried("case", fails, [trial.Tested([LAST], needs)], 100)
    assert (none.size, finding.statistic, finding.reason) == (0, "call", "it raises")
    assert finding.traceback == "a traceback"
    unknown = trial.untried("case", [trial.Tested([LAST], needs)])
    assert (unknown.size, unknown.detectable, unknown.evidence) == (0, 1.0, 0.0)
    assert unknown.counts.tolist() == [[0, 0, 0]]


def test_what_is_accepted_in_the_mean():
    tokens, block = Tokens(2), Block.of_length(2)
    counts = np.array([[3, 1], [1, 1], [1, 1]])
    assert accepted(tokens, counts).value == pytest.approx(4 / 8)
    assert accepted(block, counts).value == pytest.approx((2 * 1 + 2 * 2) / 8)
    assert accepted(tokens, np.array([[1], [0], [0]])) is None
    assert accepted(tokens, np.array([[1], [1], [0]])).value == 0.5
    case = memoryless("a", (4, 2, 2), (2, 2, 4))
    # Of one draft 3/4 are kept; of two more than that.
    assert most_accepted(Tokens(1), case) == pytest.approx(0.75)
    assert most_accepted(Block.of_length(1), case) == pytest.approx(0.75)
    # Both drafts miss the last token, of which 1/2 is wanted, with probability 9/16.
    assert most_accepted(tokens, case) == pytest.approx(15 / 16)
    # Of two in a row as much as the laws of beginnings have in common: 3/4 and 11/16.
    assert most_accepted(block, case) == pytest.approx(23 / 16)
    assert most_accepted(tokens, replace(case, uneven=True)) is None
    assert most_accepted(Tokens(2, "without-replacement"), case) is None
    other = memoryless("b", (4, 2, 2), (4, 2, 2))
    assert most_accepted(Tokens(1), mixed("c", [case, other])) == pytest.approx(0.875)
    seen = Tried("a", requirement(3, 0.1, 1e-6, 0.0), 9, 0.0, counts, LAST.expected)
    assert acceptance_note(seen) == ()
    told = replace(seen, accepted=Estimate(0.5, 0.375, 0.75, 0.95, 9), optimum=0.8125)
    assert acceptance_note(told) == (
        "on 'a' it accepts 0.5000 ± 0.2500 per row; the optimum for these drafts is 0.8125",
    )
    assert acceptance_note(replace(told, optimum=None)) == (
        "on 'a' it accepts 0.5000 ± 0.2500 per row",
    )


@pytest.mark.parametrize(
    ("seen", "right", "certain"),
    [((), (), True), ((0.5, 0.5), (0.25, 0.75), False), ((0.9, 0.1), (1.0, 0.0), True),
     ((1.0, 0.0), (1.0, 0.0), False), ((1.0, 0.0), (0.5, 0.5), False)],
)  # fmt: skip
def test_what_no_right_verifier_says_is_certain(seen, right, certain):
    assert _certain(Finding("case", "law", "off", seen, right)) == certain


def task_of(special, batches=KernelBatches):
    return SimpleNamespace(special=special, batches=batches)


def test_what_only_special_cases_have_is_their_cause():
    off = Finding("case", "law", "off")
    results = [(task_of(None), 0, None), (task_of("long"), 0, off), (task_of("single"), 0, off)]
    causes = [finding and finding.looks_like for *_, finding in _special(results)]
    assert causes == [None, (SPECIAL["single"],), (SPECIAL["single"],)]
    assert _special([*results, (task_of(None), 0, off)])[1][2] is off
    assert _special(results[:1]) == results[:1]


def test_dependence_comes_before_what_is_said_of_laws():
    law = Finding("a", "law", "off", (0.5, 0.5), (0.25, 0.75))
    impossible = Finding("b", "law", "off", (0.9, 0.1), (1.0, 0.0))
    fault = "random numbers shared by neighboring rows"
    pair = Finding("rows", "dependence", "off", (0.9, 0.1), (0.5, 0.5), looks_like=(fault,))
    rows = task_of(None, RowPairs)
    found, notes = _judged(
        [(task_of(None), 1, law), (task_of(None), 2, impossible), (rows, 3, pair)]
    )
    assert [found_of for _, found_of, _ in found] == [3, 1, 2]
    assert [finding and finding.case for *_, finding in found] == ["rows", None, "b"]
    assert found[0][2].looks_like == (fault,)
    assert notes[0].startswith(f"{fault}. What to do: ")
    assert notes[1:] == (UNJUDGED,)
    assert _judged([(task_of(None), 1, law), (rows, 3, None)]) == (
        [(task_of(None), 1, law), (rows, 3, None)], ()
    )  # fmt: skip


def test_seconds_are_those_that_a_check_took():
    began = time.perf_counter()
    report = check(ignores_drafts, shape=1, vocabulary=67, entries=200, detect=0.5)
    took = time.perf_counter() - began
    assert 0 < sum(tried.seconds for tried in report.cases) <= took


class Batches:
    series = 1

    def __init__(self, *_):
        pass


@pytest.mark.parametrize(
    ("numbers", "before", "most", "short", "largest"),
    [
        (100.0, 0, 8, False, 349_525), (96.0, 0, 8, False, 349_525), (95.9, 0, 4, True, 349_525),
        (47.9, 0, 0, True, 349_525),
        # A call as a whole or not at all.
        (47.9, 3, 0, True, None), (48.0, 3, 4, True, 349_525),
    ],
)  # fmt: skip
def test_a_case_takes_whole_calls_of_what_its_budget_has(
    monkeypatch, numbers, before, most, short, largest
):
    """Of twelve numbers a row, and four rows a call."""
    seen = {"largest": None}
    result = Tried("", Requirement(2, 0.0, 1.0, 0.0, 8, 1.0), 0, 0.0, np.zeros((1, 3), int), [])
    monkeypatch.setattr(case_by_case, "MOST_ROWS", 2**20)
    monkeypatch.setattr(case_by_case, "untried", lambda *_: result)
    monkeypatch.setattr(Check, "_rows", lambda *_: 8)
    monkeypatch.setattr(Check, "_tests", lambda _s, _t, _a, most: seen.update(most=most) or [None])
    monkeypatch.setattr(
        case_by_case, "tried", lambda *given: seen.update(largest=given[-2]) or (result, None)
    )
    task = SimpleNamespace(
        numbers=12, together=4, before=before, kind=None, case=None, law=SimpleNamespace(name=""),
        verifier=SimpleNamespace(randomness=lambda _seed: None), batches=Batches,
        wanted=lambda *_: 0.25,
    )  # fmt: skip
    check = Check((task,), "tokens", "kernel", None, 0.1, 1e-6, 1e-6, 1, 0, 0.1)
    found, _ = check._tried(task, 1e-6, numbers, np.random.default_rng(0), True)
    assert seen == {"most": max(1, most), "largest": largest}
    assert (found.short, found.rows_needed, found.numbers, found.asked) == (short, 8, 12, 0.25)
    monkeypatch.setattr(case_by_case, "MOST_ROWS", 100)
    check._tried(task, 1e-6, 96.0, np.random.default_rng(0), True)
    assert seen["largest"] == 100
    task.numbers = 2**23
    check._tried(task, 1e-6, 2.0**30, np.random.default_rng(0), True)
    assert seen["largest"] == 1


@pytest.mark.parametrize(("mode", "alarm"), [("kernel", 1e-3), ("exact", 0.0)])
def test_what_is_followed_exactly_raises_no_false_alarm(mode, alarm):
    options = {"shape": 1, "vocabulary": 8, "entries": 8, "detect": 0.2, "false_alarm": 1e-3}
    assert check(maximal_coupling, mode=mode, **options).false_alarm == alarm


def maximal_coupling(draft, target, drafts, rng):
    """Keep a draft if it may be, one row after another."""
    tokens = []
    for p, q, (x, *_) in zip(draft, target, drafts, strict=True):
        if rng.random() * p[x] < q[x]:
            tokens.append(x)
            continue
        rest = np.maximum(q - p, 0).astype(float)
        tokens.append(rng.choice(len(rest), p=rest / rest.sum()))
    return np.array(tokens)
