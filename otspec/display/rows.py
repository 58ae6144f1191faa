"""The first rows of a list of rows, as a table for a shell or a notebook."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from otspec.display import markup
from otspec.display.values import aligned, decimal, said
from otspec.frames.columns import columns_of

_MOST_SHOWN = 20


def rows_html(rows: Any) -> str:
    """Return the table of an :class:`otspec.frames.Rows` for a notebook."""
    names, words, cells = _shown(rows)
    return markup.columns(_caption(rows), names, cells, words=words)


def rows_pretty(rows: Any, printer: Any, cycle: bool) -> None:
    """Print the table in IPython's shell, unless it is empty or inside another object."""
    if cycle or len(printer.stack) > 1 or not rows:
        printer.text(repr(rows))
    else:
        names, words, cells = _shown(rows)
        printer.text("\n".join([_caption(rows), *aligned(names, cells, words=words)]))


def _caption(rows: Any) -> str:
    shown_of = f"{_MOST_SHOWN} of {len(rows):,}" if len(rows) > _MOST_SHOWN else str(len(rows))
    kind = "" if rows.kind is None else f" of {rows.kind.__name__}"
    noun = "row" if len(rows) == 1 else "rows"
    return f"{shown_of} {noun}{kind}{f': {rows.source}' if rows.source else ''}"


def _shown(every: Any) -> tuple[list[str], int, list[list[str]]]:
    """Return the columns, how many of the first are words, and the cells of the first rows."""
    names = [] if every.kind is None else _attributes(every.kind)
    rows = list(every)[:_MOST_SHOWN]
    wordy = [
        bool(rows) and all(isinstance(_value(row, name), str) for row in rows) for name in names
    ]
    words = next((at for at, only in enumerate(wordy) if not only), len(names))
    cells = [[_cell(_value(row, name)) for name in names] for row in rows]
    return [name.replace("_", " ") for name in names], words, cells


def _attributes(kind: type) -> list[str]:
    """Return what columns are of; the fields where no column can hold one of them."""
    try:
        return list(dict.fromkeys(column.attribute for column in columns_of(kind)))
    except ValueError:
        return list(getattr(kind, "__match_args__", ()))


def _value(row: Any, name: str) -> Any:
    """Return an attribute of a row, of a tree its text; None for a row that lacks it."""
    value = getattr(row, name, None)
    text = getattr(value, "text", None)
    return text if isinstance(text, str) else value


def _cell(value: Any) -> str:
    """Return what a table for people has for a value."""
    whole = said(value)
    long = isinstance(value, Fraction) and "…" in whole  # whose digits say nothing
    return "" if value is None else f"≈{decimal(float(value))}" if long else whole
