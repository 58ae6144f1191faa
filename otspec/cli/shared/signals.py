"""An orderly end when the system asks for it: temporary files are removed, workers ended."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

_ASKING = ("SIGTERM", "SIGHUP")


class Terminated(SystemExit):
    """The system asked the process to end; the exit status is 128 and the number of the signal."""


@contextmanager
def raise_on_signals() -> Iterator[None]:
    """Raise :class:`Terminated` in the block when the process is asked to end.

    Only where a signal would end the process at once, and in the main thread, which hears them. A
    second one is ignored, so that the first can be followed.
    """
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
