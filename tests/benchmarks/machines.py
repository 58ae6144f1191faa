"""A library on a device, as what is measured on it needs it: arrays, waiting, memory."""

from __future__ import annotations

import importlib
import math
import tracemalloc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import numpy as np

from otspec import batch
from otspec.batch import _triton
from otspec.batch._array_api.library import Array

Action = Callable[[], Any]
BACKENDS = ("numpy", "torch", "cupy", "jax")
DTYPES = ("float32", "bfloat16", "float16", "float64")


class Machine:
    """A library on a device: makes arrays, waits for results, measures memory.

    Parameters
    ----------
    backend : str
        One of :data:`BACKENDS`.
    device : str, optional
        As the library names it, such as ``cuda``; for JAX a platform, for CuPy a number.
    dtype : str
        Of rows, one of :data:`DTYPES`.
    graph : bool
        Whether calls are replayed from a CUDA graph, so that only the device's time counts.
    compiled : bool
        Whether functions are compiled by PyTorch; JAX compiles them in any case.

    Raises
    ------
    ValueError
        The library is not installed, or has no such device or dtype.
    """

    def __init__(
        self,
        backend: str,
        device: str | None = None,
        dtype: str = "float32",
        *,
        graph: bool = False,
        compiled: bool = False,
    ) -> None:
        self.backend, self.device, self.dtype = backend, device, dtype
        self.graph, self.compiled = graph, compiled
        try:
            self.module = importlib.import_module(backend)
        except ImportError:
            raise ValueError(
                f"{backend} is not installed: install it, or choose another --backend"
            ) from None
        try:
            self.array(np.zeros(1, dtype=np.float32))
        except (RuntimeError, AssertionError, TypeError, ValueError) as error:
            reason = str(error).splitlines()[0]
            raise ValueError(f"--device {device} cannot be used by {backend}: {reason}") from error
        if dtype == "bfloat16" and backend in ("numpy", "cupy"):
            raise ValueError(f"--dtype bfloat16 is none of {backend}'s: choose float32 or float16")
        if graph and not self.on_cuda:
            raise ValueError("--graph is for --backend torch --device cuda")
        if compiled and backend != "torch":
            raise ValueError(f"--compile is for --backend torch, not {backend}: leave it out")

    def array(self, values: Array) -> Array:
        """Return a NumPy array as one of the library on the device."""
        if self.backend == "jax":
            places = self.module.devices(self.device) if self.device else self.module.devices()
            return self.module.device_put(values, places[0])
        if self.backend == "cupy":
            with self.module.cuda.Device(int(self.device or 0)):
                return self.module.asarray(values)
        return self.module.asarray(values, device=self.device)

    def rows(self, values: Array) -> Array:
        """Return rows of NumPy on the device, in the dtype of rows."""
        if self.backend == "torch":
            return self.array(values).to(getattr(self.module, self.dtype))
        return self.array(values).astype(self.dtype)

    def softmax(self, rows: Array) -> Array:
        """Return the library's own softmax of rows, or what stands for it."""
        if self.backend == "torch":
            return self.module.softmax(rows, dim=-1)
        return batch.warp(rows)

    def why_no_kernels(self) -> str | None:
        """Return why the rules go through array operations; None if they have kernels here."""
        if self.backend != "torch":
            return f"{self.backend} has none"
        if self.compiled:
            return "the compiler fuses array operations"
        return _triton.why_not(self.module.empty(0, device=self.device).device)

    def made(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Return a function as it is measured: compiled for one shape, if that is asked for."""
        if not self.compiled:
            return function
        self.module._dynamo.config.recompile_limit = 64  # one function for all rules from logits
        return self.module.compile(function, fullgraph=True, dynamic=False)

    def action(self, function: Callable[..., Any], *arrays: Array) -> Action:
        """Return a call that returns when its result is there; compiled, for JAX."""
        if self.backend == "jax":
            compiled = self.module.jit(function)
            return lambda: self.module.block_until_ready(compiled(*arrays))
        start = self.recorded(function, *arrays) if self.graph else partial(function, *arrays)

        def call() -> None:
            start()
            self.wait()

        return call

    def recorded(self, function: Callable[..., Any], *arrays: Array) -> Action:
        """Return what replays a call, which is made once before to compile what it needs."""
        cuda = self.module.cuda
        function(*arrays)
        graph = cuda.CUDAGraph()
        with cuda.graph(graph):
            function(*arrays)
        return graph.replay

    @property
    def on_cuda(self) -> bool:
        """Whether it is PyTorch on a CUDA device."""
        return self.backend == "torch" and (self.device or "").startswith("cuda")

    def wait(self) -> None:
        """Wait for the device."""
        if self.on_cuda:
            self.module.cuda.synchronize(self.device)
        elif self.backend == "cupy":
            self.module.cuda.Device().synchronize()

    def peak(self, action: Action) -> float:
        """Return how many bytes an action takes at most beyond its inputs; NaN if unknown."""
        if self.backend == "numpy":
            return traced_peak(action)
        if self.on_cuda:
            cuda = self.module.cuda
            cuda.reset_peak_memory_stats(self.device)
            before = cuda.memory_allocated(self.device)
            action()
            return float(cuda.max_memory_allocated(self.device) - before)
        if self.backend == "cupy":
            pool = self.module.get_default_memory_pool()
            pool.free_all_blocks()
            before = pool.total_bytes()
            action()
            return float(pool.total_bytes() - before)
        return math.nan


def traced_peak(action: Action) -> float:
    """Return how many bytes an action takes at most, as Python's allocators see it."""
    action()  # imports and caches are not its own
    tracemalloc.start()
    try:
        action()
        return float(tracemalloc.get_traced_memory()[1])
    finally:
        tracemalloc.stop()


@contextmanager
def by_arrays() -> Iterator[None]:
    """Switch the kernels off for a while."""
    kinds = set(_triton.on)
    _triton.on.clear()
    try:
        yield
    finally:
        _triton.on.update(kinds)
