"""Runs that are told to end, or killed: no worker and no temporary file outlives them for long."""

import os
import signal
from pathlib import Path

import pytest
from command_line import run
from run_processes import (
    CHUNKS,
    OPTIONS,
    SECONDS,
    ended,
    group_members,
    started,
    started_in,
    wait_until,
)

from otspec.cli.main import main

pytestmark = pytest.mark.skipif(
    not Path("/proc/self/stat").exists(), reason="looks for processes in /proc"
)


@pytest.fixture
def source(sources, request):
    return sources[getattr(request, "param", "packed npz")]


def each_from(*values, marks=()):
    """Parametrize with values and the source that each is tried with."""
    return [pytest.param(*value, id="-".join(map(str, value)), marks=marks) for value in values]


@pytest.mark.parametrize(
    ("number", "to", "source"),
    each_from((signal.SIGTERM, "group", "packed npz"))
    + each_from(
        (signal.SIGTERM, "process", "npz"),
        (signal.SIGHUP, "group", "npz"),
        (signal.SIGHUP, "process", "packed npz"),
        marks=pytest.mark.nightly,
    ),
    indirect=["source"],
)
def test_a_run_that_is_told_to_end_does_so_in_order(source, tmp_path, number, to):
    process = started(source, tmp_path)
    assert len(group_members(process)) >= 3
    (os.killpg if to == "group" else os.kill)(process.pid, number)
    out, err = ended(process)
    assert (process.returncode, out) == (128 + number, "")
    told, last = err.splitlines()
    assert f" of {CHUNKS} chunks are finished in {tmp_path}: " in told
    assert last == "otspec: terminated"
    wait_until(lambda: not group_members(process))
    assert not (tmp_path / "unpacked").exists()
    assert (tmp_path / "run.lock").read_text(encoding="utf-8") == ""


@pytest.mark.parametrize("to", ["process", pytest.param("group", marks=pytest.mark.nightly)])
def test_nothing_outlives_a_run_that_is_killed_and_it_is_resumed_with_the_same_results(
    source, expected, results, tmp_path, capsys, to
):
    """The lock ends with the process, also where nothing can be given up in order."""
    process = started(source, tmp_path)
    (os.killpg if to == "group" else os.kill)(process.pid, signal.SIGKILL)
    process.communicate(timeout=SECONDS)  # returns once nobody has the pipes any more
    wait_until(lambda: not group_members(process))
    assert (tmp_path / "run.lock").read_text(encoding="utf-8") != ""
    finished = {path: path.stat().st_mtime_ns for path in (tmp_path / "positions").glob("part-*")}
    assert 4 <= len(finished) < CHUNKS
    for name in ("run.json", "positions/part-000099.parquet"):
        (tmp_path / name).with_name(f".{Path(name).name}.0123456789abcdef.partial").touch()
    run(capsys, "trace", source, *OPTIONS, "--workers", "1", "--out", tmp_path, "--resume")
    assert not (tmp_path / "unpacked").exists()
    assert not list(tmp_path.glob(".*"))
    assert {path: path.stat().st_mtime_ns for path in finished} == finished
    parts, summary = results(tmp_path)
    whole_parts, whole_summary = expected  # of the same numbers in another file
    assert parts.keys() == whole_parts.keys()
    assert summary["means"] == whole_summary["means"]


def temporary_folders(folder):
    return {path for path in folder.iterdir() if path.name.startswith("otspec-")}


@pytest.mark.parametrize(
    ("number", "workers", "source"),
    each_from((signal.SIGTERM, 2, "npz"), (signal.SIGHUP, 1, "packed npz"))
    + each_from((signal.SIGINT, 1, "packed npz"), marks=pytest.mark.nightly),
    indirect=["source"],
)
def test_a_temporary_folder_is_removed_in_the_end(source, tmp_path, number, workers):
    process = started_in(tmp_path, source, *OPTIONS, "--workers", workers, TMPDIR=str(tmp_path))
    assert len(temporary_folders(tmp_path)) == 1
    process.send_signal(number)
    out, err = ended(process)
    assert (process.returncode, out) == (128 + number, "")
    assert err in ("otspec: terminated\n", "otspec: interrupted\n")
    assert not temporary_folders(tmp_path)


def test_temporary_folders_of_the_dead_are_removed_by_the_next_run(source, tmp_path, monkeypatch):
    environment = {"TMPDIR": str(tmp_path)}
    living = started_in(tmp_path, source, *OPTIONS, "--workers", 1, **environment)
    living.send_signal(signal.SIGSTOP)  # so that it lives until it is killed
    of_living = temporary_folders(tmp_path)
    other = tmp_path / "other"
    other.mkdir()
    killed = started_in(other, source, *OPTIONS, "--workers", 1, TMPDIR=str(other))
    killed.kill()
    killed.communicate(timeout=SECONDS)
    (left,) = temporary_folders(other)
    left = left.rename(tmp_path / left.name)
    wanted = tmp_path / "otspec-results"  # of a run that was killed and is to be resumed
    wanted.mkdir()
    (wanted / "run.lock").write_text(
        (left / "run" / "run.lock").read_text(encoding="utf-8"), encoding="utf-8"
    )
    link = tmp_path / "otspec-link"
    link.symlink_to(left)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    assert main(["trace", "-k1", "--workers", "1"]) == 0
    assert temporary_folders(tmp_path) == of_living | {wanted, link}
    living.kill()
    living.communicate(timeout=SECONDS)
    assert main(["trace", "-k1", "--workers", "1"]) == 0
    assert temporary_folders(tmp_path) == {wanted, link}
