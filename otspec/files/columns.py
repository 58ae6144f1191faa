"""What of a table of Arrow's is read: columns of numbers, of lists of them, and of text."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from otspec._base.extras import let_arrow_do_without_pandas, needed
from otspec._base.memory import refuse_too_large
from otspec.files.base import Named, once, selected

HOLDS = "columns of numbers, or of lists of as many each (extra `runs`)"
_CELL_BYTES = 128  # what a cell of text takes in Python, beside its characters
_ROW_BYTES = 8  # what a row of any other type takes, such as the length of its list


@contextmanager
def arrow_errors(path: Path) -> Iterator[Any]:
    """Give Arrow, and turn what it raises into a ``ValueError``."""
    package = needed("pyarrow", f"reading {path.suffix}", "runs")
    let_arrow_do_without_pandas()
    try:
        yield package
    except package.ArrowException as error:
        raise ValueError(str(error)) from error


def chosen_columns(schema: Any, keys: tuple[str, ...]) -> tuple[str, ...]:
    """Return which columns to read: those asked for, or all that hold numbers."""
    columns = once((field.name, field.type) for field in schema)
    if not keys:
        return tuple(name for name, kind in columns.items() if _reading(kind) is not None)
    for name in selected(columns, keys):
        if _reading(columns[name]) is None:
            raise ValueError(f"column {name!r} is of {columns[name]}: name one of numbers")
    return keys


def gathered(batches: Iterable[Any], schema: Any, names: tuple[str, ...]) -> Any:
    """Return a table of some columns, gathered while it fits."""
    import pyarrow as pa

    parts, size = [], 0
    kinds = [schema.field(name).type for name in names]
    row_bytes = sum(_CELL_BYTES if is_text(kind) else _ROW_BYTES for kind in kinds)
    for batch in batches:
        part = batch.select(list(names))
        part.validate(full=True)
        size += part.nbytes + part.num_rows * row_bytes
        refuse_too_large(size)
        parts.append(part)
    return pa.Table.from_batches(parts, pa.schema([schema.field(name) for name in names]))


def columns_of(table: Any, names: tuple[str, ...]) -> Named:
    """Return the numbers of some columns of a table."""
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
    if _is_number(kind):
        return _numbers
    if is_text(kind):
        return lambda column: [str(value) for value in column.to_pylist()]
    return _rows if _is_list(kind) and _is_number(kind.value_type) else None


def is_text(kind: Any) -> bool:
    """Return whether cells of a type are read as text, which exact numbers are."""
    import pyarrow as pa

    return bool(
        pa.types.is_decimal(kind) or pa.types.is_string(kind) or pa.types.is_large_string(kind)
    )


def _numbers(column: Any) -> Any:
    """Return a column of numbers as an array: one copy of them, no more."""
    return np.concatenate(
        [np.empty(0, column.type.to_pandas_dtype()), *map(np.asarray, column.chunks)]
    )


def _is_number(kind: Any) -> bool:
    import pyarrow as pa

    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind))


def _is_list(kind: Any) -> bool:
    import pyarrow as pa

    kinds = pa.types.is_list, pa.types.is_large_list, pa.types.is_fixed_size_list
    return any(is_kind(kind) for is_kind in kinds)


def _rows(column: Any) -> Any:
    """Return a column of lists as an array with a row for each."""
    import pyarrow.compute as pc

    lengths = pc.list_value_length(column).unique().to_pylist() or [0]
    if len(lengths) > 1:
        raise ValueError(f"its lists have {min(lengths)} to {max(lengths)} numbers: as many each")
    flat = pc.list_flatten(column)
    if flat.null_count:
        raise ValueError(f"its lists have {flat.null_count:,} empty cells: fill them")
    return _numbers(flat).reshape(len(column), lengths[0])
