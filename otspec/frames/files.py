"""Tables as files, each written in one step: Parquet, Arrow and CSV, by the ending."""

from __future__ import annotations

from collections.abc import Callable
from os import PathLike
from typing import IO, TYPE_CHECKING

from otspec._base.arguments import as_instance, as_path
from otspec._base.extras import needed
from otspec._base.writing import in_one_step

if TYPE_CHECKING:
    import pyarrow as pa


def write_table(table: pa.Table, path: str | PathLike[str]) -> None:
    """Write a table into a file, in one step.

    Parameters
    ----------
    table : pyarrow.Table
    path : path
        Ends with ``.parquet``, ``.arrow`` (Arrow's file format, which Feather is) or ``.csv``.
        CSV has no lists, whose items are written with blanks between them.

    Raises
    ------
    ValueError
        Another ending, or something else than a table.
    OSError
        The file cannot be written.
    """
    pa = needed("pyarrow", "a table", "runs")
    as_instance(table, "table", pa.Table, "a table of Arrow, such as rows.to_arrow()")
    to = as_path(path)
    write = WRITERS[check_ending(to)]
    with in_one_step(to) as stream:
        write(table, stream)


def check_ending(path: str | PathLike[str]) -> str:
    """Return the ending of a file of a table.

    Raises
    ------
    ValueError
        Another one.
    """
    to = as_path(path)
    if to.suffix not in WRITERS:
        raise ValueError(f"{to} is to be a table: end its name with {' or '.join(WRITERS)}")
    return to.suffix


def _parquet(table: pa.Table, stream: IO[bytes]) -> None:
    needed("pyarrow.parquet", "a table", "runs").write_table(table, stream)


def _arrow(table: pa.Table, stream: IO[bytes]) -> None:
    with needed("pyarrow.ipc", "a table", "runs").new_file(stream, table.schema) as writer:
        writer.write_table(table)


def _csv(table: pa.Table, stream: IO[bytes]) -> None:
    pa = needed("pyarrow", "a table", "runs")
    for index, field in enumerate(table.schema):
        if pa.types.is_list(field.type):
            cells = [None if items is None else " ".join(map(str, items))
                     for items in table[index].to_pylist()]  # fmt: skip
            table = table.set_column(index, field.name, pa.array(cells, pa.string()))
    needed("pyarrow.csv", "a table", "runs").write_csv(table, stream)


WRITERS: dict[str, Callable[[pa.Table, IO[bytes]], None]] = {
    ".parquet": _parquet,
    ".arrow": _arrow,
    ".csv": _csv,
}
"""Endings of files, and how they are written."""
