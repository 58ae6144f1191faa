"""The batch rules row by row: which calls take that path, and that the outcome is the other's."""

from __future__ import annotations

import inspect
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from batch_backends import library
from batch_calls import CALLS
from batch_paths import taking
from batch_precision import chances, pair, variation
from batch_table import MASKED, RULES, drafts_of

from otspec import batch
from otspec._base import compiling
from otspec.batch import _dispatch, _rows, _running

pytestmark = pytest.mark.skipif(not compiling.HAS_NUMBA, reason="Numba is not installed")

BLOCKS = ["token_verification", "block_verification"]
SIZES = 1, 5, 256, 257, 700
BOUNDS = {np.float32: 3e-7, np.float64: 3e-15}


@pytest.fixture
def rows_taken(monkeypatch):
    """What was run row by row, but for drafters, in a list that grows."""
    taken = []

    def machine(name):
        taken.extend([name] * (name != "drafters"))
        return _dispatch.machine(name)

    monkeypatch.setattr(_running, "machine", machine)
    return taken


def problem(name, n, seed, lead=(60,)):
    """Rows with zeros, ties, disjoint rows and rows of zeros; drafts; uniform numbers."""
    rng = np.random.default_rng(seed)
    draft, target = rng.integers(0, 5, (2, *lead, n)) * rng.choice([1.0, 1e-3], (2, *lead, n))
    draft[..., -1] += 1
    draft /= draft.sum(axis=-1, keepdims=True)
    flat = target.reshape(-1, n)
    flat[1::7] = draft.reshape(-1, n)[1::7]
    flat[2::7] = np.where(draft.reshape(-1, n)[2::7] > 0, 0, 1)
    flat[3::7] = 0
    total = target.sum(axis=-1, keepdims=True)
    target /= np.where(total > 0, total, 1)
    most = min(n, 3) if "without" in name else 3
    drafts = drafts_of(name, draft, rng.random((*lead, 3)), most)
    uniforms = rng.random((*lead, drafts.shape[-1] + 1))
    uniforms.reshape(len(flat), -1)[::2, :-1] **= 0.1  # many rejections
    return draft, target, drafts, uniforms


def both(function, *arguments, **options):
    """The results of both paths."""
    found = []
    for path in ("rows", "arrays"):
        with taking(path):
            found.append(function(*arguments, **options))
    return found


def agree(found, wanted):
    for one, other in zip(found, wanted, strict=True):
        assert one.dtype == other.dtype
        assert one.shape == other.shape
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("name", RULES)
def test_the_outcome_is_that_of_the_arrays(name, n, rows_taken):
    arguments = problem(name, n, seed=n)
    rule, count = getattr(batch, name), np.arange(60) % 4
    agree(*both(rule, *arguments))
    assert rows_taken == [RULES[name].rows]
    if name in MASKED:
        mask = np.arange(arguments[2].shape[-1]) < count[:, None]
        drafts = np.where(mask, arguments[2], -7)
        agree(*both(rule, *arguments[:2], drafts, arguments[3], mask=mask))


@pytest.mark.parametrize("lead", [(), (1,), (2, 3)])
@pytest.mark.parametrize("name", RULES)
def test_leading_axes_are_those_of_the_arguments(name, lead):
    found, wanted = both(getattr(batch, name), *problem(name, 5, 0, lead))
    for one, other in zip(found, wanted, strict=True):
        assert np.shape(one) == np.shape(other) == lead
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("name", BLOCKS)
def test_blocks_are_those_of_the_arrays(name, rows_taken):
    for n in SIZES:
        draft, target, _, _ = problem("maximal_coupling", n, n, (40, 4))
        drafts = batch.sample_iid(draft[:, :3], np.random.default_rng(n).random((40, 3, 1)))[..., 0]
        uniforms = np.random.default_rng(n).random((40, 4)) ** 3
        mask = np.arange(3) < np.arange(40)[:, None] % 4
        arguments = draft[:, :3].copy(), target, np.where(mask, drafts, 99), uniforms
        agree(*both(getattr(batch, name), *arguments[:2], drafts, uniforms))
        agree(*both(getattr(batch, name), *arguments, mask=mask))
    assert len(rows_taken) == 2 * len(SIZES)


@pytest.mark.parametrize("dtype", BOUNDS, ids=lambda dtype: dtype.__name__)
@pytest.mark.parametrize("n", [300, 128_256])
def test_the_law_is_the_target_up_to_rounding(dtype, n):
    """Recursive rejection, put together in float64 from the sums of the machine code."""
    from otspec.batch._numba.passes import rest_in_blocks

    draft, target = map(compiling.unwriteable, pair(n, dtype))
    p, q = draft.astype(float), target.astype(float)
    law, reached, scale, rejected = np.zeros(n), 1.0, 0.0, 1.0
    for k in range(1, 5):
        lacking = q - np.minimum(q, scale * p)
        chance = chances(lacking, rejected * p)
        law += reached * p * chance
        reached *= (p * (1 - chance)).sum() / p.sum()
        scale = float(dtype(scale + rejected))
        sums = np.empty(-(-n // 256))
        rejected = rest_in_blocks(draft, target, ((1.0, 1.0), scale, 0.0, scale), sums)
        rest = (target - np.minimum(target, dtype(scale) * draft)).astype(float)
        padded = np.pad(rest, (0, -n % 256)).reshape(-1, 256)
        within = padded / np.maximum(padded.sum(axis=1, keepdims=True), np.finfo(float).tiny)
        drawn = (within * (sums / sums.sum())[:, None]).ravel()[:n]
        assert variation(law + reached * drawn, target) < BOUNDS[dtype], k


def call_of(function):
    """Arguments that lie row after row."""
    return [np.ascontiguousarray(value) for value in CALLS[function].values()]


def tensors(arguments):
    torch = library("torch")
    return [torch.asarray(value) for value in arguments]


@pytest.mark.parametrize("name", [*RULES, *BLOCKS])
def test_plain_arrays_on_a_cpu_go_row_by_row(name, rows_taken):
    function = getattr(batch, name)
    arguments = call_of(function)
    wanted = function(*arguments)
    agree(function(*arguments[:2], arguments[2].astype(np.int32), arguments[3]), wanted)
    if name in RULES:  # of blocks only two rows are needed: they are not copied
        agree(function(*map(np.asfortranarray, arguments)), wanted)
    assert len(rows_taken) == 2 + (name in RULES)
    torch = library("torch")
    given = tensors(arguments)
    for draft in (given[0], given[0].clone().requires_grad_(), torch.nn.Parameter(given[0])):
        found = function(draft, *given[1:])
        assert all(type(part) is torch.Tensor for part in found)
        agree([part.numpy() for part in found], wanted)
    assert len(rows_taken) == 5 + (name in RULES)


def test_everything_else_goes_by_arrays(rows_taken, monkeypatch):
    torch = library("torch")
    arguments = call_of(batch.recursive_rejection)
    draft, target, drafts, uniforms = arguments
    wanted = batch.recursive_rejection(*arguments)
    halves = draft.astype(np.float16), target.astype(np.float16)
    shared = (np.broadcast_to(row, (2, len(row))) for row in (draft[0], target[0]))
    batch.recursive_rejection(*shared, drafts, uniforms)
    agree(batch.recursive_rejection(*halves, drafts, uniforms), wanted)
    given = tensors(arguments)
    bfloat = given[0].to(torch.bfloat16), given[1].to(torch.bfloat16)
    agree([part.numpy() for part in batch.recursive_rejection(*bfloat, *given[2:])], wanted)
    strict = [library("array_api_strict").asarray(value) for value in arguments]
    batch.recursive_rejection(*strict)
    one = torch.func.vmap(batch.recursive_rejection)(*given)
    agree([part.numpy() for part in one], wanted)
    assert len(rows_taken) == 1
    monkeypatch.setattr(compiling, "HAS_NUMBA", False)
    agree(batch.recursive_rejection(*arguments), wanted)
    assert len(rows_taken) == 1


@pytest.mark.parametrize("name", [*RULES, *BLOCKS])
def test_tokens_out_of_range_of_tensors_are_refused_too(name):
    function = getattr(batch, name)
    given = tensors(call_of(function))
    for wrong in (-1, 4, 2**62):
        given[2] = given[2].clone()
        given[2][1, 0] = wrong
        with pytest.raises(ValueError, match=f"drafts has the token {wrong}: "):
            function(*given)
        if "mask" in inspect.signature(function).parameters:
            mask = given[2] != wrong
            assert (function(*given, mask=mask).token >= 0).all()


@pytest.mark.parametrize("name", RULES)
def test_calls_from_several_threads_do_not_disturb_each_other(name):
    rule = getattr(batch, name)
    calls = [problem(name, 300, seed) for seed in range(8)] * 3
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda arguments: rule(*arguments), calls))
    for result, arguments in zip(found, calls, strict=True):
        agree(result, rule(*arguments))


def test_threads_share_the_rows_of_tensors(monkeypatch):
    torch = library("torch")
    arguments = problem("recursive_rejection", 300, 0)
    wanted = batch.recursive_rejection(*arguments)
    monkeypatch.setattr(_rows, "_SHARED", 1)
    monkeypatch.setattr(torch, "get_num_threads", lambda: 7)
    found = batch.recursive_rejection(*tensors(arguments))
    agree([part.numpy() for part in found], wanted)


FORKED = """
import os, signal, numpy as np, torch
from otspec import batch
from otspec.batch import _rows

_rows._SHARED = 1
torch.set_num_threads(2)
draft, target = torch.from_numpy(np.random.default_rng(0).dirichlet(np.ones(9), (2, 40)))
given = draft, target, torch.zeros((40, 1), dtype=torch.int64), torch.full((40, 2), 0.5)
wanted = batch.maximal_coupling(*given).token
child = os.fork()
if child == 0:
    signal.alarm(30)
    os._exit(not torch.equal(batch.maximal_coupling(*given).token, wanted))
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs processes that fork")
def test_a_process_that_forks_off_has_threads_of_its_own():
    library("torch")
    quiet = "-Wignore::DeprecationWarning"  # Python warns of forks where threads run
    subprocess.run([sys.executable, quiet, "-c", FORKED], check=True, timeout=120)


def test_machine_code_that_is_kept_is_that_of_all_its_sources(tmp_path):
    from otspec.batch._numba.compiled import edition_of

    (tmp_path / "one.py").write_text("a = 1", encoding="utf-8")
    before = edition_of(tmp_path)
    edition_of.cache_clear()
    assert edition_of(tmp_path) == before
    (tmp_path / "other.py").write_text("b = 1", encoding="utf-8")
    edition_of.cache_clear()
    assert edition_of(tmp_path) != before
