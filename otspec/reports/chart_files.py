"""The charts that a run leaves in its folder, ``acceptance.png``: one for each temperature."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from otspec.plots import save_acceptance_chart
from otspec.traces.statistics import Statistic
from otspec.traces.temperatures import by_heat


def write_charts(
    folder: Path, summary: dict[str, Any], rows: Sequence[Statistic]
) -> Iterator[Path]:
    """Write a chart for each pair of temperatures into a folder, and yield its path."""
    heats = by_heat(rows)
    for heat, shown in heats.items():
        mark = "" if len(heats) == 1 else f"-{heat.mark}"
        chart = folder / f"acceptance{mark}.png"
        save_acceptance_chart(
            shown,
            chart,
            title=f"{Path(summary['trace']).name}: mean of {summary['positions']} positions, "
            f"{heat}",
        )
        yield chart
