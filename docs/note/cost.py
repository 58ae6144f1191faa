"""What the rules cost, as ratios to one sort that is timed in turn with them, and as recorded."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import otspec
from docs.note.results import Results, thousands
from otspec import IID, WithoutReplacement
from otspec.distributions import as_distribution
from otspec.ratios import target_to_draft
from otspec.rules import PooledSelection, PooledSelectionWithoutReplacement

K = 4
TOKENS = 49_152
SEED = 6
PEERS = Path(__file__).parents[1] / "tables" / "peers.md"
SHAPE = "(32, 128,256)"


def measured(results: Results, rounds: int) -> None:
    """Add how many sorts a build and a draw cost, medians over so many rounds, in CPU time.

    The pair has no two tokens of one ratio, which is the most work.
    """
    draft, target = _pair()
    ratios, rng = target_to_draft(draft, target), np.random.default_rng(SEED)
    drafts = rng.choice(TOKENS, K, p=draft, replace=False).tolist()
    ready = PooledSelection(draft, target, K)
    iid, distinct = IID(draft, K), WithoutReplacement(draft, K)
    tasks: dict[str, Callable[[], Any]] = {
        "sort": lambda: np.argsort(ratios),
        "optimum": lambda: otspec.optimal_acceptances(draft, target, [K], law=iid.name),
        "optimum.distinct": lambda: otspec.optimal_acceptances(
            draft, target, [K], law=distinct.name
        ),
        "tokens": lambda: PooledSelection(draft, target, K).sample(drafts, rng),
        "fewest": lambda: PooledSelection(draft, target, K, "fewest").sample(drafts, rng),
        "bins": lambda: PooledSelection(draft, target, K, 256).sample(drafts, rng),
        "distinct": lambda: PooledSelectionWithoutReplacement(draft, target, K).sample(drafts, rng),
        "draw": lambda: ready.sample(drafts, rng),
    }
    seconds = _in_turn(tasks, rounds)
    results.add("cost.vocabulary", thousands(TOKENS))
    results.add("cost.k", K)
    results.add("cost.sort", f"{1000 * seconds['sort']:.1f}")
    results.add("cost.draw", f"{1e6 * seconds['draw']:.0f}")
    for name in tasks.keys() - {"sort", "draw"}:
        results.add(f"cost.{name}", f"{seconds[name] / seconds['sort']:.1f}")


def peers(results: Results) -> None:
    """Add the recorded times of a batch beside loops over its rows, in milliseconds."""
    lines = PEERS.read_text(encoding="utf-8").splitlines()
    rows = [[cell.strip() for cell in line.strip("| ").split("|")] for line in lines]
    for rule, peer, name in (
        ("pooled_selection", "MCSD, alg. 1", "iid"),
        ("pooled_selection_without_replacement", "MCSD, alg. 2", "distinct"),
    ):
        (row,) = [row for row in rows if row[:3] == [SHAPE, f"`{rule}`", peer]]
        results.add(f"peers.{name}.peer", row[4].removesuffix(" ms"))
        results.add(f"peers.{name}.rule", row[5].removesuffix(" ms"))
    rows_, tokens = SHAPE.strip("()").split(", ")
    results.add("peers.rows", rows_)
    results.add("peers.tokens", tokens)


def _pair() -> tuple[Any, Any]:
    draft, noise = np.random.default_rng(SEED).gumbel(scale=2, size=(2, TOKENS))
    return (
        as_distribution(np.exp(draft), normalize=True),
        as_distribution(np.exp(0.7 * draft + 0.5 * noise), normalize=True),
    )


def _in_turn(tasks: dict[str, Callable[[], Any]], rounds: int) -> dict[str, float]:
    """Return the median seconds of CPU time of each task; first all are called once."""
    taken: dict[str, list[float]] = {name: [] for name in tasks}
    for name, task in list(tasks.items()) * (rounds + 1):
        began = time.process_time()
        task()
        taken[name].append(time.process_time() - began)
    return {name: float(np.median(each[1:])) for name, each in taken.items()}
