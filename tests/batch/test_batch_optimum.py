"""The optimum of batches, from sums alone, against every prefix in 60 digits (Theory, 32)."""

import numpy as np
import pytest
from batch_backends import library
from batch_paths import PATHS, path, taking  # noqa: F401 # path is a fixture
from prefix_cuts import least, touching

from otspec import batch
from otspec.batch import _rows, _running
from otspec.batch._array_api import sorted_rows
from otspec.batch._dispatch import machine

KS = [1, 2, 3, 8, 100, 2**53]


def accuracy(draft):
    """A sum of n products, the tangent's own value, and what may be left below it."""
    return (draft.shape[-1] / 2 + 10) * np.finfo(draft.dtype).eps


def check(draft, target, k):
    wanted = [least(*pair, k) for pair in zip(draft, target, strict=True)]
    for taken in PATHS:
        with taking(taken):
            found = batch.optimal_acceptance(draft, target, k)
        np.testing.assert_allclose(found, wanted, rtol=0, atol=accuracy(draft), err_msg=taken)


def degenerate_rows():
    """Pairs of one length: equal, disjoint, ties, zeros, one token, subnormal masses, no masses."""
    one, none = np.eye(6)[0], np.zeros(6)
    even = np.full(6, 1 / 6)
    some = np.array([0.4, 0.3, 0.2, 0.1, 0, 0])
    tiny = np.array([1, 1e-40, 1e-310, 5e-324, 0, 0])
    return [
        *[(even, even), (some, some), (one, one), (one, even), (even, one), (some, some[::-1])],
        *[(np.roll(some, 2), some), (tiny, even), (even, tiny), (tiny, some[::-1])],
        *[(none, some), (some, none), (none, none), (some * 1.001, some), (some, some * 0.999)],
        *[(some, some * (1 + 1e-9 * np.arange(6))), (some[[0, 0, 1, 1, 2, 3]] / 2, some)],
    ]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("k", KS)
def test_degenerate_rows(k, dtype):
    draft, target = (np.array(part, dtype=dtype) for part in zip(*degenerate_rows(), strict=True))
    check(draft, target, k)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("k", KS)
def test_random_rows(k, dtype):
    rng = np.random.default_rng(k % 1000)
    for n, alike in ((2, 1), (3, 1), (24, 0.3), (24, 1e-3)):
        draft = rng.dirichlet(np.full(n, 0.4), 12)
        draft[:, 0] = 0
        target = draft * np.exp(alike * rng.normal(size=draft.shape))
        target[:, 1] = rng.random(12) / n
        rows = (part / part.sum(-1, keepdims=True) for part in (draft + 1e-9, target))
        check(*(part.astype(dtype) for part in rows), k)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("k", [2, 3, 8])
@pytest.mark.parametrize("n", [2, 4, 7, 40])
def test_rows_with_many_minima_of_nearly_one_depth(n, k, dtype):
    rng = np.random.default_rng(n)
    rows = []
    for scale in (0, 1e-12, 1e-8, 1e-5, 1e-3):
        draft = rng.dirichlet(np.full(n, 3.0))
        target = touching(draft, k, 0.2, scale * rng.random(n) / n)
        rows.append((draft, target))
    check(*(np.array(part, dtype=dtype) for part in zip(*rows, strict=True)), k)


@pytest.mark.usefixtures("path")
def test_rows_that_sums_do_not_decide_are_sorted_alone(monkeypatch):
    sort, seen = sorted_rows.acceptance, []

    def counted(library, draft, target, k):
        seen.append(draft.shape)
        return sort(library, draft, target, k)

    monkeypatch.setattr(sorted_rows, "acceptance", counted)
    n, k = 1000, 4
    rng = np.random.default_rng(0)
    draft, target = rng.dirichlet(np.full(n, 0.3), (2, 2, 3))
    draft[1, 1] = 1 / n
    target[1, 1] = touching(draft[1, 1], k, 0.3, 1e-9 * rng.random(n))
    found = batch.optimal_acceptance(draft, target, k)
    assert seen == [(1, n)]
    for place in np.ndindex(2, 3):
        wanted = least(draft[place], target[place], k)
        assert found[place] == pytest.approx(wanted, abs=accuracy(draft))


@pytest.mark.usefixtures("path")
def test_no_rows_and_one_row_without_an_axis():
    assert batch.optimal_acceptance(np.ones((0, 3)), np.ones((0, 3)), 2).shape == (0,)
    one = np.array([0.5, 0.5])
    assert batch.optimal_acceptance(one, one, 3) == 1


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("k", [1, 2, 64])
def test_long_rows_have_the_optimum_of_the_arrays(k, dtype):
    rng = np.random.default_rng(k)
    draft = rng.dirichlet(np.full(3000, 0.1), (2, 3))
    target = draft * np.exp(rng.normal(size=draft.shape))
    target /= target.sum(axis=-1, keepdims=True)
    rows = draft.astype(dtype), target.astype(dtype)
    found = []
    for taken in PATHS:
        with taking(taken):
            found.append(batch.optimal_acceptance(*rows, k))
            assert (found[-1].shape, found[-1].dtype) == ((2, 3), np.float64)
    np.testing.assert_allclose(found[0], found[-1], rtol=0, atol=4 * np.finfo(dtype).eps)


@pytest.mark.skipif("rows" not in PATHS, reason="Numba is not installed")
def test_which_pairs_go_row_by_row(monkeypatch):
    torch, taken = library("torch"), []
    monkeypatch.setattr(_running, "machine", lambda name: taken.append(name) or machine(name))
    rng = np.random.default_rng(0)
    draft, target = pair = rng.dirichlet(np.ones(30), (2, 4))
    with taking("arrays"):
        wanted = batch.optimal_acceptance(*pair, 3)
    tensors = [torch.asarray(part) for part in pair]
    learnt = torch.nn.Parameter(tensors[0])

    def agrees(*rows):
        found = batch.optimal_acceptance(*rows, 3)
        np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-15)
        return found

    agrees(*pair)
    agrees(*map(np.asfortranarray, pair))
    assert isinstance(agrees(*tensors), torch.Tensor)
    with torch.no_grad():
        agrees(learnt, tensors[1])
    assert taken == ["acceptance"] * 4
    assert batch.optimal_acceptance(learnt, tensors[1], 3).requires_grad
    batch.optimal_acceptance(*(part.astype(np.float16) for part in pair), 3)
    batch.optimal_acceptance(np.broadcast_to(draft[0], (4, 30)), target, 3)
    assert len(taken) == 4
    with pytest.raises(ValueError, match="one shape"):
        batch.optimal_acceptance(draft, target[1:], 3)
    with pytest.raises(ValueError, match="k is 0"):
        batch.optimal_acceptance(*pair, 0)


def test_a_graph_has_it_as_one_operation_but_where_gradients_are_wanted():
    torch, graphs = library("torch"), []
    torch._dynamo.reset()

    def seen(graph, _):
        graphs.append([node.name for node in graph.graph.nodes if node.op == "call_function"])
        return graph

    whole = torch.compile(batch.optimal_acceptance, fullgraph=True, backend=seen)
    pair = np.random.default_rng(0).dirichlet(np.ones(30), (2, 4))
    tensors = [torch.asarray(part) for part in pair]
    np.testing.assert_array_equal(whole(*tensors, 3), batch.optimal_acceptance(*tensors, 3))
    assert graphs == [["optimal_acceptance_default"]]
    learnt = torch.nn.Parameter(tensors[0])
    assert whole(learnt, tensors[1], 1).requires_grad
    mapped = torch.compile(
        torch.vmap(batch.optimal_acceptance, (0, None, None)), fullgraph=True, backend=seen
    )
    wanted = [batch.optimal_acceptance(row, pair[1][0], 3) for row in pair[0]]
    found = mapped(tensors[0], tensors[1][0], 3)
    np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-15)
    torch._dynamo.reset()


@pytest.mark.skipif("rows" not in PATHS, reason="Numba is not installed")
def test_threads_share_the_rows(monkeypatch):
    torch = library("torch")
    draft, target = np.random.default_rng(0).dirichlet(np.ones(30), (2, 9))
    draft[4] = 1 / 30
    target[4] = touching(draft[4], 3, 0.3, 1e-9 * np.arange(30))  # one that is sorted
    wanted = batch.optimal_acceptance(draft, target, 3)
    monkeypatch.setattr(_rows, "_SHARED", 1)
    monkeypatch.setattr(torch, "get_num_threads", lambda: 4)
    found = batch.optimal_acceptance(torch.asarray(draft), torch.asarray(target), 3)
    np.testing.assert_array_equal(found, wanted)
