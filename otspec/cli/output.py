"""Tables and JSON on standard output; numbers in their own arithmetic."""

from __future__ import annotations

import json
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import click
from rich.console import Console
from rich.table import Table

from otspec.arithmetic import Number
from otspec.estimate import Estimate

_WIDE = 160
_LONGEST_FRACTION = 40


def print_table(columns: Sequence[str], rows: Sequence[Sequence[str]], *, text: int = 1) -> None:
    """Print aligned columns; the first ``text`` of them to the left, numbers to the right."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    for index, column in enumerate(columns):
        table.add_column(column, justify="left" if index < text else "right", no_wrap=True)
    for row in rows:
        table.add_row(*row)
    console = Console(highlight=False, markup=False)
    if not console.is_terminal:  # a pipe or a file has no width at which to cut off
        console.width = _WIDE
    with console.capture() as captured:
        console.print(table)
    for line in captured.get().splitlines():
        click.echo(line.rstrip())


def print_json(content: Any) -> None:
    """Print one JSON document; fractions are strings such as ``"17/20"``."""
    click.echo(json.dumps(content, default=_jsonable, indent=2, ensure_ascii=False))


def _jsonable(value: Any) -> Any:
    if isinstance(value, Fraction):
        return str(value)
    raise TypeError(f"{type(value).__name__} has no JSON form")


def shown(value: Number, digits: int = 4) -> str:
    """Return a number for a table: decimals, the fraction if exact, ≈ if it is an estimate."""
    decimal = f"{float(value):z.{digits}f}"
    if isinstance(value, Estimate):
        return f"≈{decimal}"
    if not isinstance(value, Fraction):
        return decimal
    fraction = str(value)
    if len(fraction) > _LONGEST_FRACTION:
        return f"{decimal} (long fraction: see --json)"
    return f"{decimal} = {fraction}"


def shown_set(tokens: Sequence[int], most: int = 8) -> str:
    """Return a token set, cut short if it is large."""
    listed = ", ".join(map(str, tokens[:most]))
    return f"{{{listed}}}" if len(tokens) <= most else f"{{{listed}, … {len(tokens):,} tokens}}"


def percent(value: Number) -> str:
    """Return a probability as a percentage for a sentence."""
    return f"{100 * float(value):.1f}%"
