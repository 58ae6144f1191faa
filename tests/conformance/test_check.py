"""What a check of a verifier finds, where it says that it is, and what it refuses."""

from dataclasses import replace

import numpy as np
import pytest

from otspec import batch
from otspec.conformance import check
from otspec.conformance.evidence.sizes import RowsApart, RowsBeside
from tests.conformance.small_verifiers import (
    drafts_backwards,
    drawn,
    ignores_drafts,
    lucky_is_accepted,
    never_renormalized,
    one_uniform,
)

QUICK = {"detect": 0.15, "vocabulary": 67, "entries": 4_000}
"""Coarse, for faults that are larger."""


def statistics(report):
    return {finding.statistic for finding in report.findings}


def test_a_residual_that_is_not_the_residual_shows_in_the_law_of_the_output():
    report = check(never_renormalized, shape=2, **QUICK)
    assert not report.passed
    # All but the first are those of two steps, of many tokens and of two rows.
    laws = {"law of the output", "law of the first token", "law of the first token, by tokens"}
    rows = {f"joint law of {way}" for way in (*RowsBeside.ways, *RowsApart.ways)}
    assert statistics(report) <= laws | rows
    first = report.findings[0]
    assert first.statistic == "law of the output"
    assert first.case == "all positive"
    assert first.total_variation > 0.05
    assert "has frequency" in first.reason


def test_the_same_seed_gives_the_same_report():
    one, two, other = (check(ignores_drafts, seed=seed, **QUICK) for seed in (3, 3, 4))
    counts = [[tried.counts.tolist() for tried in each.cases] for each in (one, two, other)]
    assert counts[0] == counts[1]
    assert counts[0] != counts[2]


def test_a_rule_that_accepts_less_is_found_if_the_rule_is_named():
    assert check(ignores_drafts, shape=2, **QUICK).passed
    report = check(ignores_drafts, shape=2, rule="recursive-rejection", **QUICK)
    assert statistics(report) == {"acceptance"}
    assert report.findings[0].case == "all positive"
    # Where nothing can be accepted it is right.
    assert "disjoint supports" not in {finding.case for finding in report.findings}


def test_another_order_shows_in_the_position():
    assert check(drafts_backwards, shape=2, **QUICK).passed
    report = check(drafts_backwards, shape=2, rule="recursive-rejection", **QUICK)
    assert report.findings[0].statistic == "position"
    assert statistics(report) <= {"position", "joint law of accepted draft and token"}


def test_naive_sampling_accepts_as_much_as_naive_sampling():
    report = check(lucky_is_accepted, shape=2, rule="naive-sampling", **QUICK)
    assert report.passed
    assert report.cases[0].accepted < report.cases[0].optimum


def test_uniforms_that_are_shared_by_a_block_show_in_the_text():
    report = check(one_uniform, kind="block", **QUICK)
    assert statistics(report) <= {
        "law of the first token",
        "law of the first 2 tokens",
        "law of the text",
    }
    assert not report.passed


def test_a_rule_needs_to_be_told_what_is_accepted():
    def token_alone(draft, target, drafts, uniforms):
        return batch.maximal_coupling(draft, target, drafts, uniforms).token

    assert check(token_alone, shape=1, **QUICK).passed
    with pytest.raises(ValueError, match="return the accepted index with the token"):
        check(token_alone, shape=1, rule="maximal-coupling", **QUICK)


def test_a_crash_on_one_case_is_a_finding_and_the_others_go_on():
    def fails_on_zeros(draft, target, drafts, uniforms):
        if (draft == 0).any():
            raise ValueError("a zero")
        return batch.maximal_coupling(draft, target, drafts, uniforms)

    report = check(fails_on_zeros, shape=1, **QUICK)
    assert statistics(report) == {"call"}
    names = {finding.case for finding in report.findings}
    assert "disjoint supports" in names
    assert "all positive" not in names
    assert report.findings[0].reason == "the verifier fails with ValueError: a zero"
    assert "fails_on_zeros" in report.findings[0].traceback
    assert len(report.cases) > len(names) + 5


@pytest.mark.parametrize(
    ("token", "why"),
    [(-1, "it returns token -1, of a vocabulary of 4"), (np.nan, "it returns NaN as token")],
)
def test_no_token_is_a_finding(token, why):
    def verifier(draft, target, drafts, uniforms):
        right = batch.maximal_coupling(draft, target, drafts, uniforms).token
        certain = (target == 1).any(axis=1)
        return np.where(certain, token, right) if certain.any() else right

    report = check(verifier, shape=1, **QUICK)
    assert statistics(report) == {"impossible"}
    assert report.findings[0].case == "one certain target"
    assert why in report.findings[0].reason


def test_a_verifier_that_looks_behind_is_found():
    def looks_behind(target, drafts, lengths, rng):
        """Keep nothing, and draw from the last row where there are fewer drafts."""
        rows = np.where((lengths < drafts.shape[1])[:, None], target[:, -1], target[:, 0])
        return np.zeros_like(lengths), drawn(np.nan_to_num(rows, nan=1.0), rng.random(len(rows)))

    report = check(looks_behind, kind="block", **QUICK)
    assert not report.passed
    of_rows = ("fewer drafts", "in each call", "in one call", "in calls of")
    assert all(any(words in finding.case for words in of_rows) for finding in report.findings)


def test_what_is_written_to_and_left_out_is_noted():
    def verifier(draft, target, drafts, uniforms):
        answer = batch.maximal_coupling(draft, target, drafts, uniforms)
        target -= draft
        return answer

    report = check(verifier, shape=1, **QUICK)
    assert report.passed
    assert report.notes[0] == "it writes to target"
    assert "rows of fewer drafts are not tried, " in report.notes[1]
    assert "it accepts" in report.notes[2]
    assert len(report.notes) == 3


def test_half_precision_hides_small_differences():
    with pytest.raises(ValueError, match=r"detect is 0.005, which errors of 0.002 .* pass detect="):
        check(batch.recursive_rejection, dtype="float16")
    with pytest.raises(ValueError, match=r"detect is 0.0005"):
        check(batch.recursive_rejection, detect=0.0005)
    report = check(batch.recursive_rejection, dtype="float16", rounding=1e-5, **QUICK)
    assert report.passed


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({"kind": "word"}, "kind is 'word'"),
        ({"mode": "dream"}, "mode is 'dream'"),
        ({"detect": 0}, "detect is 0"),
        ({"false_alarm": 0.7}, "false_alarm is 0.7"),
        ({"budget": 0}, "budget must be at least 1"),
        ({"seed": -1}, "seed must be at least 0"),
        ({"shape": 0}, "shape must be at least 1"),
        ({"shape": 9}, "shape must be at most 8"),
        ({"kind": "block", "shape": 6}, "shape must be at most 5"),
        ({"kind": "tree", "shape": "x"}, "shape"),
        ({"arrays": "jax"}, "arrays is 'jax'"),
        ({"dtype": "int8"}, "dtype is 'int8'"),
        ({"dtype": "bfloat16"}, "NumPy does not have"),
        ({"rounding": -1}, "rounding is -1"),
        ({"vocabulary": 3}, "vocabulary must be at least 8"),
        ({"rule": "nobody's"}, 'rule is "nobody\'s"'),
        ({"kind": "tree"}, "takes uniforms: for a tree"),
    ],
)
def test_unusable_options_are_refused(options, why):
    with pytest.raises(ValueError, match=why):
        check(batch.recursive_rejection, **options)


def test_what_rounding_hides_begins_below_what_so_many_samples_find(monkeypatch):
    from otspec.conformance.evidence import case_by_case

    found = case_by_case.affordable(5, 1_000, 1e-6, 0.0)
    monkeypatch.setattr(case_by_case, "affordable", lambda *_: replace(found, detect=0.1504))
    options = QUICK | {"shape": 1, "budget": 10**6}
    check(batch.maximal_coupling, **options | {"detect": 0.1504})
    with pytest.raises(ValueError, match=r"by rounding hide: pass detect=0\.151 or more"):
        check(batch.maximal_coupling, **options | {"detect": 0.1503})
