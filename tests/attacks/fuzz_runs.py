"""Runs of ``otspec trace`` that are killed, or whose files are damaged behind their back.

Whatever happens, a run that ends with status 0 has the right numbers; otherwise it says what is
wrong in one line. Nothing is left behind: no process, no temporary file.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path
from unittest import mock

import numpy as np
import trace_files as files
from fuzz_targets import time_limit

from otspec.cli.main import main

POSITIONS, TOKENS = 48, 3000
OPTIONS = ("-k", "1,2", "--chunk", "4", "--json")
SIGNALS = (signal.SIGKILL, signal.SIGTERM, signal.SIGINT)


class Arena:
    """A source, what a run over it must find, and a folder to run in again and again."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        (folder / "whole").mkdir()
        arrays = files.random_pair((POSITIONS // 6, 6, TOKENS))
        self.whole = files.save_packed_npz(folder / "whole", arrays)
        self.source, self.out, self.temporary = folder / "source.npz", folder / "out", folder / "t"
        self.temporary.mkdir()
        self.restored()
        done = self.run("--workers", "1")
        assert done.returncode == 0, done.stderr
        self.expected = means(done.stdout)
        self.finished = folder / "finished"
        shutil.copytree(self.out, self.finished)

    def restored(self) -> None:
        """Put the source back, to the same name and time."""
        shutil.copy2(self.whole, self.source)

    def command(self, *options: str) -> list[str]:
        """The arguments of the run."""
        return ["trace", str(self.source), *OPTIONS, "--out", str(self.out), *options]

    def run(self, *options: str) -> subprocess.CompletedProcess[str]:
        """Run to the end in this process; hanging is a failure."""
        command, out, err = self.command(*options), StringIO(), StringIO()
        with (
            time_limit(command, 60),
            mock.patch.object(tempfile, "tempdir", str(self.temporary)),
            redirect_stdout(out),
            redirect_stderr(err),
        ):
            status = main(command)
        return subprocess.CompletedProcess(command, status, out.getvalue(), err.getvalue())

    def started(self, *options: str) -> subprocess.Popen[str]:
        """Start a run in a process and a group of its own, to be killed."""
        return subprocess.Popen(
            [sys.executable, "-W", "error", "-m", "otspec", *self.command(*options)],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8",
            start_new_session=True, env=os.environ | {"TMPDIR": str(self.temporary)},
        )  # fmt: skip


def means(printed: str) -> list:
    """The numbers of a run."""
    return json.loads(printed)["means"]


def judged(arena: Arena, done: subprocess.CompletedProcess[str], what: str) -> None:
    """A run is right, or it says in one line why not."""
    if done.returncode == 0:
        assert means(done.stdout) == arena.expected, what
        return
    assert done.returncode in (1, 2), (what, done.returncode, done.stderr)
    # A slow machine is told how far it is.
    lines = [line for line in done.stderr.splitlines() if not line.startswith("positions: ")]
    assert lines, what
    assert all(line.startswith("otspec: ") for line in lines), (what, done.stderr)
    if done.returncode == 1:  # some chunks were skipped, and named
        assert json.loads(done.stdout)["skipped"], what


def killed(arena: Arena, rng: np.random.Generator) -> None:
    """Kill a run, or its whole group, at any time; what is resumed is right."""
    shutil.rmtree(arena.out, ignore_errors=True)
    shutil.rmtree(arena.temporary)
    arena.temporary.mkdir()
    number = SIGNALS[int(rng.integers(len(SIGNALS)))]
    group, workers = bool(rng.integers(2)), str(rng.integers(1, 3))
    process = arena.started("--workers", workers)
    time.sleep(float(rng.uniform(0.2, 3.0)))
    (os.killpg if group else os.kill)(process.pid, number)
    out, _ = process.communicate(timeout=60)  # a worker that is left would hold the pipes
    what = f"{number!r} to {'group' if group else 'process'}, {workers} workers"
    if process.returncode == 0:
        assert means(out) == arena.expected, what
    for _ in range(100):
        if not members(process.pid):
            break
        time.sleep(0.1)
    assert not members(process.pid), (what, members(process.pid))
    again = arena.run("--resume", "--workers", "1")
    assert again.returncode == 0, (what, again.stderr)
    assert means(again.stdout) == arena.expected, what
    left = sorted(path.name for path in arena.temporary.iterdir())
    assert number == signal.SIGKILL or not left, (what, left)
    unpacked = arena.out / "unpacked"
    assert not unpacked.exists() or not any(unpacked.iterdir()), what


def members(group: int) -> list[int]:
    """The processes of a group that are alive."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                fields = (entry / "stat").read_text(encoding="utf-8").rpartition(")")[2].split()
            except OSError:
                continue
            if int(fields[2]) == group and fields[0] != "Z":
                found.append(int(entry.name))
    return found


def damaged(arena: Arena, rng: np.random.Generator) -> None:
    """Change a byte, cut, copy, swap or remove a file of a finished run, and resume it."""
    shutil.rmtree(arena.out, ignore_errors=True)
    shutil.copytree(arena.finished, arena.out)
    written = sorted(path for path in arena.out.rglob("*") if path.is_file())
    held = [path for path in written if path.name == "run.json" or path.suffix == ".parquet"]
    victim = held[int(rng.integers(len(held)))]
    other = held[int(rng.integers(len(held)))]
    kind = ("bit", "cut", "empty", "copy", "remove", "grow")[int(rng.integers(6))]
    content = bytearray(victim.read_bytes())
    if kind == "bit":
        content[int(rng.integers(len(content)))] ^= 1 << int(rng.integers(8))
    elif kind == "cut":
        del content[int(rng.integers(len(content))) :]
    elif kind == "empty":
        content.clear()
    elif kind == "copy":
        content[:] = other.read_bytes()
    elif kind == "grow":
        content += bytes(rng.integers(0, 256, 9, dtype=np.uint8))
    if kind == "remove":
        victim.unlink()
    else:
        victim.write_bytes(content)
    done = arena.run("--resume", "--workers", "1")
    judged(arena, done, f"{kind} of {victim.name} ({other.name})")


def replaced(arena: Arena, rng: np.random.Generator) -> None:
    """Put another source in the place of the one that a run has begun with."""
    shutil.rmtree(arena.out, ignore_errors=True)
    shutil.copytree(arena.finished, arena.out)
    parts = sorted((arena.out / "positions").glob("part-*.parquet"))
    for part in rng.permutation(len(parts))[: int(rng.integers(1, len(parts)))]:
        parts[part].unlink()
    content = bytearray(arena.whole.read_bytes())
    content[int(rng.integers(1000, len(content) - 1000))] ^= 255
    arena.source.write_bytes(content)
    try:
        judged(arena, arena.run("--resume", "--workers", "1"), "another source")
    finally:
        arena.restored()


TROUBLES = (killed, damaged, replaced)
