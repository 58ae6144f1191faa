"""Writing files so that whoever reads one finds the old or the new, never half of it."""

import errno
import os
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

UNFINISHED = ".partial"  # the ending of files that become others once they are written in full


@contextmanager
def in_one_step(path: Path) -> Iterator[IO[bytes]]:
    """Give a stream to a file that replaces another if all goes well, and vanishes if not."""
    # What a symbolic link names is replaced, not the link; what is no file, such as /dev/stdout, is
    # written to directly. If that fails with an OSError, an earlier file is left as it was.
    real = Path(os.path.realpath(path))
    if path.exists() and not path.is_file():
        with path.open("wb") as stream:
            yield stream
        return
    there = real.exists()
    if real.is_symlink():  # in a circle
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), str(path))
    if there and not os.access(real, os.W_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))
    beside = real.with_name(f".{real.name[:40]}.{secrets.token_hex(8)}{UNFINISHED}")
    try:
        with beside.open("xb") as stream:
            if there:
                shutil.copymode(real, beside)
            yield stream
            stream.flush()
            os.fsync(stream.fileno())  # or a crash could leave an empty file of that name
        beside.replace(real)
    except OSError as error:
        if error.errno is None:
            raise OSError(f"cannot write {path}: {error}") from error
        raise OSError(error.errno, os.strerror(error.errno), str(path)) from error
    finally:
        if beside.exists():
            beside.unlink()


def write_text(path: Path, text: str) -> None:
    """Write text as UTF-8, in one step; what UTF-8 has no place for is escaped."""
    with in_one_step(path) as stream:
        stream.write(text.encode(errors="backslashreplace"))


def remove_unfinished(folder: Path) -> None:
    """Remove what writers that were killed left in a folder to which nobody else writes."""
    for left in folder.glob(f".*{UNFINISHED}"):
        left.unlink()
