"""What tells a file from a changed one without reading it: its size, its time, its place."""

import hashlib
import json
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any


class ChangedInputError(ValueError):
    """A source that was changed while a run read it, so that its results are of no one input."""


def stamp_of(paths: Iterable[Path], *, inodes: bool) -> dict[str, Any]:
    """Return what changes if one of the files does: their number, bytes, latest time and digest."""
    digest = hashlib.sha256()
    count = size = latest = 0
    for path in paths:
        try:
            status = path.stat()
        except (FileNotFoundError, NotADirectoryError):
            told: list[Any] = [os.fspath(path), None]
        else:
            told = [os.fspath(path), status.st_size, status.st_mtime_ns]
            told += [status.st_ino] if inodes else []
            count, size = count + 1, size + status.st_size
            latest = max(latest, status.st_mtime_ns)
        digest.update(json.dumps(told).encode())
    return {"files": count, "bytes": size, "latest": latest, "digest": digest.hexdigest()}
