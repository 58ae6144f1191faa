"""Items to files: the picture, the numbers and where they come from."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from figures.contract import Cell, Item, Numbers, Settings
from otspec.version import __version__
from otspec.writing import in_one_step, write_text

STYLE = Path(__file__).with_name("book.mplstyle")
PROVENANCE = "provenance.jsonl"


def write(item: Item, settings: Settings, folder: Path, formats: Sequence[str]) -> list[Path]:
    """Compute one item and write its files.

    Parameters
    ----------
    item : Item
    settings : Settings
    folder : path
        Which exists.
    formats : sequence of str
        "pdf", "png", "svg"; a table is Markdown instead.

    Returns
    -------
    list of path
        The picture in each format or the table in Markdown, and the numbers as CSV. A line on
        where they come from is added to ``provenance.jsonl``.
    """
    data = item.compute(settings)
    files = [_write_csv(item.numbers(data), folder / f"{item.name}.csv")]
    if item.draw is None:
        files.append(_write_markdown(item, data, folder / f"{item.name}.md"))
    else:
        files += [save(item, data, folder / f"{item.name}.{ending}") for ending in formats]
    _write_provenance(item, settings, folder / PROVENANCE, files)
    return files


def save(item: Item, data: Any, path: Path) -> Path:
    """Draw an item and write the picture."""
    import matplotlib.style
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    if item.draw is None:
        raise ValueError(f"{item.name} is a table and has no picture")
    with matplotlib.style.context(str(STYLE)):
        figure = Figure(figsize=item.size)
        FigureCanvasAgg(figure)
        axes = figure.subplots(*item.panels)
        item.draw(axes if item.panels == (1, 1) else list(axes.flat), data)
        # No date: the same numbers make the same file.
        dates = {".svg": {"Date": None}, ".pdf": {"CreationDate": None}}
        with in_one_step(path) as stream:
            figure.savefig(stream, metadata=dates.get(path.suffix), format=path.suffix[1:])
    return path


def as_markdown(numbers: Numbers) -> str:
    """Return a table in Markdown; floats with four decimals."""
    rows = [numbers.columns, ("---",) * len(numbers.columns), *numbers.rows]
    return "".join(f"| {' | '.join(map(_shown, row))} |\n" for row in rows)


def _shown(cell: Cell) -> str:
    return f"{cell:z.4f}" if isinstance(cell, float) else str(cell)


def _write_markdown(item: Item, data: Any, path: Path) -> Path:
    notes = item.notes(data) if item.notes else []
    parts = [f"# {item.title}\n", f"{item.source}\n", as_markdown(item.numbers(data))]
    if notes:
        parts.append("".join(f"- {note}\n" for note in notes))
    write_text(path, "\n".join(parts))
    return path


def _write_csv(numbers: Numbers, path: Path) -> Path:
    text = io.StringIO(newline="")
    writer = csv.writer(text)
    writer.writerow(numbers.columns)
    writer.writerows(numbers.rows)
    write_text(path, text.getvalue())
    return path


def _write_provenance(item: Item, settings: Settings, path: Path, files: Sequence[Path]) -> None:
    """Add or replace the item's line."""
    line = {
        "item": item.name,
        "source": item.source,
        "version": __version__,
        "seed": item.seed,
        "input": settings.input if item.traced else "none",
        "quick": settings.quick,
        "files": [file.name for file in files],
    }
    lines = {}
    if path.exists():
        known = [json.loads(text) for text in path.read_text(encoding="utf-8").splitlines()]
        lines = {old["item"]: old for old in known}
    lines[item.name] = line
    text = "".join(json.dumps(lines[name]) + "\n" for name in sorted(lines))
    write_text(path, text)
