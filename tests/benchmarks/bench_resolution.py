"""Global Resolution beside pooled selection on the bundled trace: a table, and its numbers.

``python tests/benchmarks/bench_resolution.py --out DIRECTORY`` in a checkout.
"""

from __future__ import annotations

import json
import sys
import time
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path

import click
import numpy as np
from bench_peers import machine
from global_resolution import FailedError, global_resolution

import otspec
from figures.contract import Numbers
from otspec._base.tables import say_more
from otspec.cli.main import run
from otspec.rules import PooledSelection

TOLERANCES = 1e-3, 1e-4
"""Those of the paper."""
CASES = ((10, 2), (10, 4), (10, 8), (20, 4), (50, 2), (50, 4), (1000, 2), (49_152, 2), (49_152, 4))
"""Tokens that may be drafted, and drafts."""


@cache
def positions() -> list[tuple[np.ndarray, np.ndarray]]:
    """Return draft and target at each position of the bundled trace."""
    return [(draft, target) for _, draft, target in otspec.datasets.load_smollm2().pairs()]


def pair_of(position: int, top: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the draft cut to its likeliest tokens, and the target."""
    draft, target = positions()[position]
    kept = np.zeros_like(draft)
    likeliest = np.argsort(-draft, kind="stable")[:top]
    kept[likeliest] = draft[likeliest]
    return kept / kept.sum(), target


@dataclass(frozen=True)
class Row:
    """What a method does at the positions: how often it finds a plan, how well, at what cost."""

    method: str
    top: int
    k: int
    positions: int
    found: int
    milliseconds: float | None
    """Median of the processor time where a plan is found."""
    gap: float | None
    """The largest distance below the optimum."""
    total_variation: float | None
    """The largest distance of the output from the target; None of a rule proved lossless."""

    def cells(self) -> list[str]:
        """Return the cells of a table."""
        top = f"{self.top:,}"
        if not self.found:
            return [top, str(self.k), self.method, f"0 of {self.positions}", "", "", ""]
        return [
            top,
            str(self.k),
            self.method,
            f"{self.found} of {self.positions}",
            f"{self.milliseconds:.1f} ms",
            f"{self.gap:.0e}",
            "lossless" if self.total_variation is None else f"{self.total_variation:.0e}",
        ]


def pooled(draft: np.ndarray, target: np.ndarray, k: int) -> tuple[float, None]:
    """Return the gap of pooled selection, which is lossless with any pools."""
    rule = PooledSelection(draft, target, k)
    return otspec.optimal_acceptance(rule.law, target).acceptance - rule.acceptance(), None


def resolution(tolerance: float):
    """Return Global Resolution with a tolerance: its gap, and how far its output is off."""

    def method(draft: np.ndarray, target: np.ndarray, k: int) -> tuple[float, float]:
        plan = global_resolution(draft, target, k, tolerance)
        return plan.gap, plan.total_variation

    return method


METHODS = {f"Global Resolution, {tolerance:.0e}": resolution(tolerance) for tolerance in TOLERANCES}
METHODS["pooled selection"] = pooled


def row(name: str, top: int, k: int, count: int) -> Row:
    """Return what a method does at the first positions."""
    times, ends = [], []
    for position in range(count):
        draft, target = pair_of(position, top)
        start = time.process_time()
        try:
            ends.append(METHODS[name](draft, target, k))
        except FailedError:
            continue
        times.append(1e3 * (time.process_time() - start))
    if not ends:
        return Row(name, top, k, count, 0, None, None, None)
    gaps, off = zip(*ends, strict=True)
    most = None if None in off else float(max(off))
    return Row(name, top, k, count, len(ends), float(np.median(times)), float(max(gaps)), most)


@click.command()
@click.option("--positions", "count", type=click.IntRange(1, 24), default=24, show_default=True)
@click.option("--out", type=click.Path(file_okay=False, path_type=Path), help="For table, numbers.")
def main(count: int, out: Path | None) -> None:
    """Run both methods at the same positions, and print what they find and what it costs."""
    rows = [row(name, top, k, count) for top, k in CASES for name in METHODS]
    head = ["tokens", "k", "method", "plans found", "time", "largest gap", "largest TV"]
    table = Numbers(tuple(head), tuple(tuple(each.cells()) for each in rows)).as_markdown()
    page = f"{machine()}; processor time of a position, median.\n\n{table}"
    say_more(page)
    if out is not None:
        out.mkdir(parents=True, exist_ok=True)
        (out / "resolution.md").write_text(page, encoding="utf-8")
        numbers = json.dumps([asdict(each) for each in rows], indent=1)
        (out / "resolution.json").write_text(numbers + "\n", encoding="utf-8")


if __name__ == "__main__":
    sys.exit(run(main, None, "python tests/benchmarks/bench_resolution.py"))
