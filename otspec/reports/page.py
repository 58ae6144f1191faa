"""A report on a run as one HTML file that needs nothing else."""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from otspec._base import webpage, write_text
from otspec.plots import save_acceptance_chart, svg
from otspec.plots.pictures import acceptance_figure, gap_figure, temperature_figure
from otspec.plots.positions import best_below, largest_counts
from otspec.reports.findings import (
    UNKNOWN,
    Findings,
    Origin,
    findings_of,
    origin_section,
    percent,
    restrictions_of,
    three_sentences,
    tokens_per_call,
    uncertainties,
)
from otspec.traces.comparison import OPTIMUM
from otspec.traces.statistics import Statistic
from otspec.traces.summary import TemperaturePair, attains, by_temperatures, price_of_independence


def write_charts(
    folder: Path, summary: dict[str, Any], rows: Sequence[Statistic]
) -> Iterator[Path]:
    """Write a chart for each pair of temperatures into a folder, and yield its path."""
    by_pair = by_temperatures(rows)
    for temperatures, shown in by_pair.items():
        mark = "" if len(by_pair) == 1 else f"-{temperatures.mark}"
        chart = folder / f"acceptance{mark}.png"
        save_acceptance_chart(
            shown,
            chart,
            title=f"{Path(summary['trace']).name}: mean of {summary['positions']} positions, "
            f"{temperatures}",
        )
        yield chart


_OF_TEMPERATURES = "Mean acceptance against temperature"
_OF_GAPS = "Gap to the optimum over the positions"
_GAP_CAPTION = "Thin: the 5% to the 95% quantile. Thick: 25% to 75%. Mark: the median."
_GAINS = (
    "drafts", "at", "best rule below it", "k", "optimum", "that rule", "gap in points",
    "tokens per call", "positions",
)  # fmt: skip
_TEMPERATURES_CAPTION = (
    "The most drafts of each law. Means are over the positions where so many drafts exist: the "
    "fewer tokens a warping leaves, the fewer positions have as many distinct ones."
)
_GAINS_CAPTION = (
    "The most drafts of each law. The gap is what going from that rule to the optimum gains. "
    "Tokens per call are 1 + acceptance: at best, and below with that rule."
)
_COLUMNS = (
    "drafts", "rule", "k", "mean acceptance", "gap in points", "gap at half of the positions",
    "positions",
)  # fmt: skip
_TABLE = (
    "Below means are their 95% intervals. The gap at half of the positions is the median; below "
    "it are the quantiles at 5%, 25%, 75% and 95%. Gaps are points of acceptance below the optimum "
    "for the same drafts."
)


def write_report(
    path: Path, summary: dict[str, Any], rows: Sequence[Statistic], origin: Origin = UNKNOWN
) -> None:
    """Write the report."""
    title = f"Acceptance on {summary['trace']}"
    write_text(path, "\n".join(webpage.page(title, _body(summary, rows, origin))))


def _body(summary: dict[str, Any], rows: Sequence[Statistic], origin: Origin) -> Iterable[str]:
    parts = by_temperatures(rows)
    first = next(iter(parts.values()))
    findings = findings_of(first)
    price = price_of_independence([row for row in first if row.k == findings.optimum.k])
    yield f'<p class="lead">{webpage.escaped(" ".join([*three_sentences(findings), *price]))}</p>'
    yield from webpage.key_figures(_figures(findings))
    doubts = uncertainties(findings, summary["independent"], len(summary["skipped"]))
    yield from webpage.beside(
        _means(findings.temperatures, first), webpage.titled_list("What is uncertain", doubts)
    )
    yield f"<p>{webpage.escaped(_about(summary))}</p>"
    if summary["skipped"]:
        yield from _failures(summary["skipped"])
    yield "<h2>What is gained</h2>"
    yield from webpage.table(_GAINS, list(_gains(rows)), words=3)
    yield f"<p>{_GAINS_CAPTION}</p>"
    pictures = list(_pictures(rows))
    if pictures:
        yield "<h2>Gaps and temperatures</h2><p>Point at a mark to read its numbers.</p>"
        yield from webpage.beside(*pictures)
    for temperatures, shown in parts.items():
        yield f"<h2>All rules at {webpage.escaped(str(temperatures))}</h2>"
        yield from webpage.table(_COLUMNS, [_cells(row) for row in shown], words=2)
        yield f"<p>{_TABLE}</p>"
    yield "<h2>Sources</h2>"
    sources = [
        (source["name"], source["kind"].replace("_", "-"), " × ".join(map(str, source["shape"])))
        for source in summary["sources"]
    ]
    yield from webpage.table(("source", "numbers", "shape"), sources, words=2)
    yield from origin_section(origin)


def _figures(findings: Findings) -> Iterable[tuple[str, str, str]]:
    """Yield the figures that a reader looks for first."""
    best, below = findings.optimum, findings.below
    where = f"with {findings.drafts} at {findings.temperatures}"
    yield "accepted at best", percent(best.acceptance), where
    if below is None:
        yield "gap", "none", "of any rule compared"
        return
    yield "best rule below it", percent(below.acceptance), below.rule
    sure = _points(below.gap_interval)
    how = f"{sure} (95% interval)" if sure else "on average"
    yield "gap", f"{100 * below.gap:.1f} points", how
    ends = f"from {tokens_per_call(below):.3f} to {tokens_per_call(best):.3f} at best"
    more = f"{percent(below.gap / tokens_per_call(below))} more"
    yield "tokens per call", f"+{below.gap:.3f}", f"{ends}: {more}"


def _about(summary: dict[str, Any]) -> str:
    restricted = "".join(f", {name} = {value}" for name, value in restrictions_of(summary))
    return (
        f"Read: {summary['positions']:,} positions over {summary['vocabulary']:,} tokens"
        f"{restricted}. Intervals have {100 * summary['confidence']:g}% confidence and take the "
        f"{summary['independent']} for a random sample of such {summary['independent']}."
    )


def _failures(skipped: Sequence[dict[str, Any]]) -> Iterable[str]:
    yield '<div class="failed"><h2>Skipped</h2>'
    yield webpage.listed_items(failure["reason"] for failure in skipped)
    yield "</div>"


def _pictures(rows: Sequence[Statistic]) -> Iterable[str]:
    """Yield what is not at the top: other temperatures, gaps, and what temperatures change."""
    for place, (temperatures, shown) in enumerate(by_temperatures(rows).items()):
        if place:
            yield _means(temperatures, shown)
        gaps = gap_figure(shown, title=f"{_OF_GAPS}, {temperatures}")
        if gaps is not None:
            yield webpage.picture(svg(gaps, f"{_OF_GAPS}, {temperatures}"), _GAP_CAPTION)
    figure = temperature_figure(rows, title=_OF_TEMPERATURES)
    if figure is not None:
        yield webpage.picture(svg(figure, _OF_TEMPERATURES), _TEMPERATURES_CAPTION)


def _means(temperatures: TemperaturePair, rows: Sequence[Statistic]) -> str:
    means = acceptance_figure(rows, title=f"Mean acceptance, {temperatures}")
    return webpage.picture(
        svg(means, f"Mean acceptance against the number of drafts, {temperatures}")
    )


def _gains(rows: Sequence[Statistic]) -> Iterable[tuple[webpage.Cell, ...]]:
    """Yield what is left of the most drafts of each law, at each pair of temperatures."""
    for (drafts, k), of_law in largest_counts(rows).items():
        below = best_below(of_law)
        for temperatures, shown in by_temperatures(of_law).items():
            found = {row.rule: row for row in shown}
            optimum, beside = found[OPTIMUM], found.get(below or "")
            tokens = f"{tokens_per_call(optimum):.3f}"
            yield (
                drafts, str(temperatures), "–" if beside is None else beside.rule, str(k),
                (percent(optimum.acceptance), _percents(optimum.acceptance_interval)),
                *(("–", "–", tokens) if beside is None else (
                    (percent(beside.acceptance), _percents(beside.acceptance_interval)),
                    (f"{100 * beside.gap:z.1f}", _points(beside.gap_interval)),
                    (tokens, f"{tokens_per_call(beside):.3f}"),
                )),
                f"{optimum.positions:,}",
            )  # fmt: skip


def _cells(row: Statistic) -> tuple[webpage.Cell, ...]:
    at = {level: f"{100 * gap:.1f}" for level, gap in row.gap_quantiles.items()}
    median = at.pop(0.5)
    if row.rule == OPTIMUM:
        gaps: tuple[webpage.Cell, ...] = ("–", "–")
    else:
        mean = f"{100 * row.gap:z.1f}", _points(row.gap_interval)
        spread = "" if attains(row.acceptance, row.optimum) else " · ".join(at.values())
        gaps = mean, (median, spread)
    return (
        row.drafts,
        row.rule,
        str(row.k),
        (percent(row.acceptance), _percents(row.acceptance_interval)),
        *gaps,
        f"{row.positions:,}",
    )


def _percents(ends: tuple[float, float]) -> str:
    return "" if ends[0] != ends[0] else f"{percent(ends[0])} to {percent(ends[1])}"


def _points(ends: tuple[float, float]) -> str:
    return "" if ends[0] != ends[0] else f"{100 * ends[0]:z.1f} to {100 * ends[1]:z.1f}"
