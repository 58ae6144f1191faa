"""A run cut into chunks of positions; what a worker does with one of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from otspec.traces.comparison import compare
from otspec.traces.readers import ChangedInputError, Source, Warping
from otspec.traces.runs.result_files import Label, write_part
from otspec.writing import write_text

if TYPE_CHECKING:
    import pyarrow as pa  # type: ignore[import-untyped]

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

    def label(self, run: str) -> Label:
        """Return what the part with its results says of itself."""
        return Label(run, self.source.name, self.start, self.stop)

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
        ]
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


def compute_part(
    chunk: Chunk, settings: Settings, run: str, latest: int, part: str, failure: str
) -> None:
    """Write the results of a chunk, or why there are none, each in one step.

    Parameters
    ----------
    chunk : Chunk
    settings : Settings
    run : str
        What the part says it belongs to.
    latest : int
        When the last change to the source was, as the run began.
    part, failure : str
        Where to write the table, and where the error.

    Raises
    ------
    ChangedInputError
        The source was changed since.
    OSError
        The results cannot be written.
    """
    try:
        table = table_of(chunk, settings)
        chunk.source.refuse_newer(chunk.start, chunk.stop, latest)
    except ChangedInputError:
        raise
    except ValueError as error:
        reason = f"{chunk.source.name}: {error}"
        write_text(Path(failure), " ".join(reason.split()))
        return
    write_part(table, chunk.label(run), Path(part))
