"""A run in its folder: what is finished, what failed, and computing the rest."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from otspec._base.extras import let_arrow_do_without_pandas
from otspec._base.writing import write_text
from otspec.traces.readers import ChangedInputError, Source
from otspec.traces.runs.folder import Identity, RunFolder, name_of, refuse_changed
from otspec.traces.runs.parallel import run_all
from otspec.traces.runs.work import Chunk, Work, read_part, write_part

if TYPE_CHECKING:
    import pyarrow as pa


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

    def tables(self) -> Iterator[tuple[Source, pa.Table]]:
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
