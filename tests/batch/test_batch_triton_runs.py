"""Where the kernels run: Triton's interpreter, machine code, and who goes to them at all."""

import os
import subprocess
import sys
import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from batch_backends import INTERPRETED, library

from otspec.batch import _triton
from otspec.batch._array_api import sums
from otspec.batch._array_api.library import library_of

TESTS = ["test_batch_triton.py", "test_batch_backends.py", "test_batch_extreme_backends.py"]
"""Those that go through the kernels, or that know the backend torch-triton, in the interpreter."""
OTHERS = ["float16", "bfloat16", "float64"]
TARGET = ("cuda", 90, 32)
"""What machine code is made for; no such device is needed for that."""


@pytest.mark.skipif(INTERPRETED, reason="it is what starts the interpreter")
def test_the_kernels_in_the_interpreter():
    library("torch")
    if parsed(library("triton").__version__) < (3, 7) and parsed(np.__version__) >= (2, 4):
        pytest.skip("the interpreter of Triton before 3.7 does not run with NumPy 2.4 or later")
    places = [str(Path(__file__).with_name(name)) for name in TESTS]
    command = ["-m", "pytest", "-q", "-k", "triton", "-p", "no:cacheprovider", *places]
    command += ["-W", "ignore::RuntimeWarning"]  # it computes with NumPy, which tells of overflows
    switches = {"TRITON_INTERPRET": "1", _triton.SWITCH: "interpreter", "OTSPEC_BATCH_ROWS": "0"}
    done = subprocess.run(
        [sys.executable, *command],
        env={**os.environ, **switches},
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert done.returncode == 0, done.stdout[-5_000:] + done.stderr[-1_000:]
    assert " passed" in done.stdout


def parsed(version):
    """The first two numbers of a version."""
    return tuple(map(int, version.split(".")[:2]))


def pair(torch, *shape):
    return tuple(torch.softmax(torch.rand(2, *shape), dim=-1))


@pytest.fixture
def torch():
    return library("torch")


@pytest.fixture
def launches(torch, monkeypatch):
    """What starts the kernels, also for rows on a CPU: for what is known before they start."""
    library("triton")
    from otspec.batch._triton import launches  # not while tests are collected, nor everywhere

    monkeypatch.setattr(launches, "on", {"cuda", "cpu"})
    monkeypatch.setattr(launches, "starts", lambda _: True)
    return launches


def test_what_the_kernels_take(torch, launches):
    rows = pair(torch, 2, 3, 5)
    known = library_of(rows[0])
    weights = sums.the_draft, sums.excess(known, known.full((2, 3), 1.0))
    assert launches.takes(known, *rows, *weights)
    assert not launches.takes(known, *rows, lambda draft, _: draft)
    assert not launches.takes(known, *(row[:0] for row in rows), *weights)
    assert not launches.takes(known, rows[0], rows[1][:1], *weights)
    assert not launches.takes(known, *map(torch.nn.Parameter, rows), *weights)
    crossed = [row.expand(4, 2, 3, 5).transpose(0, 1) for row in rows]
    assert not launches.takes(known, *crossed, *weights)


def test_gradients_and_transformed_functions_need_arrays(torch, launches):
    draft, target = pair(torch, 2, 5)
    known = library_of(draft)
    seen = []
    torch.vmap(lambda *rows: seen.append(launches.takes(known, *rows)) or rows[0])(draft, target)
    assert seen == [False]
    draft.requires_grad_()
    assert not launches.takes(known, draft, target)
    with torch.no_grad():
        assert launches.takes(known, draft, target)


def test_whoever_follows_operations_sees_them(torch, launches):
    rows = pair(torch, 2, 5)
    known = library_of(rows[0])
    seen = []

    def asked(draft, target):
        seen.append(launches.takes(known, draft, target))
        return draft + target

    with warnings.catch_warnings(action="ignore", category=DeprecationWarning):
        torch.jit.trace(asked, rows, check_trace=False)
    from torch.utils.flop_counter import FlopCounterMode

    with FlopCounterMode(display=False):
        asked(*rows)
    assert seen == [False, False]


@pytest.mark.skipif(INTERPRETED, reason="there Triton starts kernels on a CPU")
def test_a_warning_where_triton_cannot_start():
    library("triton")
    from otspec.batch._triton import launches

    known = library_of(library("torch").ones(1))
    with pytest.warns(RuntimeWarning, match="Triton cannot start kernels on cpu .*OTSPEC_TRITON=0"):
        assert not launches.starts.__wrapped__(known)


def test_a_warning_where_triton_is_broken(torch, monkeypatch):
    def broken(name):
        raise ImportError("no libtriton")

    monkeypatch.setattr(_triton, "why_not", lambda _: None)
    monkeypatch.setattr(_triton, "import_module", broken)
    with pytest.warns(RuntimeWarning, match="no libtriton"):
        assert _triton.kernels_on.__wrapped__(torch.device("cuda", 0)) is None


def test_switched_off_at_any_time(torch, launches):
    rows = pair(torch, 2, 5)
    assert launches.takes(library_of(rows[0]), *rows)
    launches.on.discard("cpu")
    assert not launches.takes(library_of(rows[0]), *rows)


def test_why_there_are_none(torch, monkeypatch):
    gpu = torch.device("cuda", 0)
    monkeypatch.setattr(_triton, "on", {"cuda"})
    monkeypatch.setattr(torch.version, "hip", None)
    monkeypatch.setattr(torch.cuda, "get_device_capability", lambda _: (7, 5))
    monkeypatch.setattr(_triton, "find_spec", str)
    assert _triton.why_not(torch.device("cpu")) == "no GPU"
    assert _triton.why_not(gpu) == "the device's compute capability is 7.5, below 8.0"
    monkeypatch.setattr(torch.cuda, "get_device_capability", lambda _: (9, 0))
    assert _triton.why_not(gpu) is None
    monkeypatch.setattr(_triton, "find_spec", lambda _: None)
    assert _triton.why_not(gpu) == "Triton is not installed"
    _triton.on.clear()
    assert _triton.why_not(gpu) == "they are switched off by OTSPEC_TRITON"


def test_the_variable_and_a_quiet_import():
    told = "import sys, otspec.batch as b; print(sorted(b._triton.on), 'triton' in sys.modules)"
    for value, wanted in (("0", "[] False"), ("", "['cuda'] False")):
        found = subprocess.run(
            [sys.executable, "-c", told],
            env={**os.environ, _triton.SWITCH: value},
            capture_output=True,
            encoding="utf-8",
            check=True,
        )
        assert found.stdout.strip() == wanted


class Device:
    """What Triton asks of a driver before it starts a kernel."""

    def get_current_target(self):
        from triton.backends.compiler import GPUTarget

        return GPUTarget(*TARGET)

    def get_current_device(self):
        return 0

    def get_current_stream(self, _):
        return 0


@pytest.fixture
def compiled(launches, monkeypatch, tmp_path):
    """The machine code of kernels, by name and form, compiled for a device and not started."""
    from triton.runtime import driver
    from triton.runtime.jit import JITFunction

    from otspec.batch._triton import pieces

    made = {}

    def compile_for(kernel, grid):
        def compiled(**given):
            form = given.get("draws", given.get("writes"))
            made[kernel.fn.__name__, form] = kernel.warmup(grid=grid, **given).asm["ptx"]

        return compiled

    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(pieces, "at_once", lambda *numbers: numbers[-1])
    monkeypatch.setattr(JITFunction, "__getitem__", compile_for)
    before = dict(vars(driver))
    driver.set_active(Device())
    yield made
    vars(driver).update(before)


@pytest.mark.skipif(INTERPRETED, reason="kernels are not compiled in the interpreter")
@pytest.mark.parametrize(
    "dtype", ["float32", *(pytest.param(d, marks=pytest.mark.nightly) for d in OTHERS)]
)
def test_the_kernels_are_machine_code_for_a_gpu(torch, launches, dtype, compiled):
    """Every operation is rounded by itself and keeps subnormal numbers; rows are read in words."""
    draft, target = (row.to(getattr(torch, dtype)) for row in pair(torch, 2, 8_192))
    known = library_of(draft)
    one = known.narrowed(known.full((2, 1), 1.0))
    rest = sums.KnownWeight("line", known, (one, one, one), excess=True)
    weight = replace(sums.excess(known, one[:, 0], known.factor), share=one)
    light = sums.KnownWeight("light", known, (one, one), known.factor)
    some = sums.the_target, sums.common(known), rest, weight, light
    launches.block_sums(known, draft, target, *some)
    blocks, tokens = known.full((2, 32), 1.0), known.numbers([1, 2])[:, None]
    launches.draw(known, draft, target, weight, blocks, one[:, 0], tokens)
    launches.without(known, draft, target, rest, blocks, tokens)
    launches.softmax(known, draft, 0.7)
    both = {(name, form) for name in ("in_block", "softmax") for form in (True, False)}
    assert set(compiled) == {("block_sums", None), *both}
    for (name, _), code in compiled.items():
        # The exponential in float64 is a function of the device's library with steps of its own.
        if not (dtype == "float64" and name == "softmax"):
            assert "fma.rn" not in code
            assert ".ftz" not in code
        if name != "in_block":
            assert "ld.global.v4" in code or "ld.global.v2" in code
