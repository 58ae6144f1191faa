"""Starting a run in a folder, or going on with one: one at a time."""

import json
import os
import shutil
import socket
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import datetime
from pathlib import Path
from typing import IO, Any

from otspec._base import needed, write_text
from otspec.traces.readers import Source
from otspec.traces.runs.folder import RunFolder, identity_of, name_of, refuse_another
from otspec.traces.runs.run import Run
from otspec.traces.runs.work import Chunk, Work, chunks_of, read_part

NAME = "run.lock"
"""The file of the lock; it stays, says who holds the lock, and is empty when nobody does."""


@contextmanager
def locked(folder: Path, name: str = NAME) -> Iterator[None]:
    """Hold a lock of a folder, which ends with the process, however that ends."""
    # It is the operating system's (`flock`), which network file systems pass on between machines.
    # Where Python has none, as on Windows, there is no lock; parts still say which run they are of.
    with _opened(folder / name) as stream:
        if not _acquired(stream):
            told, holder = "another process", _holder(stream)
            if holder is not None:
                pid, host, since = (holder.get(key) for key in ("pid", "host", "since"))
                told = f"process {pid} on {host} since {since}"
            raise ValueError(
                f"{folder} is in use by {told}: wait for it, end it, or choose another folder"
            )
        since = datetime.now().astimezone().isoformat(sep=" ", timespec="seconds")
        _write(stream, {"pid": os.getpid(), "host": socket.gethostname(), "since": since})
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


_PREFIX = "otspec-"
_RUN = "run"
_MARK = "temporary"  # the lock of such a folder, which no folder has that somebody wants to keep


@contextmanager
def temporary_folder() -> Iterator[Path]:
    """Give a folder that is removed at the end; if the process is killed, by the next run."""
    for left in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*"):
        with suppress(OSError):  # that of another user, or one that is just being removed
            if not left.is_symlink() and holder_has_died(left, _MARK):
                _remove(left)
    folder = Path(tempfile.mkdtemp(prefix=_PREFIX))
    with locked(folder, _MARK):
        try:
            yield folder / _RUN
        finally:
            _remove(folder)


def _remove(folder: Path) -> None:
    """Remove a folder, the mark last, so that it is known for what it is until the end."""
    shutil.rmtree(folder / _RUN, ignore_errors=True)
    shutil.rmtree(folder)


@contextmanager
def open_run(
    folder: Path,
    sources: Sequence[Source],
    work: Work,
    *,
    chunk: int | None = None,
    resume: bool = False,
    overwrite: bool = False,
) -> Iterator[Run]:
    """Open a new run in a folder, or one that was interrupted; nobody else can until it is closed.

    Parameters
    ----------
    folder : path
        Made if it does not exist.
    sources : sequence of Source
        Of one vocabulary, each once.
    work : Work
        What is computed of each chunk, such as :class:`~otspec.traces.runs.Settings`.
    chunk : int, optional
        Positions of a chunk, rounded to whole units of the work.
    resume : bool
        Keep the finished parts of a run with the same sources and work. Parts that were
        damaged, or are of another run, are removed; ``Run.removed`` says which.
    overwrite : bool
        Remove an earlier run from the folder.

    Raises
    ------
    ValueError
        A folder in which a run is going on; one with a run and neither flag; another run to
        resume, or one whose sources were changed; unusable sources; a package that is not
        installed.
    OSError
        The folder cannot be written, or what is in it not removed.
    """
    for package in ("pyarrow", "dask"):
        needed(package, "a run over traces", "runs")
    check_sources(sources)
    places = RunFolder(Path(os.path.realpath(folder)))
    places.path.mkdir(parents=True, exist_ok=True)
    with locked(places.path):
        identity = identity_of(sources, work, chunk)
        places.refuse_links()
        if not places.made_with.exists():
            places.refuse_files_of_others()
        elif resume:
            refuse_another(places.made_with, identity)
        elif not overwrite:
            raise ValueError(
                f"{folder} holds a run: add --resume to finish it, --overwrite to replace it, or "
                "choose another folder"
            )
        chunks = tuple(chunks_of(sources, work.unit, chunk))
        keep = resume and places.made_with.exists()
        places.make(keep_parts=keep)
        removed = _without_unusable(places, chunks, name_of(identity)) if keep else ()
        write_text(places.made_with, json.dumps(identity, indent=2) + "\n")
        yield Run(places, chunks, work, identity, removed)


def _without_unusable(
    places: RunFolder, chunks: tuple[Chunk, ...], run: str
) -> tuple[tuple[Chunk, str], ...]:
    """Remove the parts that cannot be used; return their chunks and why."""
    places.refuse_unknown_parts(chunks)
    removed = []
    for chunk in chunks:
        part = places.part(chunk)
        if part.is_symlink() or part.exists():
            try:
                read_part(part, chunk.label(run))
            except ValueError as error:
                part.unlink()
                removed.append((chunk, str(error)))
    return tuple(removed)


def check_sources(sources: Sequence[Source]) -> None:
    """Refuse sources that cannot be compared together."""
    names = [source.name for source in sources]
    for name in names:
        if names.count(name) > 1:
            raise ValueError(f"{name} is named twice: name each source once")
    first = sources[0]
    for source in sources:
        if source.shape[-1] != first.shape[-1]:
            raise ValueError(
                f"{source.name} has {source.shape[-1]} tokens and {first.name} {first.shape[-1]}: "
                "compare one vocabulary at a time"
            )
