"""``otspec laws``: which draft law is best, at temperatures of draft and target apart."""

import math
from collections.abc import Sequence
from typing import Any

import click

from otspec._base.tables import print_table, say
from otspec.cli.shared import options, output, run_paths
from otspec.cli.shared.warpings import warping_options
from otspec.drafts import IID, LAWS
from otspec.frames import Rows
from otspec.reports.findings import (
    interval_document,
    interval_words,
    restrictions_of,
    warpings_document,
)
from otspec.traces import Warping
from otspec.traces.comparison import MOST_SLOW
from otspec.traces.draft_laws import LawMeans, law_means
from otspec.traces.runs import Settings
from otspec.traces.statistics import texts_of
from otspec.traces.summary import TemperaturePair, attains, by_temperatures

_COLUMNS = (
    "T draft", "T target", "k", "drafts", "best rule", "accepts", "optimum", "95% interval",
    "above iid", "95% interval", "price of independence",
)  # fmt: skip


@click.command()
@click.argument("files", nargs=-1)
@options.counts_option("1,2,4,8,16")
@run_paths.laws_option(*LAWS)
@options.rules_option(f"all; beyond {MOST_SLOW:,} tokens all but {options.SLOW}")
@warping_options
@run_paths.run_options("positions/ and laws.json", pictures=False)
@options.filled(files=run_paths.FILES, pairs=run_paths.PAIRS)
def laws(
    files: tuple[str, ...],
    ks: tuple[int, ...],
    laws: tuple[str, ...],
    only: tuple[str, ...],
    warpings: tuple[Warping, ...],
    place: run_paths.RunPlace,
) -> int:
    """Which draft law is best on the logs, and with which rule.

    FILES are as for `otspec trace`: {files}, or pairs of {pairs}; the default is the bundled
    SmolLM2 trace. Every temperature of the draft is combined with every one of the target.

    Exit status: 0 fine, 1 some chunks were skipped, or the table could not be written
    after the results, 2 bad input.

    Example: otspec laws -k 2,8 --temperature 0.6,1.0 --draft-temperature 1.0
    """
    named = tuple(dict.fromkeys((IID.name, *laws)))  # with which the others are compared
    settings = Settings(ks, named, warpings, only=only)
    with place.sources(files) as sources, place.run(sources, settings) as run:
        texts = texts_of(sources)
        found, failures = law_means(run.tables(), by_text=texts > 1), run.failures()
        names = ", ".join(source.name for source in sources)
        rows = Rows([mean for mean in found if mean.drafts in laws], LawMeans, names)
        if not rows:
            raise ValueError(
                run_paths.all_failed(failures) if failures else run_paths.no_drafts(laws, ks)
            )
        document = [_document(mean) for mean in rows]
        numbers = place.numbers("laws.json", document)
    if place.as_json:
        output.print_json(document)
    else:
        _print(rows, warpings, texts)
        for line in numbers:
            say(line)
    return place.end(failures, rows.to_arrow)


def _print(rows: Sequence[LawMeans], warpings: Sequence[Warping], texts: int) -> None:
    positions = max(mean.positions for mean in rows)
    restrictions = restrictions_of(warpings_document(warpings))
    cuts = "".join(f", {name} {value}" for name, value in restrictions)
    say(f"Optimum and best rule of each draft law, means over {positions:,} positions{cuts}")
    priced = any(not math.isnan(mean.independence_price) for mean in rows)
    shown = len(_COLUMNS) if priced else -1
    print_table(_COLUMNS[:shown], [_cells(mean)[:shown] for mean in rows], text=5)
    if priced:
        say(
            "Price of independence: the optimum less what the best rule accepts whose output no "
            "draft changes."
        )
    say()
    for temperatures, of_pair in by_temperatures(rows).items():
        say(_meaning(temperatures, of_pair))
    say(_certainty(positions, texts))


def _certainty(positions: int, texts: int) -> str:
    if positions < 2:
        return "One position gives no interval."
    units = f"these {texts:,} texts" if texts > 1 else "the positions of this one text"
    return f"Intervals are of means over more such text, if {units} are a random sample of it."


def _document(mean: LawMeans) -> dict[str, Any]:
    """Return a row for programs, with null where nothing is known."""
    document = dict(vars(mean))
    for name in ("optimum_interval", "above_iid_interval"):
        document[name] = interval_document(document[name])
    for name in ("acceptance", "independence_price"):
        document[name] = None if math.isnan(document[name]) else document[name]
    return document | ({} if mean.rule else {"rule": None})


def _cells(mean: LawMeans) -> tuple[str, ...]:
    return (
        f"{mean.draft_temperature:g}", f"{mean.temperature:g}", str(mean.k), mean.drafts,
        mean.rule or "none", f"{mean.acceptance:.4f}" if mean.rule else "", f"{mean.optimum:.4f}",
        interval_words(mean.optimum_interval, 4), f"{mean.above_iid:+z.4f}",
        interval_words(mean.above_iid_interval, 4),
        "" if math.isnan(mean.independence_price) else f"{mean.independence_price:z.4f}",
    )  # fmt: skip


def _meaning(temperatures: TemperaturePair, means: Sequence[LawMeans]) -> str:
    k = max(mean.k for mean in means)
    last = [mean for mean in means if mean.k == k]
    most = max(mean.optimum for mean in last)
    best = next(mean for mean in last if attains(mean.optimum, most))
    drafts = f"{LAWS[best.drafts].words} draft{'s' if k > 1 else ''}"
    return (
        f"Draft T = {temperatures.draft:g}, target T = {temperatures.target:g}: of {k} the best "
        f"are {drafts}, of which {output.percent(most)} can be accepted, "
        f"{output.percent(best.acceptance)} by {best.rule}."
    )
