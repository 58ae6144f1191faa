"""Global Resolution beside pooled selection, as the benchmark of both recorded it."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from docs.note.results import Results, scientific, thousands

RECORD = Path(__file__).parents[1] / "tables" / "resolution.json"
LIMITS = Path(__file__).parents[2] / "tests" / "benchmarks" / "global_resolution.py"
"""Our version of the method, with the limits at which it gives up."""
REPORTED = {
    "global.acceptance": "90 percent",
    "global.milliseconds": "100",
    "partial.acceptance": "97 percent",
    "partial.milliseconds": "2",
}
"""What the abstracts of Global and of Partial Resolution report."""
SUMMARIZED = {
    "global.output": "15",
    "global.gap": "10",
    "global.few": "40",
    "global.few.tokens": "10",
    "global.few.found": "97 percent",
    "global.many.tokens": "1,000",
    "global.many.found": "31 percent",
}
"""What public summaries of Global Resolution's text quote, of its Lemma 6.6 and Table 1.

Output and gap: bounds, in tolerances. At the tolerance of 1e-3: milliseconds and how often a plan
is found with 10 tokens and 4 drafts; how often with 1,000 tokens and 2 drafts.
"""
OURS = "pooled selection"


def resolution(results: Results) -> None:
    """Add a line for each cut of the draft and k: plans found, gaps and output errors."""
    record = json.loads(RECORD.read_text(encoding="utf-8"))
    cases: dict[tuple[int, int], dict[str, dict[str, Any]]] = {}
    for row in record:
        cases.setdefault((row["top"], row["k"]), {})[row["method"]] = row
    peers = [name for name in next(iter(cases.values())) if name != OURS]
    rows = []
    for (top, k), methods in cases.items():
        cells = [cell for name in peers for cell in _cells(methods[name])]
        rows.append([thousands(top), k, *cells])
    tolerances = [_short(float(name.split(", ")[1])) for name in peers]
    head = [
        f"tolerance {each}\n{cell}" for each in tolerances for cell in ("found", "gap", "TV")
    ]
    results.add_table("resolution", ["tokens", "k", *head], rows)
    ours = [methods[OURS] for methods in cases.values()]
    if any(row["found"] < row["positions"] for row in ours):
        raise AssertionError("pooled selection finds no plan somewhere: the note says otherwise")
    results.add("resolution.positions", ours[0]["positions"])
    for name in ("SETS", "STEPS"):
        (limit,) = _one(rf"MOST_{name} = ([\d_]+)", LIMITS)
        results.add(f"resolution.{name.lower()}", limit.replace("_", ","))
    for name, value in (REPORTED | SUMMARIZED).items():
        results.add(name, value)
    results.add("resolution.gap", scientific(max(abs(row["gap"]) for row in ours)))


def _cells(row: dict[str, Any]) -> list[str]:
    if not row["found"]:
        return ["none", "", ""]
    most = (_short(row[name]) for name in ("gap", "total_variation"))
    return [str(row["found"]), *most]


def _one(pattern: str, path: Path) -> tuple[str, ...]:
    """Return the groups of the one match in a file."""
    found = re.search(pattern, path.read_text(encoding="utf-8"))
    if found is None:
        raise ValueError(f"nothing in {path.name} is like {pattern!r}: read it again")
    return found.groups()


def _short(value: float) -> str:
    digit, exponent = f"{value:.0e}".split("e")
    return f"{digit.replace('-', '−')}e{int(exponent)}"
