"""A report on a run as one HTML file that needs nothing else."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from otspec.plots import svg
from otspec.plots.pictures import acceptance_figure, gap_figure, heat_figure
from otspec.plots.temperature import best_below, largest_counts
from otspec.reports.summary_file import restrictions_of
from otspec.traces.comparison import OPTIMUM
from otspec.traces.heat import Heat, by_heat
from otspec.traces.statistics import QUANTILES, Statistic
from otspec.webpage import escaped, page, table
from otspec.writing import write_text

_OF_HEAT = "Mean acceptance against temperature"
_OF_GAPS = "Gap to the optimum over the positions"
_GAP_CAPTION = "Thin: the 5% to the 95% quantile. Thick: 25% to 75%. Mark: the median."
_HEAT_COLUMNS = (
    "drafts", "k", "T", "draft T", "optimum", "95% interval", "best rule below it",
    "mean acceptance", "95% interval", "positions",
)  # fmt: skip
_HEAT_CAPTION = (
    "The most drafts of each law. Means are over the positions where so many drafts exist: the "
    "fewer tokens a warping leaves, the fewer positions have as many distinct ones."
)
_COLUMNS = (
    "drafts", "rule", "k", "mean acceptance", "95% interval", "mean gap", "95% interval",
    *(f"gap, {100 * level:g}%" for level in QUANTILES), "positions",
)  # fmt: skip


def write_report(path: Path, summary: dict[str, Any], rows: Sequence[Statistic]) -> None:
    """Write the report.

    Parameters
    ----------
    path : path
    summary : dict
        As :func:`~otspec.reports.summary_file.summary_of` returns.
    rows : sequence of Statistic

    Raises
    ------
    OSError
        The file cannot be written.
    """
    title = f"Acceptance on {summary['trace']}"
    write_text(path, "\n".join(page(title, _body(summary, rows))))


def _body(summary: dict[str, Any], rows: Sequence[Statistic]) -> Iterable[str]:
    yield f"<p>{escaped(_about(summary))}</p>"
    if summary["skipped"]:
        yield from _failures(summary["skipped"])
    yield from _dependence(rows)
    for heat, shown in by_heat(rows).items():
        yield from _section(heat, shown)
    yield "<h2>Sources</h2>"
    yield from table(
        ("source", "numbers", "shape"),
        [
            (
                source["name"],
                source["kind"].replace("_", "-"),
                " × ".join(map(str, source["shape"])),
            )
            for source in summary["sources"]
        ],
        words=2,
    )


def _about(summary: dict[str, Any]) -> str:
    restricted = "".join(f", {name} = {value}" for name, value in restrictions_of(summary))
    return (
        f"{summary['positions']:,} positions over {summary['vocabulary']:,} tokens{restricted}. "
        f"Intervals have {100 * summary['confidence']:g}% confidence and take the "
        f"{summary['independent']} for a random sample of such {summary['independent']}. The gap "
        "is how far a rule is below the optimum for its drafts; its columns are quantiles over the "
        "positions."
    )


def _failures(skipped: Sequence[dict[str, Any]]) -> Iterable[str]:
    yield '<div class="failed"><h2>Skipped</h2><ul>'
    for failure in skipped:
        yield f"<li>{escaped(failure['reason'])}</li>"
    yield "</ul></div>"


def _dependence(rows: Sequence[Statistic]) -> Iterable[str]:
    """Yield how acceptance depends on the temperatures, if there are several."""
    figure = heat_figure(rows, title=_OF_HEAT)
    if figure is None:
        return
    yield "<h2>What the temperature changes</h2>"
    yield f"<figure>{svg(figure, _OF_HEAT)}<figcaption>{_HEAT_CAPTION}</figcaption></figure>"
    yield from table(_HEAT_COLUMNS, list(_heat_rows(rows)), words=1)


def _heat_rows(rows: Sequence[Statistic]) -> Iterable[tuple[str, ...]]:
    """Yield what is accepted of the most drafts of each law, at each pair of temperatures."""
    for (drafts, k), of_law in largest_counts(rows).items():
        below = best_below(of_law)
        for heat, shown in by_heat(of_law).items():
            found = {row.rule: row for row in shown}
            optimum, beside = found[OPTIMUM], found.get(below or "")
            yield (
                drafts,
                str(k),
                f"{heat.target:g}",
                f"{heat.draft:g}",
                f"{optimum.acceptance:.4f}",
                _interval(optimum.acceptance_interval),
                *(("–", "–", "–") if beside is None else _of_rule(beside)),
                f"{optimum.positions:,}",
            )


def _of_rule(row: Statistic) -> tuple[str, ...]:
    return row.rule, f"{row.acceptance:.4f}", _interval(row.acceptance_interval)


def _section(heat: Heat, rows: Sequence[Statistic]) -> Iterable[str]:
    yield f"<h2>{heat}</h2>"
    means = acceptance_figure(rows, title="Mean acceptance")
    yield f"<figure>{svg(means, 'Mean acceptance against the number of drafts')}</figure>"
    gaps = gap_figure(rows, title=_OF_GAPS)
    if gaps is not None:
        yield f"<figure>{svg(gaps, _OF_GAPS)}<figcaption>{_GAP_CAPTION}</figcaption></figure>"
    yield from table(_COLUMNS, [_cells(row) for row in rows], words=2)


def _cells(row: Statistic) -> tuple[str, ...]:
    return (
        row.drafts,
        row.rule,
        str(row.k),
        f"{row.acceptance:.4f}",
        _interval(row.acceptance_interval),
        f"{row.gap:z.4f}",
        _interval(row.gap_interval),
        *(f"{row.gap_quantiles[level]:.4f}" for level in QUANTILES),
        f"{row.positions:,}",
    )


def _interval(ends: tuple[float, float]) -> str:
    return "–" if ends[0] != ends[0] else f"{ends[0]:.4f} to {ends[1]:.4f}"
