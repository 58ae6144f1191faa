"""Progress on standard error, and an orderly end when the system asks for it."""

import itertools
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from types import FrameType
from typing import TYPE_CHECKING, Any

from otspec._base.tables import say

if TYPE_CHECKING:
    from otspec.traces.runs import Run


_PERIOD_S = 0.5
_LINE_S = 5.0  # seconds between two lines where there is no terminal


@contextmanager
def progress_of(run: "Run") -> Iterator[None]:
    """Show how many positions are done, the rate and the time left, while the block runs."""
    total = sum(chunk.positions for chunk in run.chunks)
    if not sys.stderr.isatty():
        with _watching(run, total, _LINE_S, _line):
            yield
        return
    with _bar("positions", ["{task.fields[pace]}"]) as bar:
        task = bar.add_task("positions", total=total, completed=run.positions_done(), pace="")

        def show(done: int, _: int, words: str) -> None:
            bar.update(task, completed=done, pace=words)

        with _watching(run, total, _PERIOD_S, show):
            yield


def _line(done: int, total: int, words: str) -> None:
    say(f"positions: {done:,} of {total:,}{', ' if words else ''}{words}", err=True)


@contextmanager
def _watching(
    run: "Run", total: int, period: float, show: Callable[[int, int, str], None]
) -> Iterator[None]:
    """Show what is done of a run again and again while the block runs."""
    stop = threading.Event()

    def watch() -> None:
        begin, start = run.positions_done(), time.monotonic()
        while not stop.wait(min(period, threading.TIMEOUT_MAX)):
            done = run.positions_done()
            show(done, total, pace(done - begin, time.monotonic() - start, total - done))

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield
    finally:
        stop.set()
        watcher.join()


@contextmanager
def working(steps: int, what: str) -> Iterator[Callable[[], None]]:
    """Show how many steps of a computation are done, and on a terminal for how long it runs."""
    with counting(what) as count:
        count(0, steps)
        done = itertools.count(1)
        yield lambda: count(next(done), steps)


@contextmanager
def counting(what: str) -> Iterator[Callable[[int, int], None]]:
    """Show how many steps are done, of a number that the computation tells."""
    if not sys.stderr.isatty():
        shown = time.monotonic()

        def line(done: int, steps: int) -> None:
            nonlocal shown
            if time.monotonic() - shown >= _LINE_S:
                shown = time.monotonic()
                say(f"{what}: {done:,} of {steps:,}", err=True)

        yield line
        return
    with _bar(what) as bar:
        task = bar.add_task(what, total=None)
        yield lambda done, steps: bar.update(task, completed=done, total=steps)


def _bar(what: str, pace: Sequence[str] = ()) -> Any:
    """Return a progress bar: with a pace in words, or the time since it began."""
    from rich import progress as rich
    from rich.console import Console

    ends = map(rich.TextColumn, pace) if pace else [rich.TimeElapsedColumn()]
    first = [] if pace else [rich.SpinnerColumn()]
    middle = rich.TextColumn(what), rich.BarColumn(), rich.MofNCompleteColumn()
    console = Console(stderr=True)
    return rich.Progress(*first, *middle, *ends, console=console, transient=True)


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


_ASKING = ("SIGTERM", "SIGHUP")


class Terminated(SystemExit):
    """The system asked the process to end; the exit status is 128 and the number of the signal."""


@contextmanager
def raise_on_signals() -> Iterator[None]:
    """Raise :class:`Terminated` in the block when the process is asked to end."""
    # Only where a signal would end the process at once, and in the main thread, which hears them. A
    # second one is ignored, so that the first can be followed.
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    heard = [getattr(signal, name) for name in _ASKING if hasattr(signal, name)]
    heard = [number for number in heard if signal.getsignal(number) == signal.SIG_DFL]

    def end(number: int, _frame: FrameType | None) -> None:
        for each in heard:
            signal.signal(each, signal.SIG_IGN)
        raise Terminated(128 + number)

    for number in heard:
        signal.signal(number, end)
    try:
        yield
    finally:
        for number in heard:
            signal.signal(number, signal.SIG_DFL)
