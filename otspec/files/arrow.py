"""Columns in Arrow's file (Feather) and stream formats, counted before they are unpacked."""

import mmap
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from otspec._base import needed, refuse_too_large
from otspec.files.base import FORMATS, Format, Named
from otspec.files.parquet import HOLDS, arrow_errors, chosen_columns, columns_of, gathered

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
