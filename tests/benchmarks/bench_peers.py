"""The batch rules beside what others run, in one run: a script, a table and a chart.

``make bench-peers`` in a checkout.
"""

from __future__ import annotations

import math
import os
import platform
import sys
from datetime import UTC, datetime
from pathlib import Path

import click
import torch
from peers.chart import draw
from peers.matches import MATCHES
from peers.measuring import Timed, measured
from peers.plans import plan_against_pot

from figures.contract import Numbers
from otspec._base.tables import say_more
from otspec.cli.main import run

SHAPES = ((1, 32_000), (1, 128_256), (32, 128_256))


@click.command()
@click.option("--rule", "rules", multiple=True, type=click.Choice(list(MATCHES)))
@click.option("-k", type=click.IntRange(2), default=4, show_default=True, help="Drafts per row.")
@click.option("--repeat", type=click.IntRange(3), default=15, show_default=True)
@click.option("--threads", type=click.IntRange(1), default=1, show_default=True)
@click.option("--compiled/--eager", default=True, show_default=True, help="torch.compile, too.")
@click.option("--out", type=click.Path(file_okay=False, path_type=Path), help="For table, chart.")
def main(
    rules: tuple[str, ...], k: int, repeat: int, threads: int, compiled: bool, out: Path | None
) -> None:
    """Time every rule and its peers in turn, and print the ratios."""
    torch.set_num_threads(threads)
    timed: list[Timed] = []
    for rows, vocabulary in SHAPES:
        timed += measured(list(rules or MATCHES), vocabulary, rows, k, repeat, compiled)
    page = report(timed, k, threads, repeat)
    say_more(page)
    if out is not None:
        out.mkdir(parents=True, exist_ok=True)
        (out / "peers.md").write_text(page, encoding="utf-8")
        draw(timed, out / "peers.png")


def report(timed: list[Timed], k: int, threads: int, repeat: int) -> str:
    """Return the page: what it was measured on, and a table."""
    eager = all(math.isnan(one.compiled) for one in timed)
    rows = [
        [
            f"({one.rows}, {one.vocabulary:,})",
            f"`{one.rule}`",
            one.peer.title,
            one.peer.origin,
            f"{1e3 * one.peer_seconds:.2f} ms",
            f"{1e3 * one.seconds:.2f} ms",
            f"{one.eager:.2f}",
            *([] if eager else [f"{one.compiled:.2f}"]),
            f"{one.of_copy:.2f}",
        ]
        for one in timed
    ]
    head = ["rows, tokens", "rule", "peer", "which is", "peer", "rule", "eager"]
    head += [*([] if eager else ["compiled"]), "of copy"]
    plan, cpu = plan_against_pot(repeat), ", in CPU time" if threads == 1 else ""
    return (
        f"{machine()}; PyTorch {torch.__version__}, float32, {threads} thread"
        f"{'s' if threads > 1 else ''}, k = L = {k}, no draft is accepted; the fastest of {repeat} "
        f"calls in turn{cpu}. *Eager* is the rule's time over the peer's. *Of copy* is the time of "
        "a copy of draft and target over the rule's: the bytes of its inputs a second over those "
        "that a copy reads.\n\n"
        f"{Numbers(tuple(head), tuple(map(tuple, rows))).as_markdown()}\n"
        f"`optimal_plan` at n = 50, k = 2 takes {plan:.2f} times `ot.emd` on unordered pairs.\n"
    )


def machine() -> str:
    """Return what a measurement was made on, its load, and when."""
    load = os.getloadavg()[0]
    day = datetime.now(UTC).date()
    return f"{day}, {platform.machine()}, {os.cpu_count()} cores, load {load:.1f}"


if __name__ == "__main__":
    sys.exit(run(main, None, "python tests/benchmarks/bench_peers.py"))
