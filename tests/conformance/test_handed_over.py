"""What adapters hand to the functions of engines: each argument, its type and its numbers."""

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed: make backends")

from otspec.conformance import adapters  # noqa: E402 # where PyTorch is installed

DRAFT = np.array([[[0.5, 0.5], [0.25, 0.75]]] * 3)
TARGET = np.array([[[0.25, 0.75], [0.5, 0.5], [1.0, 0.0]]] * 3)
DRAFTS, LENGTHS = np.array([[0, 1], [1, 1], [1, 0]]), np.array([2, 0, 1])
PARENTS = (-1, -1)


class Handed(Exception):  # noqa: N818 # it carries what was handed over
    """Stops an adapter when it calls."""


def handed(adapter, *arguments, **options):
    """Return what an adapter calls its function with."""

    def function(*given, **named):
        raise Handed(given, named)

    with pytest.raises(Handed) as caught:
        adapter(function, **options)(*arguments)
    return caught.value.args


def plain(value):
    """Return a tensor as its type and its numbers."""
    if not isinstance(value, torch.Tensor):
        return value
    return str(value.dtype).removeprefix("torch."), value.tolist()


def test_a_tree_of_sglang():
    given, _ = handed(adapters.sglang_tree, TARGET, DRAFTS, PARENTS, threshold_acc=0.5)
    outputs = [plain(value) for value in given[:3]]
    assert outputs == [("int32", [-1] * 9), ("int32", [[-1, -1]] * 3), ("int32", [0] * 3)]
    inputs = [plain(value) for value in given[3:7]]
    assert inputs == [
        ("int64", [[0, 0, 1], [0, 1, 1], [0, 1, 0]]),
        ("int64", [[0, 1, 2], [3, 4, 5], [6, 7, 8]]),
        ("int64", [[1, -1, -1]] * 3),
        ("int64", [[-1, 2, -1]] * 3),
    ]
    assert [tuple(value.shape) for value in given[7:9]] == [(3, 3), (3,)]
    assert plain(given[9])[1] == TARGET.tolist()
    assert plain(given[10])[1] == np.zeros_like(TARGET).tolist()
    assert given[11:] == (1.0, 0.5, True)


@pytest.mark.parametrize(("per_place", "shape"), [(False, (3,)), (True, (3, 3))])
def test_a_chain_of_sglang(per_place, shape):
    options = {"final_per_place": per_place}
    given, _ = handed(adapters.sglang_chain, DRAFT, TARGET, DRAFTS, **options)
    assert [tuple(value.shape) for value in given[:3]] == [(9,), (3, 3), (3,)]
    assert [plain(value)[1] for value in given[5:7]] == [[[1, 2, -1]] * 3, [[-1] * 3] * 3]
    assert [tuple(value.shape) for value in given[7:9]] == [(3, 2), shape]
    assert [plain(value)[1] for value in given[9:11]] == [TARGET.tolist(), DRAFT.tolist()]
    assert given[11:] == (1.0, 1.0, True)


def test_flashinfer_and_tensorrt():
    for adapter in (adapters.flashinfer_chain, adapters.tensorrt_chain):
        given, _ = handed(adapter, DRAFT, TARGET, DRAFTS)
        assert plain(given[0])[1] == DRAFT.tolist()
        assert plain(given[1]) == ("int32", DRAFTS.tolist())
        assert plain(given[2])[1] == TARGET.tolist()


def test_transformers_takes_one_text():
    given, _ = handed(adapters.transformers_chain, DRAFT, TARGET, DRAFTS)
    assert plain(given[0]) == ("int64", [[0, 1]])
    assert np.exp(given[1].numpy()) == pytest.approx(DRAFT[:1])
    assert given[2] == 2
    assert np.exp(given[3].numpy()) == pytest.approx(TARGET[:1])


@pytest.mark.parametrize("certain", [False, True])
def test_vllm_takes_the_drafts_that_count_in_a_row(certain):
    given, _ = handed(
        lambda function: adapters.vllm_chain(
            function, metadata=lambda **settings: settings, certain=certain, logits=False
        ),
        DRAFT, TARGET, DRAFTS, LENGTHS,
    )  # fmt: skip
    assert plain(given[0]) == ("int32", [0, 1, 1])
    assert given[1:3] == ([2, 0, 1], 2)
    assert plain(given[3]) == ("int32", [2, 2, 3])
    rows = [[0.5, 0.5], [0.25, 0.75], [0.5, 0.5]]
    assert given[4] is None if certain else given[4].tolist() == rows
    assert given[5].tolist() == [[0.25, 0.75], [0.5, 0.5], [0.25, 0.75]]
    assert given[6].dtype == torch.int32
    assert given[6].shape == (3, 1)
    settings = given[7]
    assert settings.pop("temperature").tolist() == [1, 1, 1]
    assert settings == {
        "all_greedy": False, "all_random": True, "top_p": None, "top_k": None, "generators": {}
    }  # fmt: skip


@pytest.mark.parametrize("certain", [False, True])
def test_the_runner_of_vllm_takes_requests_in_another_order_than_their_states(certain):
    given, named = handed(
        adapters.vllm_runner_chain, DRAFT, TARGET, DRAFTS, LENGTHS, 3, certain=certain, own=7
    )
    assert named == {"own": 7}
    assert np.exp(given[0].numpy()) == pytest.approx(
        np.array([[0.25, 0.75], [0.5, 0.5], [1, 0], [0.25, 0.75], [0.25, 0.75], [0.5, 0.5]])
    )
    assert given[1] is None if certain else np.exp(given[1].numpy()) == pytest.approx(DRAFT)
    assert [plain(value) for value in given[2:8]] == [
        ("int64", [0, 0, 1, 0, 0, 1]),
        ("int32", [0, 3, 4, 6]),
        ("int64", [100, 101, 102, 100, 100, 101]),
        ("int32", [2, 1, 0]),
        ("int32", [2, 2, 2, 1, 0, 0]),
        ("int32", [0, 1, 2, 0, 0, 1]),
    ]
    assert plain(given[8]) == ("float32", [1, 1, 1])
    assert given[9].dtype == torch.int64
    assert len(set(given[9].tolist())) == 3
    assert given[10:] == (2,)


def test_a_tree_of_tensorrt():
    # A tree has as many rows of the draft as of the target.
    draft = np.concatenate([DRAFT, DRAFT[:, :1]], axis=1)
    _, named = handed(adapters.tensorrt_tree, draft, TARGET, DRAFTS, (-1, 0), 5)
    assert np.exp(named.pop("draft_logits_tree").numpy()) == pytest.approx(draft.reshape(9, 2))
    assert np.exp(named.pop("target_logits_tree").numpy()) == pytest.approx(TARGET.reshape(9, 2))
    assert {name: plain(value) for name, value in named.items()} == {
        "candidates": ("int64", [[0, 0, 1], [0, 1, 1], [0, 1, 0]]),
        "draft_prob_indices": ("int32", [[0, 0, 1]] * 3),
        "retrieve_next_token": ("int32", [[1, 2, -1]] * 3),
        "retrieve_next_sibling": ("int32", [[-1, -1, -1]] * 3),
        "temperatures": (named["temperatures"].dtype.__str__().removeprefix("torch."), [1, 1, 1]),
        "top_k": None, "top_p": None, "skip_temperature": False, "num_gens": 3,
        "num_spec_step": 3, "seed": 5, "offset": 0,
    }  # fmt: skip


def test_a_tree_of_eagle_takes_the_paths_to_its_leaves():
    given, _ = handed(adapters.eagle_tree, TARGET, DRAFTS, PARENTS)
    paths = [[0, 1], [0, 2]]
    assert np.exp(given[0].numpy()) == pytest.approx(TARGET[0][paths])
    assert given[1].tolist() == [[0, 0], [0, 1]]
    assert given[2](None, "logits") == "logits"


def test_a_draft_of_fewer_tokens_has_its_own_ids_from_the_last_to_the_first():
    draft = np.array([[0.5, 0.0, 0.25, 0.25, 0.0], [0.75, 0.0, 0.25, 0.0, 0.0]])
    drafts = np.array([[3], [0]])

    def call(**options):
        seen = []

        def function(draft, target, drafts, draft_to_target):
            seen.append((draft.tolist(), target, drafts.tolist(), draft_to_target.tolist()))

        verify = adapters.draft_to_target(function, **options)
        assert verify.names == ("draft", "target", "drafts")
        verify(draft=draft, target="t", drafts=drafts)
        return seen[0]

    rows = [[0.25, 0.25, 0.5], [0.0, 0.25, 0.75]]
    assert call() == (rows, "t", [[3], [0]], [3, 2, 0])
    assert call(offsets=True) == (rows, "t", [[3], [0]], [3, 1, -2])
    assert call(own_ids=True) == (rows, "t", [[0], [2]], [3, 2, 0])


def test_paths_that_part_at_the_beginning():
    seen = []

    def function(draft, target, drafts, uniforms):
        seen.append((draft, target, drafts, uniforms.shape))
        return np.array([1, 0]), np.array([2, 0]), np.array([7, 8])

    parents, rows = (-1, -1, 0, 1), np.arange(2 * 5).reshape(2, 5, 1)
    rng = np.random.default_rng(0)
    node, token = adapters.paths_tree(function)(rows, rows, rows[:, 1:, 0], parents, rng)
    ((draft, target, drafts, shape),) = seen
    assert draft[..., 0].tolist() == [[[0, 1], [0, 2]], [[5, 6], [5, 7]]]
    assert target[..., 0].tolist() == [[[0, 1, 3], [0, 2, 4]], [[5, 6, 8], [5, 7, 9]]]
    assert drafts.tolist() == [[[1, 3], [2, 4]], [[6, 8], [7, 9]]]
    assert shape == (2, 3)
    assert (node.tolist(), token.tolist()) == ([3, -1], [7, 8])
    for bad in ((-1, 0, 0), (-1, -1, 0)):
        with pytest.raises(ValueError, match="must be paths that part at the beginning"):
            adapters.paths_tree(function)(rows, rows, rows[:, 1:, 0], bad, rng)


def test_rows_one_at_a_time():
    seen = []

    def function(draft, drafts, lengths, parents, seed, rng):
        seen.append((draft, drafts.tolist(), lengths, parents, seed))
        return [5] * (lengths + 1)

    given = {"lengths": LENGTHS, "parents": (-1, 0), "seed": 9, "rng": None}
    found = adapters.one_at_a_time(function)(draft=DRAFT, drafts=DRAFTS, **given)
    assert found.tolist() == [[5, 5, 5], [5, -1, -1], [5, 5, -1]]
    assert [row[1:4] for row in seen] == [
        ([0, 1], 2, (-1, 0)), ([1, 1], 0, (-1, 0)), ([1, 0], 1, (-1, 0))
    ]  # fmt: skip
    seeds = np.random.default_rng(9).integers(2**31, size=3).tolist()
    assert [row[4] for row in seen] == seeds
    assert all(row[0].tolist() == DRAFT[0].tolist() for row in seen)
