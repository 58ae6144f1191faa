"""The array libraries that the batch functions are tested with, and rows for them."""

from __future__ import annotations

import importlib
import os
from contextlib import contextmanager

import numpy as np
import pytest
from batch_paths import taking
from batch_table import RULES

from otspec import batch
from otspec.batch import _triton

REQUIRED = [name for name in os.environ.get("OTSPEC_REQUIRE_BACKENDS", "").split(",") if name]
"""Libraries whose absence is a failure: array_api_strict, torch, triton, jax."""
INTERPRETED = "cpu" in _triton.on
"""Whether this process has Triton's interpreter, as test_batch_triton_runs.py starts it."""
NAMES = [
    "numpy-arrays",
    "array_api_strict",
    "torch",
    "torch-arrays",
    "torch-cuda",
    "jax",
    "jax-jit",
    "cupy",
]
NAMES += ["torch-triton"] if INTERPRETED else []
"""Results are compared with those on NumPy, row by row; "arrays" takes the other path."""
ONE_PATH = [name for name in NAMES if not name.endswith("arrays")]
"""For what has one path only."""

JAX_SHAPES = {"jax": (3, 300), "jax-jit": (2, 3, 300)}
"""JAX compiles every operation for every shape, and keeps that: all rows come in these."""
K = 3
ACCEPTANCES = (
    lambda *pair: batch.optimal_acceptance(*pair, K),
    lambda *pair: batch.acceptance.recursive_rejection(*pair, K),
    lambda *pair: batch.acceptance.k_sequential(*pair, K),
    lambda *pair: batch.acceptance.pooled_selection(*pair, K),
    batch.acceptance.maximal_coupling,
    batch.acceptance.spechub,
    lambda *pair: batch.acceptance.pooled_selection_without_replacement(*pair, K),
)
"""How often pairs of rows are accepted; each one object, which JAX compiles once for a shape."""
DIVIDING = ["recursive_rejection_without_replacement", "spechub"]
"""Rules that divide by masses."""
ALONE = ["maximal_coupling", *DIVIDING]
"""Rules that JAX takes operation by operation, each compiled alone; it is given all as a whole."""


def rules_of(name):
    """The rules that a library is tried with."""
    return ALONE if name == "jax" else list(RULES)


def acceptances_of(name):
    """The acceptances that a library is tried with."""
    if name == "jax":
        return batch.acceptance.maximal_coupling, batch.acceptance.spechub
    return ACCEPTANCES


def library(name):
    """Import a library, or skip the test with the reason."""
    module = name.split("-")[0]
    try:
        found = importlib.import_module(module)
    except ImportError:
        if module in REQUIRED:
            pytest.fail(f"{module} is required by OTSPEC_REQUIRE_BACKENDS, but not installed")
        pytest.skip(f"{module} is not installed")
    if name == "torch-cuda" and not found.cuda.is_available():
        pytest.skip("no CUDA device")
    if name == "cupy":
        try:
            found.cuda.runtime.getDeviceCount()
        except found.cuda.runtime.CUDARuntimeError:
            pytest.skip("no CUDA device")
    if name == "array_api_strict":
        found.set_array_api_strict_flags(
            boolean_indexing=False, data_dependent_shapes=False, enabled_extensions=()
        )
    return found


@contextmanager
def fresh_graphs():
    """PyTorch has no graphs of other tests, and one that does not fit to a call is an error.

    After each graph PyTorch would collect garbage, and time its guards with emptied caches, for a
    log that nobody reads: together that takes nearly as long as a short graph.
    """
    torch = library("torch")
    torch._dynamo.reset()
    settings = {"error_on_recompile": True, "run_gc_after_compile": False}
    with pytest.MonkeyPatch.context() as patched, torch._dynamo.config.patch(**settings):
        timed = "torch._dynamo.guards.profile_guard_manager"
        patched.setattr(timed, lambda *_: 0.0, raising=False)
        yield
    torch._dynamo.reset()


class Backend:
    """Turns NumPy arrays into a library's, calls functions on them, and turns results back."""

    def __init__(self, name):
        self.name = name
        self.module = library(name)
        self.path = "arrays" if name.endswith(("arrays", "triton")) else "rows"
        self.widest = np.float32 if name.startswith("jax") else np.float64

    def array(self, values):
        values = np.asarray(values)
        if values.dtype == np.float64:
            values = values.astype(self.widest)
        if self.name.startswith("jax"):
            return self.module.numpy.asarray(values)
        if self.name == "torch-cuda":
            return self.module.asarray(values, device="cuda")
        return self.module.asarray(values)

    def call(self, function, *arrays, **options):
        """Call a function with arrays and options; results are NumPy arrays."""
        given = {name: self._given(value) for name, value in options.items()}
        function = self.module.jit(function) if self.name == "jax-jit" else function
        with taking(self.path):
            return self.numpy(function(*map(self.array, arrays), **given))

    def _given(self, value):
        if isinstance(value, tuple):
            return type(value)(*map(self._given, value))
        return self.array(value) if isinstance(value, np.ndarray) else value

    def numpy(self, values):
        if isinstance(values, tuple):
            return type(values)(*map(self.numpy, values))
        if self.name == "cupy":
            return values.get()
        if self.name == "torch-cuda":
            return values.cpu().numpy()
        return np.asarray(values)


@pytest.fixture(params=ONE_PATH)
def backend(request):
    return Backend(request.param)
