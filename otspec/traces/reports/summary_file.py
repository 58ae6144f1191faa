"""What a run found, ``summary.json``: a document for programs."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from otspec.traces.runs import Run, Settings
from otspec.traces.statistics import CONFIDENCE, Statistic
from otspec.writing import write_text


def summary_of(
    run: Run, settings: Settings, rows: Sequence[Statistic], *, by_text: bool
) -> dict[str, Any]:
    """Return the summary of a run, which JSON can hold.

    Parameters
    ----------
    run : Run
    settings : Settings
        What was compared in it.
    rows : sequence of Statistic
    by_text : bool
        Whether intervals take texts as independent, or positions.

    Returns
    -------
    dict
    """
    sources = list(dict.fromkeys(chunk.source for chunk in run.chunks))
    warpings = settings.warpings
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
        "acceptance_interval": interval_document(row.acceptance_interval),
        "gap_interval": interval_document(row.gap_interval),
        "gap_quantiles": {str(level): value for level, value in row.gap_quantiles.items()},
    }


def interval_document(ends: tuple[float, float]) -> list[float] | None:
    """Return an interval for JSON, which has no NaN."""
    return None if math.isnan(ends[0]) else list(ends)


def restrictions_of(summary: dict[str, Any]) -> list[tuple[str, Any]]:
    """Return what both models were restricted to, such as top-k and 50."""
    named = (("top-k", summary["top_k"]), ("top-p", summary["top_p"]))
    return [(name, value) for name, value in named if value is not None]


def write_summary(folder: Path, summary: dict[str, Any]) -> Path:
    """Write the summary into a folder, and return its path.

    Raises
    ------
    OSError
        The folder cannot be written.
    """
    path = folder / "summary.json"
    write_text(path, json.dumps(summary, indent=2) + "\n")
    return path
