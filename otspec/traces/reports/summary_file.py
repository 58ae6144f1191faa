"""What a run found, as a document for programs and as charts."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from otspec.traces.charts.acceptance import save_acceptance_chart
from otspec.traces.runs import Run
from otspec.traces.statistics import CONFIDENCE, Statistic
from otspec.writing import write_text


def document_of(run: Run, rows: Sequence[Statistic], *, by_text: bool) -> dict[str, Any]:
    """Return the summary of a run, which JSON can hold.

    Parameters
    ----------
    run : Run
    rows : sequence of Statistic
    by_text : bool
        Whether intervals take texts as independent, or positions.

    Returns
    -------
    dict
    """
    sources = list(dict.fromkeys(chunk.source for chunk in run.chunks))
    warpings = run.settings.warpings
    temperatures = [warping.temperature for warping in warpings]
    return {
        "trace": sources[0].name if len(sources) == 1 else f"{len(sources)} sources",
        "sources": [
            {"name": source.name, "kind": source.kind, "shape": list(source.shape)}
            for source in sources
        ],
        "positions": sum(chunk.positions for chunk in run.finished()),
        "vocabulary": sources[0].shape[-1],
        "temperature": temperatures[0] if len(temperatures) == 1 else temperatures,
        "top_k": warpings[0].top_k,
        "top_p": warpings[0].top_p,
        "confidence": CONFIDENCE,
        "independent": "texts" if by_text else "positions",
        "means": [_mean(row) for row in rows],
        "skipped": [
            {
                "source": failure.chunk.source.name,
                "start": failure.chunk.start,
                "stop": failure.chunk.stop,
                "reason": failure.reason,
            }
            for failure in run.failures()
        ],
    }


def _mean(row: Statistic) -> dict[str, Any]:
    return vars(row) | {
        "gap": row.gap,
        "acceptance_interval": _interval(row.acceptance_interval),
        "gap_interval": _interval(row.gap_interval),
        "gap_quantiles": {str(level): value for level, value in row.gap_quantiles.items()},
    }


def _interval(ends: tuple[float, float]) -> list[float] | None:
    return None if math.isnan(ends[0]) else list(ends)


def write_summary(folder: Path, document: dict[str, Any]) -> Path:
    """Write the document into a folder, and return its path.

    Raises
    ------
    OSError
        The folder cannot be written.
    """
    summary = folder / "summary.json"
    write_text(summary, json.dumps(document, indent=2) + "\n")
    return summary


def write_charts(
    folder: Path, document: dict[str, Any], rows: Sequence[Statistic]
) -> Iterator[Path]:
    """Write a chart for each temperature into a folder, and yield its path.

    Raises
    ------
    OSError
        The folder cannot be written.
    """
    temperatures = list(dict.fromkeys(row.temperature for row in rows))
    for temperature in temperatures:
        mark = "" if len(temperatures) == 1 else f"-T{temperature:g}"
        chart = folder / f"acceptance{mark}.png"
        save_acceptance_chart(
            [row for row in rows if row.temperature == temperature],
            chart,
            title=f"{Path(document['trace']).name}: mean of {document['positions']} positions, "
            f"T = {temperature}",
        )
        yield chart
