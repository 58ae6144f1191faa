"""``otspec trace``: acceptance over the positions of logged traces."""

from collections.abc import Sequence
from typing import Any

import click

from otspec._base.tables import print_table, say
from otspec.cli.shared import options, output, run_paths
from otspec.cli.shared.warpings import warping_options
from otspec.drafts import IID, Hub, WithoutReplacement
from otspec.frames import Rows
from otspec.reports import page
from otspec.reports.findings import Findings, findings_of, restrictions_of, summary_of
from otspec.reports.page import write_charts
from otspec.traces import Warping
from otspec.traces.comparison import MOST_SLOW, OPTIMUM
from otspec.traces.runs import Settings
from otspec.traces.statistics import Statistic, statistics_of, texts_of
from otspec.traces.summary import attainment, by_temperatures, price_of_independence


@click.command()
@click.argument("files", nargs=-1)
@options.counts_option("1,2,4,8,16")
@run_paths.laws_option(IID.name, WithoutReplacement.name, Hub.name)
@options.rules_option(f"all; beyond {MOST_SLOW:,} tokens all but {options.SLOW}")
@options.free_option
@warping_options
@run_paths.run_options("positions/, summary.json and acceptance.png")
@options.filled(files=run_paths.FILES, pairs=run_paths.PAIRS)
def trace(
    files: tuple[str, ...],
    ks: tuple[int, ...],
    laws: tuple[str, ...],
    only: tuple[str, ...],
    free: int,
    warpings: tuple[Warping, ...],
    place: run_paths.RunPlace,
) -> int:
    """Mean acceptance of the optimum and of all rules over logs.

    FILES are {files}, each with draft_logits and target_logits of shape (..., n), or with
    log_probabilities or probabilities instead of logits. FILE:DRAFT+TARGET names two other arrays
    of a file. FILES may also be pairs of {pairs}, DRAFT.npy+TARGET.npy. The default is the bundled
    SmolLM2 trace.

    Exit status: 0 fine, 1 some chunks were skipped, or a picture, the report or the table
    could not be written after the results, 2 bad input.

    Drafts without replacement take most of the time: --drafts iid --drafts hub leaves them out.

    Example: otspec trace -k 1,2,4 --temperature 0.6 --drafts iid
    """
    settings = Settings(ks, tuple(dict.fromkeys(laws)), warpings, free, only)
    with place.sources(files) as sources, place.run(sources, settings) as run:
        by_text = texts_of(sources) > 1
        rows = statistics_of(run.tables(), by_text=by_text)
        failures = run.failures()
        if not rows:
            raise ValueError(
                run_paths.all_failed(failures) if failures else run_paths.no_drafts(laws, ks)
            )
        summary = summary_of(run, settings, rows, by_text=by_text)
        numbers = place.numbers("summary.json", summary)
        if place.as_json:
            output.print_json(summary)
        else:
            print_means(rows, ks, summary)
        lines, complete = place.written(
            lambda out: write_charts(out, summary, rows),
            lambda path, origin: page.write_report(path, summary, rows, origin),
            sources,
        )
        for line in () if place.as_json else lines + numbers:
            say(line)
    of_trace = Rows(rows, Statistic, summary["trace"])
    return place.end(failures, of_trace.to_arrow, complete=complete)


def print_means(rows: Sequence[Statistic], ks: Sequence[int], summary: dict[str, Any]) -> None:
    """Print the means of a run."""
    for index, (temperatures, of_one) in enumerate(by_temperatures(rows).items()):
        if index:
            say()
        restricted = "".join(f", {name} {value}" for name, value in restrictions_of(summary))
        say(f"Mean acceptance over {summary['positions']} positions ({temperatures}{restricted})")
        _print_table(of_one, ks)
        say()
        say(*_meaning(of_one, ks, summary["independent"]))


def _print_table(rows: Sequence[Statistic], ks: Sequence[int]) -> None:
    """Print a line for each rule, those for the same drafts together, which are named once."""
    found = {(row.drafts, row.rule, row.k): f"{row.acceptance:.4f}" for row in rows}
    cells = [
        (law if rule == OPTIMUM else "", rule, *(found.get((law, rule, k), "") for k in ks))
        for law in dict.fromkeys(row.drafts for row in rows)
        for rule in dict.fromkeys(row.rule for row in rows if row.drafts == law)
    ]
    print_table(("drafts", "rule", *(f"k={k}" for k in ks)), cells, text=2)


def _meaning(rows: Sequence[Statistic], ks: Sequence[int], units: str) -> list[str]:
    """Return sentences on the best law: its optimum, which rules attain it, and how sure it is."""
    k = [k for k in ks if any(row.k == k for row in rows)][-1]
    findings = findings_of([row for row in rows if row.k == k])
    best, second = findings.optimum, findings.second
    most = output.percent(best.acceptance)
    sentences = [
        f"With {findings.drafts}, a draft is accepted with mean probability {most} at best."
    ]
    sentences += attainment(
        findings.rules,
        best.optimum,
        lambda rule: (
            f"reaches {output.percent(rule.acceptance)}, {100 * rule.gap:z.1f} points less"
        ),
    )
    if second is not None:
        sentences.append(
            f"The best of the other draft laws, {second.drafts}, has the optimum "
            f"{output.percent(second.acceptance)}."
        )
    sentences += price_of_independence([row for row in rows if row.k == k])
    return [*sentences, _certainty(findings, units)]


def _certainty(findings: Findings, units: str) -> str:
    best = findings.optimum
    if best.units < 2:
        return "One position gives no interval."
    low, high = map(output.percent, best.acceptance_interval)
    return (
        f"If the {best.units:,} {units} are a random sample, the mean optimum with "
        f"{findings.drafts} over all such {units} is {low} to {high} (95% confidence)."
    )
