"""Files that lie: what is counted is what is read, in every reader, and in many threads."""

import json
import struct
import threading
import tracemalloc
import warnings
import zipfile

import numpy as np
import pytest
import trace_files as files
from each_case import each

from otspec.files import read_file, small_formats
from otspec.traces import load_trace
from otspec.traces.readers import find_source

MB = 2**20
LARGE = files.npy_bytes(np.zeros(MB // 8))
SMALL = files.npy_bytes(np.arange(3.0))
METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA)
OF_TRACES = {"read_file": read_file, "load_trace": load_trace, "find_source": find_source}


def unpacked(path):
    """Find and read a source as a run does."""
    source = find_source(str(path)).unpacked(path.parent, "unpacked")
    return {side: getattr(source, side).rows(0, source.positions) for side in ("draft", "target")}


READING = OF_TRACES | {"unpacked": unpacked}


def archive(path, members, method=zipfile.ZIP_DEFLATED):
    """Write members, the names of which may come again."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about doubled names
        with zipfile.ZipFile(path, "w", compression=method) as packed:
            for name, content in members:
                packed.writestr(name, content)
    return path


@pytest.fixture
def little_memory(monkeypatch):
    monkeypatch.setattr("otspec._base.extras.memory", lambda: MB // 2)


@pytest.mark.parametrize("method", METHODS[1:])
@pytest.mark.parametrize(
    "names",
    [("x.npy",), ("a/x.npy",), ("a/x.npy", "b/x.npy"), ("x.y.npy",), ("a.npy/x.npy",), (".npy",),
     ("\\x.npy",), ("x.npy.npy",), ("é.npy", "x.npy")],
)  # fmt: skip
def test_every_member_counts_with_the_bytes_that_it_holds(tmp_path, little_memory, names, method):
    path = archive(tmp_path / "bomb.npz", [(name, LARGE) for name in names], method)
    assert path.stat().st_size < MB // 4
    with pytest.raises(ValueError, match=r"bomb\.npz: it unpacks to .* more than half"):
        read_file(path)
    key = names[0].removesuffix(".npy")
    with pytest.raises(ValueError, match="more than half"):
        read_file(path, (key,))


@pytest.mark.parametrize("suffix", list(small_formats()))
def test_a_file_larger_than_the_memory_is_refused_by_every_reader(tmp_path, little_memory, suffix):
    path = tmp_path / f"large{suffix}"
    if suffix == ".npz":
        archive(path, [("x.npy", LARGE)], zipfile.ZIP_STORED)
    else:
        path.write_bytes(LARGE)
    with pytest.raises(ValueError, match="more than half"):
        read_file(path)


@pytest.mark.parametrize(
    "names",
    [("draft_logits.npy", "draft_logits.npy"), ("draft_logits", "draft_logits.npy"),
     ("draft_logits.npy", "draft_logits"), ("draft_logits.npy", "draft_logits.npy\0.npy")],
)  # fmt: skip
@pytest.mark.parametrize("reader", list(READING))
def test_doubled_members_are_refused(tmp_path, reader, names):
    pair = files.random_pair()
    target = ("target_logits.npy", files.npy_bytes(pair["target_logits"]))
    draft = files.npy_bytes(pair["draft_logits"])
    path = archive(tmp_path / "twice.npz", [*((name, draft) for name in names), target])
    with pytest.raises(ValueError, match=r"twice\.npz: it holds two members 'draft_logits'"):
        READING[reader](path if reader != "find_source" else str(path))


def patched(path, name, size):
    """Let the directory and the local header of a member claim an unpacked size."""
    content = bytearray(path.read_bytes())
    for mark, at, names in ((b"PK\x01\x02", 24, 46), (b"PK\x03\x04", 22, 30)):
        start = content.index(mark)
        while content[start + names : start + names + len(name)] != name:
            start = content.index(mark, start + 1)
        content[start + at : start + at + 4] = struct.pack("<I", size)
    path.write_bytes(content)
    return path


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("reader", list(READING))
@pytest.mark.parametrize("claimed", ["less", "more", "as the header, which lies"])
def test_a_directory_that_lies_is_noticed(tmp_path, reader, method, claimed):
    good = files.npy_bytes(files.random_pair()["target_logits"])
    header = files.npy_header((2, 3, 20))
    size = {"less": 50, "more": 2**31}.get(claimed, len(header) + 240)
    # bzip2 and LZMA unpack 4,096 bytes at once, here all zeros, and copy them.
    many = {zipfile.ZIP_DEFLATED: 16 * MB, zipfile.ZIP_STORED: MB}.get(method, 2 * MB)
    content = good if size in (50, 2**31) else header + bytes(many)
    members = [("draft_logits.npy", content), ("target_logits.npy", good)]
    path = archive(tmp_path / "lies.npz", members, method)
    patched(path, b"draft_logits.npy", size)
    tracemalloc.start()
    try:
        with pytest.raises(ValueError, match=r"lies\.npz"):
            READING[reader](path if reader != "find_source" else str(path))
        # LZMA has a dictionary of 8 MB besides.
        most = 16 if method == zipfile.ZIP_LZMA else 8
        assert tracemalloc.get_traced_memory()[1] < most * MB
    finally:
        tracemalloc.stop()


HEADERS = (
    "{'descr': '<f8', 'fortran_order': False, 'shape': (3,), }",
    "{'descr': '<f8', 'fortran_order': False, 'shape': (3,)}",
    '{"shape": (3,), "fortran_order": False, "descr": "<f8"}',
    " {'descr':'<f8','fortran_order':False,'shape':(3L,),}",
)
HOSTILE = (
    "{'descr': '<f8', 'fortran_order': False, 'shape': (3if 1else 4,)}",  # a SyntaxWarning
    "{'descr': '\\d', 'fortran_order': False, 'shape': (3,)}",  # another
    "{'descr': 'a8', 'fortran_order': False, 'shape': (3,)}",  # a DeprecationWarning of NumPy
    "{'descr': '<f8', 'fortran_order': False, 'shape': (-3,)}",
    "{'descr': '<f8', 'fortran_order': False, 'shape': (3,), 'more': 1}",
    "{'descr': '<f8', 'descr': '<f8', 'shape': (3,)}",
    "{'descr': '<f8', 'fortran_order': False, 'shape': 3}",
    "{'descr': '<f8', 'fortran_order': 0, 'shape': (3,)}",
    "{'descr': '<U0', 'fortran_order': False, 'shape': (1000000000000000000,)}",
    "{'descr': '<f8', 'fortran_order': False, 'shape': (" + "9" * 5000 + ",)}",
    "{'descr': '<f8', 'fortran_order': False, 'shape': (" + "1, " * 100 + "3)}",
    "{" * 5000,
    " " * 60_000,
)


def with_header(path, text):
    path.write_bytes(files.npy_header(None, text=text, version=2) + np.arange(3.0).tobytes())
    return path


@pytest.mark.parametrize("text", HEADERS)
def test_headers_of_other_writers_are_read(tmp_path, text):
    path = with_header(tmp_path / "x.npy", text)
    assert read_file(path)[""].tolist() == [0, 1, 2]


@pytest.mark.parametrize("text", HOSTILE)
def test_a_header_that_only_the_compiler_would_read_is_refused(tmp_path, text):
    with pytest.raises(ValueError, match=r"cannot read .*x\.npy: "):
        read_file(with_header(tmp_path / "x.npy", text))


@each("dtype", ["<f2", ">f4", "<f8", "<g", "|b1", "<i8", "|u1", "<c8", "<U3",
                                   "|S2", "<M8[ns]"])  # fmt: skip
@each("order", ["C", "F"])
@each("shape", [(), (0,), (4,), (2, 3), (2, 3, 2)])
def test_what_numpy_saves_is_read_as_numpy_reads_it(tmp_path, dtype, order, shape):
    array = np.arange(12).reshape(3, 4)[: shape[0] if shape else 1].copy()
    array = np.resize(array, shape).astype(dtype, order=order)
    np.save(tmp_path / "x.npy", array)
    for save, name in ((np.savez, "x.npz"), (np.savez_compressed, "y.npz")):
        save(tmp_path / name, key=array)
    found = [read_file(tmp_path / "x.npy")[""]]
    found += [read_file(tmp_path / name)["key"] for name in ("x.npz", "y.npz")]
    for read in found:
        assert read.dtype == array.dtype
        assert read.shape == array.shape
        assert (read == array).all()


def test_threads_that_read_hostile_files_leave_the_warning_filters_alone(tmp_path):
    paths = [with_header(tmp_path / f"{i}.npy", text) for i, text in enumerate(HOSTILE)]
    good = with_header(tmp_path / "good.npy", HEADERS[0])
    packed = archive(tmp_path / "good.npz", [("x.npy", SMALL)])
    wrong = []

    def read_all():
        try:
            for path in paths:
                with pytest.raises(ValueError, match="cannot read"):
                    read_file(path)
                assert read_file(good)[""].tolist() == [0, 1, 2]
                assert read_file(packed)["x"].tolist() == [0, 1, 2]
        except BaseException as error:
            wrong.append(error)

    before, contents = warnings.filters, list(warnings.filters)
    threads = [threading.Thread(target=read_all) for _ in range(8)]
    for thread in threads:
        thread.start()
    while any(thread.is_alive() for thread in threads):
        assert warnings.filters is before  # replaced by catch_warnings while it lasts
    assert wrong == []
    assert warnings.filters is before
    assert list(warnings.filters) == contents


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        ("twice.json", '{"a": [1], "a": [0]}', "'a' is named twice"),
        ("twice.json", '[{"a": 1, "a": 0}]', "'a' is named twice"),
        ("twice.csv", "a,b,a\n1,2,3\n", "'a' is named twice"),
        ("deep.json", "[" * 33 + "]" * 33, "more than 32 levels"),
        ("deep.json", '{"a": ' * 40 + "1" + "}" * 40, "more than 32 levels"),
        ("deep.json", "[" * 900 + "]" * 900, "more than 32 levels"),
        ("deep.json", "[" * 100_000 + "]" * 100_000, "more than 32 levels"),
    ],
)
def test_names_that_come_twice_and_deep_nesting_are_refused(tmp_path, name, content, says):
    path = tmp_path / name
    path.write_text(content, encoding="utf-8")
    with pytest.raises(ValueError, match=says):
        read_file(path)


def test_as_many_levels_as_an_array_has_axes_are_read(tmp_path):
    path = tmp_path / "levels.json"
    path.write_text("[" * 32 + "1" + "]" * 32, encoding="utf-8")
    assert np.shape(json.loads(path.read_text(encoding="utf-8"))) == np.shape(read_file(path)[""])


def test_a_tensor_named_twice_is_refused(tmp_path):
    pytest.importorskip("safetensors", reason="needs the extra traces")
    tensor = '"x": {"dtype": "F32", "shape": [1], "data_offsets": [%d, %d]}'
    header = ("{" + tensor % (0, 4) + ", " + tensor % (4, 8) + "}").encode()
    path = tmp_path / "twice.safetensors"
    path.write_bytes(struct.pack("<Q", len(header)) + header + bytes(8))
    with pytest.raises(ValueError, match=r"twice\.safetensors"):
        read_file(path)


PACKED = {
    "zstd": "Zstd", "blosc": "Blosc", "lz4": "LZ4", "gzip": "GZip", "zlib": "Zlib", "bz2": "BZ2",
    "lzma": "LZMA",
}  # fmt: skip


def packed_ones(codec):
    """Return 64 MB that take less than one."""
    packed = codec.encode(np.full(64 * MB, 1, np.uint8))
    assert len(packed) < MB
    return packed


def chunked(folder, codec, *, version=2, shards=None):
    """Return a group of ones in Zarr, and the files of its chunks."""
    zarr = pytest.importorskip("zarr", reason="needs the extra traces")
    group = zarr.open_group(folder, mode="w", zarr_format=version)
    for name in ("draft_logits", "target_logits"):
        group.create_array(
            name,
            data=np.ones((2, 2, 3), np.float32),
            chunks=(1, 2, 3),
            shards=shards,
            compressors=codec,
        )
    chunks = [path for path in folder.rglob("*") if path.is_file() and path.name[0] in "0123456789"]
    return sorted(chunks)


@pytest.mark.parametrize("name", PACKED)
def test_chunks_that_unpack_to_more_than_their_shape_says_are_refused(tmp_path, name):
    numcodecs = pytest.importorskip("numcodecs", reason="needs the extra traces")
    folder = tmp_path / "trace.zarr"
    codec = getattr(numcodecs, PACKED[name])()
    chunks = chunked(folder, codec)
    whole = find_source(str(folder)).draft.rows(0, 4)
    assert (whole == 1).all()
    assert len(chunks) == 4
    bomb = packed_ones(codec)
    for chunk in chunks:
        chunk.write_bytes(bomb)
    source = find_source(str(folder))
    tracemalloc.start()
    try:
        with pytest.raises(ValueError, match=r"chunk .* unpacks to more than 96 bytes"):
            source.draft.rows(0, 4)
        # LZMA has a dictionary of 8 MB besides.
        assert tracemalloc.get_traced_memory()[1] < (10 if name == "lzma" else 4) * MB
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("codec", ["ZstdCodec", "GzipCodec", "BloscCodec"])
def test_chunks_within_shards_are_counted_too(tmp_path, codec):
    codecs = pytest.importorskip("zarr.codecs", reason="needs the extra traces")
    numcodecs = pytest.importorskip("numcodecs", reason="needs the extra traces")
    folder = tmp_path / "trace.zarr"
    shards = chunked(folder, getattr(codecs, codec)(), version=3, shards=(2, 2, 3))
    assert (find_source(str(folder)).draft.rows(0, 4) == 1).all()
    bomb = packed_ones(getattr(numcodecs, PACKED[codec.removesuffix("Codec").lower()])())
    index = np.array([[0, len(bomb)], [2**64 - 1] * 2], "<u8").tobytes()
    crc32c = pytest.importorskip("google_crc32c", reason="needs the extra traces").value
    for shard in shards:
        shard.write_bytes(bomb + index + crc32c(index).to_bytes(4, "little"))
    with pytest.raises(ValueError, match=r"chunk .* unpacks to more than 96 bytes"):
        find_source(str(folder)).draft.rows(0, 2)


def test_chunks_that_are_packed_twice_are_refused(tmp_path):
    codecs = pytest.importorskip("zarr.codecs", reason="needs the extra traces")
    folder = tmp_path / "trace.zarr"
    chunked(folder, [codecs.GzipCodec(), codecs.ZstdCodec()], version=3)
    with pytest.raises(ValueError, match="packed by gzip and zstd: store it with one"):
        find_source(str(folder)).draft.rows(0, 2)


@pytest.mark.parametrize("size", [2**40, 2**42])
def test_rows_that_no_memory_holds_are_refused_when_a_source_is_found(tmp_path, size):
    """Files of holes take no room on a disk, and say that they hold as much as they like."""
    paths = [tmp_path / f"{side}.npy" for side in ("draft", "target")]
    for path in paths:
        header = files.npy_header((1, size), "<f2")
        path.write_bytes(header)
        try:
            with path.open("r+b") as stream:
                stream.truncate(len(header) + 2 * size)
        except OSError:
            pytest.skip("the file system has no files of holes that are so large")
    with pytest.raises(ValueError, match=r"unpacks to .* more than half"):
        find_source("+".join(map(str, paths)))


def test_rows_of_one_number_many_times_are_refused(tmp_path):
    torch = pytest.importorskip("torch", reason="needs the extra backends")
    row = torch.zeros(1).expand(1, 2**44)
    torch.save({"draft_logits": row, "target_logits": row}, tmp_path / "x.pt")
    with pytest.raises(ValueError, match=r"unpacks to .* more than half"):
        find_source(str(tmp_path / "x.pt"))
