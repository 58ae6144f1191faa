"""Files that are written in one step: the old one or the new one, whatever happens."""

import os
import resource
import stat
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import pytest
from command_line import complaint, run, write_trace

from otspec._base.writing import in_one_step, remove_unfinished, write_text
from otspec.cli.main import main

OLD, NEW = "old\n", "new, and longer than a block\n" * 1000


def names(folder):
    return sorted(path.name for path in folder.iterdir())


@contextmanager
def full_disk(free):
    """Let files grow to a number of bytes and no further, as on a disk without room."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (free, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_a_file_is_replaced_and_nothing_is_left_beside_it(tmp_path):
    path = tmp_path / "file.txt"
    for text in (OLD, NEW, ""):
        write_text(path, text)
        assert path.read_text(encoding="utf-8") == text
        assert names(tmp_path) == ["file.txt"]


def test_nobody_ever_sees_half_of_it(tmp_path):
    path = tmp_path / "file.txt"
    write_text(path, OLD)
    with in_one_step(path) as stream:
        stream.write(b"half")
        stream.flush()
        assert path.read_text(encoding="utf-8") == OLD
    assert path.read_text(encoding="utf-8") == "half"


def stop_half_way(stream, error):
    stream.write(b"half")
    raise error


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, SystemExit])
def test_whatever_interrupts_the_writer_the_old_file_stays(tmp_path, error):
    path = tmp_path / "file.txt"
    for before in ([], ["file.txt"]):
        with pytest.raises(error), in_one_step(path) as stream:
            stop_half_way(stream, error)
        assert names(tmp_path) == before
        write_text(path, OLD)
    assert path.read_text(encoding="utf-8") == OLD


def test_a_writer_that_is_killed_leaves_the_old_file(tmp_path):
    path = tmp_path / "file.txt"
    write_text(path, OLD)
    program = """
import os, sys
from pathlib import Path
from otspec.cli.main import main
from otspec._base.writing import in_one_step
with in_one_step(Path(sys.argv[1])) as stream:
    stream.write(b"half" * 10_000)
    stream.flush()
    os.kill(os.getpid(), 9)
"""
    killed = subprocess.run([sys.executable, "-c", program, path], check=False)
    assert killed.returncode == -9
    assert path.read_text(encoding="utf-8") == OLD
    assert len(names(tmp_path)) == 2
    remove_unfinished(tmp_path)
    assert names(tmp_path) == ["file.txt"]


def test_a_full_disk_leaves_the_old_file(tmp_path):
    path = tmp_path / "file.txt"
    write_text(path, OLD)
    with full_disk(1000), pytest.raises(OSError, match=r"file\.txt"):
        write_text(path, NEW)
    assert path.read_text(encoding="utf-8") == OLD
    assert names(tmp_path) == ["file.txt"]


def test_what_a_link_names_is_replaced_and_not_the_link(tmp_path):
    (tmp_path / "elsewhere").mkdir()
    real, link = tmp_path / "elsewhere" / "file.txt", tmp_path / "link"
    link.symlink_to(real)
    for text in (OLD, NEW):  # the first through a link to nothing
        write_text(link, text)
        assert link.is_symlink()
        assert real.read_text(encoding="utf-8") == text
    loop = tmp_path / "loop"
    loop.symlink_to(loop)
    with pytest.raises(OSError, match="loop"):
        write_text(loop, NEW)


def test_permissions_stay_and_are_respected(tmp_path, monkeypatch):
    path = tmp_path / "file.txt"
    write_text(path, OLD)
    mask = os.umask(0)
    os.umask(mask)
    assert stat.S_IMODE(path.stat().st_mode) == 0o666 & ~mask
    path.chmod(0o640)
    write_text(path, NEW)
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    # Not by chmod, which does not stop root.
    monkeypatch.setattr(os, "access", lambda *_: False)
    with pytest.raises(PermissionError, match=r"file\.txt"):
        write_text(path, OLD)
    assert path.read_text(encoding="utf-8") == NEW


@pytest.mark.parametrize("place", ["missing/file.txt", "file/file.txt", "folder", "n" * 300])
def test_places_that_cannot_be_written_are_named(tmp_path, place):
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").touch()
    with pytest.raises(OSError, match=place):
        write_text(tmp_path / place, OLD)
    assert names(tmp_path) == ["file", "folder"]


def test_what_is_no_file_is_written_to(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with ThreadPoolExecutor() as pool:
        read = pool.submit(pipe.read_text)  # waits for a writer
        write_text(pipe, NEW)
        assert read.result() == NEW
    assert names(tmp_path) == ["pipe"]


# From no room for anything to room for the results, but not for picture and report.
@pytest.mark.parametrize(("free", "kept"), [(0, 0), (100, 0), (2000, 0), (8000, 1), (20_000, 1)])
def test_a_run_on_a_full_disk_says_so_and_can_be_resumed(tmp_path, capsys, free, kept):
    source, out = write_trace(tmp_path / "trace.npz"), tmp_path / "out"
    report = tmp_path / "report.html"
    report.write_text(OLD, encoding="utf-8")
    arguments = ["trace", source, "-k1", "--chunk", 3, "--out", out, "--report", report]
    arguments = [*map(str, arguments), "--workers", "1"]
    with full_disk(free):
        assert main(arguments) == (1 if kept else 2)
    printed = capsys.readouterr()
    assert ("Mean acceptance" in printed.out) == bool(kept)
    told = printed.err.splitlines()
    assert len(told) == (2 if kept else 1)
    assert all(line.startswith("otspec: ") and "File too large" in line for line in told)
    assert report.read_text(encoding="utf-8") == OLD
    assert not [path for path in out.rglob("*") if path.name.endswith(".partial")]
    for path in out.rglob("*.json"):
        assert path.read_text(encoding="utf-8").endswith("}\n")
    run(capsys, *arguments, "--resume")
    assert report.read_text(encoding="utf-8").startswith("<!doctype html>")


def test_a_full_disk_in_a_worker_is_one_line_too(tmp_path, capsys):
    source = write_trace(tmp_path / "trace.npz")
    with full_disk(2500):
        told = complaint(
            capsys, "trace", source, "-k1", "--chunk", 2, "--workers", 2, "--out", tmp_path / "out"
        )
    assert "part-00000" in told
