"""Calls of certain numbers of rows have settings, masks, fewer drafts and models of their own."""

import numpy as np
import pytest
from small_verifiers import drawn

from otspec import batch
from otspec.conformance.cases.arrays import Form
from otspec.conformance.cases.calling import Verifier
from otspec.conformance.cases.kinds import Block, Tokens
from otspec.conformance.cases.tasks import kernel_tasks
from otspec.conformance.cases.warping import Warped
from otspec.conformance.evidence.case_by_case import Check
from otspec.conformance.evidence.dependence import DraftlessPairs, WarpedPairs
from otspec.conformance.evidence.sizes import FewRows, OddRows, SingleRows

ENTRIES = 64


def findings(verify, kind, chosen):
    """Check a verifier on the first task, and on those that are chosen."""
    first, *tasks = kernel_tasks(Verifier(verify, Form()), kind, 67, ENTRIES)
    tasks = [task for task in tasks if chosen(task)]
    assert tasks
    whole = Check((first, *tasks), kind.name, "kernel", None, 0.05, 1e-6, 1e-6, 10**9, 0, 0.1)
    return {finding.case for finding in whole.run(lambda *_: None).findings}


def of(batches):
    return lambda task: task.batches is batches


def warping(wrong):
    """Maximal coupling that warps by each row's temperature, and masks; some calls do it wrong."""

    def verify(draft, target_logits, drafts, lengths, temperatures, allowed, rng):
        rows = len(draft)
        numbers = rng.random((rows, 2))
        logits = np.where(allowed, target_logits, -np.inf)
        given = {"logits": logits, "temperatures": temperatures, "lengths": lengths}
        given["numbers"] = numbers
        wrong(given, target_logits)
        target = batch.warp(
            given["logits"].astype(np.float32), temperature=given["temperatures"].astype(float)
        )
        mask = given["lengths"][:, None] > 0
        answer = batch.maximal_coupling(
            draft.astype(np.float32), target, drafts, given["numbers"], mask=mask
        )
        none = given["lengths"] == 0
        own = drawn(target, given["numbers"][:, 0])
        return np.where(none, given.get("fallback", own), answer.token)

    return verify


def not_warped_alone(given, _):
    if len(given["logits"]) == 1:
        given["temperatures"] = np.ones(1)


def not_masked_alone(given, target_logits):
    if len(given["logits"]) == 1:
        given["logits"] = target_logits


def first_temperature(given, _):
    if 2 <= len(given["logits"]) <= 7:
        given["temperatures"] = np.full(len(given["logits"]), given["temperatures"][0])


def no_drafts_alone(given, _):
    if len(given["logits"]) == 1:
        given["fallback"] = 0


def row_number_overflows(given, _):
    rows = np.arange(len(given["logits"])) % ENTRIES
    given["temperatures"] = given["temperatures"][rows]


def shared_without_drafts(given, _):
    none = given["lengths"] == 0
    given["numbers"][1::2][none[1::2]] = given["numbers"][::2][: none[1::2].size][none[1::2]]


@pytest.mark.parametrize(
    ("wrong", "chosen", "case"),
    [
        (not_warped_alone, of(SingleRows), "one row in each call"),
        (not_masked_alone, of(SingleRows), "one row in each call"),
        (no_drafts_alone, of(SingleRows), "one row in each call"),
        (first_temperature, of(FewRows), "a few rows in each call"),
        (row_number_overflows, lambda task: task.before > 0 and not task.large, "in one call"),
        (shared_without_drafts, of(DraftlessPairs), "rows of a call without drafts"),
        (lambda *_: None, lambda task: task.batches in (SingleRows, FewRows, OddRows), ""),
        (lambda *_: None, of(DraftlessPairs), ""),
    ],
)  # fmt: skip
def test_what_goes_wrong_in_certain_calls_alone_is_found(wrong, chosen, case):
    found = findings(warping(wrong), Tokens(1), chosen)
    assert bool(found) == bool(case)
    assert all(case in each for each in found)


def test_each_place_of_a_block_has_rows_of_its_own_in_calls_of_a_few_rows():
    def first_row(draft, target, drafts, rng):
        if 2 <= len(draft) <= 7:
            draft, target = draft[:, [0] * draft.shape[1]], target[:, [0] * target.shape[1]]
        uniforms = rng.random((len(draft), drafts.shape[1] + 1))
        return batch.token_verification(draft, target, drafts, uniforms)[:2]

    assert findings(first_row, Block.of_length(2), of(FewRows)) == {"a few rows in each call"}


def test_corrections_after_several_distinct_drafts_come_in_calls_of_a_few_rows():
    def corrected(draft, target, drafts, rng):
        uniforms = rng.random((len(draft), drafts.shape[1] + 1))
        rule = batch.recursive_rejection_without_replacement
        found = rule(draft, target, drafts, uniforms)
        if 2 <= len(draft) <= 7:
            return np.where(found.accepted, found.token, drawn(draft, rng.random(len(draft))))
        return found.token

    kind = Tokens(3, "without-replacement")
    assert findings(corrected, kind, of(FewRows)) == {"a few rows in each call"}


def test_settings_come_with_three_distinct_drafts_with_corrections_and_with_pairs_of_rows():
    def top_p(draft, target_logits, drafts, top_p, rng):
        """It is not called."""

    def ended(draft, target_logits, drafts, temperature, corrections, rng):
        """It is not called."""

    distinct = kernel_tasks(Verifier(top_p, Form()), Tokens(3, "without-replacement"), 67, ENTRIES)
    settings = [task.case.settings for task in distinct if isinstance(task.case, Warped)]
    assert any(each.get("top_p", 1) < 1 for row in settings for each in row)
    assert WarpedPairs in {task.batches for task in distinct}
    longer = kernel_tasks(Verifier(ended, Form()), Block.of_length(2), 67, ENTRIES)
    assert any(isinstance(task.case, Warped) for task in longer)
