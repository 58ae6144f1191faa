"""Columns of numbers in Parquet files, counted before they are read, by the headers of their pages.

They are parsed here, since Arrow ends the process where the sizes in a footer are damaged. Of any
table of Arrow's, columns of numbers, of lists of them and of text are read.
"""

import mmap
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from otspec._base import extras, let_arrow_do_without_pandas, needed, refuse_too_large
from otspec.files.base import FORMATS, Format, Named, once, selected

HOLDS = "columns of numbers, or of lists of equal length (extra `runs`)"
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
        raise ValueError(
            f"its lists have {min(lengths)} to {max(lengths)} numbers: use equal lengths"
        )
    flat = pc.list_flatten(column)
    if flat.null_count:
        raise ValueError(f"its lists have {flat.null_count:,} empty cells: fill them")
    return _numbers(flat).reshape(len(column), lengths[0])


_I32, _I64, _BINARY, _LIST, _STRUCT = 5, 6, 8, 9, 12  # types of fields in Thrift's compact protocol
_BITS = {4: 16, _I32: 32, _I64: 64}
_DEEPEST = 16
_MOST_VALUES = 2**21
_DATA = {0: (5, 2), 3: (8, 4)}
"""Kinds of pages with values: the number of their own header, and in it that of the encoding."""
_DICTIONARY = 2
_DELTA_BYTE_ARRAY = 7  # texts that begin as the one before
_OLD_HEADER = 100
"""Bytes that Arrow reads beyond a column, since an old writer left a header out of its size."""
_NUMBER_BYTES = 8
_BATCH_ROWS = 2**16
_BATCHES = 64  # a batch of text takes no more than this part of the memory, unless it is one row
_DAMAGED = "its footer or the header of a page is damaged: was writing interrupted?"

Fields = dict[tuple[int, int], Any]
"""The fields of a struct by number and type; a field of another type is another field."""


class Column(NamedTuple):
    """A column of one row group, as the headers of its pages tell."""

    path: str  # its name, and those of what is nested in it, with dots between
    values: int  # how many numbers or texts it holds, missing ones included
    longest: int  # bytes that none of its texts exceeds, by its largest page or all


def read_parquet(path: Path, keys: tuple[str, ...]) -> Named:
    """Read columns of a Parquet file."""
    with arrow_errors(path):
        parquet = needed("pyarrow.parquet", "reading .parquet", "runs")
        with parquet.ParquetFile(path, memory_map=True) as file:
            schema = file.schema_arrow
            names = chosen_columns(schema, keys)
            columns = [
                column
                for column in columns_in(path)
                if any(f"{column.path}.".startswith(f"{name}.") for name in names)
            ]
            refuse_too_large(sum(_NUMBER_BYTES * column.values for column in columns))
            refuse_too_large(max((column.longest for column in columns), default=0))
            # Few rows at a time where texts may be long.
            texts = [name for name in names if is_text(schema.field(name).type)]
            longest = max((column.longest for column in columns if column.path in texts), default=1)
            rows = extras.memory() // _BATCHES // max(1, longest)
            rows = max(1, min(_BATCH_ROWS, rows))
            batches = file.iter_batches(rows, columns=list(names), use_threads=False)
            return columns_of(gathered(batches, schema, names), names)


def columns_in(path: Path) -> Iterator[Column]:
    """Yield the columns of all row groups."""
    with path.open("rb") as stream, mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ) as file:
        thrift = Compact(file)
        thrift.place = len(file) - 8 - int.from_bytes(file[-8:-4], "little")
        try:
            for group in thrift.struct()[4, _LIST]:
                for column in group[1, _LIST]:
                    yield _column(thrift, column[3, _STRUCT])
        except (KeyError, IndexError, TypeError, UnicodeDecodeError) as error:
            raise ValueError(_DAMAGED) from error


def _column(thrift: "Compact", told: Fields) -> Column:
    """Go through the headers of the pages of a column, as Arrow does."""
    path = b".".join(told[3, _LIST]).decode()
    start, dictionary = told[9, _I64], told.get((11, _I64), 0)
    thrift.place = dictionary if 0 < dictionary < start else start
    stop = thrift.place + told[7, _I64] + _OLD_HEADER
    values = dictionaries = 0
    sizes, prefixes = [0], False
    while values < told[5, _I64] and thrift.place < stop:
        page = thrift.struct()
        kind = page[1, _I32]
        if kind in _DATA:
            header, encoding = (page[_DATA[kind][0], _STRUCT], _DATA[kind][1])
            values += max(0, header[1, _I32])
            prefixes |= header[encoding, _I32] == _DELTA_BYTE_ARRAY
        elif kind == _DICTIONARY:
            dictionaries += max(0, page[7, _STRUCT][1, _I32])
        sizes.append(max(0, page[2, _I32]))
        thrift.place += max(0, page[3, _I32])
    return Column(path, values + dictionaries, sum(sizes) if prefixes else max(sizes))


class Compact:
    """Structs in Thrift's compact protocol, read from a place in a file on."""

    def __init__(self, content: Any) -> None:
        self._content, self._left = content, _MOST_VALUES
        self.place = 0

    def struct(self, depth: int = 0) -> Fields:
        """Return the fields of the struct that starts here; the place is behind it then."""
        found: Fields = {}
        number = 0
        while start := self._byte():
            kind, step = start & 15, start >> 4
            number = number + step if step else self._integer(4)
            if (number, kind) in found:
                raise ValueError(_DAMAGED)
            found[number, kind] = kind == 1 if kind in (1, 2) else self._value(kind, depth)
        return found

    def _value(self, kind: int, depth: int) -> Any:
        if depth > _DEEPEST:
            raise ValueError(_DAMAGED)
        if kind in (1, 2, 3):  # a truth value in a list, or a byte
            return self._byte()
        if kind in _BITS:
            return self._integer(kind)
        if kind == 7:
            return self._bytes(8)
        if kind == _BINARY:
            return self._bytes(self._unsigned())
        if kind in (_LIST, 10):
            size, inner = divmod(self._byte(), 16)
            size = self._unsigned() if size == 15 else size
            return [self._value(inner, depth + 1) for _ in range(size)]
        if kind == 11:
            size = self._unsigned()
            kinds = divmod(self._byte(), 16) if size else (0, 0)
            return [[self._value(inner, depth + 1) for inner in kinds] for _ in range(size)]
        if kind == _STRUCT:
            return self.struct(depth + 1)
        raise ValueError(_DAMAGED)

    def _byte(self) -> int:
        return self._bytes(1)[0]

    def _bytes(self, size: int) -> bytes:
        self._left -= 1
        if self._left < 0:
            raise ValueError(f"it has very many pages or columns: write at most {_MOST_VALUES:,}")
        if not 0 <= self.place <= len(self._content) - size:
            raise ValueError(_DAMAGED)
        self.place += size
        return self._content[self.place - size : self.place]

    def _unsigned(self) -> int:
        number = shift = 0
        while True:
            byte = self._byte()
            number |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return number
            if shift > 63:
                raise ValueError(_DAMAGED)

    def _integer(self, kind: int) -> int:
        number = self._unsigned()
        if number >> _BITS[kind]:
            raise ValueError(_DAMAGED)
        return (number >> 1) ^ -(number & 1)


FORMATS.register(Format(".parquet", read_parquet, holds=HOLDS, named=True))
