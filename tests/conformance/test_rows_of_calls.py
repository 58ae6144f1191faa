"""Rows of a call that are mixed up, where they have other models, drafts or settings."""

import numpy as np
import pytest
from small_verifiers import coupled

from otspec.batch import recursive_rejection
from otspec.conformance import check

QUICK = {"detect": 0.05, "coarse": 0.3, "vocabulary": 67, "entries": 64}
EXACT = {"mode": "exact", "shape": 1}


def of_row(which):
    """Maximal coupling with one target for all rows."""

    def verify(draft, target, drafts, rng):
        return coupled(draft, target[[which] * len(target)], drafts, rng)

    return verify


def one_draft(draft, target, drafts, lengths, rng):
    """Maximal coupling, without a draft a draw from the target; each row by itself."""
    tokens = []
    rows = draft.astype(float), target.astype(float), drafts, lengths
    for p, q, (x, *_), length in zip(*rows, strict=True):
        if length and rng.random() * p[x] < q[x]:
            tokens.append(int(x))
        else:
            left = np.maximum(q - p, 0) if length and (q > p).any() else q
            tokens.append(int(rng.choice(len(q), p=left / left.sum())))
    return np.array(tokens)


def in_order(lengths, sign=1):
    return np.argsort(sign * lengths, kind="stable")


def results_in_order(sign):
    def verify(draft, target, drafts, lengths, rng):
        return one_draft(draft, target, drafts, lengths, rng)[in_order(lengths, sign)]

    return verify


def targets_in_order(draft, target, drafts, lengths, rng):
    """What is packed is the drafts, and not the target."""
    drafted = np.flatnonzero(lengths > 0)
    tokens = one_draft(draft, target, drafts, 0 * lengths, rng)
    count = len(drafted)
    rows = draft[drafted], target[:count], drafts[drafted], lengths[drafted]
    tokens[drafted] = one_draft(*rows, rng)
    return tokens


WRONG = {
    "first": of_row(0),
    "last": of_row(-1),
    "neighbor": lambda draft, target, drafts, rng: coupled(draft, target[::-1], drafts, rng),
    "shorter first": results_in_order(1),
    "longer first": results_in_order(-1),
    "packed": targets_in_order,
}


@pytest.mark.parametrize("name", WRONG)
def test_rows_that_are_mixed_up_show_exactly(name):
    findings = check(WRONG[name], **EXACT).findings
    assert [finding.case for finding in findings] == ["a row beside"]


@pytest.mark.parametrize("verifier", [coupled, one_draft])
def test_rows_by_themselves_are_right_exactly(verifier):
    report = check(verifier, **EXACT)
    assert report.passed
    assert "a row beside" in {tried.case for tried in report.cases}


def test_the_law_beside_a_row_is_that_of_both_places():
    """The target (1, 2, 4, 1)/8 for both rows, and (0, 0, 0, 1) for both: each half of the time."""
    (finding,) = check(of_row(0), **EXACT).findings
    wanted = [1 / 16, 2 / 16, 4 / 16, 1 / 16 + 1 / 2, 0]
    np.testing.assert_allclose(finding.observed, wanted, rtol=0, atol=1e-6)


def test_the_row_beside_is_judged_as_well():
    """Of a row without drafts, before it, it has the target (1, 2, 4, 1)/8."""

    def packed(draft, target, drafts, lengths, rng):
        last = target.copy()
        if len(target) > 1 and lengths[0] == 0:
            last[1] = target[0]
        return one_draft(draft, last, drafts, lengths, rng)

    # Half of the rows are before the other, and half of them have no draft. The row beside has
    # token 0 from a draft (1, 1, 1, 0)/3: it is kept with probability 3/8, or the residual
    # (0, 0, 1/6, 1/8) gives token 3, which is right, with probability 3/7.
    (finding,) = check(packed, **EXACT).findings
    chance = (1 - 5 / 8 * 3 / 7) / 4
    assert finding.statistic == "impossible"
    assert float(finding.reason.split()[-1]) == pytest.approx(chance, abs=1e-6)


def recursive(draft, target, drafts, lengths, rng):
    rows = (np.asarray(each, dtype=float) for each in (draft, target))
    there = np.arange(drafts.shape[1]) < lengths[:, None]
    uniforms = rng.random((len(drafts), drafts.shape[1] + 1))
    return recursive_rejection(*rows, drafts, uniforms, mask=there).token


def sorted_rows(draft, target, drafts, lengths, rng):
    return recursive(draft, target, drafts, lengths, rng)[in_order(lengths)]


def test_rows_in_the_order_of_lengths_are_found_by_samples():
    assert check(recursive, shape=1, **QUICK).passed
    (first, *_) = check(sorted_rows, shape=1, **QUICK).findings
    assert first.case == "rows of a batch that differ, fewer drafts in some rows"
