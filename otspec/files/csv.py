"""Tables of numbers as text: one row, one column, or columns under a header."""

import csv
from pathlib import Path

from otspec.files.base import FORMATS, Format, Named, once, selected


def read_csv(path: Path, keys: tuple[str, ...]) -> Named:
    """Read the cells of a .csv file as text, by column if it has a header."""
    with path.open(newline="", encoding="utf-8-sig") as stream:
        rows = [[cell.strip() for cell in row] for row in csv.reader(stream, strict=True) if row]
    if not rows:
        raise ValueError("the file has no rows")
    if len({len(row) for row in rows}) != 1:
        raise ValueError("its rows have different lengths")
    if not any(map(_is_number, rows[0])):
        columns = once((name, [row[i] for row in rows[1:]]) for i, name in enumerate(rows[0]))
        return {key: columns[key] for key in selected(columns, keys)}
    if len(rows) == 1:
        return {"": rows[0]}
    if all(len(row) == 1 for row in rows):
        return {"": [row[0] for row in rows]}
    return {"": rows}


def _is_number(cell: str) -> bool:
    return any(character.isdigit() for character in cell) or cell.lower() in {"nan", "inf", "-inf"}


_HOLDS = "numbers in one row, in one column, or in columns under a header: `FILE.csv:COLUMN`"
FORMATS.register(Format(".csv", read_csv, holds=_HOLDS))
