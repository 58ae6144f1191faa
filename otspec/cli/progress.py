"""Progress bars, if a person is watching."""

from __future__ import annotations

import itertools
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from otspec.traces.runs import Run

_PERIOD_S = 0.5


@contextmanager
def progress_of(run: Run) -> Iterator[None]:
    """Show how many positions are done, the rate and the time left, while the block runs.

    What is done is seen in the folder of the run, wherever the workers are.
    """
    if not sys.stderr.isatty():
        yield
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

    columns = (
        TextColumn("positions"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[pace]}"),
    )
    stop = threading.Event()
    total = sum(chunk.positions for chunk in run.chunks)
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("positions", total=total, completed=run.positions_done(), pace="")

        def watch() -> None:
            begin, start = run.positions_done(), time.monotonic()
            while not stop.wait(_PERIOD_S):
                done = run.positions_done()
                seconds = time.monotonic() - start
                bar.update(task, completed=done, pace=pace(done - begin, seconds, total - done))

        watcher = threading.Thread(target=watch, daemon=True)
        watcher.start()
        try:
            yield
        finally:
            stop.set()
            watcher.join()


@contextmanager
def working(steps: int, what: str) -> Iterator[Callable[[], None]]:
    """Show on a terminal how many steps of a computation are done, and for how long it runs.

    Yields
    ------
    callable
        To be called after each step.
    """
    with counting(what) as count:
        count(0, steps)
        done = itertools.count(1)
        yield lambda: count(next(done), steps)


@contextmanager
def counting(what: str) -> Iterator[Callable[[int, int], None]]:
    """Show on a terminal how many steps are done, of a number that the computation tells.

    Yields
    ------
    callable
        Takes how many are done, and how many there are.
    """
    if not sys.stderr.isatty():
        yield lambda _done, _steps: None
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        SpinnerColumn,
        TextColumn,
        TimeElapsedColumn,
    )

    columns = (
        SpinnerColumn(),
        TextColumn(what),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(what, total=None)
        yield lambda done, steps: bar.update(task, completed=done, total=steps)


def pace(done: int, seconds: float, left: int) -> str:
    """Return rate and time left in words; nothing before there is a rate.

    Examples
    --------
    >>> pace(100, 10.0, 36000)
    '10.0 a second, 1:00:00 left'
    """
    if not done:
        return ""
    minutes, rest = divmod(round(left * seconds / done), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{done / seconds:.1f} a second, {hours}:{minutes:02}:{rest:02} left"
