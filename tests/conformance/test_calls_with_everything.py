"""Calls of certain numbers of rows have settings, masks, fewer drafts and models of their own."""

from itertools import product

import numpy as np
import pytest
from small_verifiers import drawn

from otspec import batch
from otspec.blocks.policies import policies
from otspec.conformance.cases.arrays import Form
from otspec.conformance.cases.calling import Verifier
from otspec.conformance.cases.kinds import Block, Tokens
from otspec.conformance.cases.ruled import as_maker
from otspec.conformance.cases.tasks import DRAFTLESS, FEWER, WARPED, kernel_tasks
from otspec.conformance.cases.warping import Warped
from otspec.conformance.evidence.batches import KernelBatches
from otspec.conformance.evidence.case_by_case import Check
from otspec.conformance.evidence.dependence import (
    DraftlessCallPairs,
    DraftlessPairs,
    WarpedCallPairs,
    WarpedPairs,
)
from otspec.conformance.evidence.sizes import FewBeside, FewRows, OddRows, RowsApart, SingleRows

ENTRIES = 64


def findings(verify, kind, chosen, rule=None, detect=0.05):
    """Check a verifier on the first task, and on those that are chosen."""
    first, *tasks = kernel_tasks(Verifier(verify, Form()), kind, 67, ENTRIES)
    tasks = [task for task in tasks if chosen(task)]
    assert tasks
    whole = Check((first, *tasks), kind.name, "kernel", rule, detect, 1e-6, 1e-6, 10**9, 0, 0.1)
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
    assert "a few rows in each call" in findings(corrected, kind, of(FewRows))


ALL_CALLS = {
    "one": {1}, "a few": {*range(2, 8)}, "31 to 255": {31, 63, 127, 255}, "many": {2 * ENTRIES},
}  # fmt: skip
SIZES = {SingleRows: "one", FewRows: "a few", OddRows: "31 to 255", KernelBatches: "many"}


def in_calls(*names):
    """Return the tasks of calls of certain numbers of rows, and of very many."""
    long = "many" in names
    return lambda task: SIZES.get(task.batches) in names and bool(task.before) == long


def rows_of(name, given):
    return len(given) in ALL_CALLS[name]


@pytest.mark.parametrize("name", ALL_CALLS)
def test_greedy_rows_are_in_calls_of_all_numbers_of_rows(name):
    def sampled(given, _):
        if rows_of(name, given["logits"]):
            given["temperatures"] = np.where(given["temperatures"] == 0, 1, given["temperatures"])

    assert findings(warping(sampled), Tokens(1), in_calls(name))
    assert not findings(warping(lambda *_: None), Tokens(1), in_calls(name))


@pytest.mark.parametrize(
    ("name", "forgotten"),
    [
        # In calls of very many rows twice as much is to be wrong, which a temperature is not.
        *product(ALL_CALLS, ["top_p"]), *product(["one", "a few", "31 to 255"], ["temperature"]),
    ],
)  # fmt: skip
def test_each_setting_of_a_call_is_in_calls_of_all_numbers_of_rows(name, forgotten):
    def verify(draft, target_logits, drafts, temperature, top_p, rng):
        given = {"temperature": temperature, "top_p": top_p}
        if rows_of(name, draft):
            given[forgotten] = 1.0
        target = batch.warp(target_logits, **given)
        return batch.maximal_coupling(draft, target, drafts, rng.random((len(draft), 2))).token

    assert findings(verify, Tokens(1), in_calls(name))


@pytest.mark.parametrize("name", ALL_CALLS)
def test_a_rest_of_several_tokens_follows_three_drafts_in_calls_of_all_numbers_of_rows(name):
    """The likeliest of what is left is the correction there."""

    def verify(draft, target, drafts, rng):
        left, token = target.astype(float), np.full(len(draft), -1)
        for slot in range(drafts.shape[1]):
            rows, its = np.arange(len(draft)), drafts[:, slot]
            keeps = rng.random(len(draft)) * draft[rows, its] < left[rows, its]
            token = np.where((token < 0) & keeps, its, token)
            left = np.maximum(left - draft, 0)
            left /= np.maximum(left.sum(axis=1, keepdims=True), 1e-300)
        own = drawn(left, rng.random(len(draft)))
        if rows_of(name, draft):
            own = np.argmax(left, axis=1)
        return np.where(token < 0, own, token)

    assert findings(verify, Tokens(3), in_calls(name))
    others = [each for each in ALL_CALLS if each not in (name, "many")]
    assert not findings(verify, Tokens(3), in_calls(*others))


def test_the_largest_probability_of_a_row_is_not_that_of_a_whole_call():
    def verify(draft, target_logits, drafts, min_p, rng):
        target = batch.warp(target_logits)
        kept = np.where(target >= min_p * target.max(), target, 0)
        target = kept / kept.sum(axis=1, keepdims=True)
        return batch.maximal_coupling(draft, target, drafts, rng.random((len(draft), 2))).token

    assert findings(verify, Tokens(1), in_calls("31 to 255"))


@pytest.mark.parametrize("name", ["a few", "31 to 255"])
def test_rows_of_a_call_have_other_numbers_of_drafts_or_all_none(name):
    def answered(wrong):
        def verify(draft, target, drafts, lengths, rng):
            uniforms = rng.random((len(draft), drafts.shape[1] + 1))
            mask = np.arange(drafts.shape[1]) < lengths[:, None]
            if wrong == "longest" and rows_of(name, draft):  # what comes after a whole block
                rows = np.arange(len(draft))
                target = target.copy()
                target[rows, lengths] = target[rows, lengths.max()]
            found = batch.token_verification(draft, target, drafts, uniforms, mask=mask)
            if wrong == "none" and rows_of(name, draft) and not lengths.any():
                return found.length, np.argmax(target[:, 0], axis=1)
            return found.length, found.token

        return verify

    assert findings(answered("longest"), Block.of_length(2), in_calls(name))
    assert findings(answered("none"), Block.of_length(2), in_calls(name))
    assert not findings(answered(""), Block.of_length(2), in_calls(name))


@pytest.mark.parametrize("name", ["one", "a few", "31 to 255"])
def test_what_a_rule_accepts_is_told_in_calls_of_all_numbers_of_rows(name):
    def verify(draft, target, drafts, rng):
        uniforms = rng.random((len(draft), drafts.shape[1] + 1))
        found = batch.recursive_rejection(draft, target, drafts, uniforms)
        index = np.where(found.accepted, found.index, -1)
        return found.token, np.full_like(index, -1) if rows_of(name, draft) else index

    rule = as_maker("recursive-rejection", "tokens")
    assert findings(verify, Tokens(2), in_calls(name), rule)
    assert not findings(verify, Tokens(2), in_calls(name))


@pytest.mark.parametrize("batches", [DraftlessCallPairs, WarpedCallPairs])
def test_calls_that_share_numbers_without_drafts_or_with_settings_are_found(batches):
    class Shared:
        """Each two calls have the same numbers where none is drafted, or with a temperature."""

        def __init__(self):
            self.calls = 0

        def numbers(self, rows, rng, wrong):
            self.calls += 1
            own = np.random.default_rng(self.calls // 2) if wrong else rng
            return own.random((rows, 2))

    class Draftless(Shared):
        def __call__(self, draft, target, drafts, lengths, rng):
            numbers = self.numbers(len(draft), rng, not lengths.any())
            mask = lengths[:, None] > 0
            answer = batch.maximal_coupling(draft, target, drafts, numbers, mask=mask)
            return answer.token

    class Warped(Shared):
        def __call__(self, draft, target_logits, drafts, temperature, rng):
            numbers = self.numbers(len(draft), rng, temperature != 1)
            target = batch.warp(target_logits, temperature=temperature)
            return batch.maximal_coupling(draft, target, drafts, numbers).token

    wrong = {DraftlessCallPairs: Draftless, WarpedCallPairs: Warped}[batches]()
    found = findings(wrong, Tokens(1), of(batches))
    assert found
    assert all(each.startswith(batches.between) for each in found)


def test_what_is_accepted_of_rows_of_all_lengths_raises_no_false_alarm():
    """What a rule accepts depends on the length, so that rows of one length are no samples."""

    def verify(draft, target, drafts, lengths, rng):
        mask = np.arange(drafts.shape[1]) < lengths[:, None]
        uniforms = rng.random((len(draft), drafts.shape[1] + 1))
        found = batch.recursive_rejection(draft, target, drafts, uniforms, mask=mask)
        token = np.where(lengths == 0, drawn(target, uniforms[:, 0]), found.token)
        return token, np.where(found.accepted & (lengths > 0), found.index, -1)

    rule = as_maker("recursive-rejection", "tokens")
    for name in ("one", "a few", "31 to 255"):
        assert not findings(verify, Tokens(2), in_calls(name), rule)


def test_drafts_that_a_policy_withdrew_stay_withdrawn_in_calls_of_few_and_many_rows():
    def verify(draft, target, drafts, lengths, rng):
        mask = np.arange(drafts.shape[1]) < lengths[:, None]
        uniforms = rng.random((len(draft), drafts.shape[1] + 1))
        found = batch.token_verification(draft, target, drafts, uniforms, mask=mask)
        return found.length, found.token

    kind = Block.of_length(2, policies(length=2)["confidence-kept"])
    for name in ("a few", "31 to 255"):
        assert not findings(verify, kind, in_calls(name), detect=0.005)


def neighbors(numbers, where):
    """Return numbers that each two neighbors share where this is true of both."""
    first = np.arange(len(numbers)) // 2 * 2
    return np.where((where & where[first])[:, None], numbers[first], numbers)


@pytest.mark.parametrize(
    ("shares", "kinds", "others"),
    [
        (lambda given: given["temperature"] != 1, WARPED, ()),
        (lambda given: given["top_p"] < 1, WARPED, ()),
        (lambda given: given["lengths"] == 1, FEWER, (*WARPED, *DRAFTLESS)),
    ],
    ids=["temperature", "top-p", "one draft of two"],
)
def test_rows_that_share_numbers_with_settings_or_fewer_drafts_are_found(shares, kinds, others):
    def verify(draft, target_logits, drafts, lengths, temperature, top_p, rng):
        given = {"temperature": temperature, "top_p": top_p, "lengths": lengths}
        where = np.broadcast_to(shares(given), lengths.shape)
        numbers = neighbors(rng.random((len(drafts), drafts.shape[1] + 1)), where)
        target = batch.warp(target_logits, temperature=temperature, top_p=top_p)
        mask = np.arange(drafts.shape[1]) < lengths[:, None]
        found = batch.recursive_rejection(draft, target, drafts, numbers, mask=mask)
        none = lengths == 0
        return np.where(none, drawn(target, rng.random(len(drafts))), found.token)

    found = findings(verify, Tokens(2), lambda task: task.batches in kinds)
    assert found
    assert all(each.startswith(tuple(kind.between for kind in kinds)) for each in found)
    if others:
        assert not findings(verify, Tokens(2), lambda task: task.batches in others)


@pytest.mark.parametrize(("batches", "rows"), [(FewBeside, "a few"), (RowsApart, "many")])
def test_two_rows_that_share_numbers_with_one_of_two_settings_are_found(batches, rows):
    def verify(draft, target_logits, drafts, temperature, min_p, rng):
        numbers = rng.random((len(drafts), 2))
        if min_p > 0 and rows == "a few":
            numbers[-1] = numbers[0]
        elif min_p > 0:  # the correction has the number of the next row's test
            numbers[:-1, 1] = numbers[1:, 0]
        target = batch.warp(target_logits, temperature=temperature, min_p=min_p)
        return batch.maximal_coupling(draft, target, drafts, numbers).token

    found = findings(verify, Tokens(1), of(batches), detect=0.005)
    assert found
    assert all(" min_p " in each for each in found)


def test_rows_that_share_numbers_where_there_is_a_mask_are_found():
    def verify(draft, target_logits, drafts, allowed, rng):
        numbers = neighbors(rng.random((len(drafts), 2)), ~allowed.all(axis=1))
        target = batch.warp(np.where(allowed, target_logits, -np.inf).astype(np.float32))
        return batch.maximal_coupling(draft, target, drafts, numbers).token

    assert findings(verify, Tokens(1), of(WarpedPairs)) == {"rows of a call, with settings"}

    def handed(draft, target_logits, drafts, allowed, temperature, top_k, top_p, min_p, rng):
        """It is not called."""

    tasks = kernel_tasks(Verifier(handed, Form()), Tokens(1), 67, ENTRIES)
    tried = [task.case.settings[0] for task in tasks if task.batches is WarpedPairs]
    assert set().union(*tried) == {"temperature", "top_k", "top_p", "min_p"}


@pytest.mark.parametrize("apart", [1, 3, 32])
def test_a_number_for_two_tests_of_rows_up_to_32_apart_is_found(apart):
    def verify(draft, target, drafts, rng):
        numbers = rng.random((len(drafts), 3))
        # The correction's number is that of the first draft some rows later.
        numbers[:-apart, 2] = numbers[apart:, 0]
        return batch.recursive_rejection(draft, target, drafts, numbers).token

    assert "rows up to 32 apart" in findings(verify, Tokens(2), of(RowsApart))


def test_settings_come_with_three_distinct_drafts_with_corrections_and_with_pairs_of_rows():
    def top_p(draft, target_logits, drafts, top_p, rng):
        """It is not called."""

    def ended(draft, target_logits, drafts, temperature, corrections, rng):
        """It is not called."""

    distinct = kernel_tasks(Verifier(top_p, Form()), Tokens(3, "without-replacement"), 67, ENTRIES)
    settings = [task.case.settings for task in distinct if isinstance(task.case, Warped)]
    assert any(each.get("top_p", 1) < 1 for row in settings for each in row)
    assert WarpedPairs in {task.batches for task in distinct}

    def of_rows(draft_logits, target_logits, drafts, temperatures, top_ps, min_ps, rng):
        """It is not called."""

    def of_call(draft_logits, target_logits, drafts, temperature, top_p, min_p, rng):
        """It is not called."""

    for verify, some in ((of_rows, lambda task: not task.before), (of_call, of(SingleRows))):
        made = Verifier(verify, Form())
        tasks = kernel_tasks(made, Tokens(3, "without-replacement"), 67, ENTRIES)
        cases = [it.case for it in tasks if some(it) and isinstance(it.case, Warped)]
        tried = {name for case in cases for each in case.settings for name in each}
        assert tried == {"temperature", "top_p", "min_p"}
    longer = kernel_tasks(Verifier(ended, Form()), Block.of_length(2), 67, ENTRIES)
    assert any(isinstance(task.case, Warped) for task in longer)
