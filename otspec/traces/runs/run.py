"""A run in its folder: what is finished, what failed, the rest to compute, and one table of it."""

import math
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from otspec._base import UNFINISHED, ArrowTable, as_flag, as_path, write_text
from otspec._base.extras import let_arrow_do_without_pandas, needed
from otspec.frames import Tabular
from otspec.traces.readers import ChangedInputError, Source
from otspec.traces.runs.folder import Identity, RunFolder, name_of, read_identity, refuse_changed
from otspec.traces.runs.parallel import run_all
from otspec.traces.runs.work import Chunk, Label, Work, read_label, read_part, write_part

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True)
class FinishedRun(Tabular):
    """The results of a run: a row for each position and whatever the run compared there.

    Made by :func:`read_run`. A part that was damaged or exchanged since is a ValueError.

    Parameters
    ----------
    run : str
        A digest of all that the run was made with.
    sources : tuple of str
        Their names.
    parts : tuple of (Path, Label)
        The files, by source and position, and what each holds.
    """

    run: str
    sources: tuple[str, ...]
    parts: tuple[tuple[Path, Label], ...]

    def tables(self) -> Iterator[ArrowTable]:
        """Yield the table of each part, one at a time, in order."""
        for path, label in self.parts:
            yield read_part(path, label)

    def to_arrow(self) -> ArrowTable:
        """Return the whole table of Arrow, which must fit into memory."""
        pa = needed("pyarrow", "a run over traces", "runs")

        said = {"rows": "positions", "source": ", ".join(self.sources), "run": self.run}
        whole = pa.concat_tables(self.tables()).unify_dictionaries()
        return whole.replace_schema_metadata(said)

    def scan(self) -> "pl.LazyFrame":
        """Return a lazy frame of polars, which reads of the files what a query needs.

        The parts were whole when the run was read; polars, which must be installed, looks at no
        seal.
        """
        polars = needed("polars", "scan", "frames")
        return polars.scan_parquet([path for path, _ in self.parts], glob=False)


def read_run(path: str | PathLike[str], *, unfinished: bool = False) -> FinishedRun:
    """Read the results that a command with ``--out``, such as ``otspec trace``, left in a folder.

    Parameters
    ----------
    path : path
        The folder.
    unfinished : bool
        Also read a run with positions that have no results: it was interrupted, is still going
        on, or parts of its sources could not be read.

    Raises
    ------
    ValueError
        No run there, one of another version of otspec, or one without all results; a part that was
        damaged since it was written, or belongs to another run. The message names the file.
    """
    as_flag(unfinished, "unfinished")
    places = RunFolder(as_path(path))
    if not places.made_with.is_file():
        raise ValueError(f"{path} holds no run: name the folder that --out was given")
    identity = read_identity(places.made_with)
    run, logged = name_of(identity), _positions(places.made_with, identity)
    names = tuple(logged)
    parts = sorted(
        ((path, _checked(path, run, names)) for path in _files(places)),
        key=lambda part: (names.index(part[1].source), part[1].start),
    )
    for (first, one), (second, other) in pairwise(parts):
        if one.source == other.source and other.start < one.stop:
            raise ValueError(f"{first} and {second} hold the same positions: remove the copy")
    _refuse_missing(places.path, sum(logged.values()), parts, unfinished)
    return FinishedRun(run, names, tuple(parts))


def _positions(path: Path, identity: Identity) -> dict[str, int]:
    """Return the names of the sources, and how many positions each has."""
    try:
        return {
            source["name"]: math.prod(source["arrays"][0]["shape"][:-1])
            for source in identity["sources"]
        }
    except (KeyError, TypeError, IndexError) as error:
        raise ValueError(f"{path} says nothing of sources: it was changed") from error


def _files(places: RunFolder) -> list[Path]:
    if not places.positions.is_dir():
        return []
    return [path for path in places.positions.iterdir() if not path.name.endswith(UNFINISHED)]


def _checked(path: Path, run: str, names: tuple[str, ...]) -> Label:
    """Return what a part says that it holds, if it is whole and of this run."""
    label = read_label(path)
    if label.run != run or label.source not in names:
        raise ValueError(f"cannot use {path}: it is a part of another run; remove it")
    return label


def _refuse_missing(
    folder: Path, logged: int, parts: list[tuple[Path, Label]], unfinished: bool
) -> None:
    done = sum(label.stop - label.start for _, label in parts)
    if done == 0:
        raise ValueError(f"{folder} holds a run without results: finish it with --resume")
    if done < logged and not unfinished:
        raise ValueError(
            f"{folder} holds results of {done:,} of {logged:,} positions: finish the run with "
            "--resume, or pass unfinished=True"
        )


def compute_part(chunk: Chunk, work: Work, run: str, latest: int, part: str, failure: str) -> None:
    """Write the results of a chunk, or why there are none, each in one step."""
    try:
        table = work.table_of(chunk)
        chunk.source.refuse_newer(chunk.start, chunk.stop, latest)
    except ChangedInputError:
        raise
    except ValueError as error:
        reason = f"{chunk.source.name}: {error}"
        write_text(Path(failure), " ".join(reason.split()))
        return
    write_part(table, chunk.label(run), Path(part))


@dataclass(frozen=True)
class Failure:
    """A chunk without results, and why; it is computed again when the run is resumed."""

    chunk: Chunk
    reason: str


@dataclass(frozen=True)
class Run:
    """A run in its folder; made by :func:`open_run`.

    What is finished is what has a file there, whoever wrote it, and when.

    Parameters
    ----------
    places : RunFolder
        With ``run.json``, ``positions/part-*.parquet`` and ``failed/part-*.txt``.
    chunks : tuple of Chunk
    work : Work
    made_with : dict
        What ``run.json`` holds.
    removed : tuple of (Chunk, str)
        Chunks whose parts were there when the run was opened, but damaged or of another run, and
        why; they are computed again.
    """

    places: RunFolder
    chunks: tuple[Chunk, ...]
    work: Work
    made_with: Identity
    removed: tuple[tuple[Chunk, str], ...] = ()

    def finished(self) -> list[Chunk]:
        """Return the chunks whose results are there, in order."""
        names = _names(self.places.positions)
        return [chunk for chunk in self.chunks if self.places.part(chunk).name in names]

    def failures(self) -> list[Failure]:
        """Return the chunks that failed since the run was opened, in order."""
        names = _names(self.places.failed)
        return [
            Failure(chunk, self.places.failure(chunk).read_text(encoding="utf-8"))
            for chunk in self.chunks
            if self.places.failure(chunk).name in names
        ]

    def positions_done(self) -> int:
        """Return of how many positions the chunks are finished or failed."""
        parts, failures = _names(self.places.positions), _names(self.places.failed)
        done = (
            chunk.positions
            for chunk in self.chunks
            if self.places.part(chunk).name in parts or self.places.failure(chunk).name in failures
        )
        return sum(done)

    def tables(self) -> Iterator[tuple[Source, ArrowTable]]:
        """Yield source and table of each finished chunk, one at a time, in order.

        A part that was damaged since it was written, or is of another run, is a ValueError.
        """
        run = name_of(self.made_with)
        for chunk in self.finished():
            try:
                yield chunk.source, read_part(self.places.part(chunk), chunk.label(run))
            except ValueError as error:
                raise ValueError(f"{error}; use --resume, which computes it again") from error

    def compute(self, *, workers: int | None = None, scheduler: str | None = None) -> None:
        """Compute the chunks that are not finished; whatever is interrupted, finished parts stay.

        Parameters
        ----------
        workers : int, optional
            Processes on this machine, by default one per core; with one, or for one chunk, all is
            done in this process. Processes, since threads are slower: much of a comparison is
            Python.
        scheduler : str, optional
            The address of a Dask scheduler, such as ``tcp://host:8786``, whose workers are used
            instead.

        Raises
        ------
        ChangedInputError
            A source was changed since the run began.
        ValueError, OSError
            A worker died, or a part cannot be written.
        """
        let_arrow_do_without_pandas()
        done = {chunk.index for chunk in self.finished()}
        pending = [chunk for chunk in self.chunks if chunk.index not in done]
        try:
            ready = self._unpacked(pending)
            run_all(list(self._tasks(pending, ready)), workers=workers, scheduler=scheduler)
        finally:
            shutil.rmtree(self.places.unpacked, ignore_errors=True)
        refuse_changed(list(dict.fromkeys(chunk.source for chunk in self.chunks)), self.made_with)

    def _tasks(
        self, pending: Sequence[Chunk], ready: dict[str, Source]
    ) -> Iterator[tuple[Any, ...]]:
        """Yield a task for each chunk whose source is ready to be read."""
        run = name_of(self.made_with)
        latest = {name: source.latest() for name, source in ready.items()}
        for chunk in pending:
            if chunk.source.name in ready:
                own, when = ready[chunk.source.name], latest[chunk.source.name]
                paths = str(self.places.part(chunk)), str(self.places.failure(chunk))
                yield compute_part, replace(chunk, source=own), self.work, run, when, *paths

    def _unpacked(self, pending: Sequence[Chunk]) -> dict[str, Source]:
        """Unpack the sources that need it; the chunks of one where that fails have failed."""
        ready: dict[str, Source] = {}
        for number, source in enumerate(dict.fromkeys(chunk.source for chunk in pending)):
            try:
                ready[source.name] = source.unpacked(self.places.unpacked, str(number))
            except ValueError as error:
                for chunk in pending:
                    if chunk.source == source:
                        write_text(self.places.failure(chunk), str(error))
        return ready


def _names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}
