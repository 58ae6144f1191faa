"""Calls of certain numbers of rows, and pairs of rows, have each setting, and also none at all."""

from collections import defaultdict
from inspect import Parameter, Signature
from itertools import product

import numpy as np
import pytest
from small_verifiers import drawn
from test_calls_with_everything import ENTRIES, SIZES, findings, in_calls, neighbors, of, rows_of

from otspec import batch
from otspec.conformance.cases.arrays import Form
from otspec.conformance.cases.calling import Verifier
from otspec.conformance.cases.engine_tasks import engine_tasks
from otspec.conformance.cases.kinds import Block, Tokens, Tree
from otspec.conformance.cases.tasks import DRAFTLESS, FEWER, kernel_tasks
from otspec.conformance.cases.warping import Warped
from otspec.conformance.evidence.sizes import FewBeside, RowsBeside, SingleRows

DISTINCT = "without-replacement"
NAMES = ("temperature", "top_k", "top_p", "min_p")
KINDS = [
    Tokens(1), *(Tokens(k, DISTINCT) for k in (2, 3, 4)), Block.of_length(2),
    Tree((-1, -1, -1, 0), DISTINCT),
]  # fmt: skip
TAKEN = [
    NAMES, ("draft_logits", *NAMES), ("draft_logits", "min_p"), ("draft_logits", "top_k"),
    ("draft_logits", "allowed", "lengths", *NAMES),
]  # fmt: skip
COARSE = 0.1


def taking(*names):
    """Return a verifier that takes arguments of these names."""

    def verify(**given):
        """It is not called."""

    given = ("target_logits", "drafts", "rng", *names)
    one = [Parameter(name, Parameter.POSITIONAL_OR_KEYWORD) for name in given]
    verify.__signature__ = Signature(one)
    return Verifier(verify, Form())


def softmax(logits):
    weights = np.exp(logits - logits.max(axis=-1, keepdims=True))
    return weights / weights.sum(axis=-1, keepdims=True)


def without(logits, settings):
    """Warp logits, as the definition of each setting has it, one row after the other."""
    rows = []
    for row in logits / settings.get("temperature", 1):
        order = np.argsort(-row, kind="stable")
        row[order[settings.get("top_k", len(row)) :]] = -np.inf
        likely = softmax(row)
        before = np.cumsum(likely[order]) - likely[order]
        row[order[before >= settings.get("top_p", 2)]] = -np.inf
        row[likely < settings.get("min_p", 0) * likely.max()] = -np.inf
        rows.append(softmax(row))
    return np.array(rows)


def moved_by(case, name):
    """Return how far the law of first tokens is moved where a verifier forgets one setting."""
    laws = []
    for variant, settings in enumerate(case.settings):
        logits = np.where(case.allowed, case.target_logits, -np.inf)[variant, :1]
        others = {each: value for each, value in settings.items() if each != name}
        laws.append(np.abs(without(logits, others) - without(logits, settings)).sum() / 2)
    return np.mean(laws)


@pytest.mark.parametrize("kind", KINDS, ids=repr)
@pytest.mark.parametrize("takes", TAKEN, ids=repr)
def test_each_setting_moves_the_law_in_calls_of_each_number_of_rows(kind, takes):
    taken = {*takes} - ({"lengths"} if kind.name == "tree" else set())
    moved = defaultdict(list)
    for task, name in product(kernel_tasks(taking(*taken), kind, 67, ENTRIES), {*NAMES} & taken):
        if task.batches in SIZES and isinstance(task.case, Warped):
            size = SIZES[task.batches], task.before > 0
            moved[*size, name] += [moved_by(task.case, name)]
    sizes = [("one", False), ("a few", False), ("31 to 255", False), ("many", True)]
    for size, name in product(sizes, {*NAMES} & taken):
        assert max(moved[*size, name]) > COARSE


@pytest.mark.parametrize("names", [NAMES, ("allowed",), ("lengths",), ("temperatures", "lengths")])
def test_calls_of_each_number_of_rows_and_pairs_of_rows_also_have_nothing_special(names):
    tasks = kernel_tasks(taking(*names), Tokens(2), 67, ENTRIES)
    plain = {
        (task.batches, task.before > 0) for task in tasks
        if not isinstance(task.case, Warped) and not task.case.uneven and not task.large
    }  # fmt: skip
    assert {(each, False) for each in (*SIZES, FewBeside, RowsBeside)} <= plain
    assert {each for each, before in plain if before}
    pairs = {task.batches for task in tasks if not isinstance(task.case, Warped)}
    assert {*FEWER, *DRAFTLESS} & {task.batches for task in tasks} <= pairs


def coupled(wrong):
    """Return maximal coupling that warps, with lengths, whose numbers some calls get wrong."""

    def verify(draft, target_logits, drafts, lengths, temperature, allowed, rng):
        numbers = rng.random((len(draft), 2))
        wrong(numbers, lengths=lengths, temperature=temperature, allowed=allowed)
        target = batch.warp(
            np.where(allowed, target_logits, -np.inf).astype(np.float32), temperature=temperature
        )
        mask = lengths[:, None] > 0
        found = batch.maximal_coupling(draft, target, drafts, numbers, mask=mask)
        return np.where(lengths == 0, drawn(target, numbers[:, 0]), found.token)

    return verify


def last_as_next_to_last(numbers, **given):
    if 2 <= len(numbers) <= 255:
        numbers[-1] = numbers[-2]


def only_where(condition, wrong):
    """Return what goes wrong, only in calls of which a condition is true."""
    return lambda numbers, **given: wrong(numbers, **given) if condition(**given) else None


PLAIN = {
    "temperature 1": lambda temperature, **_: temperature == 1,
    "all lengths full": lambda lengths, **_: lengths.all(),
    "all allowed": lambda allowed, **_: allowed.all(),
}


@pytest.mark.parametrize(
    ("name", "batches"), [*zip(PLAIN, (RowsBeside, FewBeside, FewBeside), strict=True)]
)
def test_two_rows_that_share_numbers_where_nothing_is_special_are_found(name, batches):
    wrong = only_where(PLAIN[name], last_as_next_to_last)
    assert findings(coupled(wrong), Tokens(1), of(batches))


@pytest.mark.parametrize("batches", [FewBeside, *DRAFTLESS])
def test_rows_with_numbers_of_their_own_pass_where_nothing_is_special(batches):
    assert not findings(coupled(lambda *_, **__: None), Tokens(1), of(batches))


@pytest.mark.parametrize("name", PLAIN)
def test_a_row_number_that_overflows_where_nothing_is_special_is_found(name):
    def verify(draft, target_logits, drafts, lengths, temperature, allowed, rng):
        """It answers the rows behind the first ones as if they were those."""
        given = {"lengths": lengths, "temperature": temperature, "allowed": allowed}
        again = np.arange(len(draft)) % ENTRIES
        if not PLAIN[name](**given):
            again = np.arange(len(draft))
        return coupled(lambda *_, **__: None)(
            draft[again], target_logits[again], drafts[again], lengths[again], temperature,
            allowed[again], rng,
        )  # fmt: skip

    assert findings(verify, Tokens(1), lambda task: task.before > 0 and not task.large)


@pytest.mark.parametrize("most", [0, 1])
def test_neighbors_with_fewer_drafts_that_share_numbers_at_temperature_1_are_found(most):
    def verify(draft, target_logits, drafts, lengths, temperature, rng):
        numbers = rng.random((len(draft), 3))
        if temperature == 1:
            numbers = neighbors(numbers, lengths <= most)
        target = batch.warp(target_logits, temperature=temperature)
        mask = np.arange(2) < lengths[:, None]
        found = batch.recursive_rejection(draft, target, drafts, numbers, mask=mask)
        return np.where(lengths == 0, drawn(target, numbers[:, 0]), found.token)

    kinds = (DRAFTLESS, FEWER)[most]
    assert findings(verify, Tokens(2), lambda task: task.batches in kinds)


@pytest.mark.parametrize("size", ["one", "a few", "31 to 255"])
@pytest.mark.parametrize(("k", "name"), [(2, "min_p"), (3, "top_k")])
def test_a_setting_that_calls_of_some_sizes_forget_with_distinct_drafts_is_found(size, k, name):
    def verify(draft_logits, target_logits, drafts, min_p, top_k, rng):
        given = {"min_p": min_p, "top_k": min(int(top_k), draft_logits.shape[-1])}
        draft = batch.warp(draft_logits, **given)
        if rows_of(size, draft):
            given[name] = {"min_p": 0.0, "top_k": draft_logits.shape[-1]}[name]
        target = batch.warp(target_logits, **given)
        numbers = rng.random((len(draft), k + 1))
        return batch.recursive_rejection_without_replacement(draft, target, drafts, numbers).token

    assert findings(verify, Tokens(k, DISTINCT), in_calls(size))


def test_an_engine_is_called_with_one_row_without_settings():
    def engine(draft, target, prompts, rng, temperature, top_p):
        """It is not called."""

    tasks = engine_tasks(engine, Form(), Block.of_length(2), 67, ENTRIES)
    alone = [task.law for task in tasks if task.batches is SingleRows]
    assert sum(not isinstance(law, Warped) for law in alone) == 1
    tried = {name for law in alone if isinstance(law, Warped) for name in law.settings[0]}
    assert tried == {"temperature", "top_p"}


@pytest.mark.parametrize("kind", [Tokens(2), Tokens(3, DISTINCT), Block.of_length(2)], ids=repr)
@pytest.mark.parametrize("names", [("allowed",), ("allowed", "lengths", *NAMES)], ids=repr)
def test_masks_forbid_other_tokens_after_each_symbol_and_in_the_next_pair_of_models(kind, names):
    for task in kernel_tasks(taking(*names), kind, 67, ENTRIES):
        case = task.case
        if isinstance(case, Warped) and not (case.allowed.all() or task.large):
            masked = ~case.allowed.all(axis=-1)
            assert (np.count_nonzero(~case.allowed, axis=-1) == masked).all()
            forbidden = np.argmin(case.allowed, axis=-1)
            # Of four possible tokens one is allowed at all three of the places before.
            masked &= np.isfinite(case.target_logits).sum(axis=-1) > 3
            both = masked[:, 1:] & masked[:, :1]
            assert (forbidden[:, 1:] != forbidden[:, :1])[both].all()
            both = masked[1:] & masked[:-1]
            assert (forbidden[1:] != forbidden[:-1])[both].all()


@pytest.mark.parametrize("size", ["one", "a few", "31 to 255", "many"])
def test_the_mask_of_the_first_position_for_all_is_found_in_calls_of_each_size(size):
    def verify(draft, target_logits, drafts, allowed, rng):
        if rows_of(size, draft):
            allowed = np.broadcast_to(allowed[:, :1], allowed.shape)
        target = softmax(np.where(allowed, target_logits.astype(float), -np.inf))
        numbers = rng.random((len(draft), drafts.shape[1] + 1))
        found = batch.token_verification(draft.astype(float), target, drafts, numbers)
        return found.length, found.token

    assert findings(verify, Block.of_length(2), in_calls(size))
