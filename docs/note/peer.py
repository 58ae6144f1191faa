"""Global Resolution beside pooled selection, as the benchmark of both recorded it."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from docs.note.results import Results, scientific

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
K = 4
FEW, MORE, FULL = 10, 50, 49_152
"""Tokens that the draft is cut to."""


def resolution(results: Results) -> None:
    """Add where our version finds plans at the larger tolerance, and how far off its output is."""
    record = json.loads(RECORD.read_text(encoding="utf-8"))
    cases: dict[tuple[int, int], dict[str, dict[str, Any]]] = {}
    for row in record:
        cases.setdefault((row["top"], row["k"]), {})[row["method"]] = row
    peer = next(name for name in cases[FEW, K] if name != OURS)
    tolerance = peer.partition(", ")[2]
    rows = {case: methods[peer] for case, methods in cases.items()}
    if rows[FULL, K]["found"]:
        raise AssertionError("a plan is found at full vocabulary: the note says otherwise")
    results.add("resolution.tolerance", f"{float(tolerance):g}")
    results.add("resolution.k", K)
    results.add("resolution.few", f"{rows[FEW, K]['found']}")
    results.add("resolution.more", f"{rows[MORE, K]['found']}")
    results.add("resolution.more.tokens", MORE)
    off = [row["total_variation"] for row in rows.values() if row["found"]]
    results.add("resolution.tv", scientific(max(off)))
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


def _one(pattern: str, path: Path) -> tuple[str, ...]:
    """Return the groups of the one match in a file."""
    found = re.search(pattern, path.read_text(encoding="utf-8"))
    if found is None:
        raise ValueError(f"nothing in {path.name} is like {pattern!r}: read it again")
    return found.groups()
