"""Runs tests in a fork of this process, which has the libraries, and skips those that take long."""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

LIBRARIES = ("numpy", "scipy.optimize", "scipy.stats", "numba", "torch")
"""What most tests import: only once, before the first fork."""
WAIT = 40
"""A test may wait for so many times the seconds of work that it may take."""


class Short:
    """A plugin of pytest: what takes a test function beyond some seconds of work is skipped.

    The first parameters of a function tell what it runs.
    """

    def __init__(self, seconds: float) -> None:
        self._left: dict[str, float] = defaultdict(lambda: seconds)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> Generator[None, Any, Any]:
        """Limit what a test needs."""
        return (yield from self._limited(item))

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Generator[None, Any, Any]:
        """Limit the test itself."""
        return (yield from self._limited(item))

    def _limited(self, item: pytest.Item) -> Generator[None, Any, Any]:
        def stop(*_: object) -> None:
            raise pytest.skip.Exception("takes long")

        function = item.nodeid.partition("[")[0]
        left = self._left[function]
        if left <= 0:
            stop()
        # The clock of the processor does not depend on what else runs.
        clocks = (
            (signal.ITIMER_PROF, signal.SIGPROF, left),
            (signal.ITIMER_REAL, signal.SIGALRM, WAIT * left),
        )
        for timer, number, seconds in clocks:
            signal.signal(number, stop)
            signal.setitimer(timer, seconds)
        start = time.process_time()
        try:
            return (yield)
        finally:
            for timer, *_ in clocks:
                signal.setitimer(timer, 0)
            self._left[function] -= time.process_time() - start


def _run(
    words: Sequence[str], log: Path, changes: Mapping[str, str], plugins: Sequence[object]
) -> None:
    """Be the process that runs the tests."""
    os.setsid()
    os.environ.update(changes)
    with log.open("wb") as stream:
        for number in (1, 2):
            os.dup2(stream.fileno(), number)
    sys.exit(pytest.main(["-q", "-p", "no:cacheprovider", *words], plugins))


def run(
    words: Sequence[str], log: Path, *, limit: float | None = None, keep: bool = False,
    plugins: Sequence[object] = (), **changes: str,
) -> tuple[int | None, str]:  # fmt: skip
    """Run pytest; return its status, None if it went on beyond the limit, and what it printed.

    ``keep``: keep compiled code. ``changes``: of the environment.
    """
    for name in LIBRARIES:
        with suppress(ImportError):
            import_module(name)
    sys.dont_write_bytecode = not keep
    changes["PYTHONDONTWRITEBYTECODE"] = "" if keep else "1"
    target: Callable[..., None] = _run
    process = multiprocessing.get_context("fork").Process(
        target=target, args=(words, log, changes, plugins)
    )
    process.start()
    process.join(limit)
    status = process.exitcode
    if status is None:
        with suppress(ProcessLookupError):
            os.killpg(process.pid or 0, signal.SIGKILL)
        process.join()
    return status, log.read_text(encoding="utf-8", errors="replace")
