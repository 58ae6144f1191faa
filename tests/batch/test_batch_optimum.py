"""The optimum of batches, from sums alone, against every prefix in 60 digits (Theory, 32)."""

import numpy as np
import pytest
from prefix_cuts import least, touching

from otspec import batch
from otspec.batch._kernels import sorted_rows

KS = [1, 2, 3, 8, 100, 2**53]


def accuracy(draft):
    """A sum of n products, the tangent's own value, and what may be left below it."""
    return (draft.shape[-1] / 2 + 10) * np.finfo(draft.dtype).eps


def check(draft, target, k):
    found = batch.optimal_acceptance(draft, target, k)
    wanted = [least(*pair, k) for pair in zip(draft, target, strict=True)]
    np.testing.assert_allclose(found, wanted, rtol=0, atol=accuracy(draft))


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


def test_no_rows_and_one_row_without_an_axis():
    assert batch.optimal_acceptance(np.ones((0, 3)), np.ones((0, 3)), 2).shape == (0,)
    one = np.array([0.5, 0.5])
    assert batch.optimal_acceptance(one, one, 3) == 1
