"""A run cut into chunks of positions; what a worker does with one of them."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from otspec.traces.comparison import compare
from otspec.traces.sources import Source, Warping

if TYPE_CHECKING:
    import pyarrow as pa  # type: ignore[import-untyped]

SCHEMA = 1
"""Version of the columns of parts, and of the files of a run."""

_CHUNK_BYTES = 32 * 2**20
_MOST_POSITIONS = 1024  # of a small vocabulary, where the results are larger than the logits
_LEVELS = ("source", "drafts", "rule")


@dataclass(frozen=True)
class Settings:
    """What is computed at every position.

    Parameters
    ----------
    ks : tuple of int
    laws : tuple of str
        Draft laws, by name.
    warpings : tuple of Warping
    """

    ks: tuple[int, ...]
    laws: tuple[str, ...]
    warpings: tuple[Warping, ...]


@dataclass(frozen=True)
class Chunk:
    """Some positions of one source.

    Parameters
    ----------
    index : int
        Its number in the run.
    source : Source
    start, stop : int
        Positions, numbered through all but the last axis.
    """

    index: int
    source: Source
    start: int
    stop: int

    @property
    def positions(self) -> int:
        """Number of positions."""
        return self.stop - self.start

    def __str__(self) -> str:
        return f"positions {self.start:,} to {self.stop - 1:,} of {self.source.name}"


def cut(sources: Sequence[Source], size: int | None = None) -> list[Chunk]:
    """Cut sources into chunks.

    Parameters
    ----------
    sources : sequence of Source
    size : int, optional
        Positions of a chunk; by default what makes 32 MB, and at most 1,024.

    Returns
    -------
    list of Chunk
        In the order of the sources; the same for the same sources and size.
    """
    chunks: list[Chunk] = []
    for source in sources:
        step = size or max(1, min(_MOST_POSITIONS, _CHUNK_BYTES // source.row_bytes))
        for start in range(0, source.positions, step):
            stop = min(start + step, source.positions)
            chunks.append(Chunk(len(chunks), source, start, stop))
    return chunks


def table_of(chunk: Chunk, settings: Settings) -> pa.Table:
    """Compare all rules at the positions of a chunk.

    Returns
    -------
    pyarrow.Table
        Columns source, position, temperature, drafts, rule, k, acceptance, optimum; a row per
        comparison, positions ascending.

    Raises
    ------
    ValueError
        Unreadable arrays; a row that no distribution follows from, with its file and position.
    """
    import pyarrow as pa

    schema = pa.schema(
        [
            ("source", pa.dictionary(pa.int32(), pa.string())),
            ("position", pa.int64()),
            ("temperature", pa.float64()),
            ("drafts", pa.dictionary(pa.int32(), pa.string())),
            ("rule", pa.dictionary(pa.int32(), pa.string())),
            ("k", pa.int32()),
            ("acceptance", pa.float64()),
            ("optimum", pa.float64()),
        ],
        metadata={"otspec schema": str(SCHEMA)},
    )
    columns: list[tuple[object, ...]] = list(zip(*_rows(chunk, settings), strict=True))
    arrays = [
        pa.array(column, field.type.value_type if field.name in _LEVELS else field.type)
        for field, column in zip(schema, columns, strict=True)
    ]
    return pa.table(
        [
            array.dictionary_encode() if field.name in _LEVELS else array
            for field, array in zip(schema, arrays, strict=True)
        ],
        schema=schema,
    )


def _rows(chunk: Chunk, settings: Settings) -> Iterator[tuple[object, ...]]:
    name = chunk.source.name
    pairs = chunk.source.pairs(chunk.start, chunk.stop, settings.warpings)
    for position, warping, draft, target in pairs:
        try:
            compared = compare(draft, target, settings.ks, settings.laws)
        except ValueError as error:
            raise ValueError(f"position {position}: {error}") from error
        for row in compared:
            yield (
                name,
                position,
                warping.temperature,
                row.drafts,
                row.rule,
                row.k,
                float(row.acceptance),
                float(row.optimum),
            )


def write_part(chunk: Chunk, settings: Settings, part: str, failure: str) -> None:
    """Write the results of a chunk, or why there are none, each in one step.

    Parameters
    ----------
    chunk : Chunk
    settings : Settings
    part, failure : str
        Where to write the table, and where the error.
    """
    import pyarrow.parquet as pq  # type: ignore[import-untyped]

    try:
        table = table_of(chunk, settings)
    except ValueError as error:
        with _in_one_step(Path(failure)) as path:
            reason = f"{chunk.source.name}: {error}"
            path.write_text(" ".join(reason.split()), encoding="utf-8", errors="backslashreplace")
        return
    with _in_one_step(Path(part)) as path:
        pq.write_table(table, path, compression="zstd")


@contextmanager
def _in_one_step(path: Path) -> Iterator[Path]:
    """Give a temporary path that becomes the real one if all goes well, and vanishes if not."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        yield temporary
        with temporary.open("rb+") as stream:
            os.fsync(stream.fileno())  # or a crash could leave an empty file of that name
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)
