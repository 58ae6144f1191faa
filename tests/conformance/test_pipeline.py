"""Engines that draft and verify: right ones pass, and each wrong one is caught, and where."""

import numpy as np
import pytest
import wrong_engines
import wrong_token_engines
from text_engines import BlockEngine, choose, token_engine, tree_engine

from otspec.batch import token_verification
from otspec.conformance import check, one_by_one
from otspec.conformance.cases.cases import memoryless
from otspec.conformance.cases.kinds import Block
from otspec.conformance.evidence.batches import step_texts

SMALL = {"mode": "pipeline", "vocabulary": 101, "detect": 0.1, "coarse": 0.4, "entries": 4_000}
OUTPUT = "law of the output"
FIRST = "law of the first token"
SECOND, THIRD = "law of the first 2 tokens", "law of the first 3 tokens"
TEXT = "law of the text"
ROWS, CALLS = "dependence between neighboring rows", "dependence between calls"


class WarpedEngine(BlockEngine):
    """Draft and target are warped alike."""

    def __call__(self, draft, target, prompts, length, rng, temperature, top_k, top_p):
        options = {"temperature": temperature, "top_k": top_k, "top_p": top_p}
        models = (wrong_engines.Warped(model, options) for model in (draft, target))
        return super().__call__(*models, prompts, length, rng)


class GreedyDrafts(BlockEngine):
    """The draft is colder than it could be, and declared as it is."""

    def __call__(self, draft, target, prompts, length, rng):
        cold = wrong_engines.Warped(draft, {"temperature": 0.5})
        return super().__call__(cold, target, prompts, length, rng)


RIGHT = {
    "block verification": (BlockEngine(), {"kind": "block"}),
    "token by token": (BlockEngine(token_verification, 3), {"kind": "block", "shape": 3}),
    "warped": (WarpedEngine(), {"kind": "block"}),
    "cold drafts": (GreedyDrafts(), {"kind": "block"}),
    "in float16": (BlockEngine(), {"kind": "block", "dtype": "float16"}),
    "tree": (tree_engine, {"kind": "tree"}),
    "tokens": (token_engine, {"kind": "tokens"}),
}


@pytest.mark.parametrize("name", RIGHT)
def test_right_engines_pass(name):
    engine, options = RIGHT[name]
    report = check(engine, **options, **SMALL)
    assert report.passed, report.findings
    assert (report.mode, report.kind) == ("pipeline", options["kind"])


WRONG = {
    "OneUniform": {FIRST, SECOND},
    "NumbersOfFirstStep": {SECOND, THIRD, TEXT},
    "SeedOfEachStep": {SECOND, THIRD, TEXT},
    "DraftsOfFirstStep": {SECOND, THIRD, TEXT},
    "DrawOfStepBefore": {SECOND, THIRD, TEXT},
    "SeedOfEachCall": {CALLS},
    "NumbersOfFirstRow": {ROWS},
    "DraftTemperature": {FIRST, SECOND, THIRD, TEXT},
    "DraftRowsOfStepBefore": {FIRST, SECOND},
    "RowsOfAnotherText": {SECOND, THIRD},
    "RowsOfTheNextText": {FIRST},
    "RowsOfTheTextBefore": {FIRST},
    "DraftRowsOfTheNextText": {FIRST, SECOND},
    "CorruptedInPlace": {THIRD, TEXT},
    "BonusOfDraft": {THIRD},
    "EatenToken": {THIRD},
    "LastTokenLost": {FIRST, SECOND},
    "LastTokenDoubled": {SECOND, THIRD},
    "AfterRejectedDraft": {SECOND},
    "PaddedEnd": {TEXT},
    "RepeatedEnd": {TEXT},
    "UnverifiedEnd": {TEXT},
    "FilledUp": {THIRD, TEXT},
    "PaddingCounted": {THIRD, TEXT},
    "TargetInPlaceOfResidual": {FIRST},
    "SecondDraw": {FIRST},
    "ResidualOfFirstPlace": {SECOND},
    "NearlyCertain": {FIRST, SECOND},
    "UnwarpedTarget": {FIRST, SECOND},
}
"""What is off first, on any of the cases where something is."""
DETECT = {"DraftTemperature": 0.07, "CorruptedInPlace": 0.08}


CAUSES = {
    "OneUniform": {"random number shared by draft and test"},
    "DraftRowsOfStepBefore": {"draft's row of the place before"},
    "BonusOfDraft": {"bonus token from the draft"},
    "TargetInPlaceOfResidual": {"correction drawn from the target"},
    "SecondDraw": {"second draw after a mismatch"},
    "ResidualOfFirstPlace": {"correction of the first place at every place"},
    "NumbersOfFirstStep": {"numbers of verification used again in each step"},
    "DraftsOfFirstStep": {"numbers of drafts used again in each step"},
    "DrawOfStepBefore": {"number of the draw used again for the next draft"},
    "SeedOfEachStep": {"seed set again in each step"},
    "AfterRejectedDraft": {"next step follows the rejected draft"},
    "RowsOfAnotherText": {"target of another text after a rejection"},
    "RowsOfTheNextText": {"target of another row of the batch"},
    "RowsOfTheTextBefore": {"drafts of another row of the batch"},
    "DraftRowsOfTheNextText": {"draft of another row of the batch"},
    "EatenToken": {"token after a whole path lost"},
    "LastTokenLost": {"last token of each step lost"},
    "LastTokenDoubled": {"last token of each step doubled"},
    "PaddedEnd": {"text ends with padding"},
    "RepeatedEnd": {"text ends with its last token once more"},
    "UnverifiedEnd": {"text ends with a draft that is not verified"},
    "FilledUp": {"text filled up with drafts that are not verified"},
    "PaddingCounted": {"padding counted as drafts"},
    "NearlyCertain": {"drafts accepted above a ratio"},
    "DraftTemperature": {"drafts drawn at another temperature"},
    "UnwarpedTarget": {"warping applied to the draft only"},
    "SeedOfEachCall": {"random numbers of one call used again in the next"},
    "NumbersOfFirstRow": {"random numbers shared by neighboring rows"},
}
"""What it looks like; a residual that is written over the target's rows is no known fault, and
nothing is named. What is accepted above a probability has a ratio above 0.7 in all cases where that
is off."""


@pytest.mark.parametrize("name", WRONG)
def test_wrong_engines_are_caught(name):
    engine = getattr(wrong_engines, name)()
    report = check(engine, kind="block", **SMALL | {"detect": DETECT.get(name, 0.1)})
    assert WRONG[name] & {finding.statistic for finding in report.findings}
    assert not {"call", "impossible"} & {finding.statistic for finding in report.findings}
    causes = {cause for finding in report.findings for cause in finding.looks_like}
    assert {cause.split(" or ")[0] for cause in causes} == CAUSES.get(name, set())


@pytest.mark.nightly
def test_a_bonus_that_is_not_warped_is_named_in_texts_of_several_steps():
    report = check(wrong_engines.WarmBonus(), kind="block", **SMALL)
    causes = {(finding.looks_like, finding.perhaps) for finding in report.findings}
    assert causes == {(("bonus token before warping",), False)}


WRONG_TOKENS = {
    "one_number": OUTPUT,
    "draft_at_another_temperature": OUTPUT,
    "drafts_without_replacement": OUTPUT,
    "target_of_logits": OUTPUT,
    "another_index": "impossible",
}


@pytest.mark.parametrize("name", WRONG_TOKENS)
def test_wrong_engines_for_one_token_are_caught(name):
    report = check(getattr(wrong_token_engines, name), shape=2, **SMALL)
    assert {finding.statistic for finding in report.findings} == {WRONG_TOKENS[name]}


def test_an_engine_of_single_texts_is_usable():
    def single(draft, target, prompts, length, seed):
        assert prompts.shape == (1, 1)
        return BlockEngine()(draft, target, prompts, length, np.random.default_rng(seed))[0]

    less = {"detect": 0.5, "coarse": 0.5, "entries": 9}
    report = check(one_by_one(single), kind="block", **SMALL | less)
    assert report.passed
    assert report.detectable <= 1


def test_an_engine_of_single_tokens_is_usable():
    def single(draft, k, rng):
        drafts = choose(draft[:, None], rng.random((1, k)))
        return int(drafts[0, 0]), drafts, np.zeros(1, dtype=int)

    rows = np.eye(4)[[0, 2, 3]]
    token, drafts, index = one_by_one(single)(rows, 3, np.random.default_rng(0))
    assert token.tolist() == [0, 2, 3]
    assert drafts.tolist() == [[0] * 3, [2] * 3, [3] * 3]
    assert index.tolist() == [0, 0, 0]


def test_rows_that_share_all_numbers_depend_on_each_other():
    class OneRow:
        def __init__(self, rng):
            self.rng = rng

        def random(self, shape):
            return np.repeat(self.rng.random((1, *np.atleast_1d(shape)[1:])), np.max(shape), axis=0)

    def engine(draft, target, prompts, length, rng):
        return BlockEngine()(draft, target, prompts, length, OneRow(rng))

    report = check(engine, kind="block", **SMALL)
    assert ROWS in {finding.statistic for finding in report.findings}
    assert CALLS not in {finding.statistic for finding in report.findings}


@pytest.mark.parametrize(
    ("tokens", "length"), [(1, 6), (2, 6), (3, 4), (4, 3), (5, 2), (10, 2), (11, 2)]
)
def test_texts_of_two_steps_are_looked_at_as_far_as_there_are_a_hundred(tokens, length):
    """A step of two drafts gives three tokens at most."""
    case = memoryless("a case", (1,) * tokens, (1,) * tokens)
    assert step_texts(Block.of_length(2), case).length == length
