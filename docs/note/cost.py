"""What the rules cost where the note is made: milliseconds of CPU time, timed in turn."""

from __future__ import annotations

import os
import platform
import re
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import otspec
from docs.note.results import Results, in_words, thousands
from docs.note.trace import BINS
from otspec import IID, WithoutReplacement, batch
from otspec.distributions import as_distribution
from otspec.rules import (
    PairRule,
    PooledSelection,
    PooledSelectionWithoutReplacement,
    RecursiveRejection,
    RecursiveRejectionWithoutReplacement,
)

LAWS = (IID.name, WithoutReplacement.name)
RULES: dict[str, tuple[tuple[Any, ...], ...]] = {
    "rejection": ((RecursiveRejection,), (RecursiveRejectionWithoutReplacement,)),
    "bins": ((PooledSelection, BINS), (PooledSelectionWithoutReplacement, BINS)),
    "fewest": ((PooledSelection, "fewest"), (PooledSelectionWithoutReplacement, "fewest")),
    "tokens": ((PooledSelection,), (PooledSelectionWithoutReplacement,)),
}
"""What is built for one draw, for either draft law: a rule, and its pools."""
TITLES = {
    "optimum": "the optimum alone",
    "rejection": "recursive rejection, one draw",
    "bins": f"pooled selection, {BINS} bins, built for one draw",
    "fewest": "pooled selection, as few blocks as the optimum needs",
    "tokens": "pooled selection, a block for each ratio",
}
BATCH, BATCHED_KS = (32, 128_256), (1, 2, 4, 8, 16)
BATCHED: dict[str, tuple[Callable[..., Any], str]] = {
    "i.i.d.: recursive rejection": (batch.recursive_rejection, "i.i.d."),
    "i.i.d.: pooled selection": (batch.pooled_selection, "i.i.d."),
    "distinct: recursive rejection": (batch.recursive_rejection_without_replacement, "distinct"),
    "distinct: pooled selection": (batch.pooled_selection_without_replacement, "distinct"),
}
K = 4
TOKENS = 49_152
SEED = 6
DOCS = Path(__file__).parents[1]


def measured(results: Results, rounds: int) -> None:
    """Add what a build and a draw cost, medians over so many rounds, in CPU time.

    The pair has no two tokens of one ratio, which is the most work.
    """
    draft, target = _pair()
    rng = np.random.default_rng(SEED)
    drafts = rng.choice(TOKENS, K, p=draft, replace=False).tolist()
    ready = PooledSelection(draft, target, K)
    tasks: dict[Any, Callable[[], Any]] = {
        "draw": lambda: ready.sample(drafts, rng),
    }
    for law in LAWS:
        tasks["optimum", law] = partial(_optimum, draft, target, law)
    for what, rules in RULES.items():
        for rule, *options in rules:
            drawn = partial(_first_draw, rule, draft, target, options, drafts, rng)
            tasks[what, rule.law_class.name] = drawn
    seconds = _in_turn(tasks, rounds)
    results.add("cost.vocabulary", thousands(TOKENS))
    results.add("cost.k", K)
    results.add("cost.machine", f"{_processor()}, {os.cpu_count()} cores")
    results.add("cost.draw", f"{1e6 * seconds['draw']:.0f}")
    for law, name in zip(LAWS, ("iid", "distinct"), strict=True):
        built = [seconds[what, law] for what in ("bins", "fewest", "tokens")]
        results.add(f"cost.{name}.least", _milliseconds(min(built)))
        results.add(f"cost.{name}.most", _milliseconds(max(built)))
        results.add(f"cost.{name}.ratio", f"{max(built) / seconds['rejection', law]:.0f}")
    rows = [
        [TITLES[what], *(_milliseconds(seconds[what, law]) for law in LAWS)]
        for what in ("optimum", *RULES)
    ]
    results.add_table("cost", ["CPU time, ms", "i.i.d.", "distinct"], rows)


def _milliseconds(seconds: float) -> str:
    return f"{1000 * seconds:.{2 if seconds < 0.001 else 1}f}"


def _processor() -> str:
    """Return the processor's name, as Linux has it, or its kind."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.machine()
    names = [line.partition(": ")[2] for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()


def _optimum(draft: Any, target: Any, law: str) -> Any:
    return otspec.optimal_acceptances(draft, target, [K], law=law)


def _first_draw(
    rule: type[PairRule], draft: Any, target: Any, options: Any, drafts: Any, rng: Any
) -> Any:
    return rule(draft, target, K, *options).sample(drafts, rng)


def batched(results: Results, rounds: int) -> None:
    """Add the CPU time of batched verification for several k, in milliseconds."""
    rng = np.random.default_rng(SEED)
    draft, target = rng.gumbel(size=(2, *BATCH)).astype(np.float32)
    draft, target = (np.exp(each) for each in (2 * draft, 1.4 * draft + target))
    draft, target = (each / each.sum(-1, keepdims=True) for each in (draft, target))
    most = max(BATCHED_KS)
    uniforms = rng.random((BATCH[0], most + 1), dtype=np.float32)
    drafts = {
        "i.i.d.": batch.sample_iid(draft, uniforms[:, :most]),
        "distinct": batch.sample_without_replacement(draft, uniforms[:, :most]),
    }
    tasks: dict[Any, Callable[[], Any]] = {"pass": lambda: np.minimum(draft, target).sum(-1)}
    for name, (rule, law) in BATCHED.items():
        for k in BATCHED_KS:
            tasks[name, k] = partial(rule, draft, target, drafts[law][:, :k], uniforms[:, : k + 1])
    seconds = _in_turn(tasks, rounds)
    results.add("batch.rows", BATCH[0])
    results.add("batch.tokens", thousands(BATCH[1]))
    results.add("batch.pass", _milliseconds(seconds["pass"]))
    rows = [[name, *(_milliseconds(seconds[name, k]) for k in BATCHED_KS)] for name in BATCHED]
    results.add_table("batch", ["CPU time, ms", *(f"k = {k}" for k in BATCHED_KS)], rows)
    cells = [
        seconds[f"{law}: recursive rejection", k] < seconds[f"{law}: pooled selection", k]
        for _, law in list(BATCHED.values())[::2]
        for k in BATCHED_KS
    ]
    results.add("batch.cells", in_words(len(cells)))
    results.add("batch.faster", in_words(sum(cells)))
    for name in ("iid", "distinct"):
        law = {"iid": "i.i.d."}.get(name, name)
        pooled, recursive = (
            [seconds[f"{law}: {rule}", k] for k in BATCHED_KS]
            for rule in ("pooled selection", "recursive rejection")
        )
        ratios = [a / b for a, b in zip(pooled, recursive, strict=True)]
        results.add(f"batch.{name}.ratio.least", f"{min(ratios):.1f}")
        results.add(f"batch.{name}.ratio.most", f"{max(ratios):.1f}")
    off = [_measured_off(each) for each in ("", "_without_replacement")]
    results.add("batch.off", max(off, key=float))


def _measured_off(name: str) -> str:
    """Return the total variation that was measured of a batched rule in float32."""
    documentation = getattr(batch, f"pooled_selection{name}").__doc__ or ""
    found = re.search(r"at\s+most (\S+) in\s+float32", documentation)
    if found is None:
        raise ValueError("the batched rule does not say how far off it is in float32")
    return found[1]


def table_of(path: Path) -> list[list[str]]:
    """Return the cells of the table of a page in Markdown, its head first."""
    lines = path.read_text(encoding="utf-8").splitlines()
    rows = [[cell.strip() for cell in line[1:-1].split("|")] for line in lines if line[:1] == "|"]
    return [rows[0], *rows[2:]]


def _pair() -> tuple[Any, Any]:
    draft, noise = np.random.default_rng(SEED).gumbel(scale=2, size=(2, TOKENS))
    return (
        as_distribution(np.exp(draft), normalize=True),
        as_distribution(np.exp(0.7 * draft + 0.5 * noise), normalize=True),
    )


def _in_turn(tasks: dict[Any, Callable[[], Any]], rounds: int) -> dict[Any, float]:
    """Return the median seconds of CPU time of each task; first all are called once."""
    taken: dict[Any, list[float]] = {name: [] for name in tasks}
    for name, task in list(tasks.items()) * (rounds + 1):
        began = time.process_time()
        task()
        taken[name].append(time.process_time() - began)
    return {name: float(np.median(each[1:])) for name, each in taken.items()}
