"""Columns of numbers in Parquet files, and in Arrow's own, which Feather is."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from otspec.extras import let_arrow_do_without_pandas, needed
from otspec.files.contract import READERS, Named, Reader, once, selected
from otspec.memory import refuse_too_large

_HOLDS = "columns of numbers, or of lists of as many each (extra `runs`)"


def read_parquet(path: Path, keys: tuple[str, ...]) -> Named:
    """Read columns of a Parquet file.

    Raises
    ------
    ValueError
        A missing package, a malformed file, or a column that holds no numbers.
    """
    with _arrow(path):
        parquet = needed("pyarrow.parquet", "reading .parquet", "runs")
        with parquet.ParquetFile(path, memory_map=True) as file:
            names = _chosen(file.schema_arrow, keys)
            batches = file.iter_batches(columns=list(names), use_threads=False)
            return _columns(_gathered(batches, file.schema_arrow, names), names)


def read_arrow(path: Path, keys: tuple[str, ...]) -> Named:
    """Read columns of a file in Arrow's file or stream format.

    Raises
    ------
    ValueError
        As :func:`read_parquet`.
    """
    with _arrow(path) as package:
        ipc = needed("pyarrow.ipc", f"reading {path.suffix}", "runs")
        with package.memory_map(str(path)) as source:
            try:
                stored = ipc.open_file(source)
                batches = map(stored.get_batch, range(stored.num_record_batches))
            except package.ArrowInvalid:
                source.seek(0)
                stored = batches = ipc.open_stream(source)
            with stored:
                names = _chosen(stored.schema, keys)
                return _columns(_gathered(batches, stored.schema, names), names)


@contextmanager
def _arrow(path: Path) -> Iterator[Any]:
    """Give Arrow, and turn what it raises into a ``ValueError``."""
    package = needed("pyarrow", f"reading {path.suffix}", "runs")
    let_arrow_do_without_pandas()
    try:
        yield package
    except package.ArrowException as error:
        raise ValueError(str(error)) from error


def _chosen(schema: Any, keys: tuple[str, ...]) -> tuple[str, ...]:
    """Return which columns to read: those asked for, or all that hold numbers.

    Raises
    ------
    ValueError
        One is not there, comes twice, or holds no numbers.
    """
    columns = once((field.name, field.type) for field in schema)
    if not keys:
        return tuple(name for name, kind in columns.items() if _reading(kind) is not None)
    for name in selected(columns, keys):
        if _reading(columns[name]) is None:
            raise ValueError(f"column {name!r} is of {columns[name]}: name one of numbers")
    return keys


def _gathered(batches: Iterable[Any], schema: Any, names: tuple[str, ...]) -> Any:
    """Return a table of some columns, gathered while it fits.

    What a file says of its sizes is not asked for: Arrow ends the process where that is damaged.
    """
    import pyarrow as pa

    parts, size = [], 0
    for batch in batches:
        part = batch.select(list(names))
        part.validate(full=True)
        size += part.nbytes
        refuse_too_large(size)
        parts.append(part)
    return pa.Table.from_batches(parts, pa.schema([schema.field(name) for name in names]))


def _columns(table: Any, names: tuple[str, ...]) -> Named:
    found: Named = {}
    for name in names:
        column = table.column(name)
        read = _reading(column.type)
        if read is None or column.null_count:
            raise ValueError(f"column {name!r} has {column.null_count:,} empty cells: fill them")
        found[name] = read(column)
    return found


def _reading(kind: Any) -> Callable[[Any], Any] | None:
    """Return how a column of a type is read; None if it holds no numbers."""
    import pyarrow as pa

    if _is_number(kind):
        return lambda column: np.array(column.to_numpy())
    if pa.types.is_decimal(kind) or pa.types.is_string(kind) or pa.types.is_large_string(kind):
        return lambda column: [str(value) for value in column.to_pylist()]
    return _rows if _is_list(kind) and _is_number(kind.value_type) else None


def _is_number(kind: Any) -> bool:
    import pyarrow as pa

    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind))


def _is_list(kind: Any) -> bool:
    import pyarrow as pa

    return any(
        is_kind(kind)
        for is_kind in (pa.types.is_list, pa.types.is_large_list, pa.types.is_fixed_size_list)
    )


def _rows(column: Any) -> Any:
    """Return a column of lists as an array with a row for each."""
    import pyarrow.compute as pc

    lengths = pc.list_value_length(column).unique().to_pylist() or [0]
    if len(lengths) > 1:
        raise ValueError(f"its lists have {min(lengths)} to {max(lengths)} numbers: as many each")
    flat = pc.list_flatten(column)
    if flat.null_count:
        raise ValueError(f"its lists have {flat.null_count:,} empty cells: fill them")
    return np.array(flat.to_numpy()).reshape(len(column), lengths[0])


READERS.register(Reader(".parquet", read_parquet, _HOLDS, keyed=True))
READERS.register(Reader(".arrow", read_arrow, _HOLDS, keyed=True))
READERS.register(Reader(".feather", read_arrow, _HOLDS, keyed=True))
