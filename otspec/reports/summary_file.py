"""What a run found, ``summary.json``: a document for programs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from otspec.estimate import CONFIDENCE
from otspec.traces import Warp, Warping
from otspec.traces.readers.logged_numbers import SIDES
from otspec.traces.runs import Run, Settings
from otspec.traces.statistics import Statistic
from otspec.warping import STEPS, name_of_order


def summary_of(
    run: Run, settings: Settings, rows: Sequence[Statistic], *, by_text: bool
) -> dict[str, Any]:
    """Return the summary of a run, which JSON can hold.

    ``settings``: what was compared in it. ``by_text``: whether intervals take texts as independent,
    or positions.
    """
    sources = list(dict.fromkeys(chunk.source for chunk in run.chunks))
    return {
        "trace": sources[0].name if len(sources) == 1 else f"{len(sources)} sources",
        "sources": [
            {"name": source.name, "kind": source.kind, "shape": list(source.shape)}
            for source in sources
        ],
        "positions": sum(chunk.positions for chunk in run.finished()),
        "vocabulary": sources[0].shape[-1],
        **warpings_document(settings.warpings),
        "free": settings.free,
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


def warpings_document(warpings: Sequence[Warping]) -> dict[str, Any]:
    """Return what is done to the target in a run, and as ``draft`` to the draft, for JSON.

    Temperatures may differ, of which there is a list then; nothing else.
    """
    target, draft = (_side([warping.of(side) for warping in warpings]) for side in SIDES[::-1])
    return target | {"draft": draft}


def _side(warps: Sequence[Warp]) -> dict[str, Any]:
    temperatures = list(dict.fromkeys(warp.temperature for warp in warps))
    return {
        **{name: value for name, value in warps[0].options().items() if name in STEPS},
        "temperature": temperatures[0] if len(temperatures) == 1 else temperatures,
        "order": name_of_order(warps[0].order),
    }


def restrictions_of(summary: dict[str, Any]) -> list[tuple[str, Any]]:
    """Return what the models were restricted to, such as top-k and 50, and the draft if apart.

    ``summary``: with what :func:`warpings_document` returns.
    """
    cuts = [name for name in STEPS if name != "temperature"]
    found = [(name, summary[name]) for name in cuts if summary[name] is not None]
    found += [
        (f"draft {name}", "none" if cut is None else cut)
        for name, cut in summary["draft"].items()
        if name in cuts and cut != summary[name]
    ]
    if found and summary["order"] != name_of_order(STEPS):
        found.append(("order", summary["order"]))
    return [(name.replace("_", "-"), value) for name, value in found]
