"""The charts that a run leaves in its folder, ``acceptance.png``: one for each temperature."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from otspec.traces.charts import save_acceptance_chart
from otspec.traces.statistics import Statistic


def write_charts(
    folder: Path, summary: dict[str, Any], rows: Sequence[Statistic]
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
            title=f"{Path(summary['trace']).name}: mean of {summary['positions']} positions, "
            f"T = {temperature}",
        )
        yield chart
