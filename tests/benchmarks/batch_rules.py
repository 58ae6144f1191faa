"""Time and memory of every batch rule against one pass over its inputs: a script.

``python tests/benchmarks/batch_rules.py --backend torch --device cuda`` in a checkout, where otspec
and the library are installed.

One pass is ``minimum(draft, target).sum(-1)`` in the same library on the same device, softmax the
library's own of the draft; both are timed in turn with the rule. ``--compare`` times the rule
without its kernels, too.
"""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import click
import numpy as np
from machines import BACKENDS, DTYPES, Action, Machine, by_arrays

from otspec import batch
from otspec._base.tables import print_table, say
from otspec.batch._array_api.library import Array, library_of
from otspec.batch._running import RULES
from otspec.blocks import BLOCK_RULES
from otspec.cli.main import run

BLOCKS = [rule.batch for rule in BLOCK_RULES.values() if rule.batch]


@dataclass(frozen=True)
class Measured:
    """What one action took.

    Parameters
    ----------
    seconds : float
        The median.
    ratio, to_softmax : float
        The median of the ratios to one pass, and to a softmax, each timed right before it.
    peak : float
        Bytes beyond the inputs; NaN if unknown.
    inputs : int
        Bytes of draft and target.
    gain, peak_by_arrays : float
        The median of what the time without kernels is to that with them, and the bytes that go
        with it; NaN if not measured.
    """

    seconds: float
    ratio: float
    to_softmax: float
    peak: float
    inputs: int
    gain: float = math.nan
    peak_by_arrays: float = math.nan


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


def in_turn(repeat: int, *actions: Action) -> Array:
    """Return the times of actions, one after another and all again: (repeat, actions)."""
    for action in actions:
        action()
    times = np.empty((repeat, len(actions)))
    for i in range(repeat):
        for j, action in enumerate(actions):
            start = time.perf_counter()
            action()
            times[i, j] = time.perf_counter() - start
    return times


def measure(
    machine: Machine,
    vocabulary: int,
    rows: int,
    k: int,
    repeat: int,
    *,
    compare: bool = False,
    logits: bool = False,
) -> dict[str, Measured]:
    """Measure every rule, a softmax, a copy, and one pass itself."""
    made = problems(vocabulary, rows, k)
    if logits:
        made = {name: (*map(np.log, each[:2]), *each[2:]) for name, each in made.items()}
    given = {
        name: (*map(machine.rows, arguments[:2]), *map(machine.array, arguments[2:]))
        for name, arguments in made.items()
    }
    draft, target = given["k_sequential"][:2]
    calls: dict[str, tuple[Callable[..., Any], tuple[Array, ...]]] = {
        "one pass": (one_pass, (draft, target)),
        "softmax": (lambda draft, _: machine.softmax(draft), (draft, target)),
        "copy": (lambda draft, _: draft + 0, (draft, target)),
        **{
            name: (
                machine.made(partial(batch.from_logits, name) if logits else getattr(batch, name)),
                arguments,
            )
            for name, arguments in given.items()
        },
    }
    return {
        name: measured(machine, repeat, function, arguments, compare=compare and name in given)
        for name, (function, arguments) in calls.items()
    }


def measured(
    machine: Machine,
    repeat: int,
    function: Callable[..., Any],
    arguments: tuple[Array, ...],
    *,
    compare: bool,
) -> Measured:
    """Measure one of them, in turn with what it is compared to."""
    pair = arguments[:2]
    action = machine.action(function, *arguments)
    actions = [machine.action(one_pass, *pair), machine.action(machine.softmax, pair[0]), action]
    plain = by_arrays()(function)
    if compare:
        actions.append(machine.action(plain, *arguments))
    times = in_turn(repeat, *actions)
    seconds = np.median(times[:, 2])
    ratio, to_softmax = np.median(times[:, 2:3] / times[:, :2], axis=0)
    inputs = sum(rows.nbytes for rows in pair)
    found = Measured(
        seconds, ratio, to_softmax, machine.peak(partial(function, *arguments)), inputs
    )
    if not compare:
        return found
    gain = np.median(times[:, 3] / times[:, 2])
    return replace(found, gain=gain, peak_by_arrays=machine.peak(partial(plain, *arguments)))


@click.command()
@click.option("--backend", type=click.Choice(BACKENDS), default="numpy", show_default=True)
@click.option("--device", help="Such as cuda; by default the library's own choice.")
@click.option("--dtype", type=click.Choice(DTYPES), default="float32", show_default=True)
@click.option("--vocabulary", type=click.IntRange(1), default=128_256, show_default=True)
@click.option("--batch", "rows", type=click.IntRange(1), default=32, show_default=True)
@click.option("-k", type=click.IntRange(1), default=4, show_default=True, help="Drafts per row.")
@click.option("--repeat", type=click.IntRange(1), default=20, show_default=True)
@click.option("--graph", is_flag=True, help="Replay each call from a CUDA graph.")
@click.option("--compile", "compiled", is_flag=True, help="Let PyTorch compile each rule.")
@click.option("--logits", is_flag=True, help="Give the rules logits.")
@click.option("--compare", is_flag=True, help="Also without the kernels in Triton.")
def main(
    backend: str,
    device: str | None,
    dtype: str,
    vocabulary: int,
    rows: int,
    k: int,
    repeat: int,
    graph: bool,
    compiled: bool,
    logits: bool,
    compare: bool,
) -> None:
    """Print time and peak memory of every rule relative to one pass and to its inputs."""
    machine = Machine(backend, device, dtype, graph=graph, compiled=compiled)
    reason = machine.why_no_kernels()
    compare = compare and reason is None
    found = measure(machine, vocabulary, rows, k, repeat, compare=compare, logits=logits)
    copied = 0.5 * found["copy"].inputs / found["copy"].seconds
    say(
        f"{dtype} ({rows}, {vocabulary}), k = L = {k}, "
        f"{backend}{f' on {device}' if device else ''}{', from a graph' if graph else ''}: "
        f"{'compiled, ' * compiled}{'from logits, ' * logits}medians against one pass and a "
        "softmax of the same rows, memory beyond the inputs against the inputs, inputs a second "
        "against those of a copy"
    )
    say(f"no kernels: {reason}" if reason else "arrays: without the kernels, against with them")
    titles = ["", "ms", "one pass", "softmax", "peak MiB", "inputs", "of copy"]
    print_table(
        titles + (["arrays", "arrays MiB"] if compare else []),
        [row(name, each, copied)[: len(titles) + 2 * compare] for name, each in found.items()],
    )


def row(name: str, found: Measured, copied: float) -> list[str]:
    """Return what the table says of one of them; nothing where nothing is known."""
    known = [
        (found.ratio, ".1f", "x"),
        (found.to_softmax, ".1f", "x"),
        (found.peak / 2**20, ".1f", ""),
        (found.peak / found.inputs, ".2f", "x"),
        (found.inputs / found.seconds / copied, ".2f", ""),
        (found.gain, ".2f", "x"),
        (found.peak_by_arrays / 2**20, ".1f", ""),
    ]
    cells = ["" if math.isnan(number) else f"{number:{how}}{unit}" for number, how, unit in known]
    return [name, f"{1e3 * found.seconds:.2f}", *cells]


if __name__ == "__main__":
    sys.exit(run(main, None, "python tests/benchmarks/batch_rules.py"))
