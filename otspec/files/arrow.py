"""Columns in Arrow's file (Feather) and stream formats, and what of Arrow's tables is read."""

import mmap
import struct
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from otspec._base.extras import let_arrow_do_without_pandas, needed
from otspec._base.memory import refuse_too_large
from otspec.files.base import FORMATS, Format, Named, once, selected

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


_MAGIC = b"ARROW1"
_GOES_ON = 2**32 - 1
_DICTIONARY, _BATCH = 2, 3  # types of messages that have buffers
_PACKED = b"ARROW:experimental_compression"
"""What messages of an old version say in place of their own field."""
_MOST_BUFFERS = 2**21


def read_arrow(path: Path, keys: tuple[str, ...]) -> Named:
    """Read columns of a file in Arrow's file or stream format."""
    with arrow_errors(path) as package:
        ipc = needed("pyarrow.ipc", f"reading {path.suffix}", "runs")
        with package.memory_map(str(path)) as source:
            is_file = source.read(len(_MAGIC)) == _MAGIC
            opened = ipc.open_file if is_file else ipc.open_stream

            def rewound() -> Any:
                source.seek(0)
                return source

            with opened(rewound()) as stored:
                schema = stored.schema
            names = chosen_columns(schema, keys)
            if not names:
                return {}
            refuse_too_large(sum(_unpacked(path, is_file)))
            options = ipc.IpcReadOptions(included_fields=[schema.names.index(n) for n in names])
            with opened(rewound(), options=options) as stored:
                batches = (
                    map(stored.get_batch, range(stored.num_record_batches)) if is_file else stored
                )
                return columns_of(gathered(batches, schema, names), names)


def _unpacked(path: Path, is_file: bool) -> Iterator[int]:
    """Yield the unpacked size of each buffer of a file or stream of messages."""
    with path.open("rb") as stream, mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ) as file:
        try:
            messages = _in_file(file) if is_file else _in_stream(file)
            left = _MOST_BUFFERS
            for batch, packed, body in messages:
                for offset, length in _vector(file, batch, 2, "<qq"):
                    left -= 1
                    if left < 0:
                        raise ValueError(
                            f"it has more than {_MOST_BUFFERS:,} buffers: write larger batches"
                        )
                    told = _number(file, "<q", body + offset) if packed and length else length
                    yield length if told < 0 else told
        except struct.error as error:
            raise ValueError("it is cut short or damaged: was writing interrupted?") from error


def _in_file(file: mmap.mmap) -> Iterator[tuple[int, bool, int]]:
    """Yield each message with buffers: where they are told, whether packed, where they start."""
    size = _number(file, "<i", len(file) - 10)
    start = len(file) - 10 - size
    footer = start + _number(file, "<I", start)
    for blocks in (2, 3):
        for offset, length, _ in _vector(file, footer, blocks, "<qixxxxq"):
            yield from _batch_at(file, offset, offset + length)


def _in_stream(file: mmap.mmap) -> Iterator[tuple[int, bool, int]]:
    """Yield as :func:`_in_file` does; the bodies follow on their messages."""
    place = 0
    while place < len(file):
        long = 4 * (_number(file, "<I", place) == _GOES_ON)
        length = _number(file, "<I", place + long)
        if not length:
            return
        body = place + long + 4 + length
        yield from _batch_at(file, place, body)
        message = place + long + 4
        size = _field(file, message + _number(file, "<I", message), 3)
        place = body + max(0, _number(file, "<q", size) if size else 0)


def _batch_at(file: mmap.mmap, place: int, body: int) -> Iterator[tuple[int, bool, int]]:
    """Yield what :func:`_in_file` does for the message at a place, if it has buffers."""
    start = place + (8 if _number(file, "<I", place) == _GOES_ON else 4)
    message = start + _number(file, "<I", start)
    kind = _field(file, message, 1)
    kind = _number(file, "<B", kind) if kind else 0
    if kind in (_DICTIONARY, _BATCH):
        batch = _table(file, message, 2)
        batch = _table(file, batch, 1) if kind == _DICTIONARY else batch
        packed = bool(_field(file, batch, 3)) or file.find(_PACKED, place, body) >= 0
        yield batch, packed, body


# Tables of FlatBuffers


def _number(file: mmap.mmap, form: str, place: int) -> int:
    if place < 0:
        raise struct.error
    return struct.unpack_from(form, file, place)[0]


def _field(file: mmap.mmap, table: int, number: int) -> int:
    """Return where a field of a table is; 0 if it has none."""
    fields = table - _number(file, "<i", table)
    if 4 + 2 * number >= _number(file, "<H", fields):
        return 0
    offset = _number(file, "<H", fields + 4 + 2 * number)
    return table + offset if offset else 0


def _table(file: mmap.mmap, table: int, number: int) -> int:
    """Return where the table, or the vector, is that a field points to."""
    field = _field(file, table, number)
    if not field:
        raise struct.error
    return field + _number(file, "<I", field)


def _vector(file: mmap.mmap, table: int, number: int, form: str) -> Iterator[tuple[int, ...]]:
    """Yield the entries of a vector."""
    if _field(file, table, number):
        start = _table(file, table, number)
        for i in range(_number(file, "<I", start)):
            yield struct.unpack_from(form, file, start + 4 + i * struct.calcsize(form))


FORMATS.register(Format(".arrow", read_arrow, holds=HOLDS, named=True))
FORMATS.register(Format(".feather", read_arrow, holds=HOLDS, named=True))
