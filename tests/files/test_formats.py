"""Every format in the tables, those of other packages too: whole, cut, damaged, refused."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import trace_files
from small_files import NEEDS, NUMBERS, WHOLE

from otspec._base.arithmetic import as_numbers
from otspec.files import FORMATS, Format, pick, read_file, small_formats, trace_formats
from otspec.traces.readers import find_source, locate_arrays

SMALL, TRACES = small_formats(), trace_formats()
DOCS = Path(__file__).parents[2] / "docs"
SAVERS = {"npz": ".npz", "packed npz": ".npz", "npy": ".npy", "safetensors": ".safetensors",
          "zarr": ".zarr", "torch": ".pt"}  # fmt: skip


def held(path, content):
    """Read a file: what it holds, or the one line that names it."""
    path.write_bytes(content)
    try:
        return read_file(path)
    except ValueError as error:
        said = str(error)
    assert str(path) in said
    assert "\n" not in said
    return None


def with_package(ending):
    if ending in NEEDS:
        package, reason = NEEDS[ending]
        pytest.importorskip(package, reason=reason)


def test_no_format_is_forgotten():
    assert list(WHOLE) == list(SMALL)
    assert set(SAVERS) == set(trace_files.SAVERS)
    assert {*SAVERS.values(), ".pth"} == set(TRACES)
    assert TRACES[".pth"].locate is TRACES[".pt"].locate
    assert SMALL[".pth"].read is SMALL[".pt"].read


@pytest.mark.parametrize("ending", list(SMALL))
def test_a_small_file_gives_its_numbers(tmp_path, ending):
    with_package(ending)
    path = tmp_path / f"file{ending}"
    found = held(path, WHOLE[ending])
    (name,) = found
    assert as_numbers(pick(str(path), name, ()), name).tolist() == NUMBERS
    if SMALL[ending].named:
        assert SMALL[ending].example == f"FILE{ending}:KEY"
        with pytest.raises(ValueError, match="there is no 'y' in it"):
            read_file(path, ("y",))


@pytest.mark.parametrize("ending", sorted({*SMALL} - {".pth"}))
def test_a_small_file_that_is_cut_or_damaged_gives_numbers_or_one_line(tmp_path, ending):
    with_package(ending)
    path, whole = tmp_path / f"file{ending}", WHOLE[ending]
    for end in range(0, len(whole), 1 + len(whole) // 300):
        held(path, whole[:end])
    rng = np.random.default_rng(len(whole))
    for _ in range(200):
        content = bytearray(whole)
        for place in rng.integers(len(whole), size=rng.integers(1, 5)):
            content[place] = rng.integers(256)
        held(path, bytes(content))


@pytest.mark.parametrize("ending", list(SMALL))
def test_a_small_file_that_is_none_is_refused(tmp_path, ending):
    path = tmp_path / f"file{ending}"
    with pytest.raises(ValueError, match="no such file"):
        read_file(path)
    assert held(path, b"") is None
    path.unlink()
    path.mkdir()
    with pytest.raises(ValueError, match="is a directory"):
        read_file(path)


@pytest.mark.parametrize("ending", list(TRACES))
def test_a_trace_that_is_none_is_refused(tmp_path, ending):
    path, form = tmp_path / f"trace{ending}", FORMATS[ending]
    with pytest.raises(ValueError, match="no such file"):
        locate_arrays(path)
    path.write_bytes(b"") if form.folder else path.mkdir()
    with pytest.raises(ValueError, match=f"is a {'file' if form.folder else 'directory'}: name"):
        locate_arrays(path)
    path.unlink() if form.folder else path.rmdir()
    path.mkdir() if form.folder else path.write_bytes(b"")
    with pytest.raises(ValueError, match=re.escape(path.name)):
        locate_arrays(path)


@pytest.mark.parametrize("saver", list(SAVERS))
def test_a_format_says_whether_it_is_a_folder_and_has_names(tmp_path, saver):
    pair = trace_files.random_pair()
    first = Path(str(trace_files.SAVERS[saver](tmp_path, pair)).split("+")[0])
    form = FORMATS[SAVERS[saver]]
    assert first.suffix == form.name
    assert first.is_dir() == form.folder
    assert set(locate_arrays(first)) == (set(pair) if form.named else {""})


def test_what_is_no_format_cannot_be_added():
    with pytest.raises(ValueError, match="is no Format"):
        FORMATS.add(".x", len)
    with pytest.raises(ValueError, match=r"named '\.y'"):
        FORMATS.add(".x", Format(".y", len))


def test_the_pages_name_every_format():
    for page, examples in (
        ("files", [form.example for form in SMALL.values()]),
        ("traces", [form.trace_example for form in TRACES.values()]),
    ):
        text = (DOCS / "tables" / f"registry_{page}.md").read_text(encoding="utf-8")
        assert [text.count(f"`{example}`") for example in examples] == [1] * len(examples)


THEIRS = """
from otspec.files import Format
from otspec.files.npy import locate_npy


def read_lines(path, keys):
    return {"": path.read_text(encoding="utf-8").split()}


LINES = Format(".lines", read_lines)
RAW = Format(".raw", locate=locate_npy)
"""
ENTRY_POINTS = """
[otspec.formats]
.lines = their_formats:LINES
.raw = their_formats:RAW
"""


EACH = """
import json, sys
from otspec.cli.main import main
for words in json.loads(sys.argv[1]):
    print("status", main(words))
"""


@pytest.fixture
def with_theirs(tmp_path):
    """Run Python with a package beside otspec that adds two formats."""
    (tmp_path / "their_formats.py").write_text(THEIRS, encoding="utf-8")
    about = tmp_path / "their_formats-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Name: their-formats\nVersion: 1.0\n", encoding="utf-8")
    (about / "entry_points.txt").write_text(ENTRY_POINTS, encoding="utf-8")

    def run(*arguments):
        return subprocess.run(
            [sys.executable, "-W", "error", *map(str, arguments)],
            env=os.environ | {"PYTHONPATH": os.pathsep.join([str(tmp_path), *sys.path])},
            capture_output=True,
            encoding="utf-8",
            check=False,
        )

    return run


def test_other_packages_add_formats_that_commands_read_and_name(tmp_path, with_theirs):
    path = tmp_path / "draft.lines"
    path.write_text("1/2\n1/2\n", encoding="utf-8")
    done = with_theirs("-m", "otspec", "accept", path, "1/4,3/4", "-k1")
    assert "0.750000 = 3/4" in done.stdout, done.stderr

    pair = f"{tmp_path / 'draft'}.raw+{tmp_path / 'target'}.raw"
    source = trace_files.save_npy(tmp_path, trace_files.random_pair())
    for side in ("draft", "target"):
        (tmp_path / f"{side}.npy").rename(tmp_path / f"{side}.raw")
    commands = [
        ["trace", pair, "-k1", "--workers", "1"],
        *(["accept", "--help"], ["trace", "--help"]),
        *(["accept", "x", "1/4,3/4"], ["trace", "x.abc"]),
    ]
    done = with_theirs("-c", EACH, json.dumps(commands))
    said = re.split(r"^status (\d)\n", done.stdout, flags=re.MULTILINE)
    assert said[1::2] == list("00022"), done.stderr
    means, of_accept, of_trace = said[:6:2]
    assert "Mean acceptance over 6 positions" in means
    assert "FILE.lines" in " ".join(of_accept.split())
    assert "pairs of .npy or .raw" in " ".join(of_trace.split())
    # A slow machine tells of progress, too.
    lines = [line for line in done.stderr.splitlines() if not line.startswith("positions: ")]
    unread, untraced = lines
    assert ", .lines" in unread
    assert ".pth, .raw" in untraced
    with pytest.raises(ValueError, match="no such file"):
        find_source(source)
