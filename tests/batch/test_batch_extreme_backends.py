"""Rows of one dominant token on every array library and dtype: no token of probability 0, no NaN.

What the libraries compute is compared with NumPy's, whose laws are tested exactly. Some libraries
take subnormal numbers for zeros: there NumPy is given the rows without them.
"""

from dataclasses import replace

import numpy as np
import pytest
from batch_backends import DIVIDING, JAX_SHAPES, NAMES, ONE_PATH, Backend, acceptances_of, rules_of
from batch_paths import taking
from batch_table import RULES, drafts_number, drafts_of
from extreme_rows import rows
from searching import NIGHTLY

from otspec import batch
from otspec.batch._array_api.library import Library, library_of

REPEATS = {"jax": 6}
MANY = 42
"""How often each pair comes; JAX takes every operation on its own, a few rows at once."""
ONCE = 42
"""Rows that have each pair, a whole number of pieces for JAX: acceptance is no matter of chance."""
MOST = 3
DTYPES = ["float16", "bfloat16", "float32", "float64"]
HAS = {
    "numpy-arrays": ["float16", "float32", "float64"],
    "array_api_strict": ["float32", "float64"],
    "torch": DTYPES,
    "torch-arrays": ["float32", "float64"],
    "torch-cuda": DTYPES,
    "torch-triton": DTYPES if NIGHTLY else ["float32"],
    "jax": ["float32"],
    "jax-jit": ["float16", "bfloat16", "float32"],
    "cupy": ["float16", "float32", "float64"],
}
FEW = [("jax", "float32"), ("jax-jit", "float16"), ("jax-jit", "bfloat16")]
FEW += [] if NIGHTLY else [("torch-triton", "float32")]
"""JAX compiles for a long time, and Triton's interpreter is slow: these are tried where masses are
divided by, and nowhere else."""
WIDEST = {"bfloat16": np.float32}
FLUSHED = {
    *(("jax", "float32"), ("jax-jit", "float32"), ("jax-jit", "bfloat16")),  # on a CPU
    ("cupy", "float32"),  # which CuPy compiles its kernels for
}
"""Libraries and dtypes whose subnormal numbers are taken for zeros."""


def shape_for(library, dtype):
    """The shape of the rows that a library is given at once, if not all."""
    return JAX_SHAPES.get(library) if dtype == "float32" else None


def all_rows(library, dtype, *, flushed):
    """All pairs, many times, in the dtype that NumPy has for it: bfloat16 in float32."""
    held = np.dtype(WIDEST.get(dtype, dtype)).type
    width = (shape_for(library, dtype) or [5])[-1]
    pairs = [np.stack(pair) for pair in rows(held).values()]
    pairs = [np.pad(pair, ((0, 0), (0, width - pair.shape[1]))) for pair in pairs]
    both = np.stack(pairs * REPEATS.get(library, MANY), axis=1)
    if dtype == "bfloat16":  # whose range is float32's: its entries have 8 digits
        both = (both.view(np.uint32) & np.uint32(0xFFFF0000)).view(np.float32)
        both[both.sum(axis=-1) == 0] = 0.25
    if flushed:
        both[np.abs(both) < np.finfo(held).tiny] = 0
    return both[0], both[1]


def capped_alike(library, monkeypatch):
    """Give NumPy the highest grades that JAX has, with which distinct drafts have the same law."""
    if library.startswith("jax"):
        monkeypatch.setattr(Library, "highest", 2.0**62)


def given(backend, dtype, values):
    """The rows in the backend's own dtype."""
    if dtype != "bfloat16":
        return backend.array(values)
    if backend.name.startswith("jax"):
        return backend.array(values).astype("bfloat16")
    return backend.array(values).to(backend.module.bfloat16)


def called(backend, function, arrays, **options):
    function = backend.module.jit(function) if backend.name == "jax-jit" else function
    with taking(backend.path):
        result = function(*arrays, **options)
    if isinstance(result, tuple):
        return type(result)(*map(backend.numpy, result))
    return backend.numpy(result)


def called_in_pieces(backend, shape, function, arrays, **options):
    """Call a function on as many rows at once as other tests, so that nothing is compiled anew."""
    given = [array.reshape(-1, *shape[:-1], array.shape[-1]) for array in arrays]
    named = {
        name: array.reshape(-1, *shape[:-1], array.shape[-1]) for name, array in options.items()
    }
    found = [
        backend.call(
            function,
            *(array[i] for array in given),
            **{name: array[i] for name, array in named.items()},
        )
        for i in range(len(given[0]))
    ]
    if not isinstance(found[0], tuple):
        return np.concatenate([np.ravel(part) for part in found])
    return type(found[0])(
        *(np.concatenate([np.ravel(part) for part in parts]) for parts in zip(*found, strict=True))
    )


def test_where_products_have_no_order_subnormal_numbers_are_zeros():
    least = np.finfo(np.float32).tiny
    rows = np.array([least / 2, least, 1], np.float32)
    half = np.array([6e-8, 1], np.float16)  # subnormal there, and not in float32
    for library in (library_of(rows), replace(library_of(rows), reorders=True)):
        wanted = [0.0 if library.reorders else least / 2, least, 1]
        assert library.normal(rows).tolist() == wanted
        assert library.normal(rows).dtype == np.float32
        assert library.normal(half).tolist() == half.tolist()


@pytest.mark.parametrize(
    ("library", "dtype", "name"),
    [
        (library, dtype, name)
        for library in NAMES
        for dtype in HAS[library]
        for name in (DIVIDING if (library, dtype) in FEW else rules_of(library))
    ],
)
def test_rules(library, dtype, name, monkeypatch):
    backend = Backend(library)
    capped_alike(library, monkeypatch)
    draft, target = all_rows(library, dtype, flushed=(library, dtype) in FLUSHED)
    k, rng = drafts_number(name, MOST), np.random.default_rng(0)
    uniforms = rng.random((len(draft), 2 * k + 1), dtype=np.float32)
    # A ratio next to nothing is in the pool above as often: never, unless the number is 0.
    least = 2**-24 if name.startswith("pooled") else 0
    uniforms[::3] = rng.choice(np.array([least, 1 - 2**-24], np.float32), uniforms[::3].shape)
    drafts = drafts_of(name, draft, uniforms, MOST)
    mask = np.ones(drafts.shape, bool)
    if "without" in name:  # what is beyond the support is masked, as documented
        mask &= np.arange(k) < np.count_nonzero(draft, axis=1)[:, None]
    rest, rule = uniforms[:, k:].copy(), getattr(batch, name)
    own = all_rows(library, dtype, flushed=False)
    shape = shape_for(library, dtype)
    masks = {"mask": mask} if "without" in name or (shape and RULES[name].masked) else {}
    if shape:
        found = called_in_pieces(backend, shape, rule, (*own, drafts, rest), **masks)
    else:
        pair = (given(backend, dtype, row) for row in own)
        others = map(backend.array, (drafts, rest))
        given_masks = {name: backend.array(mask) for name, mask in masks.items()}
        found = called(backend, rule, (*pair, *others), **given_masks)
    every = np.arange(len(draft))
    assert (target[every, found.token] > 0).all()
    taken = found.index >= 0
    assert (drafts[every, found.index][taken] == found.token[taken]).all()
    assert (found.accepted == ((drafts == found.token[:, None]) & mask).any(axis=1)).all()
    wanted = rule(draft, target, drafts, rest, **masks)
    # A uniform number may be within rounding of a cut; the least and 1 are nowhere near one here.
    differing = found.token != wanted.token
    assert np.count_nonzero(differing) <= (0 if dtype == "float64" else len(draft) // 100)


@pytest.mark.parametrize(
    ("library", "dtype"), [(n, d) for n in ONE_PATH for d in HAS[n] if (n, d) not in FEW]
)
def test_acceptance_and_drafters(library, dtype, monkeypatch):
    backend = Backend(library)
    capped_alike(library, monkeypatch)
    draft, target = all_rows(library, dtype, flushed=(library, dtype) in FLUSHED)
    rows_given, shape = all_rows(library, dtype, flushed=False), shape_for(library, dtype)
    own = [given(backend, dtype, row) for row in rows_given]
    for function in acceptances_of(library):
        wanted = function(draft[:ONCE], target[:ONCE])
        if shape:
            found = called_in_pieces(
                backend, shape, function, [row[:ONCE, :] for row in rows_given]
            )
        else:
            found = called(backend, function, [row[:ONCE, :] for row in own])
        np.testing.assert_allclose(found, wanted, rtol=0, atol=3e-6)
    uniforms = np.random.default_rng(0).random((len(draft), 2), dtype=np.float32)
    for drafter in (batch.sample_iid, batch.sample_without_replacement, batch.sample_spechub):
        drafts = called(backend, drafter, (own[0], backend.array(uniforms)))
        enough = np.count_nonzero(draft, axis=1) > 1
        assert (np.take_along_axis(draft, drafts, axis=1)[enough] > 0).all()
