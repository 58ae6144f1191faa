"""Running code under audit: whatever it raises is a finding, never the end of the audit."""

import inspect
import signal
import threading
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from types import FrameType
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Crash:
    """What code under audit raised."""

    what: str  # in words and on one line, such as ``fails with KeyError: 'k'``
    traceback: str  # as Python prints it, from the code under audit on
    error: BaseException


def attempt(function: Callable[..., Any], *arguments: Any) -> tuple[Any, Crash | None]:
    """Call code under audit: return its result, or None and what it raised."""
    # That may be SystemExit, or a KeyboardInterrupt that is its own.
    ear = _Ear()
    result, crash = None, None
    try:
        with ear, np.errstate():  # the code may change how NumPy treats errors
            result = function(*arguments)
    except BaseException as error:  # judged below
        if ear.deaf and isinstance(error, KeyboardInterrupt):
            raise
        if ear.interrupt is None:
            crash = _crash(error)
    if ear.interrupt is not None:
        raise ear.interrupt
    return result, crash


def takes_token(
    function: Callable[..., Any], x: tuple[int, ...], crash: Crash | None, *arguments: Any
) -> bool:
    """Return whether a function that fails for a tuple of drafts can be called with one token."""
    # Only a TypeError or a LookupError comes from a tuple where a token is meant.
    if crash is None or not isinstance(crash.error, (TypeError, LookupError)):
        return False
    return attempt(function, x[0], *arguments)[1] is None


def write_index(x: tuple[int, ...]) -> str:
    """Return what to tell the author of a function that takes a token where drafts are given."""
    return f": x is a tuple of {len(x)} drafts, and this takes one token: write x[0] for the first"


def attribute(thing: Any, name: str) -> Any:
    """Return an attribute, None if there is none; to be called by :func:`attempt`."""
    try:
        return getattr(thing, name)
    except AttributeError:
        missing = object()
        if inspect.getattr_static(thing, name, missing) is missing:
            return None
        raise


class _Ear:
    """While it is open, a signal of Ctrl-C is told from a ``KeyboardInterrupt`` of the code.

    Attributes: ``interrupt``, what the signal raised; ``deaf``, whether signals cannot be heard
    because code outside Python handles them.
    """

    def __init__(self) -> None:
        self.interrupt: BaseException | None = None
        self.deaf = False
        self._before: Callable[[int, FrameType | None], Any] | None = None

    def __enter__(self) -> None:
        if threading.current_thread() is not threading.main_thread():
            return  # signals are handled in the main thread only
        before = signal.getsignal(signal.SIGINT)
        self.deaf = before is None
        if callable(before):  # else Ctrl-C is ignored, or ends the process
            self._before = before
            signal.signal(signal.SIGINT, self._hear)

    def __exit__(self, *_: object) -> None:
        if self._before is not None:
            signal.signal(signal.SIGINT, self._before)

    def _hear(self, number: int, frame: FrameType | None) -> None:
        if self._before is None:
            return
        try:
            self._before(number, frame)
        except BaseException as error:
            self.interrupt = error
            raise


def _crash(error: BaseException) -> Crash:
    # The first entry is the call above.
    trace = error.__traceback__
    shown = traceback.format_exception(type(error), error, trace.tb_next if trace else None)
    return Crash(f"fails with {_described(error)}", "".join(shown), error)


_LONGEST = 300  # most characters of an error's message that are shown


def _described(error: BaseException) -> str:
    try:
        message = " ".join(str(error).split())
    except BaseException:  # an error may fail to say what it is
        message = ""
    name = type(error).__name__
    text = f"{name}: {message}" if message else name
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 3]}..."
