"""Global Resolution beside pooled selection, as the benchmark of both recorded it."""

from __future__ import annotations

from docs.note.cost import DOCS, table_of
from docs.note.results import Results

RECORD = DOCS / "tables" / "resolution.md"


def resolution(results: Results) -> None:
    """Add the recorded table of plans found, times, gaps and distances from the target."""
    head, *rows = table_of(RECORD)
    results.add_table("resolution", head, rows)
