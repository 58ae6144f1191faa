"""Runs: resumed, killed, interrupted, damaged, on a cluster; the results are always the same."""

import contextlib
import json
import os
import re
import signal
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest
import trace_files as files
from command_line import complaint, run
from run_processes import CHUNKS, OPTIONS, ended, started

from otspec.cli.main import main
from otspec.traces.runs import parallel
from otspec.traces.runs.parallel import cores, end_with_parent, run_all


def workers_of(pid):
    """The processes that a run has started for its chunks, if the system says which."""
    for status in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):  # one that has ended
            parent = status.read_text(encoding="utf-8").rsplit(")", 1)[1].split()[1]
            words = (status.parent / "cmdline").read_bytes()
            if int(parent) == pid and b"--multiprocessing-fork" in words:
                yield status.parent


def ignores_interrupts(process):
    said = (process / "status").read_text(encoding="utf-8")
    (ignored,) = (line.split()[1] for line in said.splitlines() if line.startswith("SigIgn:"))
    return bool(int(ignored, 16) >> (signal.SIGINT - 1) & 1)


@pytest.mark.parametrize("to", ["group", pytest.param("process", marks=pytest.mark.nightly)])
def test_an_interrupted_run_says_how_to_go_on(source, expected, results, tmp_path, capsys, to):
    process = started(source, tmp_path)
    assert all(map(ignores_interrupts, workers_of(process.pid)))
    (os.killpg if to == "group" else os.kill)(process.pid, signal.SIGINT)
    out, err = ended(process)
    assert (process.returncode, out) == (130, "")
    assert err.count("\n") == 2, err
    told, interrupted = err.splitlines()
    assert f" of {CHUNKS} chunks are finished in {tmp_path}: " in told
    assert "--resume" in told
    assert interrupted == "otspec: interrupted"
    run(capsys, "trace", source, *OPTIONS, "--workers", "1", "--out", tmp_path, "--resume")
    assert results(tmp_path) == expected


def test_a_local_cluster_gives_the_same_results_and_is_interrupted(
    source, expected, results, tmp_path, capsys
):
    distributed = pytest.importorskip("distributed", reason="needs the extra cluster")
    options = {"n_workers": 1, "threads_per_worker": 1, "dashboard_address": ":0"}
    with distributed.LocalCluster(**options) as cluster:
        address = cluster.scheduler_address
        run(capsys, "trace", source, *OPTIONS, "--out", tmp_path, "--scheduler", address)
        interrupted = started(source, tmp_path / "again", "--scheduler", address)
        interrupted.send_signal(signal.SIGINT)
        _, err = ended(interrupted)
    assert results(tmp_path) == expected
    assert interrupted.returncode == 130
    assert len(err.splitlines()) == 2


def test_only_the_same_run_is_resumed(tmp_path, capsys):
    folder, out = tmp_path / "files", tmp_path / "out"
    folder.mkdir()
    source = files.save_npz(folder, files.random_pair())
    run(capsys, "trace", source, "-k1", "--out", out)
    for options, says in (
        (["-k", "1,2"], "settings.ks was [1] and is [1, 2]"),
        (["-k1", "--temperature", "0.5"], "settings.warpings[0].temperature was 1.0 and is 0.5"),
        (["-k1", "--top-k", "3"], "settings.warpings[0].top_k was None and is 3"),
        (["-k1", "--chunk", "2"], "chunk was None and is 2"),
    ):
        assert says in complaint(capsys, "trace", source, *options, "--out", out, "--resume")
    np.savez(source, **files.random_pair(seed=1))
    told = complaint(capsys, "trace", source, "-k1", "--out", out, "--resume")
    assert f"{source}, array draft_logits, was changed since the run began" in told
    (out / "run.json").write_text("{", encoding="utf-8")
    assert "--overwrite" in complaint(capsys, "trace", source, "-k1", "--out", out, "--resume")
    first = run(capsys, "trace", source, "-k1", "--out", out, "--overwrite")
    assert run(capsys, "trace", source, "-k1", "--out", out, "--resume") == first


def test_a_resumed_run_needs_no_earlier_one(tmp_path, capsys):
    source = files.save_npz(tmp_path, files.random_pair())
    run(capsys, "trace", source, "-k1", "--out", tmp_path / "out", "--resume")


def test_files_of_others_are_left_alone(tmp_path, capsys):
    source, other = files.save_npz(tmp_path, files.random_pair()), tmp_path / "positions" / "mine"
    other.parent.mkdir()
    other.touch()
    for option in ("--overwrite", "--resume"):
        told = complaint(capsys, "trace", source, "-k1", "--out", tmp_path, option)
        assert "holds files of no run" in told
    assert other.exists()


def damaged(tmp_path):
    arrays = files.random_pair()
    arrays["target_logits"][1, 0, 7] = np.nan
    return files.save_npz(tmp_path, arrays)


def test_a_damaged_chunk_is_skipped_and_reported(tmp_path, capsys):
    source, out = damaged(tmp_path), tmp_path / "out"
    for workers in (1, 2):
        options = ["-k1", "--chunk", 2, "--workers", workers, "--out", out, "--overwrite", "--json"]
        assert main(["trace", str(source), *map(str, options)]) == 1
        printed = capsys.readouterr()
        assert printed.err == (
            f"otspec: skipped positions 2 to 3 of {source}: {source}: "
            "target_logits[1, 0][7] is nan: logits must be numbers or -inf\n"
        )
        document = json.loads(printed.out)
        assert document["positions"] == 4
        assert [(row["start"], row["stop"]) for row in document["skipped"]] == [(2, 4)]
        assert {mean["positions"] for mean in document["means"]} == {4}
    # Mended in place, with the same size and time, it is computed on resumption.
    times = source.stat()
    np.savez(source, **files.random_pair())
    os.utime(source, ns=(times.st_atime_ns, times.st_mtime_ns))
    run(capsys, "trace", source, "-k1", "--chunk", 2, "--out", out, "--resume")
    assert json.loads((out / "summary.json").read_text(encoding="utf-8"))["positions"] == 6


def test_a_damaged_archive_does_not_stop_the_others(tmp_path, capsys):
    packed = files.save_packed_npz(tmp_path, files.random_pair((4, 20_000)))
    content = bytearray(packed.read_bytes())
    content[110_000:110_020] = bytes(20)  # far behind the header
    packed.write_bytes(content)
    good = files.save_npz(tmp_path, files.random_pair((4, 20_000)))
    options = ["-k1", "--chunk", "2", "--workers", "1"]
    assert main(["trace", str(packed), str(good), *options]) == 1
    printed = capsys.readouterr()
    assert "over 4 positions" in printed.out
    assert printed.err.count(f"cannot read {packed}") == 2


def test_only_damaged_chunks_are_bad_input(tmp_path, capsys):
    arrays = files.random_pair()
    arrays["draft_logits"][..., 0] = np.nan
    source = files.save_npz(tmp_path, arrays)
    assert "draft_logits[0, 0][0] is nan" in complaint(capsys, "trace", source)
    assert "all 6 chunks failed; the first" in complaint(capsys, "trace", source, "--chunk", 1)


def test_many_damaged_chunks_are_counted(tmp_path, capsys):
    arrays = files.random_pair((30, 5))
    arrays["draft_logits"][1:, 0] = np.nan
    source = files.save_npz(tmp_path, arrays)
    assert main(["trace", str(source), "-k1", "--chunk", "1", "--workers", "1"]) == 1
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 21
    assert lines[-1] == "otspec: skipped 9 chunks more: see --json or --out"


def test_a_worker_that_dies_is_one_line(monkeypatch):
    """Also where workers are as many as cores."""
    monkeypatch.setattr(parallel, "cores", lambda: 2)
    with pytest.raises(ValueError, match="a worker died, perhaps for lack of memory"):
        run_all([(os._exit, 1), (os._exit, 1)])


def test_what_cannot_be_reached_or_parsed_is_one_line(tmp_path, capsys):
    pytest.importorskip("distributed", reason="needs the extra cluster")
    source = files.save_npz(tmp_path, files.random_pair())
    assert complaint(capsys, "trace", source, "--out", tmp_path / "1", "--scheduler", "nowhere://x")


def test_only_a_worker_ends_with_its_parent():
    with pytest.raises(ValueError, match="is no worker"):
        end_with_parent()


def test_nothing_to_do_is_done_at_once():
    run_all([])
    assert cores() >= 1


MEASURED = """
import re, sys
from otspec.cli.main import main
for source in sys.argv[2:]:
    options = ["--chunk", sys.argv[1], "--workers", "1", "-k", "1", "--drafts", "iid", "--json"]
    status = main(["trace", source, *options])
    # Not ru_maxrss, which begins with the memory of the process that started this one.
    print(status, re.search(r"VmHWM:\\s+(\\d+)", open("/proc/self/status").read())[1])
"""


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="reads peak memory in /proc")
def test_memory_does_not_grow_with_the_source(tmp_path):
    """One process reads a small source with each reader, then a large one with each."""
    tokens, chunk = 2**14, 16
    readers, sources = ("npz", "safetensors", "zarr"), []
    for positions in (chunk, 50 * chunk):
        arrays = {name: np.ones((positions, tokens), np.float16) for name in
                  ("draft_logits", "target_logits")}  # fmt: skip
        # Chunks after the first are read and refused at once, which is fast.
        arrays["draft_logits"][chunk::chunk, 0] = np.nan
        for reader in readers:
            folder = tmp_path / f"{reader}-{positions}"
            folder.mkdir()
            options = {"chunks": (chunk, tokens)} if reader == "zarr" else {}
            sources.append(str(files.SAVERS[reader](folder, arrays, **options)))
    assert sum(array.nbytes for array in arrays.values()) > 50e6
    done = subprocess.run(
        [sys.executable, "-c", MEASURED, str(chunk), *sources],
        capture_output=True, encoding="utf-8", check=True,
    )  # fmt: skip
    said = [line.split() for line in done.stdout.splitlines() if line[:1].isdigit()]
    assert [int(status) for status, _ in said] == [0, 0, 0, 1, 1, 1]
    peaks = [int(peak) * 1024 for _, peak in said]
    # A few chunks of both arrays at once, 1 MB each, and noise; not 50 MB.
    assert peaks[-1] - peaks[len(readers) - 1] < 20e6


def test_heavy_packages_are_imported_where_they_are_used():
    program = "import sys, otspec.traces, otspec.cli.main; print(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, encoding="utf-8", check=True
    )
    heavy = {"dask", "distributed", "pyarrow", "zarr", "safetensors", "torch", "transformers"}
    heavy |= {"scipy", "matplotlib", "numba", "sympy", "highspy"}
    assert not heavy & set(done.stdout.split())


def test_a_file_gets_a_line_now_and_then(source, monkeypatch, capsys):
    monkeypatch.setattr("otspec.cli.shared.progress._LINE_S", 0.001)
    assert main(["trace", str(source), *OPTIONS, "--workers", "1", "--json"]) == 0
    printed = capsys.readouterr()
    json.loads(printed.out)
    lines = printed.err.splitlines()
    counts = [
        re.fullmatch(rf"positions: (\d+) of {CHUNKS * 2}(, .* left)?", line) for line in lines
    ]
    assert all(counts)
    done = [int(found[1]) for found in counts]
    assert done == sorted(done)


def test_a_person_sees_rate_and_time_left(source, monkeypatch):
    pty = pytest.importorskip("pty", reason="needs terminals as on Unix")
    ours, theirs = pty.openpty()
    seen = []

    def watch():
        with contextlib.suppress(OSError):  # once the other end is closed
            while block := os.read(ours, 4096):
                seen.append(block)

    watcher = threading.Thread(target=watch)
    watcher.start()
    monkeypatch.setattr("otspec.cli.shared.progress._PERIOD_S", 0.02)
    with os.fdopen(theirs, "w", encoding="utf-8") as terminal, monkeypatch.context() as patched:
        patched.setattr(sys, "stderr", terminal)
        assert main(["trace", source, *OPTIONS, "--workers", "1"]) == 0
    watcher.join()
    os.close(ours)
    assert f"/{CHUNKS * 2}".encode() in b"".join(seen)
    assert re.search(rb"[\d.]+ a second, 0:\d\d:\d\d left", b"".join(seen))
