"""Numbers as text: tables in .csv files, and lists or objects of lists in .json files."""

import csv
import json
from pathlib import Path
from typing import Any

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


_DEEPEST = 32
_TOO_DEEP = f"its lists and objects are nested more than {_DEEPEST} levels deep"


def read_json(path: Path, keys: tuple[str, ...]) -> Named:
    """Read the lists of a .json file."""
    # Numbers stay text, so that the caller can read them exactly, and refuse too many digits.
    text = path.read_text(encoding="utf-8")
    try:
        content = json.loads(text, parse_float=str, parse_int=str, object_pairs_hook=once)
        _refuse_deep(content)
    except RecursionError:
        raise ValueError(_TOO_DEEP) from None
    if isinstance(content, dict):
        return {key: content[key] for key in selected(content, keys)}
    if not isinstance(content, list):
        raise ValueError("it holds a single value, not a list or an object of lists")
    return {"": content}


def _refuse_deep(content: Any) -> None:
    """Refuse more nesting than arrays have axes, level by level."""
    level = [content]
    for _ in range(_DEEPEST):
        nested = (item for item in level if isinstance(item, (list, dict)))
        level = [
            below
            for item in nested
            for below in (item.values() if isinstance(item, dict) else item)
        ]
    if any(isinstance(item, (list, dict)) for item in level):
        raise ValueError(_TOO_DEEP)


FORMATS.register(
    Format(".json", read_json, holds="a list of numbers, or an object of lists: `FILE.json:KEY`")
)
