"""Parquet, Arrow and Feather files of few bytes that hold very many numbers."""

import io

import numpy as np
import pyarrow as pa
from pyarrow import ipc, parquet

DIGITS = "0" * 2**12


def lists(rows, each):
    """Return a column of lists, all of one number."""
    numbers = pa.DictionaryArray.from_arrays(pa.array(np.zeros(rows * each, np.int8)), [0.5])
    flat = numbers.cast(pa.float64())
    return pa.ListArray.from_arrays(pa.array(np.arange(rows + 1) * each, pa.int32()), flat)


def same_text(rows):
    """Return a column of one long text, which is stored once."""
    return pa.DictionaryArray.from_arrays(pa.array(np.zeros(rows, np.int32)), [DIGITS])


def varint(number, size=None):
    """Return a number as Thrift writes it, with empty bytes up to a size."""
    number, found = number << 1, bytearray()
    while number or len(found) < (size or 1):
        found.append(number & 127 | 128)
        number >>= 7
    found[-1] &= 127
    return bytes(found)


def parquet_bytes(column, **options):
    stream = io.BytesIO()
    settings = {"compression": "zstd", "store_schema": False} | options
    parquet.write_table(pa.table({"x": column}), stream, **settings)
    return stream.getvalue()


def lying_parquet(column, claimed, **options):
    """Let the footer claim fewer values than the pages hold."""
    content = parquet_bytes(column, write_statistics=False, **options)
    values = varint(len(column.flatten()) if pa.types.is_list(column.type) else len(column))
    footer = len(content) - 8 - int.from_bytes(content[-8:-4], "little")
    lie = varint(claimed, len(values))
    assert len(lie) == len(values) > 2
    return content[:footer] + content[footer:].replace(values, lie)


def arrow_bytes(table, *, stream=False, compression="zstd"):
    sink = pa.BufferOutputStream()
    options = ipc.IpcWriteOptions(compression=compression)
    new = ipc.new_stream if stream else ipc.new_file
    with new(sink, table.schema, options=options) as writer:
        writer.write_table(table)
    return sink.getvalue().to_pybytes()


def shallow_batch(kind, rows):
    """Return a table of rows that take no bytes at all."""
    flat = pa.array([], kind.value_type)
    column = pa.Array.from_buffers(kind, rows, [None], children=[flat])
    return pa.table({"x": column})


def parquet_bombs(values):
    """Yield a name and a file for each way in which few bytes hold about so many values."""
    row = 2**10
    many = lists(values // row, row)
    yield "lists in a batch", parquet_bytes(many)
    yield "one long list", parquet_bytes(lists(1, values))
    yield "pages of the second version", parquet_bytes(many, data_page_version="2.0")
    yield "many row groups", parquet_bytes(many, row_group_size=max(1, values // row // 8))
    yield "numbers packed alone", parquet_bytes(many, use_dictionary=False)
    yield "a footer that says less", lying_parquet(many, row)
    yield "numbers", parquet_bytes(many.flatten())
    texts = same_text(values * 8 // len(DIGITS))
    yield "one text for all", parquet_bytes(texts)
    plain = {"use_dictionary": False, "column_encoding": {"x": "DELTA_BYTE_ARRAY"}}
    yield "texts that begin alike", parquet_bytes(texts.cast(pa.string()), **plain)


def arrow_bombs(values):
    """Yield a name and a file, as :func:`parquet_bombs` does."""
    zeros = pa.array(np.zeros(values))
    words = same_text(values * 8 // len(DIGITS)).cast(pa.string())
    columns = {
        "numbers": zeros,
        "lists": lists(values // 2**10, 2**10),
        "lists of one length": pa.FixedSizeListArray.from_arrays(zeros, 2**10),
        "texts": words,
        "a dictionary": pa.DictionaryArray.from_arrays(pa.array([0]), words),
        "runs": pa.RunEndEncodedArray.from_arrays(pa.array([2**30], pa.int32()), zeros[:1]),
        "structs": pa.StructArray.from_arrays([zeros, zeros], ["a", "b"]),
        "lists of lists": lists(1, values).from_arrays([0, 1], lists(1, values)),
        "views": words.cast(pa.string_view()),
    }
    for name, column in columns.items():
        for form in ("file", "stream"):
            table = pa.table({"x": column})
            yield f"{name} in a {form}", arrow_bytes(table, stream=form == "stream")
    yield "numbers in lz4", arrow_bytes(pa.table({"x": zeros}), compression="lz4")
    beside = pa.table({"x": pa.array([0.5]), "y": columns["a dictionary"]})
    yield "a dictionary beside", arrow_bytes(beside)
    empty = shallow_batch(pa.list_(pa.float64(), 0), values * 8)
    yield "rows of nothing", arrow_bytes(empty, compression=None)


_FEW = 2**14
PARQUET, ARROW = dict(parquet_bombs(_FEW)), dict(arrow_bombs(_FEW))
"""Files of the same kinds that fit: for fuzzing, and for the names of the kinds."""
