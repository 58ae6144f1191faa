"""What a worker does with a chunk: the work of the run, and a file with the results."""

from __future__ import annotations

from pathlib import Path

from otspec._base.writing import write_text
from otspec.traces.readers import ChangedInputError
from otspec.traces.runs.chunking import Chunk
from otspec.traces.runs.result_files import write_part
from otspec.traces.runs.work import Work


def compute_part(chunk: Chunk, work: Work, run: str, latest: int, part: str, failure: str) -> None:
    """Write the results of a chunk, or why there are none, each in one step.

    Parameters
    ----------
    chunk : Chunk
    work : Work
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
        table = work.table_of(chunk)
        chunk.source.refuse_newer(chunk.start, chunk.stop, latest)
    except ChangedInputError:
        raise
    except ValueError as error:
        reason = f"{chunk.source.name}: {error}"
        write_text(Path(failure), " ".join(reason.split()))
        return
    write_part(table, chunk.label(run), Path(part))
