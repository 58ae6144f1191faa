"""Sources that change between runs, or while a run reads them: noticed, whatever the format."""

import os
import shutil
from pathlib import Path

import numpy as np
import pytest
import trace_files as files
from command_line import complaint, run

from otspec.cli.commands import trace as cli_trace
from otspec.traces.readers import find_source
from otspec.traces.runs import work

READERS = list(files.SAVERS)
pytestmark = pytest.mark.usefixtures("no_pictures")


@pytest.fixture
def no_pictures(monkeypatch):
    """Every run would draw one, which takes longer than the run."""
    monkeypatch.setattr(cli_trace, "write_charts", lambda *_: [])


def saved(reader, folder, seed=0):
    folder.mkdir(exist_ok=True)
    return str(files.SAVERS[reader](folder, files.random_pair((2, 3, 20), seed=seed)))


def last_file(source):
    """A file of the numbers of the target model: of a Zarr array, its last chunk."""
    path = Path(source.split("+")[-1])
    if path.is_file():
        return path
    return max(file for file in (path / "target_logits" / "c").rglob("*") if file.is_file())


def with_times_of(path, other):
    status = other.stat()
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))


def flip(path):
    """Change one number in place; of an archive, whose numbers have checksums, a date."""
    content = bytearray(path.read_bytes())
    content[10 if path.suffix == ".npz" else len(content) // 2] ^= 1
    with path.open("r+b") as stream:
        stream.write(content)


def touch_later(path):
    os.utime(path, ns=(path.stat().st_atime_ns, path.stat().st_mtime_ns + 1))


def take_its_place(path):
    """Put another file of the same size and time there."""
    other = path.with_name(f"other{path.suffix}")
    shutil.copy(path, other)
    flip(other)
    with_times_of(other, path)
    other.rename(path)


def cut_short(path):
    """Leave less, and the same time."""
    kept = path.with_name("times")
    kept.touch()
    with_times_of(kept, path)
    path.write_bytes(path.read_bytes()[:-30])
    with_times_of(path, kept)
    kept.unlink()


def age(path):
    """Put another file of the same size and an earlier time there."""
    take_its_place(path)
    os.utime(path, ns=(0, path.stat().st_mtime_ns - 10**9))


CHANGES = [flip, touch_later, take_its_place, age]


def each_reader_and(changes):
    """Each reader with each change; by day two with those that a time or a place alone tells."""
    found = []
    for reader in READERS:
        for change in changes:
            by_day = change not in (touch_later, take_its_place, age) or reader in ("npz", "zarr")
            marks = () if by_day else pytest.mark.nightly
            found.append(pytest.param(reader, change, marks=marks))
    return found


def arguments(source, out):
    return ["trace", source, "-k1", "--chunk", 2, "--workers", 1, "--out", out]


@pytest.mark.parametrize(("reader", "change"), each_reader_and(CHANGES))
def test_a_change_between_runs_is_refused(tmp_path, capsys, reader, change):
    source, out = saved(reader, tmp_path / "in"), tmp_path / "out"
    run(capsys, *arguments(source, out))
    run(capsys, *arguments(source, out), "--resume")
    change(last_file(source))
    told = complaint(capsys, *arguments(source, out), "--resume")
    assert f"{Path(source.split('+')[-1])}" in told
    assert "was changed since the run began: start again with --overwrite" in told


@pytest.mark.parametrize("what", ["removed", "added", "metadata"])
def test_all_files_of_a_zarr_array_count(tmp_path, capsys, what):
    source, out = saved("zarr", tmp_path / "in"), tmp_path / "out"
    run(capsys, *arguments(source, out))
    chunk = last_file(source)
    if what == "removed":
        chunk.unlink()
    elif what == "added":
        shutil.copy(chunk, chunk.with_name("99"))
    else:
        touch_later(Path(source) / "zarr.json")
    told = complaint(capsys, *arguments(source, out), "--resume")
    assert f"{source}, array " in told
    assert "was changed since the run began" in told


@pytest.fixture
def change_while_reading(monkeypatch):
    """Let something happen once the first position was read."""

    def plan(happen):
        compare, happened = work.compare, []

        def compare_and_change(*args, **options):
            if not happened:
                happened.append(happen())
            return compare(*args, **options)

        monkeypatch.setattr(work, "compare", compare_and_change)
        return happened

    return plan


@pytest.mark.parametrize(("reader", "change"), each_reader_and([*CHANGES, cut_short, Path.unlink]))
def test_a_change_during_a_run_is_refused(
    tmp_path, capsys, change_while_reading, monkeypatch, reader, change
):
    source, out = saved(reader, tmp_path / "in"), tmp_path / "out"
    happened = change_while_reading(lambda: change(last_file(source)))
    told = complaint(capsys, *arguments(source, out))
    assert happened
    assert str(tmp_path / "in") in told
    assert "was changed " in told
    assert "--overwrite" in told
    assert not (out / "summary.json").exists()
    if change is flip and reader != "packed npz":
        assert not any((out / "positions").iterdir())  # noticed by the chunk that was read then
    # What was read before is not taken for results of what is there now.
    if change not in (cut_short, Path.unlink):
        change_while_reading(lambda: None)
        assert "was changed since" in complaint(capsys, *arguments(source, out), "--resume")
        fresh = run(capsys, *arguments(source, tmp_path / "fresh"))
        again = run(capsys, *arguments(source, out), "--overwrite")
        assert again.splitlines()[:-2] == fresh.splitlines()[:-2]


@pytest.mark.parametrize("reader", [reader for reader in READERS if reader != "packed npz"])
def test_what_is_newer_than_the_run_is_noticed_by_the_chunk(tmp_path, reader):
    source = find_source(saved(reader, tmp_path / "in"))
    latest = source.latest()
    source.refuse_newer(0, source.positions, latest)
    changed = last_file(source.name)
    os.utime(changed, ns=(latest, latest + 1))
    with pytest.raises(ValueError, match=r"was changed while it was read") as told:
        source.refuse_newer(source.positions - 1, source.positions, latest)
    assert str(changed) in str(told.value)
    assert source.latest() == latest + 1


@pytest.mark.parametrize("order", ["C", "F"])
def test_rows_behind_the_end_of_a_file_are_an_error(tmp_path, order):
    arrays = {name: np.asarray(array, order=order) for name, array in files.random_pair().items()}
    source = find_source(files.save_npy(tmp_path, arrays))
    cut_short(last_file(source.name))
    with pytest.raises(ValueError, match=r"cannot read .*target\.npy"):
        source.target.rows(0, 6)
    with pytest.raises(ValueError, match=r"cannot read .*target\.npy"):
        source.target.rows(5, 6)
