"""Files of PyTorch and of Arrow: what of them is read, exactly, and that no code ever is."""

import decimal
import json
import os
import pickle
import time
import zipfile

import numpy as np
import pyarrow as pa
import pytest
import trace_files
from command_line import complaint, run
from pyarrow.parquet import write_table

from otspec.files import pick, read_file
from otspec.frames import write_table as write_frame
from otspec.traces.readers import find_source

MASSES = [0.5, 0.25, 0.25]
ROWS = [[0.5, 0.5, 0.0], [0.25, 0.0, 0.75]]


@pytest.fixture
def torch():
    return pytest.importorskip("torch", reason="needs the extra backends")


@pytest.mark.parametrize("kind", ["bfloat16", "float16", "float32", "float64"])
@pytest.mark.parametrize("archive", [True, False])
def test_numbers_of_every_type_are_those_of_the_tensor(tmp_path, torch, kind, archive):
    # Each is a sum of few powers of two, which all of the types have.
    tensors = {"a": torch.tensor(MASSES), "b": torch.tensor(ROWS).T}
    typed = {name: tensor.to(getattr(torch, kind)) for name, tensor in tensors.items()}
    path = tmp_path / "pair.pth"
    torch.save(typed | {"step": 3, "note": "x"}, path, _use_new_zipfile_serialization=archive)
    found = read_file(path)
    assert list(found) == ["a", "b"]
    assert found["a"].astype(float).tolist() == MASSES
    assert found["b"].astype(float).T.tolist() == ROWS
    assert pick(str(path), "b", (2,)).tolist() == [0.0, 0.75]
    torch.save(typed["a"].requires_grad_(), path)
    assert read_file(path)[""].astype(float).tolist() == MASSES
    with pytest.raises(ValueError, match=r"without a name: write .*pair.pth, without :a"):
        pick(str(path), "a", ())


def test_what_float32_cannot_hold_is_kept(tmp_path, torch):
    third = torch.tensor([1 / 3, 2 / 3], dtype=torch.float64)
    torch.save({"x": third}, tmp_path / "x.pt")
    assert read_file(tmp_path / "x.pt")["x"].tolist() == [1 / 3, 2 / 3]
    nearly = torch.tensor([1 + 2**-7, 2.0**-126], dtype=torch.bfloat16)
    torch.save({"x": nearly}, tmp_path / "x.pt")
    assert read_file(tmp_path / "x.pt")["x"].tolist() == [1 + 2**-7, 2.0**-126]


class Code:
    """What runs code when it is unpickled."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return os.mkdir, (str(self.path),)


TWICE, WITHIN = b"q\x05h\x05\x86", b"\x85"  # a tuple of what is on top twice, and once


@pytest.mark.parametrize("old", [True, False])
@pytest.mark.parametrize(
    ("key", "read"),
    [
        (b")" + TWICE * 60, False),  # 2^60 steps to hash
        (b")" + b"q\x05h\x05h\x05\x87" * 40, False),  # three times each
        (b")" + WITHIN * 100_000, False),  # deeper than the stack of C
        (b"]" + b"]a" * 9, False),  # a list is no key
        (b"(K\x01K\x02t", True),
    ],
)
def test_a_key_that_takes_endless_time_is_refused(tmp_path, torch, key, read, old):
    path, start = tmp_path / "x.pt", b"\x80\x02}" + key
    torch.save({}, path, _use_new_zipfile_serialization=not old)
    if old:
        content = path.read_bytes().replace(b"\x80\x02}q\x00.", start + b"K\x01s.")
        assert key in content
        path.write_bytes(content)
    else:
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("x/data.pkl", start + b"K\x01s.")
            archive.writestr("x/version", "3\n")
            archive.writestr("x/byteorder", "little")
    if read:
        assert read_file(path) == {}
    else:
        began = time.process_time()
        with pytest.raises(ValueError, match=r"has a key of|other things|damaged|cannot load"):
            read_file(path)
        assert time.process_time() - began < 20  # it would take years


@pytest.mark.parametrize("how", ["archive", "old", "plain pickle"])
def test_code_is_never_run(tmp_path, torch, capsys, how):
    path, trap = tmp_path / "x.pt", tmp_path / "trap"
    content = {"draft_logits": torch.zeros(2, 3), "target_logits": Code(trap)}
    says = "it holds other things than tensors, which are never"
    if how == "plain pickle":
        path.write_bytes(pickle.dumps(Code(trap)))
        says = "it is no file of PyTorch's"
    else:
        torch.save(content, path, _use_new_zipfile_serialization=how == "archive")
    for line in (complaint(capsys, "accept", path, "1,0,0"), complaint(capsys, "trace", path)):
        assert f"cannot read {path}: {says}" in line
        assert "weights_only=False" not in line
    assert not trap.exists()


def test_tensors_that_are_no_numbers_are_refused_by_name(tmp_path, torch):
    path = tmp_path / "x.pt"
    whole = torch.ones(2, 2)
    for tensor, says in (
        (whole.to_sparse(), "x has layout torch.sparse_coo"),
        (torch.ones(1).expand(2**50), "unpacks to"),
        (torch.ones(2, device="meta"), "x has layout"),
    ):
        torch.save({"x": tensor}, path)
        with pytest.raises(ValueError, match=says):
            read_file(path)
    for content in ([whole], {0: whole}, 3, {"a": {"x": whole}}):
        torch.save(content, path)
        with pytest.raises(ValueError, match=r"other things than tensors|there is no 'x' in it"):
            read_file(path, ("x",))


def test_packed_archives_programs_and_wrong_checksums_are_refused(tmp_path, torch):
    path = tmp_path / "x.pt"
    torch.save({"x": torch.ones(64)}, path)
    content = path.read_bytes()
    ones = np.ones(64, np.float32).tobytes()
    assert content.count(ones) == 1
    path.write_bytes(content.replace(ones, ones[:-1] + b"\x00"))
    with pytest.raises(ValueError, match="the checksum of x/data/0 is another"):
        read_file(path)
    path.write_bytes(trace_files.zip_bytes({"x/data.pkl": content}, compression=8))
    with pytest.raises(ValueError, match="its members are compressed"):
        read_file(path)
    torch.save({"x": torch.ones(2)}, path, pickle_protocol=4)
    with pytest.raises(ValueError, match="its pickle protocol is not 2"):
        read_file(path)
    path.write_bytes(trace_files.zip_bytes({"x/constants.pkl": content}))
    with pytest.raises(ValueError, match="it holds a program"):
        read_file(path)


def test_a_trace_of_bfloat16_is_that_of_float32(tmp_path, torch, capsys):
    rounded = {
        name: torch.from_numpy(array.astype(np.float32)).to(torch.bfloat16)
        for name, array in trace_files.random_pair().items()
    }
    torch.save(rounded, tmp_path / "half.pt")
    torch.save({name: tensor.float() for name, tensor in rounded.items()}, tmp_path / "whole.pt")
    texts = [
        run(capsys, "trace", tmp_path / f"{name}.pt", "-k", "1", "--json", "--workers", "1")
        for name in ("half", "whole")
    ]
    first, second = (json.loads(text)["means"] for text in texts)
    assert first == second
    source = find_source(str(tmp_path / "half.pt"))
    torch.save({"draft_logits": torch.zeros(1, 2)}, tmp_path / "half.pt")
    with pytest.raises(ValueError, match=r"half.pt: target_logits of shape .* is not there any mo"):
        source.target.rows(0, 1)


@pytest.fixture(params=[".parquet", ".arrow", ".feather", "stream"])
def table_file(request, tmp_path):
    """Save a table in every format; return where."""

    def save(**columns):
        table = pa.table(columns)
        path = tmp_path / f"table{'.arrow' if request.param == 'stream' else request.param}"
        if request.param == ".parquet":
            write_table(table, path)
        elif request.param == "stream":
            with pa.ipc.new_stream(str(path), table.schema) as writer:
                writer.write_table(table)
        else:
            with pa.ipc.new_file(str(path), table.schema) as writer:
                writer.write_table(table)
        return path

    return save


def test_columns_of_numbers_lists_and_decimals_are_read(table_file, capsys):
    path = table_file(
        draft=pa.array(MASSES, pa.float32()),
        **{"a.b": pa.array([1, 0, 0], pa.int8())},
        exact=pa.array([decimal.Decimal("0.1"), decimal.Decimal("0.7"), decimal.Decimal("0.2")]),
        words=["1/10", "7/10", "1/5"],
        half=pa.array(np.array(MASSES, np.float16)),
        rows=pa.array([*ROWS, MASSES], pa.list_(pa.float64())),
        fixed=pa.array([*ROWS, MASSES], pa.list_(pa.float64(), 3)),
        flag=[True, False, True],
    )
    found = read_file(path)
    assert list(found) == ["draft", "a.b", "exact", "words", "half", "rows", "fixed"]
    assert found["draft"].tolist() == found["half"].tolist() == MASSES
    assert found["a.b"].tolist() == [1, 0, 0]
    assert found["exact"] == ["0.1", "0.7", "0.2"]
    assert found["rows"].tolist() == found["fixed"].tolist() == [*ROWS, MASSES]
    printed = run(capsys, "accept", f"{path}:words", f"{path}:exact", "--exact", "-k", "1")
    assert "1.000000 = 1" in printed
    assert pick(str(path), "fixed", (1,)).tolist() == ROWS[1]


def test_columns_that_are_no_numbers_are_refused_by_name(table_file, capsys):
    path = table_file(draft=MASSES, flag=[True, False, True])
    assert "column 'flag' is of bool" in complaint(capsys, "accept", f"{path}:flag", "1,0,0")
    assert "there is no 'x' in it: it holds draft, flag" in complaint(
        capsys, "accept", f"{path}:x", "1,0,0"
    )
    for columns, says in (
        ({"x": pa.array([None, 1.0])}, "column 'x' has 1 empty cells"),
        ({"x": [[1.0], [0.5, 0.5]]}, "its lists have 1 to 2 numbers"),
        ({"x": [[None, 1.0], [0.5, 0.5]]}, "its lists have 1 empty cells"),
    ):
        assert says in complaint(capsys, "accept", f"{table_file(**columns)}:x", "1,0")
    assert read_file(table_file(x=pa.array([], pa.list_(pa.float64()))))["x"].shape == (0, 0)


def test_tables_that_are_written_are_read(tmp_path):
    table = pa.table({"acceptance": MASSES})
    for ending in (".parquet", ".arrow"):
        write_frame(table, tmp_path / f"rows{ending}")
        assert read_file(tmp_path / f"rows{ending}")["acceptance"].tolist() == MASSES


@pytest.mark.parametrize(
    ("ending", "package", "extra"),
    [(".pt", "torch", "backends"), (".parquet", "pyarrow", "runs"), (".arrow", "pyarrow", "runs")],
)
def test_a_missing_package_is_named_with_what_installs_it(
    tmp_path, monkeypatch, ending, package, extra
):
    path = tmp_path / f"x{ending}"
    path.write_bytes(b"x" * 20)
    monkeypatch.setitem(__import__("sys").modules, package, None)
    says = rf"reading {ending} needs the package {package}: pip install 'otspec\[{extra}\]'"
    with pytest.raises(ValueError, match=says):
        read_file(path)
