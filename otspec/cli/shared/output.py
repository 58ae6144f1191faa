"""What commands print and how far they are, and files: checked beforehand, written whole."""

from __future__ import annotations

import io
import itertools
import json
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any, TypeAlias

import click

from otspec._base.arithmetic import Number
from otspec._base.coerce import shortened, written
from otspec._base.extras import needed
from otspec._base.tables import say
from otspec.estimate import Estimate, Quantity, value_of
from otspec.frames import check_ending, write_table

if TYPE_CHECKING:
    import pyarrow as pa

    from otspec.traces.runs import Run


_PERIOD_S = 0.5
_LINE_S = 5.0  # seconds between two lines where there is no terminal


@contextmanager
def progress_of(run: Run) -> Iterator[None]:
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
    run: Run, total: int, period: float, show: Callable[[int, int, str], None]
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


def print_json(content: Any) -> None:
    """Print one JSON document in ASCII; fractions are strings such as ``"17/20"``."""
    text = json.dumps(content, default=_jsonable, indent=2)
    # The one control character that JSON leaves as it is.
    say(*text.replace("\x7f", "\\u007f").split("\n"))


def _jsonable(value: Any) -> Any:
    if isinstance(value, Fraction):
        return written(value)
    if isinstance(value, Quantity):
        return value.value
    raise TypeError(f"{type(value).__name__} has no JSON form")


def shown(value: Number | Quantity, digits: int = 4) -> str:
    """Return a number for a table: decimals, the fraction if exact, ≈ if it is an estimate."""
    decimal = f"{float(value):z.{digits}f}"
    if isinstance(value, Estimate):
        return f"≈{decimal}"
    number = value_of(value)
    if not isinstance(number, Fraction):
        return decimal
    fraction = shortened(number)
    return f"{decimal} {'≈' if '…' in fraction else '='} {fraction}"


def shown_set(tokens: Sequence[int], most: int = 8) -> str:
    """Return a token set, cut short if it is large."""
    listed = ", ".join(map(str, tokens[:most]))
    return f"{{{listed}}}" if len(tokens) <= most else f"{{{listed}, … {len(tokens):,} tokens}}"


def percent(value: Number | Quantity) -> str:
    """Return a probability as a percentage for a sentence."""
    return f"{100 * float(value):.1f}%"


TableMaker: TypeAlias = "Callable[[], pa.Table]"  # what a table is made by, if one is wanted


def command_line() -> str:
    """Return the command line that is run, as it can be typed; empty if it was not typed."""
    typed = click.get_current_context().obj
    return typed if isinstance(typed, str) else ""


def check_place(path: Path) -> None:
    """Try whether a file can be written, and leave everything as it was."""
    place = path.resolve()
    if place.is_dir():
        raise IsADirectoryError(f"{path} is a directory: name a file")
    if place.is_file():
        with place.open("ab"):
            return
    if not place.parent.is_dir():
        raise FileNotFoundError(f"{path}: there is no folder {place.parent}: make it first")
    if not place.exists():
        with place.open("xb"):
            pass
        place.unlink()


def check_picture(ending: str) -> None:
    """Try whether pictures of that kind can be drawn here."""
    if not ending:
        raise ValueError("the name of the picture has no ending: write one such as .png or .svg")
    needed("matplotlib", "drawing", "plots")
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(1, 1))
    FigureCanvasAgg(figure)
    figure.text(0, 0, "k")
    figure.savefig(io.BytesIO(), format=ending.removeprefix("."))


def check_table(path: Path | None) -> None:
    """Try whether a table can be written to a file, if one is named."""
    if path is not None:
        check_ending(path)
        needed("pyarrow", "a table", "runs")
        check_place(path)


def table_written(path: Path | None, make: TableMaker, *, silent: bool) -> bool:
    """Write a table if a file is named, and say where unless ``silent``."""
    if path is None:
        return True
    done = was_written("the table", lambda: write_table(make(), path))
    if done and not silent:
        say(f"table: {path}")
    return done


def was_written(what: str, write: Callable[[], object]) -> bool:
    """Write what comes after the results, and say in one line why if that fails."""
    try:
        write()
    except Exception as error:  # whatever the picture does
        reason = " ".join(str(error).split()) or type(error).__name__
        say(f"otspec: {what} was not written: {reason}", err=True)
        return False
    return True
