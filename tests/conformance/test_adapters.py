"""Adapters of engines: right stand-ins have the target's law, wrong ones have not."""

import math
from functools import partial

import numpy as np
import pytest
from small_texts import ERROR, LENGTH, farthest, texts_of_blocks, texts_of_trees

from otspec.auditing.seeding import seeded
from otspec.conformance import adapters

torch = pytest.importorskip("torch", reason="PyTorch is not installed: make backends")

from stand_ins import (  # noqa: E402 # they are functions of tensors
    eagle_stand_in,
    flashinfer_stand_in,
    sglang_stand_in,
    vllm_stand_in,
)

TREES = {
    "star": (-1, -1),
    "chain": (-1, 0),
    "wide": (-1, -1, 0, 0, 1),
    "uneven": (-1, -1, 1),
}
MANY, FEW = 40_000, 4_000


def of_blocks(verify, size=MANY, **given):
    with seeded(5):
        return farthest(texts_of_blocks(verify, size, np.random.default_rng(6), **given))


def of_trees(verify, tree, size=MANY, **options):
    with seeded(5):
        rng = np.random.default_rng(6)
        return farthest(texts_of_trees(verify, TREES[tree], size, rng, **options))


@pytest.mark.parametrize("certain", [False, True], ids=["drawn", "certain"])
@pytest.mark.parametrize("name", ["rejection_sample", "of_logits"])
def test_the_stand_in_of_vllm_has_the_law_of_the_target(name, certain):
    function = getattr(vllm_stand_in, name)
    verify = adapters.vllm_chain(function, logits=name == "of_logits", certain=certain)
    lengths = np.arange(MANY) % (LENGTH + 1)
    found, allowed = of_blocks(verify, lengths=lengths)
    assert found <= allowed


def test_requests_of_vllm_with_seeds_of_their_own_have_it_and_say_the_same_again():
    verify = adapters.vllm_chain(vllm_stand_in.rejection_sample, seeded=True)
    lengths = np.arange(FEW) % (LENGTH + 1)
    found, allowed = of_blocks(partial(verify, seed=3), FEW, lengths=lengths)
    assert found <= allowed
    rng = np.random.default_rng
    texts = [texts_of_blocks(partial(verify, seed=3), 50, rng(1), lengths[:50]) for _ in range(2)]
    assert (texts[0] == texts[1]).all()


def test_a_residual_that_vllm_leaves_out_shows():
    verify = adapters.vllm_chain(vllm_stand_in.without_residual)
    found, allowed = of_blocks(verify, lengths=np.full(MANY, LENGTH))
    assert found > allowed


def test_rows_without_drafts_are_the_bonus_token_alone():
    verify = adapters.vllm_chain(vllm_stand_in.rejection_sample)
    rows = np.array([[[0.0, 1.0]] * 3])
    answer = verify(rows[:, :2], rows, np.zeros((1, 2), dtype=np.int64), lengths=np.array([0]))
    assert answer.tolist() == [[1]]


def test_the_stand_in_of_flashinfer_has_the_law_of_the_target():
    found, allowed = of_blocks(
        adapters.flashinfer_chain(flashinfer_stand_in.chain_speculative_sampling)
    )
    assert found <= allowed


def test_one_number_for_all_tokens_of_flashinfer_shows():
    found, allowed = of_blocks(adapters.flashinfer_chain(flashinfer_stand_in.with_one_number))
    assert found > allowed


def test_flashinfer_counts_what_it_emits():
    def miscounts(*arrays):
        emitted, passed, kept = flashinfer_stand_in.chain_speculative_sampling(*arrays)
        return emitted, passed, kept + 1

    with pytest.raises(ValueError, match="output_emitted_draft_token_num"):
        of_blocks(adapters.flashinfer_chain(miscounts), 10)


@pytest.mark.parametrize("tree", TREES)
def test_the_stand_in_of_sglang_has_the_law_of_the_target(tree):
    found, allowed = of_trees(adapters.sglang_tree(SGLANG), tree)
    assert found <= allowed


SGLANG = sglang_stand_in.tree_speculative_sampling_target_only
LOSSY = {
    "two children of one token": (adapters.sglang_tree(SGLANG), (0, 0), (0.8, 0.133, 0.067)),
    "threshold_acc": (adapters.sglang_tree(SGLANG, threshold_acc=0.8), (0, 1), (0.5, 0.5, 0)),
    "threshold_single": (adapters.sglang_tree(SGLANG, threshold_single=0.4), (0, 1), (1, 0, 0)),
    "a coin for each child": (
        adapters.sglang_tree(sglang_stand_in.with_a_coin_for_each_child),
        (0, 1),
        (0.4, 0.48, 0.12),
    ),
    "without renormalisation": (
        adapters.eagle_tree(eagle_stand_in.without_renormalisation),
        (0, 1),
        (0.4, 0.24, 0.36),
    ),
}
"""Wrong verifiers, two children of the text, and the law of the first token.

The target is (0.4, 0.4, 0.2) after the text and everywhere.
"""


@pytest.mark.parametrize("name", LOSSY)
def test_what_is_lossy_shows_as_it_is_computed(name):
    verify, drafts, law = LOSSY[name]
    target = np.broadcast_to((0.4, 0.4, 0.2), (FEW, 3, 3))
    with seeded(5):
        node, token = verify(target=target, drafts=np.tile(drafts, (FEW, 1)), parents=(-1, -1))
    first = np.where(node < 0, token, np.take(drafts, node))
    found = np.bincount(first, minlength=3) / FEW
    allowed = math.sqrt(math.log(2 * 3 / ERROR) / (2 * FEW))  # Hoeffding
    assert abs(found - law).max() <= allowed + 0.001  # the law is rounded
    assert abs(np.array(law) - target[0, 0]).max() > 0.05


def test_draft_probabilities_of_sglang_are_zeros_each_time():
    seen = []

    def watched(*arrays):
        seen.append(float(arrays[10].sum()))
        return SGLANG(*arrays)

    verify = adapters.sglang_tree(watched)
    for _ in range(2):
        of_trees(verify, "star", 50)
    assert seen == [0, 0]


@pytest.mark.parametrize(
    ("place", "spoiled_by", "message"),
    [(0, 1, "predicts"), (1, 1, "accept_index"), (2, 5, "accept_token_num")],
)
def test_what_sglang_writes_is_a_path_of_the_tree(place, spoiled_by, message):
    def spoiled(*arrays):
        SGLANG(*arrays)
        arrays[place].add_(spoiled_by)

    with pytest.raises(ValueError, match=message):
        of_trees(adapters.sglang_tree(spoiled), "chain", 200)


@pytest.mark.parametrize("distinct", [True, False])
@pytest.mark.parametrize("tree", ["wide", "uneven"])
def test_the_stand_in_of_eagle_has_the_law_of_the_target(tree, distinct):
    verify = adapters.eagle_tree(eagle_stand_in.evaluate_posterior)
    found, allowed = of_trees(verify, tree, FEW, distinct=distinct)
    assert found <= allowed


def test_eagle_keeps_no_more_than_a_path_has():
    def longest(logits, candidates, processor):
        return 0, candidates.shape[1] - 1, torch.ones(3)

    with pytest.raises(ValueError, match="shorter path"):
        of_trees(adapters.eagle_tree(longest), "uneven", 2)
