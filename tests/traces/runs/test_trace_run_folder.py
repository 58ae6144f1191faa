"""The folder of a run: one run at a time, nothing of an earlier one, nothing outside of it."""

import json
import os
import signal
import socket

import pytest
import trace_files as files
from command_line import complaint, run
from run_processes import OPTIONS, ended, started

from otspec.traces.runs.opening import locked


@pytest.fixture
def finished(tmp_path, capsys):
    """A finished run of three parts, and arguments for another of another trace in its folder."""
    source, out = files.save_npz(tmp_path, files.random_pair()), tmp_path / "out"
    run(capsys, "trace", source, "-k1", "--chunk", 2, "--workers", 1, "--out", out)
    other = files.save_npy(tmp_path, files.random_pair((2, 1, 20), seed=1))
    return out, ["trace", other, "-k1", "--chunk", 2, "--workers", 1, "--out", out]


def test_overwriting_leaves_nothing_of_the_earlier_run(finished, capsys):
    out, another = finished
    (out / "acceptance-T0.5.png").touch()
    (out / "mine.txt").touch()
    run(capsys, *another, "--overwrite")
    assert len(list((out / "positions").iterdir())) == 1
    assert json.loads((out / "summary.json").read_text(encoding="utf-8"))["positions"] == 2
    assert {path.name for path in out.iterdir()} == {
        "acceptance.png", "failed", "mine.txt", "positions", "run.json", "run.lock", "summary.json",
    }  # fmt: skip


def test_an_interrupted_overwriting_leaves_no_numbers_of_the_earlier_run(
    finished, capsys, monkeypatch
):
    out, another = finished
    monkeypatch.setattr("otspec.traces.runs.run.run_all", lambda *_, **__: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        run(capsys, *another, "--overwrite")
    assert not list(out.rglob("*.parquet"))
    assert not (out / "summary.json").exists()
    assert not (out / "acceptance.png").exists()


@pytest.mark.parametrize("name", ["positions", "failed", "unpacked", "run.json"])
@pytest.mark.parametrize("option", [(), ("--overwrite",), ("--resume",)])
def test_links_out_of_the_folder_are_refused(finished, tmp_path, capsys, name, option):
    out, another = finished
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "mine").write_text("mine", encoding="utf-8")
    if name == "run.json":
        (out / name).rename(out / "kept.json")
        (out / name).symlink_to(elsewhere / "mine")
    else:
        if (out / name).exists():
            (out / name).rename(out / f"kept-{name}")
        (out / name).symlink_to(elsewhere)
    assert f"{out / name} is a symbolic link: remove it" in complaint(capsys, *another, *option)
    assert [path.read_text(encoding="utf-8") for path in elsewhere.iterdir()] == ["mine"]


def test_links_in_the_folders_are_removed_and_not_followed(finished, tmp_path, capsys):
    out, another = finished
    (tmp_path / "mine").write_text("mine", encoding="utf-8")
    for name in ("positions/part-000000.parquet", "failed/part-000000.txt", "summary.json"):
        (out / name).unlink(missing_ok=True)
        (out / name).symlink_to(tmp_path / "mine")
    (out / "failed" / "folder").symlink_to(tmp_path)
    run(capsys, *another, "--overwrite")
    assert (tmp_path / "mine").read_text(encoding="utf-8") == "mine"
    assert not (out / "positions" / "part-000000.parquet").is_symlink()
    assert json.loads((out / "summary.json").read_text(encoding="utf-8"))["positions"] == 2


def test_what_cannot_be_removed_is_an_error(finished, capsys, monkeypatch):
    _, another = finished

    def refuse(path, **_):  # as a folder without permission does, which does not stop root
        raise PermissionError(13, "Permission denied", str(path))

    for name in ("unlink", "rmdir"):
        with monkeypatch.context() as patched:
            patched.setattr(os, name, refuse)
            told = complaint(capsys, *another, "--overwrite")
        assert "Permission denied" in told


def test_a_file_in_place_of_a_folder_is_an_error(finished, capsys):
    out, another = finished
    for path in (out / "positions").iterdir():
        path.unlink()
    (out / "positions").rmdir()
    (out / "positions").touch()
    assert str(out / "positions") in complaint(capsys, *another, "--overwrite")
    assert complaint(capsys, "trace", "-k1", "--out", out / "run.json" / "below")


def test_an_out_in_a_circle_is_an_error(tmp_path, capsys):
    loop = tmp_path / "loop"
    loop.symlink_to(loop)
    assert str(loop) in complaint(capsys, "trace", "-k1", "--out", loop / "out")


def test_a_folder_that_is_a_link_is_the_one_it_names(tmp_path, capsys):
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    run(capsys, "trace", "-k1", "--workers", 1, "--out", tmp_path / "link")
    with locked(tmp_path / "real"):
        assert "is in use" in complaint(capsys, "trace", "-k1", "--out", tmp_path / "link")


# One run at a time


def test_a_second_run_is_told_who_is_at_work(source, tmp_path, capsys):
    process = started(source, tmp_path, workers=1, slow=False)
    process.send_signal(signal.SIGSTOP)  # so that it is still at work, however slow the others are
    arguments = ["trace", source, *OPTIONS, "--workers", 1, "--out", tmp_path]
    for option in ((), ("--resume",), ("--overwrite",)):
        told = complaint(capsys, *arguments, *option)
        assert f"is in use by process {process.pid} on {socket.gethostname()} since 20" in told
    process.send_signal(signal.SIGCONT)
    out, err = ended(process)
    assert (process.returncode, err) == (0, "")
    assert run(capsys, *arguments, "--resume") == out


def test_a_lock_is_given_up_however_the_block_ends(tmp_path):
    for error in (ValueError, KeyboardInterrupt, SystemExit):
        with pytest.raises(error), locked(tmp_path):
            raise error
    with locked(tmp_path):
        pass


@pytest.mark.parametrize("content", ["", "{", "[]", "{}", "1", "\xff" * 20_000])
def test_whatever_the_lock_says_it_holds(tmp_path, content):
    with locked(tmp_path):
        (tmp_path / "run.lock").write_text(content, encoding="latin-1")
        with pytest.raises(ValueError, match="is in use by "), locked(tmp_path):
            pass
    with locked(tmp_path):
        pass


def test_file_systems_without_locks_are_refused(tmp_path, monkeypatch):
    def flock(*_):
        raise OSError(95, "Operation not supported")

    monkeypatch.setattr("fcntl.flock", flock)
    with pytest.raises(OSError, match="has no locks"), locked(tmp_path):
        pass


def test_a_lock_is_not_written_elsewhere(tmp_path, capsys):
    (tmp_path / "mine").write_text("mine", encoding="utf-8")
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "run.lock").symlink_to(tmp_path / "mine")
    assert "run.lock" in complaint(capsys, "trace", "-k1", "--out", tmp_path / "out")
    assert (tmp_path / "mine").read_text(encoding="utf-8") == "mine"
