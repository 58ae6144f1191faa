"""Starting a run in a folder, or going on with one."""

import json
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from otspec._base.extras import needed
from otspec._base.writing import write_text
from otspec.traces.readers import Source
from otspec.traces.runs.folder import RunFolder, identity_of, name_of, refuse_another
from otspec.traces.runs.locking import locked
from otspec.traces.runs.result_files import read_part
from otspec.traces.runs.run import Run
from otspec.traces.runs.work import Chunk, Work, chunks_of


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

    Yields
    ------
    Run

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
