"""Padding that counts as drafts, texts beside others, and texts that never end."""

import numpy as np
import pytest
from small_verifiers import drawn

from otspec import batch
from otspec.chance import CannotFollowError
from otspec.conformance import check
from otspec.conformance.cases.cases import prompted
from otspec.conformance.cases.generated import Texts
from otspec.conformance.cases.kinds import Block
from otspec.conformance.cases.text_cases import beside_texts, text_cases
from otspec.conformance.faults import FAULTS, RIGHT_RULES, Machine, joint_law
from tests.support.docs_scripts import script

measure = script("fault_controls")
QUICK = {"detect": 0.1, "coarse": 0.4, "vocabulary": 99, "entries": 1_000, "shape": 2}
PADDING = ("padding counted as drafts",)
RULE = {rule.name: rule for rule in RIGHT_RULES}
KIND = Texts(Block.of_length(2))


def coupled(draft, target, drafts, lengths, rng):
    """Recursive rejection of all drafts, whatever their number is."""
    said = []
    for p, q, row in zip(draft.astype(float), target.astype(float), drafts, strict=True):
        left, index = q, -1
        for place, x in enumerate(row):
            if rng.random() * p[x] < left[x]:
                index = place
                break
            left = np.maximum(left - p, 0)
            left = left / left.sum() if left.sum() > 0 else q
        said.append((row[index] if index >= 0 else rng.choice(len(q), p=left / left.sum()), index))
    return tuple(np.array(said, dtype=int).T)


def token_alone(draft, target, drafts, lengths, rng):
    return coupled(draft, target, drafts, lengths, rng)[0]


@pytest.mark.parametrize("mode", ["kernel", "exact"])
def test_drafts_that_do_not_count_are_named_where_they_are_kept(mode):
    report = check(coupled, mode=mode, **QUICK)
    assert {(each.statistic, each.looks_like, each.perhaps) for each in report.findings} == {
        ("impossible", PADDING, False)
    }
    assert any(note.startswith(PADDING[0]) for note in report.notes)


@pytest.mark.parametrize("mode", ["kernel", "exact"])
def test_garbage_that_is_looked_at_is_perhaps_padding(mode):
    """Only tokens are told; what would have been drafted is verified right, and garbage is not."""
    report = check(token_alone, mode=mode, **QUICK | {"detect": 0.07})
    named = {(each.looks_like, each.perhaps) for each in report.findings if each.observed}
    assert named == {(PADDING, True)}
    # There is garbage behind drafts in calls of certain numbers of rows, too.
    names = "garbage", "in each call", "up to 32 apart", "beside each other"
    assert all(any(name in each.case for name in names) for each in report.findings)


def test_blocks_and_trees_with_padding_are_named():
    def block(draft, target, drafts, lengths, uniforms):
        return batch.token_verification(draft, target, drafts, uniforms)

    def tree(draft, target, drafts, mask, parents, rng):
        return batch.tree_verification(
            draft, target, drafts, rng.random((len(drafts), 3, 3)), parents
        )

    for verifier, kind in ((block, "block"), (tree, "tree")):
        options = QUICK | {"shape": 2 if kind == "block" else "2x1"}
        assert {each.looks_like for each in check(verifier, kind=kind, **options).findings} == {
            PADDING
        }


def test_more_drafts_than_there_are_is_no_padding():
    def block(drafts):
        return np.full(len(drafts), 7), drafts[:, 0]

    found = check(block, kind="block", **QUICK).findings
    assert {(each.statistic, each.looks_like) for each in found} == {("impossible", ())}


def test_rows_of_other_texts_are_known_beside_such_alone():
    rule, machine = RULE["token verification"], FAULTS["target of another row of the batch"].machine
    for case in text_cases(KIND.length, 99)[:8]:
        with pytest.raises(CannotFollowError, match="where other texts of the batch have got to"):
            joint_law(machine, rule, KIND, case)
    case = beside_texts()
    assert (
        measure.total_variation(joint_law(Machine, rule, KIND, case), measure.right_law(KIND, case))
        < 1e-14
    )
    law = joint_law(machine, rule, KIND, case).sum(axis=0)[:-1].reshape(3, 4, -1).sum(axis=2)
    # Drafts are 0 and 1, which the other text never says: it says 2 or 3, with 1/4 and 3/4.
    assert law[:2] == pytest.approx(np.tile([0, 0, 1 / 4, 3 / 4], (2, 1)) / 3, abs=1e-15)


def test_rows_of_other_texts_are_not_named_of_what_is_wrong_alone():
    """All texts begin with the first token of the batch's last prompt, whoever stands beside."""

    def engine(draft, target, prompts, length, rng):
        texts, last = np.zeros((len(prompts), length), dtype=int), prompts
        for place in range(length):
            rows = target(last)
            if place == 0:
                rows = np.roll(rows, 1, axis=0) ** 2
            last = drawn(rows, rng.random(len(rows)))[:, None]
            texts[:, place] = last[:, 0]
        return texts

    # Alone the first token has (1, 4) / 5 in place of (1, 2) / 3: a total variation of 2/15.
    closer = QUICK | {"entries": 4_000, "coarse": 0.12}
    report = check(engine, kind="block", mode="pipeline", **closer)
    assert not report.passed
    assert {each.looks_like for each in report.findings} == {()}


def test_texts_of_steps_that_give_out_nothing_have_the_law_of_their_chain():
    rule, machine = RULE["token verification"], FAULTS["last token of each step lost"].machine
    # A draft of token 1 is kept with 1/2, and nothing else is: a step says 1 or 1, 1, or nothing.
    case = prompted("halves", [(0, 1)] * 2, [(1, 1)] * 2, 2)
    law = joint_law(machine, rule, KIND, case).sum(axis=0)
    assert law[15] == law[31] == pytest.approx(1 / 2, abs=1e-15)
    never = prompted("nothing", [(0, 1)] * 2, [(1, 0)] * 2, 2)
    with pytest.raises(CannotFollowError, match="texts do not end"):
        joint_law(machine, rule, KIND, never)
