"""What the row kernels of K-Seq and pooled selection find, against the array path and a sort."""

from __future__ import annotations

import numpy as np
import pytest
from arrival_laws import check_heavy, rows_with_ties
from batch_paths import taking
from batch_table import drafts_of

from otspec import batch
from otspec._base import compiling
from otspec.batch._array_api import k_sequential as inflated
from otspec.batch._array_api.library import library_of
from otspec.batch._array_api.pooled import clock_pools
from otspec.batch._numba import compiled

pytestmark = pytest.mark.skipif(not compiling.HAS_NUMBA, reason="Numba is not installed")

RULES = ["k_sequential", "pooled_selection", "pooled_selection_without_replacement"]
DTYPES = [np.float32, np.float64]
EVERY_DTYPE = pytest.mark.parametrize("dtype", DTYPES, ids=lambda dtype: dtype.__name__)


def rows(dtype, n, number, seed=0):
    """Rows of a draft and a target, flat and steep ones; the last pair is disjoint.

    None is of equal pairs, where every cut of the pools is as good, and rounding decides.
    """
    rng = np.random.default_rng(seed)
    draft, target = (
        np.concatenate([rng.dirichlet(np.full(n, a), number) for a in (0.1, 1.0)]) for _ in "pq"
    )
    draft[-1, ::2] = target[-1, 1::2] = 0
    draft, target = draft.astype(dtype), target.astype(dtype)
    return draft / draft.sum(-1, keepdims=True), target / target.sum(-1, keepdims=True)


def read_only(*arrays):
    """Machine code is made for read-only arrays alone."""
    for values in arrays:
        values.setflags(write=False)
    return arrays


@EVERY_DTYPE
@pytest.mark.parametrize("name", RULES)
def test_random_rows_have_the_outcome_of_the_arrays(name, dtype):
    """With light tokens among distinct drafts, and no border so near that rounding decides."""
    rng = np.random.default_rng(1)
    for n, k in ((300, 4), (40, 8), (70_000, 2)):
        draft, target = rows(dtype, n, 12 if n < 1_000 else 2)
        drafts = drafts_of(name, draft, rng.random((len(draft), k)), k)
        uniforms = rng.random((len(draft), k + 1))
        for grades in (6, 3) if name != "k_sequential" else (None,):
            options = {} if grades is None else {"grades": grades}
            with taking("arrays"):
                wanted = getattr(batch, name)(draft, target, drafts, uniforms, **options)
            with taking("rows"):
                found = getattr(batch, name)(draft, target, drafts, uniforms, **options)
            for one, other in zip(found, wanted, strict=True):
                np.testing.assert_array_equal(one, other)


@EVERY_DTYPE
def test_rho_is_that_of_the_arrays(dtype):
    from otspec.batch._numba import k_sequential

    draft, target = read_only(*rows(dtype, 300, 30))
    number = len(draft)
    for k in (1, 2, 5, 40):
        rho = np.empty(number)
        k_sequential.find_rho(draft, target, np.full(number, float(k)), rho)
        with np.errstate(all="ignore"):
            wanted = inflated.safe_rho(
                library_of(draft), draft, target, np.full((number, 1), float(k))
            )
        np.testing.assert_allclose(rho, wanted, rtol=16 * np.finfo(dtype).eps)


@EVERY_DTYPE
@pytest.mark.parametrize("n", [1, 20, 32, 33, 700, 5_000])
def test_heavy_tokens_are_those_of_a_sort(n, dtype):
    from otspec.batch._numba.pooled.heaviest import read_heavy

    for row in rows_with_ties(n, dtype):
        sums, heavy = np.empty(-(-n // 256)), np.empty((2, 32))
        border, light = read_heavy(*read_only(row, 2 * row), (1.0, 1.0), sums, heavy)
        drafted, wanted = heavy
        check_heavy(row, drafted, wanted, light)
        assert not wanted[drafted == 0].any()
        assert border == (np.sort(row)[-33] if n > 32 else 0)
        assert sums.sum() == row.sum()


@EVERY_DTYPE
@np.errstate(all="ignore")
def test_pools_of_distinct_drafts_are_those_of_the_arrays(dtype):
    from otspec.batch._numba.pooled import clocks as rule
    from otspec.batch._numba.pooled.graded_pools import ABOVE, GRADE, INSIDE, SLOPE, WANTED

    (draft, target), eps = read_only(*rows(dtype, 300, 10)), np.finfo(dtype).eps
    for k in (1, 4):
        integral = rule.integral_of(draft.dtype, k)
        laws = [
            rule.law_of(*pair, (1.0, 1.0), float(k), 6, integral)
            for pair in zip(draft, target, strict=True)
        ]
        pools, tight = (np.array([law[i] for law in laws]) for i in range(2))
        library, count = library_of(draft), np.full((len(draft), 1), float(k))
        wanted = clock_pools.arrival_pools(library, draft, target, count, k, 6)
        near = {"rtol": 0, "atol": 1e-6 if dtype == np.float32 else 1e-13}
        np.testing.assert_allclose(pools[:, GRADE, :-1], wanted.law.grades, rtol=4 * eps)
        np.testing.assert_allclose(pools[:, SLOPE, :-1], wanted.law.slopes, **near)
        np.testing.assert_allclose(
            pools[:, ABOVE] / library.factor, wanted.above / library.factor, **near
        )
        # Of cuts that differ by rounding alone, each may take another.
        gaps = pools[:, INSIDE] - pools[:, WANTED]
        for cut in (tight[:, None], wanted.law.tight):
            best = np.take_along_axis(gaps, cut, axis=-1)[:, 0]
            np.testing.assert_allclose(best, gaps.max(axis=-1), **near)


def test_many_exponentials_are_those_of_one_after_another():
    import numba

    from otspec.batch._numba.pooled.clock_pools import exponentials

    @numba.njit
    def run(powers, values):
        exponentials(powers, values, np.empty(powers.size))

    powers = -np.exp(np.random.default_rng(0).uniform(-80, 6.55, 5_000))
    powers[:2] = 0, -1e300
    values = np.empty(powers.size)
    run(powers, values)
    np.testing.assert_allclose(values[2:], np.exp(powers[2:]), rtol=4 * np.finfo(float).eps)
    assert values[0] == 1
    assert 0 < values[1] < 1e-303


@pytest.mark.parametrize(("kind", "bits"), [("bfloat16", np.int16), ("float16", np.uint16)])
def test_numbers_are_stored_in_half_precision(kind, bits):
    """They are those of PyTorch: halfway between two numbers, subnormal, out of range, none."""
    torch = pytest.importorskip("torch")
    from numba import njit

    rng = np.random.default_rng(0)
    patterns = rng.integers(0, 1 << 32, 20_000, dtype=np.uint32)
    patterns[::3] &= 0xFFFFF000  # ties of float16
    patterns[1::3] &= 0xFFFF8000  # of bfloat16
    patterns[::2] = patterns[::2] & 0x83FFFFFF | rng.integers(12, 18, 10_000, dtype=np.uint32) << 26
    edges = [0, -0.0, 65519.9, 65520, 2**-14, 2**-25, 3 * 2**-26, np.inf, -np.inf, np.nan]
    values = np.concatenate([patterns.view(np.float32), np.array(edges, np.float32)])
    out = np.empty(values.size, bits)
    njit(_store)(values, out)
    like = torch.from_numpy(values).to(getattr(torch, kind))
    found = torch.from_numpy(out).view(like.dtype)
    none = like.isnan()
    assert (found.isnan() == none).all()
    assert (found.view(torch.int16) == like.view(torch.int16))[~none].all()
    one = [compiled.stored(value, out[0]) for value in values[-300:]]
    assert (np.array(one, bits) == out[-300:])[~none[-300:].numpy()].all()


def _store(values, out):
    for i in range(values.size):
        out[i] = compiled.stored(values[i], out[i])
