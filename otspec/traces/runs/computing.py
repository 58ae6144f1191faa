"""What a worker does with a chunk: all rules at its positions, and a file with the results."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from otspec.traces.comparison import compare
from otspec.traces.readers import ChangedInputError
from otspec.traces.runs.chunking import Chunk, Settings
from otspec.traces.runs.result_files import write_part
from otspec.writing import write_text

if TYPE_CHECKING:
    import pyarrow as pa

_WORDS = ("source", "drafts", "rule")
"""The columns of words, which are stored once each."""


def table_of(chunk: Chunk, settings: Settings) -> pa.Table:
    """Compare all rules at the positions of a chunk.

    Returns
    -------
    pyarrow.Table
        Columns source, position, temperature, draft_temperature, drafts, rule, k, acceptance,
        optimum; a row per comparison, positions ascending.

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
            ("draft_temperature", pa.float64()),
            ("drafts", pa.dictionary(pa.int32(), pa.string())),
            ("rule", pa.dictionary(pa.int32(), pa.string())),
            ("k", pa.int32()),
            ("acceptance", pa.float64()),
            ("optimum", pa.float64()),
        ]
    )
    # Where no law has such numbers of drafts there are no rows.
    columns = list(zip(*_rows(chunk, settings), strict=True)) or [()] * len(schema)
    arrays = [
        pa.array(column, field.type.value_type if field.name in _WORDS else field.type)
        for field, column in zip(schema, columns, strict=True)
    ]
    return pa.table(
        [
            array.dictionary_encode() if field.name in _WORDS else array
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
                warping.of("draft").temperature,
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
