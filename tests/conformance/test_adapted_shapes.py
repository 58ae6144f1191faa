"""Verifiers of one row, of logits and of linked trees, as verifiers of batches."""

import inspect

import numpy as np
import pytest
from small_texts import LENGTH

from otspec.batch import VerifiedBlock, token_verification
from otspec.conformance import adapters


def emitted(verified, drafts):
    """Return tokens with −1 behind, of lengths and tokens."""
    length, token = (np.asarray(part)[:, None] for part in verified)
    places = np.arange(drafts.shape[1] + 1)
    known = np.pad(drafts, ((0, 0), (0, 1)))
    return np.where(places < length, known, np.where(places == length, token, -1))


def of_batches(draft, target, drafts, uniforms):
    return token_verification(draft, target, drafts, uniforms)


def of_one_row(draft, target, drafts, uniforms):
    return token_verification(draft, target, drafts, uniforms)


def of_one_row_as_a_list(draft, target, drafts, uniforms):
    length, token = token_verification(draft, target, drafts, uniforms)
    return [*drafts[: int(length)], int(token)]


def of_logits(draft, target, drafts, uniforms):
    return of_batches(np.exp(draft), np.exp(target), drafts, uniforms)


def answers(verify, size=60):
    rng = np.random.default_rng(2)
    draft, target = (
        rng.dirichlet(np.ones(4), (size, LENGTH)),
        rng.dirichlet(np.ones(4), (size, LENGTH + 1)),
    )
    target[:, :, 0] = 0
    drafts = rng.integers(4, size=(size, LENGTH))
    given = {"draft": draft, "target": target, "drafts": drafts}
    found = verify(**given, uniforms=rng.random((size, LENGTH + 1)))
    return emitted(found, drafts) if isinstance(found, tuple) else found


@pytest.mark.parametrize(
    "verify",
    [
        adapters.one_at_a_time(of_one_row),
        adapters.one_at_a_time(of_one_row_as_a_list),
        adapters.on_logits(of_logits),
        adapters.on_logits(adapters.one_at_a_time(of_logits)),
    ],
    ids=["row", "list", "logits", "logits of a row"],
)
def test_other_shapes_say_what_the_batch_says(verify):
    assert list(inspect.signature(verify).parameters) == ["draft", "target", "drafts", "uniforms"]
    assert (answers(verify) == answers(of_batches)).all()


def test_each_row_has_a_seed_of_its_own_and_a_length():
    seen = []

    def of_one(drafts, lengths, seed):
        seen.append((int(lengths), int(seed)))
        return VerifiedBlock(0, drafts[0])

    verify = adapters.one_at_a_time(of_one)
    length, token = verify(drafts=np.array([[1, 2], [2, 0]]), lengths=np.array([2, 1]), seed=7)
    assert (length.tolist(), token.tolist()) == ([0, 0], [1, 2])
    assert [row[0] for row in seen] == [2, 1]
    assert seen[0][1] != seen[1][1]


def test_a_generator_goes_on_from_row_to_row():
    seen = []
    rng = np.random.default_rng(4)

    def watched(drafts, rng):
        seen.append(rng.random())
        return 0

    adapters.one_at_a_time(watched)(drafts=np.array([[1], [2]]), rng=rng)
    assert seen == np.random.default_rng(4).random(2).tolist()


def test_tokens_of_rows_are_an_array():
    verify = adapters.one_at_a_time(lambda drafts: drafts[0])
    assert verify(drafts=np.array([[3, 1], [2, 2]])).tolist() == [3, 2]


def test_a_row_that_emits_too_much_is_refused():
    verify = adapters.one_at_a_time(lambda drafts: [*drafts, 1, 1])
    with pytest.raises(ValueError, match="row 0 has 4 tokens: 3 at most are emitted"):
        verify(drafts=np.array([[3, 1]]))


def test_a_linked_tree_has_parents():
    def last_child(drafts, next_token, next_sibling):
        slot = next_token[0]
        while next_sibling[slot] >= 0:
            slot = next_sibling[slot]
        return np.full(len(drafts), slot), drafts[:, 0]

    verify = adapters.linked(last_child)
    assert list(inspect.signature(verify).parameters) == ["drafts", "parents"]
    node, token = verify(drafts=np.array([[5, 6, 7]]), parents=(-1, 0, -1))
    assert (node.tolist(), token.tolist()) == ([2], [5])


@pytest.mark.parametrize("adapter", [adapters.one_at_a_time, adapters.on_logits, adapters.linked])
def test_what_tells_no_parameters_is_refused(adapter):
    with pytest.raises(ValueError, match="function is 3: it must be a verifier"):
        adapter(3)
    with pytest.raises(ValueError, match="does not tell its parameters"):
        adapter(min)


def test_links_and_paths_of_a_chain_and_of_nothing():
    assert [link.tolist() for link in adapters.links_of((-1, 0))] == [[1, 2, -1], [-1, -1, -1]]
    assert adapters.paths_of((-1, 0)).tolist() == [[0, 1, 2]]
    assert adapters.paths_of(()).tolist() == [[0]]
    with pytest.raises(ValueError, match="a parent comes before its child"):
        adapters.paths_of((0,))
