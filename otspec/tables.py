"""Aligned tables on standard output."""

from __future__ import annotations

from collections.abc import Sequence

import click
from rich.console import Console
from rich.table import Table

_WIDE = 160


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
