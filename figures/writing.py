"""Items to files: the picture or table, the numbers and where they come from."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from figures.contract import Item, Settings
from otspec._base.writing import write_text
from otspec.version import __version__

PROVENANCE = "provenance.jsonl"


def write(item: type[Item], settings: Settings, folder: Path, formats: Sequence[str]) -> list[Path]:
    """Compute one item and write its files.

    Parameters
    ----------
    item : type of Item
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
    return write_computed(item.compute(settings), settings, folder, formats)


def write_computed(
    item: Item, settings: Settings, folder: Path, formats: Sequence[str]
) -> list[Path]:
    """Write the files of an item that was computed with these settings, see :func:`write`."""
    numbers = folder / f"{item.name}.csv"
    write_text(numbers, item.numbers().as_csv())
    files = [numbers, *item.write(folder, formats)]
    _write_provenance(item, settings, folder / PROVENANCE, files)
    return files


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
