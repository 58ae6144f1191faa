"""Folders of runs that nobody asked to keep."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from otspec.traces.runs.locking import holder_has_died

_PREFIX = "otspec-"
_MARK = "temporary"
"""A file that no folder has which somebody wants to keep."""


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
                shutil.rmtree(left)
    with tempfile.TemporaryDirectory(prefix=_PREFIX) as name:
        folder = Path(name)
        (folder / _MARK).touch()
        yield folder


def _is_left(folder: Path) -> bool:
    return not folder.is_symlink() and (folder / _MARK).is_file() and holder_has_died(folder)
