"""A run divided into chunks of positions, each of which a worker computes at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from otspec.traces.readers import Source, Warping
from otspec.traces.runs.result_files import Label

_CHUNK_BYTES = 32 * 2**20
_MOST_POSITIONS = 1024  # of a small vocabulary, where the results are larger than the logits


@dataclass(frozen=True)
class Settings:
    """What is computed at every position.

    All sources of a run are compared with the same settings.

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

    One worker reads them, compares all rules there, and writes one part.

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


def chunks_of(sources: Sequence[Source], size: int | None = None) -> list[Chunk]:
    """Divide sources into chunks.

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
