"""One run at a time in a folder, and folders that are removed."""

import json
import os
import shutil
import socket
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import datetime
from pathlib import Path
from typing import IO, Any

NAME = "run.lock"
"""The file of the lock; it stays, says who holds the lock, and is empty when nobody does."""


@contextmanager
def locked(folder: Path, name: str = NAME) -> Iterator[None]:
    """Hold a lock of a folder, which ends with the process, however that ends.

    It is the operating system's (``flock``), which network file systems pass on between machines.
    Where Python has none, as on Windows, there is no lock; parts still say which run they are of.
    """
    with _opened(folder / name) as stream:
        if not _acquired(stream):
            raise ValueError(
                f"{folder} is in use by {_told(_holder(stream))}: wait for it, end it, or choose "
                "another folder"
            )
        _write(stream, _this_process())
        try:
            yield
        finally:
            _write(stream, None)


def holder_has_died(folder: Path, name: str = NAME) -> bool:
    """Return whether the process that held a lock of a folder ended without giving it up."""
    if not (folder / name).is_file():
        return False
    with _opened(folder / name) as stream:
        return _holder(stream) is not None and _acquired(stream)


@contextmanager
def _opened(path: Path) -> Iterator[IO[str]]:
    # Not through a symbolic link, which would write somewhere else.
    flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0)
    with os.fdopen(os.open(path, flags, 0o666), "r+", encoding="utf-8") as stream:
        yield stream


def _acquired(stream: IO[str]) -> bool:
    try:
        import fcntl
    except ImportError:
        return True
    try:
        fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError as error:
        raise OSError(
            f"the file system of {stream.name} has no locks ({error.strerror}): choose a folder "
            "on another"
        ) from error
    return True


def _this_process() -> dict[str, Any]:
    now = datetime.now().astimezone().isoformat(sep=" ", timespec="seconds")
    return {"pid": os.getpid(), "host": socket.gethostname(), "since": now}


def _write(stream: IO[str], holder: dict[str, Any] | None) -> None:
    stream.seek(0)
    stream.truncate()
    if holder is not None:
        stream.write(json.dumps(holder) + "\n")
    stream.flush()


def _holder(stream: IO[str]) -> dict[str, Any] | None:
    """Return what the file says of the process that took the lock last."""
    stream.seek(0)
    try:
        holder = json.loads(stream.read(10_000))
    except ValueError:
        return None
    return holder if isinstance(holder, dict) else None


def _told(holder: dict[str, Any] | None) -> str:
    if holder is None:
        return "another process"
    return "process {} on {} since {}".format(*(holder.get(k) for k in ("pid", "host", "since")))


_PREFIX = "otspec-"
_RUN = "run"
_MARK = "temporary"
"""The lock of such a folder, which no folder has that somebody wants to keep."""


@contextmanager
def temporary_folder() -> Iterator[Path]:
    """Give a folder that is removed at the end; if the process is killed, by the next run.

    Raises
    ------
    OSError
        There is no room for it.
    """
    for left in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*"):
        with suppress(OSError):  # that of another user, or one that is just being removed
            if _is_left(left):
                _remove(left)
    folder = Path(tempfile.mkdtemp(prefix=_PREFIX))
    with locked(folder, _MARK):
        try:
            yield folder / _RUN
        finally:
            _remove(folder)


def _is_left(folder: Path) -> bool:
    return not folder.is_symlink() and holder_has_died(folder, _MARK)


def _remove(folder: Path) -> None:
    """Remove a folder, the mark last, so that it is known for what it is until the end."""
    shutil.rmtree(folder / _RUN, ignore_errors=True)
    shutil.rmtree(folder)
