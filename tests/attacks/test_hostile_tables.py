"""Tables that hold very many numbers in few bytes are refused before they are unpacked."""

import contextlib

import hostile_tables
import numpy as np
import pyarrow as pa
import pytest
from hostile_tables import ARROW, PARQUET
from pyarrow import ipc
from searching import NIGHTLY

from otspec.files import read_file

MB = 2**20
VALUES = 4 * MB
NO_NUMBERS = ("a dictionary in", "structs", "lists of lists", "views", "runs")


@pytest.fixture(scope="module")
def bombs():
    """The files of each kind, by the name of the kind: not made where tests are only collected."""
    return dict((*hostile_tables.parquet_bombs(VALUES), *hostile_tables.arrow_bombs(VALUES)))


@pytest.fixture
def allocated(monkeypatch):
    """Let the memory be of 16 MB; return what tells how much Arrow had at most."""
    monkeypatch.setattr("otspec._base.extras.memory", lambda: 16 * MB)
    pool, before = pa.proxy_memory_pool(pa.default_memory_pool()), pa.default_memory_pool()
    pa.set_memory_pool(pool)
    yield lambda: pool.max_memory() or 0
    pa.set_memory_pool(before)


def refused(path, content, allocated):
    assert len(content) < MB
    path.write_bytes(content)
    with pytest.raises(ValueError, match=rf"{path.name}: it unpacks to .* more than half"):
        read_file(path)
    # Text is read until half of the memory is full.
    assert allocated() < 10 * MB


@pytest.mark.parametrize("name", PARQUET)
def test_values_of_parquet_are_counted_before_they_are_read(tmp_path, allocated, bombs, name):
    refused(tmp_path / "bomb.parquet", bombs[name], allocated)


@pytest.mark.parametrize("name", [name for name in ARROW if not name.startswith(NO_NUMBERS)])
@pytest.mark.parametrize("suffix", [".arrow", ".feather"])
def test_buffers_of_arrow_are_counted_before_they_are_unpacked(
    tmp_path, allocated, bombs, name, suffix
):
    refused(tmp_path / f"bomb{suffix}", bombs[name], allocated)


@pytest.mark.parametrize("name", [name for name in ARROW if name.startswith(NO_NUMBERS)])
def test_what_holds_no_numbers_is_not_unpacked(tmp_path, allocated, bombs, name):
    path = tmp_path / "bomb.arrow"
    path.write_bytes(bombs[name])
    assert read_file(path) == {}
    with pytest.raises(ValueError, match="column 'x' is of"):
        read_file(path, ("x",))
    assert allocated() < MB


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"data_page_version": "2.0"},
        {"use_dictionary": False},
        {"use_dictionary": False, "column_encoding": {"x.list.element": "BYTE_STREAM_SPLIT"}},
        {"data_page_size": 100, "row_group_size": 1_000},
        {"store_schema": True, "compression": "none"},
        {"write_page_index": True, "compression": "gzip"},
    ],
)
def test_whatever_arrow_writes_is_read(tmp_path, options):
    rng = np.random.default_rng(3)
    rows = rng.integers(50, size=(5_000, 3)) / 64
    column = pa.FixedSizeListArray.from_arrays(pa.array(rows.ravel()), 3)
    path = tmp_path / "x.parquet"
    path.write_bytes(hostile_tables.parquet_bytes(column, **options))
    assert (read_file(path)["x"] == rows).all()


@pytest.mark.parametrize("new", [ipc.new_file, ipc.new_stream])
@pytest.mark.parametrize(
    ("legacy", "compression"), [(False, None), (False, "zstd"), (False, "lz4"), (True, None)]
)
def test_batches_of_every_form_of_message_are_read(tmp_path, compression, new, legacy):
    numbers = np.random.default_rng(4).random(5_000)
    version = ipc.MetadataVersion.V4 if legacy else ipc.MetadataVersion.V5
    options = ipc.IpcWriteOptions(
        use_legacy_format=legacy, metadata_version=version, compression=compression
    )
    words = pa.array(["1/2"] * len(numbers)).dictionary_encode()
    table = pa.table({"words": words, "x": numbers, "text": words.cast(pa.string())})
    path = tmp_path / "x.arrow"
    with new(str(path), table.schema, options=options) as writer:
        writer.write_table(table, max_chunksize=700)
    if legacy and new is ipc.new_file:
        try:
            ipc.open_file(str(path), options=ipc.IpcReadOptions(included_fields=[1])).read_all()
        except OSError as error:
            pytest.skip(f"this version of Arrow reads no columns of its own old files: {error}")
    found = read_file(path)
    assert list(found) == ["x", "text"]
    assert (found["x"] == numbers).all()
    assert set(found["text"]) == {"1/2"}


def test_buffers_that_only_metadata_calls_packed_are_counted(tmp_path, allocated):
    path = tmp_path / "old.arrow"
    table = pa.table({"x": pa.array([12 * MB, 0], pa.int64())})  # the first is read as a length
    options = ipc.IpcWriteOptions(metadata_version=ipc.MetadataVersion.V4)
    with ipc.new_file(str(path), table.schema, options=options) as writer:
        said = {"ARROW:experimental_compression": "zstd"}
        writer.write_batch(table.to_batches()[0], custom_metadata=said)
    refused(path, path.read_bytes(), allocated)


@pytest.mark.parametrize("name", ["numbers", "texts", "lists"])
def test_a_footer_with_any_byte_damaged_is_read_or_refused(tmp_path, name):
    """Sizes, counts and places in a footer may say anything: the process and the memory stay."""
    columns = {
        "numbers": [0.25, 0.75],
        "texts": ["1/3", "2/3"],
        "lists": [[0.5, 0.5], [0.25, 0.75]],
    }
    good, path = hostile_tables.parquet_bytes(pa.array(columns[name])), tmp_path / "x.parquet"
    start, refused_ones = len(good) - 8 - int.from_bytes(good[-8:-4], "little"), 0
    for place in range(start, len(good) - 4, 1 if NIGHTLY else 5):
        for value in (0, 0x7F, 0x80, 0xFF, good[place] ^ 1):
            path.write_bytes(good[:place] + bytes([value]) + good[place + 1 :])
            with contextlib.suppress(ValueError):
                read_file(path)
                continue
            refused_ones += 1
    assert refused_ones > 20
