"""Global Resolution beside pooled selection, as the benchmark of both recorded it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from docs.note.results import Results, scientific, thousands

RECORD = Path(__file__).parents[1] / "tables" / "resolution.json"
OURS = "pooled selection"


def resolution(results: Results) -> None:
    """Add a line for each cut of the draft and k: plans found, times, gaps and output errors."""
    record = json.loads(RECORD.read_text(encoding="utf-8"))
    cases: dict[tuple[int, int], dict[str, dict[str, Any]]] = {}
    for row in record:
        cases.setdefault((row["top"], row["k"]), {})[row["method"]] = row
    peers = [name for name in next(iter(cases.values())) if name != OURS]
    rows = []
    for (top, k), methods in cases.items():
        cells = [cell for name in peers for cell in _cells(methods[name])]
        rows.append([thousands(top), k, *cells, f"{methods[OURS]['milliseconds']:.1f}"])
    tolerances = [_short(float(name.split(", ")[1])) for name in peers]
    head = [cell for each in tolerances for cell in (f"found, {each}", "ms", "gap", "TV")]
    results.add_table("resolution", ["tokens", "k", *head, "ours, ms"], rows)
    ours = [methods[OURS] for methods in cases.values()]
    if any(row["found"] < row["positions"] for row in ours):
        raise AssertionError("pooled selection finds no plan somewhere: the note says otherwise")
    results.add("resolution.positions", ours[0]["positions"])
    results.add("resolution.gap", scientific(max(abs(row["gap"]) for row in ours)))


def _cells(row: dict[str, Any]) -> list[str]:
    if not row["found"]:
        return ["none", "", "", ""]
    most = (_short(row[name]) for name in ("gap", "total_variation"))
    return [str(row["found"]), f"{row['milliseconds']:,.0f}", *most]


def _short(value: float) -> str:
    digit, exponent = f"{value:.0e}".split("e")
    return f"{digit.replace('-', '−')}e{int(exponent)}"
