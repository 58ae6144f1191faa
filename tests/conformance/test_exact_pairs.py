"""Rows of a call, and calls, that share random numbers: seen in exact mode, too."""

import itertools

import numpy as np
import pytest
from small_verifiers import coupled

from otspec.conformance import check
from otspec.conformance.evidence.dependence import rows_apart
from otspec.conformance.exact_pairs import _finding

FAULTS = {
    "rows": "random numbers shared by neighboring rows",
    "calls": "random numbers of one call used again in the next",
}


def couple(draft, target, drafts, uniforms):
    """Verify the first draft of each row."""
    tokens = []
    for row, (p, q, (x, *_)) in enumerate(zip(draft, target, drafts, strict=True)):
        if uniforms[row][0] * p[x] < q[x]:
            tokens.append(int(x))
            continue
        sums = np.cumsum(np.maximum(q - p, 0).astype(float)).tolist()
        tokens.append(sum(bool(uniforms[row][1] * sums[-1] >= each) for each in sums[:-1]))
    return np.array(tokens)


def right(draft, target, drafts, rng):
    return couple(draft, target, drafts, rng.random((len(drafts), 2)))


def one_for_all_rows(draft, target, drafts, rng):
    return couple(draft, target, drafts, [rng.random(2)] * len(drafts))


def one_test_for_all_rows(draft, target, drafts, rng):
    test = rng.random()
    draws = rng.random(len(drafts))
    return couple(draft, target, drafts, [(test, each) for each in draws])


@pytest.mark.parametrize(
    ("verifier", "fault"),
    [(right, None), (one_for_all_rows, "rows"), (one_test_for_all_rows, "rows")],
)
def test_numbers_shared_by_rows_are_seen_exactly(verifier, fault):
    report = check(verifier, mode="exact", shape=1)
    assert report.outcome == ("failed" if fault else "passed"), report
    for finding in report.findings:
        assert finding.looks_like == (FAULTS[fault],)
        assert "come together with probability" in finding.reason
    assert {"rows of a call", "calls"} <= {tried.case.split(": ")[-1] for tried in report.cases}


@pytest.mark.parametrize("library", ["numpy", "torch"])
@pytest.mark.parametrize(
    ("seed", "apart"),
    [
        (lambda call: call // 2, 1), (lambda call: (call + 1) // 2, 1), (lambda call: call // 3, 1),
        *((lambda call, ring=ring: call % ring, ring) for ring in (2, 3, 8, 64)),
        (lambda call: call, None), (lambda call: call % 65, None),
    ],
)  # fmt: skip
def test_seeds_of_several_calls_are_seen_exactly(seed, apart, library):
    """A seed that returns after more than 64 calls is not."""
    calls = itertools.count()
    if library == "torch":
        torch = pytest.importorskip("torch", reason="PyTorch is not installed: make backends")

    def seeded(draft, target, drafts):
        number = 1_000 + seed(next(calls))
        if library == "numpy":
            return couple(draft, target, drafts, np.random.default_rng(number).random((1, 2)))
        torch.manual_seed(number)
        return couple(draft, target, drafts, torch.rand(1, 2))

    report = check(seeded, mode="exact", shape=1)
    words = {None: [], 1: [(FAULTS["calls"],)]}
    again = [(f"random numbers of one call used again {apart} calls later",)]
    assert [finding.looks_like for finding in report.findings] == words.get(apart, again)


@pytest.mark.parametrize("again", [False, True])
def test_a_seed_that_is_set_in_each_call_is_seen_exactly(again):
    torch = pytest.importorskip("torch", reason="PyTorch is not installed: make backends")

    def seeded(draft, target, drafts, seed):
        torch.manual_seed(5 if again else seed)
        return couple(draft, target, drafts, torch.rand(len(drafts), 2))

    report = check(seeded, mode="exact", shape=1)
    assert report.outcome == ("failed" if again else "passed"), report
    assert [finding.looks_like for finding in report.findings] == [(FAULTS["calls"],)] * again


def test_errors_up_to_the_rounding_are_no_finding():
    """Both rows say a or b with probability 1/2, and the same with 3/4: an error of 1/8."""
    a, b = (0,), (1,)
    joint = {(a, a): 0.375, (b, b): 0.375, (a, b): 0.125, (b, a): 0.125}
    assert _finding("case", joint, rows_apart(1), 0.125) is None
    found = _finding("case", joint, rows_apart(1), 0.124)
    assert (found.observed, found.expected) == ((0.375, 0.125, 0.125, 0.375), (0.25,) * 4)
    assert found.labels == ("(0,) and (0,)", "(0,) and (1,)", "(1,) and (0,)", "(1,) and (1,)")
    assert found.reason == (
        "(0,) and (0,) come together with probability 0.375000000, and should with 0.250000000"
    )


def test_a_pair_that_never_comes_has_probability_0():
    """Both rows say a or b with probability 1/4 and 3/4, and always the same."""
    a, b = (0,), (1,)
    found = _finding("case", {(a, a): 0.25, (b, b): 0.75}, rows_apart(1), 0.1)
    assert found.observed == (0.25, 0, 0, 0.75)
    assert found.expected == (1 / 16, 3 / 16, 3 / 16, 9 / 16)
    assert found.statistic == "dependence between neighboring rows"
    assert found.reason == (
        "(0,) and (0,) come together with probability 0.250000000, and should with 0.062500000"
    )


def test_what_is_seen_of_pairs_is_half_of_the_rounding_of_each():
    report = check(right, mode="exact", shape=1)
    tried = {each.case: each for each in report.cases}["rows of a call"]
    # Each of two rows says one of three tokens; an error of 1e-6 counts as rounding.
    assert tried.detectable == pytest.approx(3 * 3 * 1e-6 / 2)


def test_rows_that_seldom_share_a_number_are_found():
    """With probability 1/20,000 both rows have one number: five times what counts as rounding."""

    def seldom(draft, target, drafts, rng):
        numbers = rng.random((len(drafts), 2))
        if rng.random() < 5e-5:
            numbers = [numbers[0]] * len(drafts)
        return couple(draft, target, drafts, numbers)

    (finding,) = check(seldom, mode="exact", shape=1, rounding=1e-5).findings
    assert finding.statistic == "dependence between neighboring rows"


def test_a_wrong_law_is_named_beside_what_is_shared():
    def wrong(draft, target, drafts, rng):
        return one_for_all_rows(draft, np.sqrt(target), drafts, rng)

    report = check(wrong, mode="exact", shape=1)
    statistics = {finding.statistic for finding in report.findings}
    assert {"law of the output", "dependence between neighboring rows"} <= statistics
    assert any("What to do: draw new random numbers for every row" in note for note in report.notes)


def test_blocks_and_trees_are_followed_in_pairs_as_well():
    def block(target, rng, draft, drafts):
        number = rng.random()
        tokens = []
        for q in target:
            sums = np.cumsum(q[0].astype(float)).tolist()
            tokens.append(sum(bool(number * sums[-1] >= each) for each in sums[:-1]))
        return np.zeros(len(target), dtype=int), np.array(tokens)

    report = check(block, kind="block", mode="exact", shape=1)
    assert [finding.looks_like for finding in report.findings] == [(FAULTS["rows"],)]


def test_pairs_that_cannot_be_followed_are_said():
    def alone(draft, target, drafts, rng):
        if len(drafts) > 1:
            rng.standard_normal()
        return right(draft, target, drafts, rng)

    report = check(alone, mode="exact", shape=1)
    assert report.passed
    assert any("was not seen: " in note for note in report.notes)


def of_next_row(draft, target, drafts, rng):
    """Maximal coupling with the target of the next row of the batch."""
    return coupled(draft, np.roll(target, 1, axis=0), drafts, rng)


@pytest.mark.parametrize("distinct", [False, True])
def test_the_row_of_another_request_shows_beside_a_row_that_keeps_nothing(distinct):
    options = {"shape": 1, "distinct": distinct, "mode": "exact"}
    assert check(coupled, **options).passed
    (finding,) = check(of_next_row, **options).findings
    assert finding.case == "a row beside"
    (cause,) = finding.looks_like  # each of the two makes the row's target that of the other
    assert cause == "target of another row of the batch or drafts of another row of the batch"
