"""Adapters of SGLang's and TensorRT-LLM's chains and trees, llama.cpp, and two vocabularies."""

from functools import partial

import numpy as np
import pytest
from small_texts import DRAFT, LENGTH, TARGET, block_texts, rows_of_block, total_variation

import otspec
from otspec.conformance import adapters, check, exact_law
from otspec.conformance.adapters.slots import read_path

torch = pytest.importorskip("torch", reason="PyTorch is not installed: make backends")

from stand_ins import (  # noqa: E402 # they are functions of tensors
    sglang_stand_in,
    tensorrt_stand_in,
    vllm_stand_in,
)

ROUNDING = 1e-15
"""More than eight roundings of each of 27 texts."""
CHAIN = sglang_stand_in.chain_speculative_sampling_triton


def emitted(verify):
    """Return a verifier that emits tokens, of one that says a length and a token."""

    def emits(draft, target, drafts):
        (length,), (token,) = (part.tolist() for part in verify(draft, target, drafts))
        return [[*drafts[0, :length].tolist(), token, *[-1] * (LENGTH - length)]]

    return emits


@pytest.mark.parametrize("each", [False, True], ids=["one number", "a number for each place"])
def test_the_stand_in_of_sglangs_chain_has_the_law_of_the_target(each):
    verify = adapters.sglang_chain(CHAIN, final_per_place=each)
    assert total_variation(block_texts(emitted(verify))) <= ROUNDING


def test_a_chain_of_sglang_whose_draft_is_ignored_shows():
    def ignores(*arrays):
        return CHAIN(*arrays[:10], torch.ones_like(arrays[10]) / 3, *arrays[11:])

    assert total_variation(block_texts(emitted(adapters.sglang_chain(ignores)))) > 0.1


def test_the_stand_in_of_tensorrt_llms_chain_has_the_law_of_the_target():
    verify = adapters.tensorrt_chain(tensorrt_stand_in.rejection_sampling_one_model)
    assert total_variation(block_texts(verify)) <= ROUNDING


def test_a_count_without_the_last_token_shows():
    def without_last(*arrays):
        emitted, count = tensorrt_stand_in.rejection_sampling_one_model(*arrays)
        return emitted, count - 1

    verify = adapters.tensorrt_chain(without_last)
    assert total_variation(block_texts(verify)) > 0.1


TREE = tensorrt_stand_in.verify_dynamic_tree_rejection_from_logits_out


STAR = (-1, -1)


def star_texts(function):
    """Return the law of the first token, of two siblings drawn without replacement."""
    verify, law = adapters.tensorrt_tree(function), np.zeros(3)
    rows = {name: table[None, (0, 0, 0)] for name, table in (("draft", DRAFT), ("target", TARGET))}
    for drafts, mass in zip(*otspec.WithoutReplacement(DRAFT[0], 2).tuples(), strict=True):
        call = partial(verify, **rows, drafts=drafts[None], parents=STAR, seed=0)
        for ((node,), (token,)), chance in exact_law(call).items():
            law[token if node < 0 else drafts[node]] += mass * chance
    return law


@pytest.mark.parametrize(
    "function", [TREE, tensorrt_stand_in.verify_dynamic_tree_rejection_out], ids=["both", "target"]
)
def test_the_stand_ins_of_tensorrt_llms_tree_keep_the_law_of_distinct_siblings(function):
    np.testing.assert_allclose(star_texts(function), TARGET[0], rtol=0, atol=ROUNDING)


def test_the_first_sibling_alone_is_no_less_right_but_rows_of_another_node_are():
    def told(name, value):
        def other(tree_valid, **given):
            changed = {name: torch.full_like(given[name], value)}
            return TREE(tree_valid=tree_valid, **given | changed)

        return other

    only_first = star_texts(told("retrieve_next_sibling", -1))
    np.testing.assert_allclose(only_first, TARGET[0], rtol=0, atol=ROUNDING)

    verify = adapters.tensorrt_tree(told("draft_prob_indices", 1))
    rows = {name: table[None, (0, 3)] for name, table in (("draft", DRAFT), ("target", TARGET))}
    law = exact_law(partial(verify, **rows, drafts=np.array([[2]]), parents=(-1,), seed=0))
    # Draft 2 has probability 0 after itself, and 1/4 at the text: it is always kept.
    assert {node for (node,), _ in law} == {0}


def answering(kept, count, emitted, seen=None):
    """Return a verifier of trees that says the same whatever it is asked."""

    def answer(**given):
        if seen is not None:
            seen.update(given)
        return None, *map(torch.tensor, (kept, count, emitted))

    return adapters.tensorrt_tree(answer)


def test_what_the_tree_of_tensorrt_llm_is_asked_and_how_its_answer_is_read():
    seen, rows = {}, [[0, 3, 2, 1]] * 2
    verify = answering([[0, 1, 3], [0, 2, 0]], [2, 0], [[2, 0, 1], [1, 2, 2]], seen)
    node, token = verify(
        DRAFT[rows], TARGET[rows], np.array([[2, 1, 0], [0, 1, 2]]), (-1, -1, 0), 7
    )
    assert (node.tolist(), token.tolist()) == ([2, -1], [1, 1])
    logits = {"target": seen.pop("target_logits_tree"), "draft": seen.pop("draft_logits_tree")}
    for name, table in (("target", TARGET), ("draft", DRAFT)):
        assert logits[name].exp().numpy() == pytest.approx(table[[0, 3, 2, 1] * 2], abs=1e-15)
    found = {
        name: getattr(value, "tolist", lambda value=value: value)() for name, value in seen.items()
    }
    assert found == {
        "candidates": [[0, 2, 1, 0], [0, 0, 1, 2]],
        "draft_prob_indices": [[0, 0, 0, 1]] * 2,
        "retrieve_next_token": [[1, 3, -1, -1]] * 2,
        "retrieve_next_sibling": [[-1, 2, -1, -1]] * 2,
        "temperatures": [1, 1], "top_k": None, "top_p": None, "skip_temperature": False,
        "num_gens": 2, "num_spec_step": 3, "seed": 7, "offset": 0,
    }  # fmt: skip


def test_what_follows_the_text_is_read_at_the_root_alone():
    """A path that begins elsewhere says nothing of it: −1 is no token."""
    rows = [[0, 2]]
    given = DRAFT[rows], TARGET[rows], np.array([[1]]), (-1,), 0
    node, token = answering([[1, 1]], [0], [[2, 2]])(*given)
    assert (node.tolist(), token.tolist()) == ([-1], [-1])
    with pytest.raises(ValueError, match="predicts has another token than the child that is kept"):
        answering([[1, 1]], [1], [[1, 2]])(*given)
    node, token = answering([[0, 1]], [1], [[1, 2]])(*given)
    assert (node.tolist(), token.tolist()) == ([0], [2])


@pytest.mark.parametrize(
    ("kept", "count", "what"),
    [
        ([0, 1, 3], 3, "accept_token_num says more than the depth"),
        ([0, 1, 3], -1, "accept_token_num says more than the depth"),
        ([0, 3, 3], 1, "accept_index has a slot that is no child"),
        ([0, 4, 3], 1, "accept_index has a slot that is no child"),
        ([0, -1, 3], 1, "accept_index has a slot that is no child"),
        ([0, 0, 1], 2, "accept_index has a slot that is no child"),
        ([0, 2, 3], 2, "accept_index has a slot that is no child"),
        ([0, 1, 3], 1, "predicts has another token"),
    ],
)
def test_a_path_of_slots_goes_from_parents_to_children(kept, count, what):
    predicts, tokens = np.array([[5, 8, 9, 5]]), np.array([[0, 6, 5, 8]])
    with pytest.raises(ValueError, match=what):
        read_path(predicts, np.array([kept]), np.array([count]), tokens, (-1, -1, 0))


def test_a_path_of_slots_is_read_row_by_row():
    predicts = np.array([[6, 8, 9, 5], [5, 8, 9, 4], [3, 8, 9, 5.0]])
    tokens = np.array([[0, 6, 5, 8]] * 3)
    kept = np.array([[0, 1, 3], [0, 2, -1], [0, -1, -1]])
    node, token = read_path(predicts, kept, np.array([2, 1, 0]), tokens, (-1, -1, 0))
    assert (node.tolist(), token.tolist()) == ([2, 1, -1], [5, 9, 3])
    assert token.dtype == np.int64


def drawn(logits, draft):
    """Draw from each row up to the first one that differs, as llama.cpp does."""
    rows = np.exp(logits.astype(float))
    emitted = []
    for row, token in zip(rows, [*draft, None], strict=True):
        emitted.append(int(np.random.choice(len(row), p=row / row.sum())))
        if emitted[-1] != token:
            break
    return emitted


def test_drawing_from_the_target_and_comparing_keeps_its_law():
    report = check(adapters.llama_cpp_chain(drawn), kind="block", mode="exact", shape=1)
    assert report.passed, report


def test_a_port_may_take_a_seed():
    def seeded(logits, draft, seed):
        return [seed % 3, *draft][:1]

    rows = {name: np.repeat(array, 9, axis=0) for name, array in rows_of_block((0, 1)).items()}
    emitted = adapters.llama_cpp_chain(seeded)(target=rows["target"], drafts=rows["drafts"], seed=1)
    assert emitted.shape == (9, LENGTH + 1)
    assert len(set(emitted[:, 0])) > 1
    assert (emitted[:, 1:] == -1).all()


def of_two_vocabularies(draft, target, drafts, draft_to_target, rng):
    """Verify one draft, whose row is over the draft's own tokens."""
    whole = np.zeros_like(target)
    whole[:, draft_to_target] = draft
    tokens = []
    for p, q, (x, *_) in zip(whole, target, drafts, strict=True):
        kept = rng.random() * p[x] < q[x]
        rest = np.maximum(q - p, 0).astype(float)
        tokens.append(x if kept else rng.choice(len(q), p=rest / rest.sum()))
    return np.array(tokens)


def test_a_draft_of_fewer_tokens_is_verified_by_its_index():
    verify = adapters.draft_to_target(of_two_vocabularies)
    assert check(verify, mode="exact", shape=1).passed


def test_an_index_that_is_not_followed_shows():
    def as_one(draft, target, drafts, draft_to_target, rng):
        same = np.arange(draft.shape[-1])
        return of_two_vocabularies(draft, target, drafts, same, rng)

    assert check(adapters.draft_to_target(as_one), mode="exact", shape=1).outcome == "failed"


def test_an_index_may_be_offsets_and_drafts_ids_of_their_own():
    seen = []

    def watched(draft, target, drafts, draft_to_target, rng):
        seen.append((draft.shape, drafts.tolist(), draft_to_target.tolist()))
        ids = draft_to_target + np.arange(draft.shape[-1])
        return of_two_vocabularies(draft, target, ids[drafts], ids, rng)

    verify = adapters.draft_to_target(watched, offsets=True, own_ids=True)
    draft, target = DRAFT[3:4].astype("float64"), TARGET[3:4]
    law = exact_law(
        lambda: verify(
            draft=draft, target=target, drafts=np.array([[1]]), rng=np.random.default_rng(0)
        )
    )
    assert seen[0] == ((1, 2), [[0]], [1, -1])
    assert law == {(1,): 1.0}


def test_vllm_is_not_called_without_drafts_unless_asked():
    calls = []

    def counted(*arrays):
        calls.append(len(arrays[0]))
        return vllm_stand_in.of_probabilities(*arrays)

    rows, drafts, none = np.array([[[0.0, 1.0]] * 2] * 2), np.ones((2, 1), dtype=int), np.zeros(2)
    for empty in (False, True):
        verify = adapters.vllm_chain(counted, empty=empty)
        emitted = verify(rows[:, :1], rows, drafts, none.astype(int))
        assert np.asarray(emitted).tolist() == [[1, -1], [1, -1]]
        assert calls == [0] * empty
