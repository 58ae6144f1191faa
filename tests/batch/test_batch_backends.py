"""Every batch function gives the same on every array library."""

import numpy as np
import pytest
from batch_backends import (  # noqa: F401 # the backend is a fixture
    JAX_SHAPES,
    NAMES,
    ONE_PATH,
    K,
    acceptances_of,
    backend,
    library,
    rules_of,
)
from batch_table import BLOCKS, MASKED, RULES, drafts_of

from otspec import batch

SHAPES = [(5,), (3, 300), (2, 3, 700)]
ONE_SHAPE = {**JAX_SHAPES, "torch-triton": (2, 3, 700)}
"""What is compiled for each shape, or interpreted."""


def everywhere(names):
    """Try every shape on array libraries."""
    shapes = {name: [ONE_SHAPE[name]] if name in ONE_SHAPE else SHAPES for name in names}
    every = [(name, shape) for name in names for shape in shapes[name]]
    return pytest.mark.parametrize(("backend", "shape"), every, indirect=["backend"], ids=str)


# JAX compiles each operation of these alone for half a minute, and all together in seconds.
AS_A_WHOLE = pytest.mark.parametrize(
    "backend", [name for name in NAMES if name != "jax"], indirect=True
)


def rows(shape, seed=0):
    rng = np.random.default_rng(seed)
    draft, target = np.exp(2 * rng.normal(size=(2, *shape))).astype(np.float32)
    draft[..., 1] = 0
    target[..., 2] = 0
    return (
        draft / draft.sum(axis=-1, keepdims=True),
        target / target.sum(axis=-1, keepdims=True),
        rng.random((*shape[:-1], K + 1), dtype=np.float32),
    )


def agree(found, wanted):
    """Compare results of two libraries; ids exactly, numbers to rounding of sums of float32."""
    if isinstance(wanted, tuple):
        for one, other in zip(found, wanted, strict=True):
            agree(one, other)
    elif wanted.dtype.kind == "f":
        np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-5)
    else:
        # A uniform number may be within rounding of a cut, but hardly twice among a few rows.
        assert np.count_nonzero(found != wanted) <= (1 if wanted.size > 2 else 0)


@everywhere(NAMES)
def test_rules(backend, shape):  # noqa: F811
    draft, target, uniforms = rows(shape)
    for name in rules_of(backend.name):
        row = RULES[name]
        drafts = drafts_of(name, draft, uniforms, K)
        rule = getattr(batch, name)
        arguments = draft, target, drafts, uniforms[..., ::-1][..., : drafts.shape[-1] + 1].copy()
        if not row.masked or backend.name not in JAX_SHAPES:
            agree(backend.call(rule, *arguments), rule(*arguments))
        if row.masked:
            mask = uniforms[..., : drafts.shape[-1]] < 0.6
            agree(backend.call(rule, *arguments, mask=mask), rule(*arguments, mask=mask))


@everywhere(ONE_PATH)
def test_drafters(backend, shape):  # noqa: F811
    draft, _, uniforms = rows(shape)
    for drafter, k in (
        (batch.sample_iid, K),
        (batch.sample_without_replacement, K),
        (batch.sample_spechub, 2),
    ):
        uniform = uniforms[..., :k].copy()
        agree(backend.call(drafter, draft, uniform), drafter(draft, uniform))


@everywhere(ONE_PATH)
def test_acceptance(backend, shape):  # noqa: F811
    draft, target, _ = rows(shape)
    for function in acceptances_of(backend.name):
        agree(backend.call(function, draft, target), function(draft, target))


@pytest.mark.parametrize("name", BLOCKS)
@AS_A_WHOLE
def test_blocks(backend, name):  # noqa: F811
    draft, _, _ = rows((3, 2, 300))
    _, target, uniforms = rows((3, 3, 300), seed=1)
    drafts = batch.sample_iid(draft, uniforms[:, :2, :1])[..., 0]
    arguments = draft, target, drafts, uniforms[:, :, 1].copy()
    rule, options = getattr(batch, name), {}
    if name == "block_verification_preprint":
        owed = np.array([[0.5], [0.0], [0.9]], dtype=np.float32), np.array([[1], [0], [1]])
        options = {"corrections": batch.Corrections(*owed)}
    agree(backend.call(rule, *arguments, **options), rule(*arguments, **options))


@AS_A_WHOLE
def test_greedy_multi_path(backend):  # noqa: F811
    draft, _, _ = rows((3, 1, 2, 300))
    _, target, uniforms = rows((3, 1, 3, 300), seed=1)
    draft, target = (np.repeat(part, 2, axis=1) for part in (draft, target))  # two paths
    drafts = batch.sample_iid(draft, np.stack([uniforms[:, 0, :2, :1]] * 2, axis=1))[..., 0]
    drafts[:, 1, 0] = drafts[::-1, 0, 0]
    arguments = draft, target, drafts, uniforms[:, 0, :, 1].copy()
    wanted = batch.greedy_multi_path(*arguments)
    agree(backend.call(batch.greedy_multi_path, *arguments), wanted)


@pytest.mark.parametrize(
    ("backend", "name"),
    [
        (library, name)
        for library in NAMES
        if library != "jax"
        for name in (
            ["recursive_rejection_without_replacement"] if library in ONE_SHAPE else MASKED
        )
    ],
    indirect=["backend"],
)
def test_trees(backend, name):  # noqa: F811
    arguments, parents = tree_problem(name)

    def function(*arrays):
        return batch.tree_verification(*arrays[:-1], parents, rule=name, mask=arrays[-1])

    agree(backend.call(function, *arguments), function(*arguments))


@pytest.mark.parametrize("name", ["recursive_rejection", "recursive_rejection_without_replacement"])
@AS_A_WHOLE
def test_traversal(backend, name):  # noqa: F811
    (*arrays, uniforms, mask), parents = tree_problem(name)
    numbers = uniforms.reshape(len(uniforms), -1)[:, : len(parents) + 1].copy()
    arguments, distinct = (*arrays, numbers, mask), "without" in name

    def function(*arrays):
        *arrays, mask = arrays
        return batch.traversal_verification(*arrays, parents, mask=mask, distinct=distinct)

    agree(backend.call(function, *arguments), function(*arguments))


def tree_problem(name):
    """A tree for a rule, four rows of it, some nodes left out; and its parents."""
    parents = (-1, 0) if name == "maximal_coupling" else (-1, -1, 0, 1, 1)
    draft, _, uniforms = rows((4, len(parents) + 1, 300))
    _, target, _ = rows((4, len(parents) + 1, 300), seed=1)
    target = (draft + target) / 2
    drafts = np.zeros((4, len(parents)), dtype=np.int64)
    for node in {*parents}:
        children = np.flatnonzero(np.array(parents) == node)
        numbers = uniforms[:, node + 1, : len(children)]
        drafts[:, children] = drafts_of(name, draft[:, node + 1], numbers, len(children))
    widest = 1 if name == "maximal_coupling" else 2
    mask = np.arange(len(parents)) < np.array([[1], [5], [5], [4]])
    return (draft, target, drafts, uniforms[:, -3:, : widest + 1].copy(), mask), parents


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"temperature": 0.7, "top_k": 20},
        {"top_p": 0.8},
        {"temperature": 1.4, "top_k": 40, "top_p": 0.8, "min_p": 0.2, "order": "early-min-p"},
        {"temperature": 0.6, "top_p": 0.7, "min_p": 0.1, "order": "temperature-last"},
        {"min_p": 1},
    ],
)
def test_warping(backend, options):  # noqa: F811
    logits = np.random.default_rng(0).normal(size=(3, 300)).astype(np.float32)
    logits[:, 5] = -np.inf

    def warp(values):
        return batch.warp(values, **options)

    agree(backend.call(warp, logits), warp(logits))


def test_bfloat16_is_computed_in_float32():
    torch = pytest.importorskip("torch", reason="torch is not installed")
    draft, target, uniforms = (torch.asarray(values) for values in rows((4, 300)))
    halves = draft.to(torch.bfloat16), target.to(torch.bfloat16)
    drafts = batch.sample_iid(halves[0], uniforms[:, :K])
    found = batch.k_sequential(*halves, drafts, uniforms)
    wanted = batch.k_sequential(*(half.float() for half in halves), drafts, uniforms)
    assert (found.token == wanted.token).all()
    assert found.token.device == draft.device
    assert found.token.dtype == torch.int64


def test_no_value_is_looked_at():
    """Tensors without values raise where a number is asked for, as a device would be waited for."""
    torch = library("torch")
    from torch._subclasses.fake_tensor import FakeTensorMode

    with FakeTensorMode():
        draft, uniforms = torch.empty(4, 1_000), torch.empty(4, K + 1)
        drafts = batch.sample_iid(draft, uniforms[:, :K])
        distinct = batch.sample_without_replacement(draft, uniforms[:, :K])
        hub = batch.sample_spechub(draft, uniforms[:, :2])
        target = batch.warp(draft, top_k=5, top_p=0.9)
        results = [
            batch.maximal_coupling(draft, target, drafts[:, :1], uniforms[:, :2]),
            batch.recursive_rejection(draft, target, drafts, uniforms),
            batch.recursive_rejection_without_replacement(draft, target, distinct, uniforms),
            batch.k_sequential(draft, target, drafts, uniforms, mask=drafts > 0),
            batch.pooled_selection(draft, target, drafts, uniforms),
            batch.pooled_selection_without_replacement(draft, target, distinct, uniforms),
            batch.spechub(draft, target, hub, uniforms[:, :3]),
            *(
                getattr(batch, name)(
                    draft.reshape(1, 4, -1)[:, :K], draft[None], drafts[:1], uniforms[:1]
                )
                for name in BLOCKS
            ),
            batch.greedy_multi_path(
                draft[None, None, :K], draft[None, None], drafts[:1, None], uniforms[:1]
            ),
            batch.tree_verification(
                draft[None], draft[None], drafts[None, 0], torch.empty(1, 3, 3), (-1, -1, 0)
            ),
            batch.traversal_verification(
                draft[None], draft[None], drafts[None, 0], torch.empty(1, 4), (-1, -1, 0)
            ),
        ]
        assert [tuple(result.token.shape) for result in results] == [(4,)] * 7 + [(1,)] * 6


def test_no_library_is_forgotten():
    libraries = {name.partition("-")[0] for name in NAMES}
    assert libraries == {"numpy", "array_api_strict", "torch", "jax", "cupy"}
