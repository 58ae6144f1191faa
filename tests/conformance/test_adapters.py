"""Adapters of engines: right stand-ins have the target's law, wrong ones have not; exactly."""

import math

import numpy as np
import pytest
from small_texts import LENGTH, TARGET, block_texts, rows_of_block, total_variation, tree_texts

from otspec.auditing.black_box import seeded
from otspec.conformance import adapters

torch = pytest.importorskip("torch", reason="PyTorch is not installed: make backends")

from stand_ins import (  # noqa: E402 # they are functions of tensors
    eagle_stand_in,
    flashinfer_stand_in,
    sglang_stand_in,
    vllm_runner_stand_in,
    vllm_stand_in,
)

WHOLE = np.array([LENGTH])
ROUNDING = 1e-15
"""More than eight roundings of each of 27 texts."""
TREES = {
    "star": ((-1, -1), (0, 2)),
    "chain": ((-1, 0), (2, 1)),
    "wide": ((-1, -1, 0, 0, 1), (2, 0, 2, 1, 0)),
    "uneven": ((-1, -1, 1), (1, 2, 0)),
    "forbidden": ((-1, 0, 0), (1, 0, 1)),
}
"""Parents, and drafts: distinct among siblings. After 1 the target never says 0."""


def hoeffding(size):
    """Return how far frequencies of three tokens may be off, but for a chance of 1e-9."""
    return math.sqrt(math.log(2 * 3 / 1e-9) / (2 * size))


def of_blocks(verify, **given):
    return total_variation(block_texts(verify, **given))


def of_trees(verify, tree):
    return total_variation(tree_texts(verify, *TREES[tree]))


@pytest.mark.parametrize("length", range(LENGTH + 1))
@pytest.mark.parametrize("certain", [False, True], ids=["drawn", "certain"])
def test_the_stand_in_of_vllm_has_the_law_of_the_target(certain, length):
    verify = adapters.vllm_chain(vllm_stand_in.of_probabilities, certain=certain)
    assert of_blocks(verify, lengths=np.array([length])) <= ROUNDING


def test_it_has_it_with_logits_of_the_target():
    verify = adapters.vllm_chain(vllm_stand_in.rejection_sample, logits=True)
    assert of_blocks(verify, lengths=WHOLE) <= ROUNDING


def test_a_residual_that_vllm_leaves_out_shows():
    verify = adapters.vllm_chain(vllm_stand_in.without_residual)
    assert of_blocks(verify, lengths=WHOLE) > 0.1


def test_requests_of_vllm_with_seeds_of_their_own_say_the_same_again():
    verify = adapters.vllm_chain(vllm_stand_in.of_probabilities, seeded=True)
    rows = {name: np.repeat(array, 50, axis=0) for name, array in rows_of_block((0, 1)).items()}
    rows["lengths"] = np.arange(50) % (LENGTH + 1)
    said = [verify(**rows, seed=seed).tolist() for seed in (3, 3, 4)]
    assert said[0] == said[1] != said[2]
    assert len({tuple(text) for text in said[0]}) > LENGTH + 1


def test_seeds_of_vllm_have_the_law_of_the_target():
    verify = adapters.vllm_chain(vllm_stand_in.of_probabilities, seeded=True)
    size = 20_000
    rows = {name: np.repeat(array, size, axis=0) for name, array in rows_of_block((0, 1)).items()}
    emitted = np.asarray(verify(**rows, lengths=np.full(size, LENGTH), seed=1))
    found = np.bincount(emitted[:, 0], minlength=3) / size
    # Of draft 0 a quarter is kept, and the residual is all at token 2.
    assert abs(found - (0.25, 0, 0.75)).max() <= hoeffding(size)


def first_tokens(function, other, certain=False, size=2_000):
    """Return how often each token is first where draft 0 is verified, and how far it may be off.

    Every other row has another target, and rows have 0, 1 or 2 drafts.
    """
    verify = adapters.vllm_runner_chain(function, certain=certain)
    rows = {name: np.repeat(array, size, axis=0) for name, array in rows_of_block((0, 1)).items()}
    rows["target"][::2, 0] = other
    lengths = np.arange(size) % 3
    emitted = np.asarray(verify(**rows, lengths=lengths, seed=1))
    assert ((emitted >= 0).sum(1) <= lengths + 1).all()
    drafted = emitted[lengths > 0, 0]
    return np.bincount(drafted, minlength=3) / len(drafted), hoeffding(len(drafted))


def test_the_stand_in_of_the_runner_of_vllm_keeps_and_corrects():
    """Of draft 0 a quarter is kept in half of the rows; the residual is all at token 2."""
    found, allowed = first_tokens(vllm_runner_stand_in.rejection_sample, (0, 0.25, 0.75))
    assert abs(found - (1 / 8, 0, 7 / 8)).max() <= allowed


@pytest.mark.parametrize("shared", [False, True])
def test_numbers_that_acceptance_and_recovery_share_show(shared):
    """A draft that counts as certain leaves the target."""
    names = ("rejection_sample", "with_shared_numbers")
    function = getattr(vllm_runner_stand_in, names[shared])
    found, allowed = first_tokens(function, (0.5, 0.25, 0.25), certain=True)
    assert (abs(found - (5 / 16, 1 / 4, 7 / 16)).max() > allowed) == shared


def test_rows_are_as_wide_as_the_drafts_whatever_the_lengths_are():
    verify = adapters.vllm_chain(vllm_stand_in.of_probabilities)
    rows = np.array([[[0.0, 1.0]] * 3] * 2)
    drafts = np.ones((2, 2), dtype=np.int64)
    assert verify(rows[:, :2], rows, drafts, np.array([0, 1])).tolist() == [[1, -1, -1], [1, 1, -1]]
    assert verify(rows[:, :2], rows, drafts, np.array([0, 0])).tolist() == [[1, -1, -1]] * 2


def test_the_stand_in_of_flashinfer_has_the_law_of_the_target():
    verify = adapters.flashinfer_chain(flashinfer_stand_in.chain_speculative_sampling)
    assert of_blocks(verify) <= ROUNDING


def test_one_number_for_all_tokens_of_flashinfer_shows():
    verify = adapters.flashinfer_chain(flashinfer_stand_in.with_one_number)
    assert of_blocks(verify) == 3 / 64


def test_flashinfer_counts_what_it_emits():
    def miscounts(*arrays):
        emitted, passed, kept = flashinfer_stand_in.chain_speculative_sampling(*arrays)
        return emitted, passed, kept + 1

    with pytest.raises(ValueError, match="output_emitted_draft_token_num"):
        adapters.flashinfer_chain(miscounts)(**rows_of_block((0, 1)))


SGLANG = sglang_stand_in.tree_speculative_sampling_target_only


@pytest.mark.parametrize("tree", TREES)
def test_the_stand_in_of_sglang_has_the_law_of_the_target(tree):
    assert of_trees(adapters.sglang_tree(SGLANG), tree) <= ROUNDING


@pytest.mark.parametrize("tree", TREES)
def test_the_stand_in_of_eagle_has_the_law_of_the_target(tree):
    assert of_trees(adapters.eagle_tree(eagle_stand_in.evaluate_posterior), tree) <= ROUNDING


def test_siblings_of_the_same_token_are_no_matter_to_eagle():
    verify = adapters.eagle_tree(eagle_stand_in.evaluate_posterior)
    assert total_variation(tree_texts(verify, (-1, -1, 0, 1), (1, 1, 2, 0))) <= ROUNDING


LOSSY = {
    "two children of one token": (adapters.sglang_tree(SGLANG), (1, 1), (1 / 12, 1 / 2, 5 / 12)),
    "threshold_acc": (adapters.sglang_tree(SGLANG, threshold_acc=0.75), (2, 1), (0, 1 / 6, 5 / 6)),
    "threshold_single": (adapters.sglang_tree(SGLANG, threshold_single=0.625), (2, 1), (0, 0, 1)),
    "a coin for each child": (
        adapters.sglang_tree(sglang_stand_in.with_a_coin_for_each_child),
        (0, 1),
        (1 / 8, 7 / 8 * 3 / 8, 7 / 8 * 5 / 8),
    ),
    "without renormalization": (
        adapters.eagle_tree(eagle_stand_in.without_renormalization),
        (0, 1),
        (1 / 8, 7 / 8 / 4, 7 / 8 * 3 / 4),
    ),
}
"""Wrong verifiers, two children of the text, and the law of the first token by hand.

The target says 0, 1, 2 with probabilities 1/8, 1/4, 5/8.
"""


@pytest.mark.parametrize("name", LOSSY)
def test_what_is_lossy_is_so_as_computed_by_hand(name):
    verify, drafts, law = LOSSY[name]
    first = [0.0, 0.0, 0.0]
    for text, mass in tree_texts(verify, (-1, -1), drafts).items():
        first[text[0]] += mass
    np.testing.assert_allclose(first, law, rtol=0, atol=1e-7)  # probabilities are summed in float32
    assert abs(np.array(law) - TARGET[0]).sum() / 2 > 0.01


@pytest.mark.parametrize("name", ["threshold_single", "threshold_acc"])
@pytest.mark.parametrize("value", [-0.5, 1.5])
def test_thresholds_of_sglang_are_from_0_to_1(name, value):
    with pytest.raises(ValueError, match=f"{name} is {value}"):
        adapters.sglang_tree(SGLANG, **{name: value})


def test_draft_probabilities_of_sglang_are_zeros_each_time():
    seen = []

    def watched(*arrays):
        seen.append(float(arrays[10].sum()))
        return SGLANG(*arrays)

    verify = adapters.sglang_tree(watched)
    for _ in range(2):
        of_trees(verify, "star")
    assert set(seen) == {0}


@pytest.mark.parametrize(
    ("place", "spoiled_by", "message"),
    [(0, 1, "predicts"), (1, 1, "accept_index"), (2, 5, "accept_token_num")],
)
def test_what_sglang_writes_is_a_path_of_the_tree(place, spoiled_by, message):
    def spoiled(*arrays):
        SGLANG(*arrays)
        arrays[place].add_(spoiled_by)

    target = TARGET[[[0, 3, 2]] * 50]
    with seeded(1), pytest.raises(ValueError, match=message):
        adapters.sglang_tree(spoiled)(target, np.array([[2, 1]] * 50), (-1, 0))


def test_eagle_keeps_no_more_than_a_path_has():
    def longest(logits, candidates, processor):
        return 0, candidates.shape[1] - 1, torch.ones(3)

    with pytest.raises(ValueError, match="shorter path"):
        adapters.eagle_tree(longest)(TARGET[[[0, 2, 3, 1]]], np.array([[1, 2, 0]]), (-1, -1, 1))


def test_eagle_gets_the_tokens_of_each_path_behind_the_root_and_minus_1_where_it_is_shorter():
    seen = []

    def first(logits, candidates, processor):
        seen.append(candidates.tolist())
        return 0, 0, torch.ones(3)

    adapters.eagle_tree(first)(TARGET[[[0, 2, 3, 1]]], np.array([[1, 2, 2]]), (-1, -1, 1))
    assert seen == [[[0, 1, -1], [0, 2, 2]]]
