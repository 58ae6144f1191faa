"""``otspec trace``: acceptance over the positions of a logged trace."""

from __future__ import annotations

import csv
import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import click

from otspec.cli.options import counts_option, json_option, temperature_option
from otspec.cli.output import percent, print_json
from otspec.datasets import load_smollm2
from otspec.tables import print_table
from otspec.traces import Comparison, Summary, Trace, compare, load_trace, summarise
from otspec.traces.comparison import OPTIMUM
from otspec.traces.summary import attainment
from otspec.traces.warping import check_warping

_LAWS = ("iid", "hub")
"""The laws that rules of the papers verify."""

Positions = dict[tuple[int, ...], list[Comparison]]


@click.command()
@click.argument("file", required=False, type=click.Path(path_type=Path))
@counts_option("1,2,4,8,16")
@temperature_option
@click.option("--top-k", type=int, help="Keep the k largest logits.")
@click.option("--top-p", type=float, help="Keep the likeliest tokens that reach this probability.")
@click.option(
    "--out", type=click.Path(path_type=Path, file_okay=False),
    help="Write positions.csv, summary.json and acceptance.png here.",
)  # fmt: skip
@json_option
def trace(
    file: Path | None,
    ks: tuple[int, ...],
    temperature: float,
    top_k: int | None,
    top_p: float | None,
    out: Path | None,
    as_json: bool,
) -> None:
    """Mean acceptance of the optimum and of all rules over a language-model trace.

    FILE is a .npz or .safetensors file with draft_logits and target_logits of shape (..., n);
    without it the bundled SmolLM2 trace is read.

    Example: otspec trace -k 1,2,4 --temperature 0.6 --out results
    """
    check_warping(temperature, top_k, top_p)
    logged = load_smollm2() if file is None else load_trace(file)
    if out is not None:
        out.mkdir(parents=True, exist_ok=True)
    settings = {"temperature": temperature, "top_k": top_k, "top_p": top_p}
    positions = {
        position: compare(draft, target, ks, _LAWS)
        for position, draft, target in _with_progress(logged, settings)
    }
    summary = summarise(positions.values())
    document = {
        "trace": str(file) if file is not None else "bundled SmolLM2 trace",
        "positions": logged.positions,
        "vocabulary": logged.shape[-1],
        **settings,
        "means": [vars(row) | {"gap": row.gap} for row in summary],
    }
    if out is not None:
        _write(out, positions, summary, document)
    if as_json:
        print_json(document)
        return
    _print_means(summary, ks, document)
    if out is not None:
        click.echo(f"picture: {out / 'acceptance.png'}")
        click.echo(f"numbers: {out / 'positions.csv'}, {out / 'summary.json'}")


def _with_progress(logged: Trace, settings: dict[str, Any]) -> Iterator[Any]:
    """Yield the positions, with a progress bar if a person is watching."""
    from rich.console import Console
    from rich.progress import track

    console = Console(stderr=True)
    return iter(
        track(
            logged.pairs(**settings),
            description="positions",
            total=logged.positions,
            console=console,
            disable=not sys.stderr.isatty(),
            transient=True,
        )
    )


def _print_means(summary: list[Summary], ks: Sequence[int], document: dict[str, Any]) -> None:
    options = ", ".join(
        f"{name} {document[key]}"
        for name, key in (("T =", "temperature"), ("top-k", "top_k"), ("top-p", "top_p"))
        if document[key] is not None
    )
    click.echo(f"Mean acceptance over {document['positions']} positions ({options})")
    cells = {(row.rule, row.drafts, row.k): f"{row.acceptance:.4f}" for row in summary}
    print_table(
        ("rule", "drafts", *(f"k={k}" for k in ks)),
        [
            (rule, drafts, *(cells.get((rule, drafts, k), "") for k in ks))
            for rule, drafts in dict.fromkeys((row.rule, row.drafts) for row in summary)
        ],
        text=2,
    )
    click.echo()
    click.echo(_meaning(summary, ks[-1]))


def _meaning(summary: list[Summary], k: int) -> str:
    rules = [row for row in summary if row.k == k and row.drafts == "iid" and row.rule != OPTIMUM]
    drafts = f"{k} i.i.d. draft{'s' if k > 1 else ''}"
    most = percent(rules[0].optimum)
    clauses = [f"With {drafts} one is accepted with mean probability {most} at best"]
    clauses += attainment(
        rules,
        rules[0].optimum,
        lambda best: f"reaches {percent(best.acceptance)}, {100 * best.gap:z.1f} points less",
    )
    return ";\n".join(clauses) + "."


def _write(
    out: Path, positions: Positions, summary: list[Summary], document: dict[str, Any]
) -> None:
    from otspec.traces.chart import save_acceptance_chart

    with (out / "positions.csv").open("w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream)
        writer.writerow(["position", "rule", "drafts", "k", "acceptance", "optimum", "gap"])
        for position, rows in positions.items():
            place = "/".join(map(str, position))
            writer.writerows(
                (place, row.rule, row.drafts, row.k, row.acceptance, row.optimum, row.gap)
                for row in rows
            )
    (out / "summary.json").write_text(json.dumps(document, indent=2) + "\n", encoding="utf-8")
    save_acceptance_chart(
        summary,
        out / "acceptance.png",
        title=f"{Path(document['trace']).name}: mean of {document['positions']} positions, "
        f"T = {document['temperature']}",
    )
