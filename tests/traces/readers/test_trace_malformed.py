"""Malformed trace files: each reader on many, in a process that a crash, hang or bomb would end.

All that are malformed in a way of their own, and torn and flipped ones at random places: 200 files
of each format in ``make nightly``, of those at random places a third in ``make test``.
"""

import json
import shutil
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest
import trace_files as files
from searching import enough

COUNT = 200
SECONDS = 600
READ_EACH = """
import contextlib, io, json, resource, sys
from otspec.cli.main import main
from otspec.cli.shared import progress
progress._LINE_S = float("inf")  # no line of progress, however slow the machine is
resource.setrlimit(resource.RLIMIT_AS, (8 * 2**30, 8 * 2**30))
for line in sys.stdin:
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        status = main(["trace", json.loads(line), "-k", "1"])
    print(json.dumps([status, out.getvalue(), err.getvalue()]), flush=True)
"""


@pytest.fixture(scope="module")
def readers():
    """The processes that read: one for all tests, and another after it if it ends."""
    started = []
    yield started
    for process in started:
        process.communicate(timeout=SECONDS)


@pytest.fixture
def outcomes(readers):
    """Run the command on each source, all in one process."""

    def found(sources):
        if not readers or readers[-1].poll() is not None:
            readers.append(
                subprocess.Popen(
                    [sys.executable, "-W", "error", "-c", READ_EACH],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    encoding="utf-8",
                )
            )
        reader = readers[-1]
        late = threading.Timer(SECONDS, reader.kill)
        late.start()
        said = []
        try:
            for source in map(str, sources):
                print(json.dumps(source), file=reader.stdin, flush=True)
                line = reader.stdout.readline()
                assert line, (source, reader.wait())
                said.append((source, *json.loads(line)))
        finally:
            late.cancel()
        return said

    return found


def assert_one_line(outcome, statuses=(2,)):
    source, status, out, err = outcome
    assert status in statuses, outcome
    assert "Traceback" not in err
    if status == 2:
        assert out == ""
        assert err.startswith("otspec: "), outcome
        assert err.count("\n") == 1, outcome
        assert len(err) < 1500, outcome
        first = source.split("+")[0]
        assert Path(first).name in err or Path(source.split("+")[-1]).name in err, outcome


class Cases:
    """Numbered folders with one malformed source each."""

    def __init__(self, root, reader):
        self.root, self.save, self.sources = root, files.SAVERS[reader], []
        self.rng = np.random.default_rng(len(reader))

    def folder(self):
        folder = self.root / f"case{len(self.sources)}"
        folder.mkdir()
        return folder

    def add(self, arrays):
        """Add a well-formed file of arrays that are no trace."""
        self.sources.append(self.save(self.folder(), arrays))

    def add_bytes(self, name, content, other=None):
        path = self.folder() / name
        path.write_bytes(content)
        self.sources.append(path if other is None else f"{path}+{other}")

    def fill(self, whole, name, other=None):
        """Add truncations at random places until there are enough."""
        for _ in range(enough(COUNT - len(self.sources))):
            self.add_bytes(name, whole[: self.rng.integers(len(whole))], other)


@pytest.mark.parametrize("reader", ["npz", "packed npz"])
def test_malformed_npz(tmp_path, outcomes, reader):
    cases = Cases(tmp_path, reader)
    good = cases.save(tmp_path, files.random_pair())
    for arrays in [*files.wrong_contents(cases.rng), *files.wrong_names()]:
        cases.add(arrays)
    target = files.npy_bytes(files.random_pair()["target_logits"])
    compression = 0 if reader == "npz" else 8
    for content in files.bad_npy_bytes():
        members = {"draft_logits.npy": content, "target_logits.npy": target}
        cases.add_bytes("bad.npz", files.zip_bytes(members, compression=compression))
    for content in [*files.bombs(), b"", b"no zip", target]:
        cases.add_bytes("bad.npz", content)
    cases.fill(good.read_bytes(), "torn.npz")
    for outcome in outcomes(cases.sources):
        assert_one_line(outcome)


def test_malformed_npy(tmp_path, outcomes):
    cases = Cases(tmp_path, "npy")
    good = Path(str(cases.save(tmp_path, files.random_pair())).split("+")[1])
    for arrays in files.wrong_contents(cases.rng):
        cases.add(arrays)
    for content in files.bad_npy_bytes():
        cases.add_bytes("bad.npy", content, good)
    cases.fill(good.read_bytes(), "torn.npy", good)
    for outcome in outcomes(cases.sources):
        assert_one_line(outcome)


def test_malformed_safetensors(tmp_path, outcomes):
    cases = Cases(tmp_path, "safetensors")
    good = cases.save(tmp_path, files.random_pair())
    for arrays in [*files.wrong_contents(cases.rng), *files.wrong_names()]:
        cases.add(arrays)
    for content in files.bad_safetensors_bytes():
        cases.add_bytes("bad.safetensors", content)
    cases.fill(good.read_bytes(), "torn.safetensors")
    for outcome in outcomes(cases.sources):
        assert_one_line(outcome)


@pytest.mark.parametrize("zarr_format", [2, 3])
def test_malformed_zarr(tmp_path, outcomes, zarr_format):
    cases = Cases(tmp_path, "zarr")
    good = files.save_zarr(tmp_path, files.random_pair(), zarr_format=zarr_format)
    for arrays in [*files.wrong_contents(cases.rng), *files.wrong_names()]:
        cases.add(arrays)
    cases.add_bytes("file.zarr", b"no folder")
    # Attributes say nothing about the arrays.
    files_of = (path for path in good.rglob("*") if path.is_file() and path.name != ".zattrs")
    parts = sorted(path.relative_to(good) for path in files_of)
    for _ in range(enough(COUNT // 2 - len(cases.sources))):  # of two formats
        broken = cases.folder() / "torn.zarr"
        shutil.copytree(good, broken)
        part = broken / parts[cases.rng.integers(len(parts))]
        content = part.read_bytes()
        if cases.rng.random() < 0.3:
            part.unlink()
        else:
            part.write_bytes(content[: cases.rng.integers(len(content))])
        cases.sources.append(broken)
    for outcome in outcomes(cases.sources):
        assert_one_line(outcome)


def test_zarr_metadata_that_lie(tmp_path, outcomes):
    sources = []
    for field in ("shape", "chunk_shape", "data_type", "codecs"):
        for lie in ([2**40, 20], [-1, 20], "text", None, [2, 3, 20, 1], []):
            folder = tmp_path / str(len(sources))
            folder.mkdir()
            sources.append(files.save_zarr(folder, files.random_pair()))
            path = sources[-1] / "draft_logits" / "zarr.json"
            metadata = json.loads(path.read_text(encoding="utf-8"))
            place = metadata["chunk_grid"]["configuration"] if field == "chunk_shape" else metadata
            place[field] = lie
            path.write_text(json.dumps(metadata), encoding="utf-8")
    for outcome in outcomes(sources):
        assert_one_line(outcome)


@pytest.mark.parametrize("reader", list(files.SAVERS))
def test_flipped_bytes_end_in_results_or_one_line(tmp_path, outcomes, reader):
    rng = np.random.default_rng(7)
    sources = []
    for case in range(enough(40)):
        folder = tmp_path / str(case)
        folder.mkdir()
        source = files.SAVERS[reader](folder, files.random_pair())
        parts = sorted(path for path in folder.rglob("*") if path.is_file())
        part = parts[rng.integers(len(parts))]
        content = bytearray(part.read_bytes())
        for place in rng.integers(len(content), size=rng.integers(1, 9)):
            content[place] = rng.integers(256)
        part.write_bytes(content)
        sources.append(source)
    for outcome in outcomes(sources):
        assert_one_line(outcome, statuses=(0, 2))
