"""Readers: whatever a file holds, an array or one ValueError that names the file."""

import importlib.util
import io
import json
import struct
import zipfile

import numpy as np
import pytest
from each_case import each
from hypothesis import given
from hypothesis import strategies as st

from otspec.files import pick, read_file, small_formats


def npy_bytes(array):
    stream = io.BytesIO()
    np.save(stream, array)
    return stream.getvalue()


@pytest.mark.parametrize("suffix", list(small_formats()))
@given(content=st.binary(max_size=200))
def test_any_bytes_give_a_value_or_a_value_error(tmp_path_factory, suffix, content):
    path = tmp_path_factory.mktemp("bytes") / f"file{suffix}"
    path.write_bytes(content)
    try:
        found = read_file(path)
    except ValueError as error:
        message = str(error)
        found = None
    if found is None:
        assert str(path) in message
        assert "\n" not in message
    else:
        assert suffix in {".csv", ".json"}
        assert isinstance(found, dict)


@each("cut", range(0, 200, 7))
@each("suffix", [".npy", ".npz"])
def test_truncated_arrays_are_refused(tmp_path, suffix, cut):
    whole = tmp_path / f"whole{suffix}"
    if suffix == ".npy":
        np.save(whole, np.arange(9.0))
    else:
        np.savez(whole, draft=np.arange(9.0))
    torn = tmp_path / f"torn{suffix}"
    torn.write_bytes(whole.read_bytes()[:cut])
    assert cut < whole.stat().st_size
    with pytest.raises(ValueError, match="torn"):
        read_file(torn)


def test_a_damaged_member_of_an_archive_is_refused(tmp_path):
    path = tmp_path / "damaged.npz"
    np.savez_compressed(path, draft=np.random.default_rng(0).random(500))
    content = bytearray(path.read_bytes())
    content[300:320] = bytes(20)
    path.write_bytes(content)
    with pytest.raises(ValueError, match=r"cannot read .*damaged\.npz"):
        read_file(path)


def test_an_archive_of_something_else_is_refused(tmp_path):
    path = tmp_path / "text.npz"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("notes.txt", "no array")
    with pytest.raises(ValueError, match=r"draft.*it holds notes\.txt"):
        read_file(path, ("draft",))


@pytest.mark.parametrize("suffix", [".npy", ".npz"])
def test_pickles_are_never_loaded(tmp_path, suffix):
    objects = np.array([{"a": 1}], dtype=object)
    path = tmp_path / f"objects{suffix}"
    np.save(path, objects) if suffix == ".npy" else np.savez(path, draft=objects)
    with pytest.raises(ValueError, match="allow_pickle=False"):
        read_file(path)


def test_a_safetensors_header_larger_than_the_file_is_refused(tmp_path):
    path = tmp_path / "header.safetensors"
    path.write_bytes(struct.pack("<Q", 2**60) + b"{}")
    with pytest.raises(ValueError, match=r"header\.safetensors"):
        read_file(path)


def test_a_safetensors_type_that_numpy_lacks_is_refused(tmp_path):
    header = json.dumps({"x": {"dtype": "BF16", "shape": [1], "data_offsets": [0, 2]}}).encode()
    path = tmp_path / "bf16.safetensors"
    path.write_bytes(struct.pack("<Q", len(header)) + header + b"\0\0")
    with pytest.raises(ValueError, match="bfloat16"):
        read_file(path)
    if importlib.util.find_spec("ml_dtypes"):  # then NumPy has it, but it is no float there
        importlib.import_module("ml_dtypes")
        with pytest.raises(ValueError, match=r"x has type bfloat16 .* must be stored as float32"):
            read_file(path)


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        ("ragged.csv", "a,b\n1,2\n3\n", "different lengths"),
        ("quote.csv", 'a,b\n"1,2\n', "quote"),
        ("blank.csv", "\n\n", "no rows"),
        ("latin.csv", b"a,b\n\xff,2\n", "utf-8"),
        ("open.json", "[0.5, 0.5", "open.json"),
        ("number.json", "0.5", "it holds a single value"),
        ("none.json", "null", "it holds a single value"),
        ("deep.json", "[" * 100_000, "deep.json"),
    ],
)
def test_malformed_text_is_refused(tmp_path, name, content, says):
    path = tmp_path / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(ValueError, match=says):
        read_file(path)


def test_columns_and_keys_are_found_by_name(tmp_path):
    table = tmp_path / "table.csv"
    table.write_text("token, draft, target\n0, 1/2, 0.25\n1, 1/2, 0.75\n", encoding="utf-8")
    assert pick(str(table), "target", ()) == ["0.25", "0.75"]
    with pytest.raises(ValueError, match="it holds token, draft, target"):
        pick(str(table), "drafts", ())
    with pytest.raises(ValueError, match=r"say which one, as in .*table\.csv:token"):
        pick(str(table), "", ())


def test_a_header_without_rows_gives_empty_columns(tmp_path):
    table = tmp_path / "table.csv"
    table.write_text("draft,target\n", encoding="utf-8")
    assert read_file(table) == {"draft": [], "target": []}


def test_rows_of_larger_arrays_are_found_by_index(tmp_path):
    path = tmp_path / "cube.npy"
    cube = np.arange(24.0).reshape(2, 3, 4)
    np.save(path, cube)
    assert pick(str(path), "", (1, 2)).tolist() == cube[1, 2].tolist()
    with pytest.raises(ValueError, match="no row 0,3"):
        pick(str(path), "", (0, 3))
    with pytest.raises(ValueError, match="no row 0,0,0,0"):
        pick(str(path), "", (0, 0, 0, 0))


def test_decimals_in_json_stay_text_and_so_exact(tmp_path):
    path = tmp_path / "list.json"
    path.write_text("[0.1, 0.9]", encoding="utf-8")
    assert read_file(path) == {"": ["0.1", "0.9"]}


def test_an_archive_that_unpacks_beyond_the_memory_is_refused(tmp_path, monkeypatch):
    path = tmp_path / "bomb.npz"
    np.savez_compressed(path, draft=np.zeros(1_000_000), small=np.zeros(3))
    assert path.stat().st_size < 20_000
    monkeypatch.setattr("otspec._base.extras.memory", lambda: 10_000_000)
    with pytest.raises(ValueError, match="more than half of this machine"):
        read_file(path, ("draft",))
    assert read_file(path, ("small",))["small"].tolist() == [0, 0, 0]
