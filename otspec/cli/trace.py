"""``otspec trace``: acceptance over the positions of logged traces."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import Any

import click

from otspec.cli.ending import ending_in_order
from otspec.cli.options import counts_option, filled, json_option, table_option
from otspec.cli.output import print_json
from otspec.cli.places import check_picture, check_place, check_table, table_written, written
from otspec.cli.trace_means import print_means
from otspec.cli.trace_runs import (
    FILES,
    PAIRS,
    all_failed,
    complain,
    compute,
    laws_option,
    no_drafts,
    source_options,
    sources_of,
)
from otspec.cli.warpings import warping_options
from otspec.drafts import IID, Hub, WithoutReplacement
from otspec.extras import needed
from otspec.frames import Rows, check_ending
from otspec.tables import say
from otspec.traces.readers import Warping
from otspec.traces.reports.chart_files import write_charts
from otspec.traces.reports.summary_file import summary_of, write_summary
from otspec.traces.runs import Run, Settings, open_run, temporary_folder
from otspec.traces.statistics import Statistic, statistics_of, texts_of


@click.command()
@click.argument("files", nargs=-1)
@counts_option("1,2,4,8,16")
@laws_option(IID.name, WithoutReplacement.name, Hub.name)
@warping_options
@source_options
@click.option(
    "--out", type=click.Path(path_type=Path, file_okay=False),
    help="Write positions/, summary.json and acceptance.png here.",
)  # fmt: skip
@click.option("--resume", is_flag=True, help="Finish the run in --out.")
@click.option("--overwrite", is_flag=True, help="Replace the run in --out.")
@click.option(
    "--report", type=click.Path(path_type=Path, dir_okay=False), help="Write a report, as HTML."
)
@table_option
@click.option(
    "--chunk", type=click.IntRange(1), metavar="N",
    help="Positions that are read and written at a time. [default: 32 MB]",
)  # fmt: skip
@click.option(
    "--scheduler", metavar="ADDRESS", help="Use the workers of a Dask cluster: tcp://host:8786."
)
@json_option
@filled(files=FILES, pairs=PAIRS)
def trace(
    files: tuple[str, ...],
    ks: tuple[int, ...],
    laws: tuple[str, ...],
    warpings: tuple[Warping, ...],
    kind: str | None,
    out: Path | None,
    resume: bool,
    overwrite: bool,
    report: Path | None,
    table: Path | None,
    chunk: int | None,
    workers: int | None,
    scheduler: str | None,
    as_json: bool,
) -> int:
    """Mean acceptance of the optimum and of all rules over language-model traces.

    FILES are {files}, each with draft_logits and target_logits of shape
    (..., n), or log_probabilities or probabilities instead of logits; or pairs of {pairs},
    DRAFT.npy+TARGET.npy. Without any the bundled SmolLM2 trace is read.

    Exit status: 0 fine, 1 some chunks were skipped, or a picture, the report or the table
    could not be written after the results, 2 bad input.

    Distinct drafts take the most time: --drafts iid --drafts hub leaves them out.

    Example: otspec trace -k 1,2,4 --temperature 0.6 --out results
    """
    _check_places(out, report, table, resume=resume, overwrite=overwrite, scheduler=scheduler)
    settings = Settings(ks, tuple(dict.fromkeys(laws)), warpings)
    with ending_in_order(), sources_of(files, kind) as sources, ExitStack() as stack:
        folder = out or stack.enter_context(temporary_folder())
        opened = open_run(
            folder, sources, settings, chunk=chunk, resume=resume, overwrite=overwrite
        )  # fmt: skip
        run = stack.enter_context(opened)
        if report is not None:
            check_place(report)
        check_table(table)
        _say_what_was_removed(run)
        compute(run, out, workers, scheduler)
        by_text = texts_of(sources) > 1
        rows = statistics_of(run.tables(), by_text=by_text)
        failures = run.failures()
        if not rows:
            raise ValueError(all_failed(failures) if failures else no_drafts(laws, ks))
        summary = summary_of(run, settings, rows, by_text=by_text)
        if out is not None:
            write_summary(out, summary)
        if as_json:
            print_json(summary)
        else:
            print_means(rows, ks, summary)
        lines, complete = _drawn(out, report, summary, rows)
        for line in () if as_json else lines:
            say(line)
        of_trace = Rows(rows, Statistic, summary["trace"])
        complete = table_written(table, of_trace.to_arrow, silent=as_json) and complete
    complain(failures)
    return 0 if complete and not failures else 1


def _check_places(
    out: Path | None,
    report: Path | None,
    table: Path | None,
    *,
    resume: bool,
    overwrite: bool,
    scheduler: str | None,
) -> None:
    """Refuse what would fail after the computation only."""
    if resume and overwrite:
        raise ValueError("--resume and --overwrite exclude each other: finish a run or replace it")
    for flag, given in (
        ("--resume", resume),
        ("--overwrite", overwrite),
        ("--scheduler", scheduler),
    ):
        if given and out is None:
            raise ValueError(f"{flag} needs --out: name the folder of the run")
    if scheduler is not None:
        needed("distributed", "--scheduler", "cluster")
    if out is not None:
        check_picture(".png")
    if report is not None:
        check_picture(".svg")
    if table is not None:
        check_ending(table)
    for path in (report, table):
        if path is not None and (out is None or path.parent.exists()):
            check_place(path)  # else the run may make the folder


def _say_what_was_removed(run: Run) -> None:
    for chunk, reason in run.removed:
        say(f"otspec: computing {chunk} again: {reason}", err=True)


def _drawn(
    out: Path | None, report: Path | None, summary: dict[str, Any], rows: list[Statistic]
) -> tuple[list[str], bool]:
    """Draw the pictures and write the report; return where they are, and whether all are."""
    lines: list[str] = []
    complete = True
    if out is not None:
        complete = written(
            "the picture",
            lambda: lines.extend(f"picture: {chart}" for chart in write_charts(out, summary, rows)),
        )
        lines.append(f"numbers: {out / 'positions'}, {out / 'summary.json'}")
    if report is not None:
        from otspec.traces.reports.page import write_report

        if written("the report", lambda: write_report(report, summary, rows)):
            lines.append(f"report: {report}")
        else:
            complete = False
    return lines, complete
