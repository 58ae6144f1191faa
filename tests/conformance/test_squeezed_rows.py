"""Answers to a call of one row without the axis of rows: they are read, where rows are not lost."""

# ruff: noqa: ARG005 # stand-ins that look at few of their arguments

import numpy as np
import pytest
from text_engines import BlockEngine

from otspec import batch
from otspec.conformance import adapters, check
from otspec.conformance.cases.cases import integers, memoryless
from otspec.conformance.cases.drafting import Sample
from otspec.conformance.cases.kinds import Block, Tokens, Tree

SMALL = {"detect": 0.3, "coarse": 0.6, "vocabulary": 11, "entries": 64}
CASE = memoryless("a case", (1, 2, 1), (2, 1, 1))


def squeezed(answer):
    """Return an answer whose axes of length 1 are gone, as ``squeeze()`` leaves it."""
    parts = [part.squeeze() if hasattr(part, "squeeze") else part for part in answer]
    return tuple(parts)


def token(draft, target, drafts, rng):
    uniforms = rng.random((len(drafts), drafts.shape[1] + 1))
    return batch.recursive_rejection(draft, target, drafts, uniforms)


def emitted(draft, target, drafts, rng):
    uniforms = rng.random((len(drafts), drafts.shape[1] + 1))
    length, last = batch.block_verification(draft, target, drafts, uniforms)
    places = np.arange(drafts.shape[1] + 1)
    known = np.where(places < length[:, None], np.pad(drafts, ((0, 0), (0, 1))), -1)
    return np.where(places == length[:, None], last[:, None], known)


def with_an_axis(draft, target, drafts, rng):
    uniforms = rng.random((len(drafts), drafts.shape[1] + 1))
    length, last = batch.block_verification(draft, target, drafts, uniforms)
    return length, last[:, None]


FORMS = {
    "a token": (lambda *given: token(*given).token.squeeze(), {"kind": "tokens"}),
    "a token and an index": (
        lambda *given: squeezed(token(*given)[::2]),
        {"kind": "tokens", "rule": "recursive-rejection"},
    ),
    "a length and tokens with an axis more": (with_an_axis, {"kind": "block"}),
    "emitted tokens": (lambda *given: emitted(*given).squeeze(), {"kind": "block"}),
    "one text": (
        lambda *given: BlockEngine()(*given).squeeze(),
        {"kind": "block", "mode": "pipeline"},
    ),
}


@pytest.mark.parametrize("name", FORMS)
def test_what_is_squeezed_away_in_calls_of_one_row_is_no_fault(name):
    function, options = FORMS[name]
    if options.get("mode") == "pipeline":

        def verify(draft, target, prompts, length, rng):
            return function(draft, target, prompts, length, rng)

    else:

        def verify(draft, target, drafts, rng):
            return function(draft, target, drafts, rng)

    report = check(verify, **options, **SMALL)
    assert report.passed, report.findings
    assert any("one row" in case.case for case in report.cases)


def test_exact_mode_reads_a_token_without_an_axis():
    def verify(draft, target, drafts, rng):
        p, q, x = draft[0].astype(float), target[0].astype(float), drafts[0, 0]
        if rng.random() * p[x] < q[x]:
            return x
        rest = np.maximum(q - p, 0)
        return rng.choice(len(q), p=rest / rest.sum())

    assert check(verify, mode="exact", shape=1).passed


@pytest.mark.parametrize(
    ("kind", "answer", "text"),
    [
        (Tokens(2), np.int64(1), [1]),
        (Tokens(2), (np.int64(1), np.int64(0)), [1]),
        (Block.of_length(2), (1, 2), [0, 2, -1]),
        (Block.of_length(2), np.array([0, 2, -1]), [0, 2, -1]),
        (Block.of_length(1), np.array([0, 2]), [0, 2]),
        (Tree((-1, -1, 0)), (np.int64(-1), np.int64(1)), [1, -1, -1]),
    ],
)  # fmt: skip
def test_answers_of_one_row_are_read(kind, answer, text):
    drafts = np.array([[1, 0] if kind.name == "tokens" else [0, 1, 1][: len(kind.parents)]])
    there = np.ones(drafts.shape, dtype=bool)
    sample = Sample(np.zeros(1, dtype=int), drafts, drafts, there)
    assert kind.read(answer, CASE, sample).texts.tolist() == [text]


def test_an_axis_that_holds_something_is_not_squeezed_away():
    with pytest.raises(ValueError, match=r"shape \(\): it must be integers of shape \(2,\)"):
        integers(1, (2,), "token")
    with pytest.raises(ValueError, match=r"shape \(6,\): it must be integers of shape \(2, 3\)"):
        integers(np.arange(6), (2, 3), "texts")
    drafts = np.array([[0, 1], [1, 0]])
    sample = Sample(np.zeros(2, dtype=int), drafts, drafts, np.ones((2, 2), dtype=bool))
    with pytest.raises(ValueError, match="returned 1 values: return length and token"):
        Block.of_length(2).read(np.array([0, 2, -1]), CASE, sample)


ROWS = np.array([[0.5, 0.25, 0.25]])
BLOCK = {"draft": ROWS[:, None].repeat(2, 1), "target": ROWS[:, None, ::-1].repeat(3, 1)}
CHAIN = BLOCK | {"drafts": np.array([[0, 1]])}
SINGLE = {"draft": ROWS, "target": ROWS[:, ::-1], "drafts": np.array([[0, 1]])}


def test_a_function_of_one_text_may_keep_an_axis_of_length_1():
    verify = adapters.one_at_a_time(lambda draft, drafts: drafts[:1])
    assert verify(draft=ROWS, drafts=np.array([[2, 1]])).tolist() == [2]
    pairs = adapters.one_at_a_time(lambda draft, drafts: (drafts[:1], drafts[1:]))
    assert [part.tolist() for part in pairs(draft=ROWS, drafts=np.array([[2, 1]]))] == [[2], [1]]


def of_adapters():
    """Yield adapters, the functions that they take, and what the verifiers are called with."""
    from stand_ins import (
        flashinfer_stand_in,
        tensorrt_stand_in,
        vllm_runner_stand_in,
        vllm_stand_in,
    )

    tree = CHAIN | {"parents": (-1, 0), "seed": 3}
    tree["draft"] = BLOCK["target"]
    ends = {"lengths": np.array([2])}
    yield adapters.flashinfer_chain, flashinfer_stand_in.chain_speculative_sampling, CHAIN
    yield adapters.tensorrt_chain, tensorrt_stand_in.rejection_sampling_one_model, CHAIN
    yield (
        adapters.tensorrt_tree,
        tensorrt_stand_in.verify_dynamic_tree_rejection_from_logits_out,
        tree,
    )
    yield adapters.vllm_chain, vllm_stand_in.of_probabilities, CHAIN | ends
    yield (
        adapters.vllm_runner_chain,
        vllm_runner_stand_in.rejection_sample,
        CHAIN | ends | {"seed": 3},
    )


def test_adapters_read_what_is_squeezed_away():
    torch = pytest.importorskip("torch", reason="PyTorch is not installed: make backends")
    from functools import wraps

    for adapter, function, given in of_adapters():

        @wraps(function)
        def lost(*arrays, function=function, **named):
            found = function(*arrays, **named)
            return squeezed(found) if isinstance(found, tuple) else found.squeeze()

        seen = []
        for each in (function, lost):
            torch.manual_seed(5)
            answer = adapter(each)(**given)
            parts = answer if isinstance(answer, tuple) else (answer,)
            seen.append([np.asarray(part).tolist() for part in parts])
        assert seen[0] == seen[1], adapter.__name__
        assert np.shape(seen[0][0])[0] == 1


def test_paths_and_links_may_lose_the_axis_of_rows():
    tree = {"draft": BLOCK["target"], "target": BLOCK["target"], "drafts": np.array([[0, 1]])}
    paths = adapters.paths_tree(lambda draft, target, drafts, uniforms: (0, 1, np.int64(2)))
    said = paths(**tree, parents=(-1, 0), rng=np.random.default_rng(0))
    sample = Sample(
        np.zeros(1, dtype=int), tree["drafts"], tree["drafts"], np.ones((1, 2), dtype=bool)
    )
    assert Tree((-1, 0)).read(said, CASE, sample).texts.tolist() == [[0, 2, -1]]
    links = adapters.linked(lambda drafts, next_token, next_sibling: (1, np.int64(2)))
    found = links(drafts=tree["drafts"], parents=(-1, 0))
    assert Tree((-1, 0)).read(found, CASE, sample).texts.tolist() == [[0, 2, -1]]
