"""The folder of a run: what it was made with, finished parts, and what failed."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from otspec.traces.chunks import SCHEMA, Chunk, Settings, cut, write_part
from otspec.traces.parallel import run_all
from otspec.traces.sources import Source
from otspec.version import __version__

if TYPE_CHECKING:
    import pyarrow as pa  # type: ignore[import-untyped]


_OWN = ("positions", "failed", "unpacked")
"""The folders in that of a run."""


@dataclass(frozen=True)
class Failure:
    """A chunk without results.

    Parameters
    ----------
    chunk : Chunk
    reason : str
        One line that names the file and, if it is one, the position.
    """

    chunk: Chunk
    reason: str


@dataclass(frozen=True)
class Run:
    """A run in its folder; made by :func:`open_run`.

    Parameters
    ----------
    folder : path
        With ``run.json``, ``positions/part-*.parquet`` and ``failed/part-*.txt``.
    chunks : tuple of Chunk
    settings : Settings
    """

    folder: Path
    chunks: tuple[Chunk, ...]
    settings: Settings

    def finished(self) -> list[Chunk]:
        """Return the chunks whose results are there, in order."""
        names = _names(self.folder / "positions")
        return [chunk for chunk in self.chunks if self._part(chunk).name in names]

    def failures(self) -> list[Failure]:
        """Return the chunks that failed since the run was opened, in order."""
        names = _names(self.folder / "failed")
        return [
            Failure(chunk, self._failure(chunk).read_text(encoding="utf-8"))
            for chunk in self.chunks
            if self._failure(chunk).name in names
        ]

    def positions_done(self) -> int:
        """Return of how many positions the chunks are finished or failed."""
        names = _names(self.folder / "positions") | _names(self.folder / "failed")
        done = (
            chunk.positions
            for chunk in self.chunks
            if self._part(chunk).name in names or self._failure(chunk).name in names
        )
        return sum(done)

    def tables(self) -> Iterator[tuple[Source, pa.Table]]:
        """Yield source and table of each finished chunk, one at a time, in order.

        Raises
        ------
        ValueError
            A part that was damaged since it was written.
        """
        import pyarrow as pa
        import pyarrow.parquet as pq  # type: ignore[import-untyped]

        for chunk in self.finished():
            try:
                yield chunk.source, pq.read_table(self._part(chunk), partitioning=None)
            except (pa.ArrowException, OSError) as error:
                raise ValueError(
                    f"cannot read {self._part(chunk)}: {error}; remove it and use --resume"
                ) from error

    def compute(self, *, workers: int | None = None, scheduler: str | None = None) -> None:
        """Compute the chunks that are not finished.

        Whatever is interrupted, finished parts stay.

        Parameters
        ----------
        workers, scheduler
            As for :func:`otspec.traces.parallel.run_all`.

        Raises
        ------
        ValueError, OSError
            As :func:`otspec.traces.parallel.run_all`.
        """
        done = {chunk.index for chunk in self.finished()}
        pending = [chunk for chunk in self.chunks if chunk.index not in done]
        unpacked = self.folder / "unpacked"
        unpacked.mkdir(exist_ok=True)
        try:
            ready = self._unpacked(pending, unpacked)
            tasks = [
                (
                    write_part,
                    replace(chunk, source=ready[chunk.source.name]),
                    self.settings,
                    str(self._part(chunk)),
                    str(self._failure(chunk)),
                )
                for chunk in pending
                if chunk.source.name in ready
            ]
            run_all(tasks, workers=workers, scheduler=scheduler)
        finally:
            shutil.rmtree(unpacked, ignore_errors=True)

    def _unpacked(self, pending: Sequence[Chunk], folder: Path) -> dict[str, Source]:
        """Unpack the sources that need it; the chunks of one where that fails have failed."""
        ready: dict[str, Source] = {}
        for number, source in enumerate(dict.fromkeys(chunk.source for chunk in pending)):
            try:
                ready[source.name] = source.unpacked(folder, str(number))
            except ValueError as error:
                for chunk in pending:
                    if chunk.source == source:
                        self._failure(chunk).write_text(
                            str(error), encoding="utf-8", errors="backslashreplace"
                        )
        return ready

    def _part(self, chunk: Chunk) -> Path:
        return self.folder / "positions" / f"part-{chunk.index:06}.parquet"

    def _failure(self, chunk: Chunk) -> Path:
        return self.folder / "failed" / f"part-{chunk.index:06}.txt"


def _names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


def open_run(
    folder: Path,
    sources: Sequence[Source],
    settings: Settings,
    *,
    chunk: int | None = None,
    resume: bool = False,
    overwrite: bool = False,
) -> Run:
    """Open a new run in a folder, or one that was interrupted.

    Parameters
    ----------
    folder : path
        Made if it does not exist.
    sources : sequence of Source
        Of one vocabulary, each once.
    settings : Settings
    chunk : int, optional
        Positions of a chunk.
    resume : bool
        Keep the finished parts of a run with the same sources and settings.
    overwrite : bool
        Remove an earlier run from the folder.

    Returns
    -------
    Run

    Raises
    ------
    ValueError
        A folder with a run and neither flag; another run to resume; unusable sources.
    OSError
        The folder cannot be written.
    """
    _check_sources(sources)
    folder = folder.absolute()
    made_with = folder / "run.json"
    document = _document(sources, settings, chunk)
    if made_with.exists():
        if resume:
            _refuse_another(made_with, document)
        elif not overwrite:
            raise ValueError(
                f"{folder} holds a run: add --resume to finish it, --overwrite to replace it, or "
                "choose another folder"
            )
    else:
        _refuse_foreign(folder)
    if not resume:
        shutil.rmtree(folder / "positions", ignore_errors=True)
    shutil.rmtree(folder / "failed", ignore_errors=True)
    for name in _OWN:
        (folder / name).mkdir(parents=True, exist_ok=True)
    for torn in (folder / "positions").glob(".part-*"):
        torn.unlink()
    made_with.write_text(json.dumps(document, indent=2) + "\n", encoding="utf-8")
    return Run(folder, tuple(cut(sources, chunk)), settings)


def _refuse_foreign(folder: Path) -> None:
    """Refuse a folder whose files would be taken for those of a run."""
    for name in _OWN:
        if (folder / name).is_dir() and any((folder / name).iterdir()):
            raise ValueError(f"{folder / name} holds files of no run: choose another folder")


def _check_sources(sources: Sequence[Source]) -> None:
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


def _document(sources: Sequence[Source], settings: Settings, chunk: int | None) -> dict[str, Any]:
    document = {
        "schema": SCHEMA,
        "otspec": __version__,
        "chunk": chunk,
        "settings": asdict(settings),
        "sources": [source.identity() for source in sources],
    }
    plain: dict[str, Any] = json.loads(json.dumps(document))  # tuples are lists there
    return plain


def _refuse_another(made_with: Path, document: dict[str, Any]) -> None:
    try:
        earlier = json.loads(made_with.read_text(encoding="utf-8"))
    except (ValueError, OSError) as error:
        raise ValueError(f"cannot read {made_with}: {error}; use --overwrite") from error
    for key, value in _leaves(document):
        before = dict(_leaves(earlier)).get(key)
        if before != value:
            raise ValueError(
                f"{made_with.parent} holds another run: {key} was {before} and is {value}; resume "
                "with what it was made with, or use --overwrite"
            )


def _leaves(document: Any, name: str = "") -> Iterator[tuple[str, Any]]:
    """Yield the values of nested objects by their path, such as ``sources[0].kind``."""
    if isinstance(document, dict):
        for key, value in document.items():
            yield from _leaves(value, f"{name}.{key}" if name else str(key))
    elif isinstance(document, list) and any(isinstance(item, dict) for item in document):
        yield f"{name}, how many", len(document)
        for index, value in enumerate(document):
            yield from _leaves(value, f"{name}[{index}]")
    else:
        yield name, document
