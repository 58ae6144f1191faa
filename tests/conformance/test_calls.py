"""Calls of one row and of very many, wide rows, and random numbers that rows or calls share."""

import numpy as np
import pytest
import wrong_callers
from scipy.stats import binomtest
from searching import by_day, enough
from wrong_callers import DEPENDENT, Verifier

from otspec import batch
from otspec.conformance import check
from otspec.conformance.cases.arrays import Form
from otspec.conformance.cases.calling import Verifier as Handed
from otspec.conformance.cases.kinds import Block, Tokens
from otspec.conformance.cases.tasks import MANY_ROWS, SPECIAL, kernel_tasks
from otspec.conformance.check import ENTRIES, VOCABULARY
from otspec.conformance.evidence.case_by_case import COARSE
from otspec.conformance.evidence.dependence import CallPairs, RowPairs

QUICK = {"detect": 0.15, "vocabulary": 67, "entries": 4_000}
KINDS = {"tokens": batch.recursive_rejection, "block": batch.block_verification}
PAIRS = (RowPairs, CallPairs)
COUNT = enough(30_000)


def findings(report):
    return {finding.case: finding for finding in report.findings}


@pytest.mark.parametrize("kind", by_day(KINDS, ["tokens"]))
@pytest.mark.parametrize("name", DEPENDENT)
def test_numbers_that_rows_or_calls_share_are_found_and_named(name, kind):
    """Frequencies are no finding: those of texts that depend on each other say nothing."""
    closer = {"detect": {"DrawOfNeighbor": 0.01, "OneForAll": 0.05}.get(name, QUICK["detect"])}
    report = check(getattr(wrong_callers, name)(KINDS[kind]), kind=kind, **QUICK | closer)
    assert report.outcome == "failed"
    assert {finding.statistic.split(" between ")[0] for finding in report.findings} == {
        "dependence"
    }
    causes = {cause for finding in report.findings for cause in finding.looks_like}
    assert DEPENDENT[name] in causes
    assert any(note.startswith(f"{DEPENDENT[name]}. What to do: draw") for note in report.notes)
    assert "it looks like: random numbers " in report.text().split("\n")[0]


COARSE_PAIRS = {"detect": 0.1, "coarse": 0.3, "vocabulary": 9, "entries": 9}
WRONG = {
    **{
        f"seeds {name}": (wrong_callers.OfSomeSeed, *each)
        for name, each in wrong_callers.SEEDS.items()
    },
    **{
        f"rows {name}": (wrong_callers.NumbersOfSomeRow, *each)
        for name, each in wrong_callers.ROWS.items()
    },
}


@pytest.mark.parametrize(
    "name", by_day(WRONG, ["seeds for two calls, after one", "seeds of 2 in turn"])
)
def test_patterns_of_shared_numbers_are_found_where_little_is_looked_at(name):
    make, pattern, fault = WRONG[name]
    report = check(make(pattern), shape=1, **COARSE_PAIRS)
    assert {finding.looks_like for finding in report.findings if finding.looks_like} == {(fault,)}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", WRONG)
def test_every_pattern_of_shared_numbers_is_seen_in_its_way(name, kind):
    """Of so few comparisons as a coarse check has: 624, then 1,248."""
    make, pattern, fault = WRONG[name]
    handed = Handed(make(pattern, KINDS[kind]), Form())
    shape = Tokens(3) if kind == "tokens" else Block.of_length(2)
    seen = "seed" in name
    (task,) = [
        task
        for task in kernel_tasks(handed, shape, 67, 9)
        if task.batches is (CallPairs if seen else RowPairs)
    ]
    pairs = task.batches(handed, shape, task.case, handed.randomness(1), np.random.default_rng(3))
    counts = sum(pairs(size) for size in (624, 312, 312)).reshape(-1, 2)
    more = {}
    for (_, cause), (ahead, _) in zip(pairs.ways, counts.tolist(), strict=True):
        more[cause] = max(more.get(cause, 0), ahead)
    # At most one in a million coins of so many say more so often.
    assert more[fault] > 1_248 * 0.5 + 5 * np.sqrt(1_248 / 4)


def test_a_verifier_that_reseeds_is_told_that_its_calls_depend_on_each_other():
    report = check(wrong_callers.SeedOfEachCall(), **QUICK)
    (finding,) = report.findings
    assert finding.reason.startswith("calls depend on each other: their answers agree more than ")
    assert finding.reason.endswith(" comparisons, and independent ones in 50%")
    assert "how often each comes says nothing about its probability" in report.notes[1]


def test_an_impossible_token_is_a_finding_also_of_calls_that_depend_on_each_other():
    class Both(wrong_callers.SeedOfEachCall):
        def __call__(self, draft, target, drafts, rng):
            answer = super().__call__(draft, target, drafts, rng)
            return np.where((target == 1).any(axis=1), draft.shape[1] - 1, answer.token)

    found = findings(check(Both(), **QUICK))
    assert found.pop("calls").statistic == "dependence between calls"
    assert "one certain target" in found
    assert all(
        any(
            seen > 0 and right == 0
            for seen, right in zip(each.observed, each.expected, strict=True)
        )
        for each in found.values()
    )


@pytest.mark.parametrize("kind", KINDS)
def test_numbers_of_its_own_for_each_row_raise_no_alarm(kind):
    """Whichever pairs are looked at, either way is equally likely."""
    handed = Handed(Verifier(KINDS[kind]), Form())
    shape = Tokens(3) if kind == "tokens" else Block.of_length(2)
    tasks = [task for task in kernel_tasks(handed, shape, 67, 9) if task.batches in PAIRS]
    assert [task.batches for task in tasks] == list(PAIRS)
    for seed, task in enumerate(tasks):
        rng, numbers = np.random.default_rng(seed), handed.randomness(seed)
        counts = task.batches(handed, shape, task.case, numbers, rng)(COUNT)
        assert counts.sum() == COUNT * len(task.batches.ways)
        # Some 400 tests in all, of which one fails by chance once in 25,000 times.
        for more, less in counts.reshape(-1, 2).tolist():
            assert more + less == COUNT
            assert binomtest(more, COUNT).pvalue > 1e-7


ONE_ROW = {"one row in each call", "one row in each call, of which some are certain"}
ONLY = {
    "Squeezed": ("single", ONE_ROW),
    "RowsOf16Bits": ("long", {"69,632 rows in one call"}),
    "FlatIndexOfFloats": ("long", {"2,098 rows of many tokens in one call"}),
}
WIDE = {"detect": 0.15, "vocabulary": 16_001}
"""An array of more than 2²⁴ entries takes 1,049 rows."""


@pytest.mark.parametrize("name", ONLY)
def test_what_is_wrong_in_such_calls_alone_is_found_there(name):
    special, cases = ONLY[name]
    options = {"RowsOf16Bits": QUICK | {"entries": MANY_ROWS}, "Squeezed": QUICK}.get(name, WIDE)
    report = check(getattr(wrong_callers, name)(), **options)
    assert set(findings(report)) == cases
    assert report.findings[0].looks_like == (SPECIAL[special],)


def test_a_shape_that_is_right_for_more_rows_is_a_finding():
    class Flat(Verifier):
        def __call__(self, draft, target, drafts, rng):
            token = super().__call__(draft, target, drafts, rng).token
            return np.append(token, token) if len(token) == 1 else token

    found = findings(check(Flat(), **QUICK))
    assert set(found) == ONE_ROW
    assert "in a call of one row the verifier returned token" in found.popitem()[1].reason


def test_token_ids_of_16_bits_are_found_in_the_vocabulary_by_default():
    report = check(wrong_callers.TokensOf16Bits(), detect=0.15, entries=9)
    assert report.findings[0].statistic == "impossible"
    assert all(f"{VOCABULARY:,} tokens" in f.case or "many" in f.case for f in report.findings)
    assert report.findings[0].looks_like == (SPECIAL["vocabulary"],)


def test_by_default_calls_pass_16_bits_of_rows_and_tokens_and_24_of_entries():
    tasks = kernel_tasks(Handed(Verifier(), Form()), Block.of_length(2), VOCABULARY, ENTRIES)
    many, entries = [task for task in tasks if task.before]
    assert many.before == 1 << 16
    # The draft has two rows for each of the batch, the target three.
    assert entries.before * 2 * VOCABULARY >= 1 << 24
    assert entries.handed == (2 * entries.before) * 3 * VOCABULARY
    assert VOCABULARY > 1 << 16
    assert all(VOCABULARY % number for number in range(2, 257))  # a prime


def test_more_entries_than_the_memory_holds_are_refused():
    with pytest.raises(ValueError, match=r"entries is \d+, .* take .* GiB, more than half of the"):
        check(Verifier(), entries=1 << 36)


def test_a_budget_that_is_used_up_pays_for_no_call_of_many_rows():
    """Each small case takes a row, and all of them more than the budget."""
    rows = []

    class Counted(Verifier):
        def __call__(self, draft, target, drafts, rng):
            rows.append(len(draft))
            return super().__call__(draft, target, drafts, rng)

    report = check(Counted(), budget=9, vocabulary=8, entries=1_000)
    assert report.outcome == "undecided"
    assert max(rows) < 1_000 // 8
    assert [case.size for case in report.cases if " in one call" in case.case] == [0, 0]


def test_large_rows_are_looked_at_closely_or_it_is_undecided():
    """A tenth of the tokens of wide rows are wrong, which a small budget does not see."""
    wrong = wrong_callers.WrongInWideRows(batch.block_verification)
    options = {"kind": "block", "detect": 0.1, "vocabulary": 1_009, "entries": 9}
    report = check(wrong, budget=2_000_000, **options)
    assert (report.outcome, report.passed, report.findings) == ("undecided", False, ())
    assert report.detectable > COARSE
    large = [case for case in report.cases if "1,009 tokens" in case.case]
    assert all(case.short for case in large)
    found = check(wrong, budget=report.budget_needed, **options)
    assert found.outcome == "failed"
    assert {finding.looks_like for finding in found.findings} == {(SPECIAL["vocabulary"],)}
    right = check(Verifier(batch.block_verification), budget=report.budget_needed, **options)
    assert right.outcome == "passed"
    assert all(case.detectable == case.asked for case in right.cases)


def test_the_budget_that_is_said_to_be_enough_is():
    options = {"detect": 0.3, "vocabulary": 67, "entries": 100, "rule": "recursive-rejection"}
    budget = check(Verifier(), budget=1_000, **options).budget_needed
    report = check(Verifier(), budget=budget, **options)
    assert report.passed
    assert report.budget_needed == budget
    # One less is not surely enough, and the sums of what was handed do not pass it.
    handed = sum(case.size * case.numbers for case in report.cases)
    assert budget / 4 < handed <= budget


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({"coarse": 0.1, "detect": 0.2}, "coarse is 0.1"),
        ({"coarse": 2}, "coarse is 2"),
        ({"entries": 0}, "entries must be at least 1"),
    ],
)
def test_unusable_options_are_refused(options, why):
    with pytest.raises(ValueError, match=why):
        check(batch.recursive_rejection, **options)
