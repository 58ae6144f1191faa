"""Time and memory of every batch rule against one pass over its inputs: a script.

``python tests/benchmarks/batch_rules.py --backend torch --device cuda`` in a checkout, where otspec
and the library are installed.

One pass is ``minimum(draft, target).sum(-1)`` in the same library on the same device, timed in turn
with the rule. A softmax and a copy of one of the arrays are there for comparison.
"""

from __future__ import annotations

import importlib
import math
import statistics
import sys
import time
import tracemalloc
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import click
import numpy as np

from otspec import batch
from otspec.batch._kernels.library import Array, library_of
from otspec.batch._table import RULES
from otspec.blocks import BLOCK_RULES
from otspec.cli.main import run
from otspec.tables import print_table, say

Action = Callable[[], Any]
BLOCKS = [rule.batch for rule in BLOCK_RULES if rule.batch]
BACKENDS = ("numpy", "torch", "cupy", "jax")


class Machine:
    """A library on a device: makes arrays, waits for results, measures memory.

    Parameters
    ----------
    backend : str
        One of :data:`BACKENDS`.
    device : str, optional
        As the library names it, such as ``cuda``; for JAX a platform, for CuPy a number.

    Raises
    ------
    ValueError
        The library is not installed, or has no such device.
    """

    def __init__(self, backend: str, device: str | None = None) -> None:
        self.backend, self.device = backend, device
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

    def array(self, values: Array) -> Array:
        """Return a NumPy array as one of the library on the device."""
        if self.backend == "jax":
            places = self.module.devices(self.device) if self.device else self.module.devices()
            return self.module.device_put(values, places[0])
        if self.backend == "cupy":
            with self.module.cuda.Device(int(self.device or 0)):
                return self.module.asarray(values)
        return self.module.asarray(values, device=self.device)

    def action(self, function: Callable[..., Any], *arrays: Array) -> Action:
        """Return a call that returns when its result is there; compiled, for JAX."""
        if self.backend == "jax":
            compiled = self.module.jit(function)
            return lambda: self.module.block_until_ready(compiled(*arrays))

        def call() -> None:
            function(*arrays)
            self.wait()

        return call

    def wait(self) -> None:
        """Wait for the device."""
        if self.backend == "torch" and self.device and self.device.startswith("cuda"):
            self.module.cuda.synchronize(self.device)
        elif self.backend == "cupy":
            self.module.cuda.Device().synchronize()

    def peak(self, action: Action) -> float:
        """Return how many bytes an action takes at most beyond its inputs; NaN if unknown."""
        if self.backend == "numpy":
            return traced_peak(action)
        if self.backend == "torch" and self.device and self.device.startswith("cuda"):
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


@dataclass(frozen=True)
class Measured:
    """What one action took.

    Parameters
    ----------
    seconds : float
        The median.
    ratio : float
        The median of the ratios to one pass, each timed right before it.
    peak : float
        Bytes beyond the inputs; NaN if unknown.
    inputs : int
        Bytes of draft and target.
    """

    seconds: float
    ratio: float
    peak: float
    inputs: int


def traced_peak(action: Action) -> float:
    """Return how many bytes an action takes at most, as Python's allocators see it."""
    action()  # imports and caches are not its own
    tracemalloc.start()
    try:
        action()
        return float(tracemalloc.get_traced_memory()[1])
    finally:
        tracemalloc.stop()


def problems(vocabulary: int, rows: int, k: int) -> dict[str, tuple[Array, ...]]:
    """Return float32 arguments for every rule, as NumPy arrays; blocks have k tokens.

    The uniform numbers are so close to 1 that drafts are rejected where they can be.
    """
    rng = np.random.default_rng(0)
    logits = rng.gumbel(scale=2, size=(2, rows, vocabulary)).astype(np.float32)
    draft = batch.warp(logits[0])
    target = batch.warp(0.7 * logits[0] + 0.5 * logits[1])
    given = {}
    for name, rule in RULES.items():
        size = rule.k or k
        uniforms = rng.random((rows, size + 1), dtype=np.float32)
        drafts = getattr(batch, rule.drafter)(draft, uniforms[:, :size])
        uniforms[:, :size] = 1 - 2**-24
        given[name] = draft, target, drafts, uniforms
    return given | dict.fromkeys(BLOCKS, block_problem(draft, target, k))


def block_problem(draft: Array, target: Array, length: int) -> tuple[Array, ...]:
    """Return float32 arguments for the rules for one drafted block, of the same rows."""
    rng = np.random.default_rng(0)
    rows = len(draft)
    drafts, targets = (
        np.stack([np.roll(each, i, axis=0) for i in range(length + more)], axis=1)
        for each, more in ((draft, 0), (target, 1))
    )
    uniforms = rng.random((rows, length + 1), dtype=np.float32)
    tokens = batch.sample_iid(drafts, uniforms[:, :length, None])[..., 0]
    uniforms[:, :length] = 1 - 2**-24
    return drafts, targets, tokens, uniforms


def one_pass(draft: Array, target: Array) -> Array:
    """Return minimum(draft, target).sum(-1), in whatever library.

    Of a block without the target's place behind it.
    """
    minimum = library_of(draft).xp.minimum
    return minimum(draft, target[..., : draft.shape[-2], :]).sum(-1)


def in_turn(action: Action, reference: Action, repeat: int) -> tuple[float, float]:
    """Return the median time of an action, and of its ratio to the reference before it."""
    action()
    reference()
    times, ratios = [], []
    for _ in range(repeat):
        start = time.perf_counter()
        reference()
        middle = time.perf_counter()
        action()
        end = time.perf_counter()
        times.append(end - middle)
        ratios.append((end - middle) / (middle - start))
    return statistics.median(times), statistics.median(ratios)


def measure(
    machine: Machine, vocabulary: int, rows: int, k: int, repeat: int
) -> dict[str, Measured]:
    """Measure every rule, a softmax, a copy, and one pass itself."""
    given = {
        name: tuple(map(machine.array, arguments))
        for name, arguments in problems(vocabulary, rows, k).items()
    }
    draft, target = given["k_sequential"][:2]
    calls: dict[str, tuple[Callable[..., Any], tuple[Array, ...]]] = {
        "one pass": (one_pass, (draft, target)),
        "softmax": (lambda draft, _: batch.warp(draft), (draft, target)),
        "copy": (lambda draft, _: draft + 0, (draft, target)),
        **{name: (getattr(batch, name), arguments) for name, arguments in given.items()},
    }
    measured = {}
    for name, (function, arguments) in calls.items():
        action = machine.action(function, *arguments)
        seconds, ratio = in_turn(action, machine.action(one_pass, *arguments[:2]), repeat)
        inputs = arguments[0].nbytes + arguments[1].nbytes
        measured[name] = Measured(seconds, ratio, machine.peak(action), inputs)
    return measured


@click.command()
@click.option("--backend", type=click.Choice(BACKENDS), default="numpy", show_default=True)
@click.option("--device", help="Such as cuda; by default the library's own choice.")
@click.option("--vocabulary", type=click.IntRange(1), default=128_256, show_default=True)
@click.option("--batch", "rows", type=click.IntRange(1), default=32, show_default=True)
@click.option("-k", type=click.IntRange(1), default=4, show_default=True, help="Drafts per row.")
@click.option("--repeat", type=click.IntRange(1), default=20, show_default=True)
def main(backend: str, device: str | None, vocabulary: int, rows: int, k: int, repeat: int) -> None:
    """Print time and peak memory of every rule relative to one pass and to its inputs."""
    measured = measure(Machine(backend, device), vocabulary, rows, k, repeat)
    say(
        f"float32 ({rows}, {vocabulary}), k = L = {k}, "
        f"{backend}{f' on {device}' if device else ''}: "
        "medians against one pass over the same rows, memory beyond the inputs against the inputs"
    )
    print_table(
        ["", "ms", "one pass", "peak MiB", "inputs"],
        [
            [
                name,
                f"{1e3 * found.seconds:.2f}",
                f"{found.ratio:.1f}x",
                "" if math.isnan(found.peak) else f"{found.peak / 2**20:.1f}",
                "" if math.isnan(found.peak) else f"{found.peak / found.inputs:.2f}x",
            ]
            for name, found in measured.items()
        ],
    )


if __name__ == "__main__":
    sys.exit(run(main, None, "python tests/benchmarks/batch_rules.py"))
