"""Runs in processes of their own, which tests interrupt and kill."""

import os
import subprocess
import sys
import time
from pathlib import Path

TRACE = [sys.executable, "-W", "error", "-m", "otspec", "trace"]
OPTIONS = ["-k", "1,2", "--chunk", "2"]
CHUNKS = 60
SECONDS = 600
"""Only so that a test ends that waits for what does not come."""


SLOW_WRITES = Path(__file__).parent / "slow_writes"


def started(source, out, *options, workers=2, slow=True):
    """Start a run in a process group of its own; wait for finished parts."""
    arguments = (source, *OPTIONS, "--workers", workers, "--out", out, *options)
    return started_in(out, *arguments, slow=slow)


def started_in(folder, *arguments, slow=True, **environment):
    """Start a run in a process group of its own; wait for finished parts below a folder."""
    # slow: a run of some seconds, which does not end before a signal comes on a busy machine.
    paths = [str(SLOW_WRITES)] * slow + [os.environ.get("PYTHONPATH", "")]
    process = subprocess.Popen(
        [*TRACE, *map(str, arguments)],
        env=os.environ | environment | {"PYTHONPATH": os.pathsep.join(filter(None, paths))},
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8", start_new_session=True,
    )  # fmt: skip
    while process.poll() is None and len(list(Path(folder).rglob("part-*.parquet"))) < 4:
        time.sleep(0.01)
    assert process.poll() is None, process.communicate()
    return process


def ended(process):
    """Wait until a process ends; return what it printed, without lines of progress."""
    out, err = process.communicate(timeout=SECONDS)
    lines = err.splitlines(keepends=True)
    return out, "".join(line for line in lines if not line.startswith("positions: "))


def wait_until(condition):
    """Wait until a condition holds."""
    end = time.monotonic() + SECONDS
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.01)


def group_members(process):
    """Return the processes of the group that a process was started in, dead ones aside."""
    found = []
    for status in Path("/proc").glob("[0-9]*/stat"):
        try:
            name, _, rest = status.read_text(encoding="utf-8").rpartition(")")
        except (FileNotFoundError, ProcessLookupError):
            continue
        state, _, group = rest.split()[:3]
        if int(group) == process.pid and state not in "ZX":
            found.append(int(name.split()[0]))
    return found
