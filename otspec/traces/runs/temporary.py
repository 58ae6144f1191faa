"""Folders of runs that nobody asked to keep."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from otspec.traces.runs.locking import holder_has_died, locked

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
