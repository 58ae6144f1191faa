"""What a run computes of each chunk of positions, and what it is resumed by."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from otspec.traces.readers import Source
from otspec.traces.runs.chunking import Chunk

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True)
class Work(ABC):
    """What a run computes of each chunk; the base of frozen dataclasses whose fields say it.

    It is sent to other processes with each chunk, so that all its fields pickle, and should be
    small.
    """

    @abstractmethod
    def table_of(self, chunk: Chunk) -> pa.Table:
        """Return the results of a chunk, which depend on nothing but the chunk and this work.

        Raises
        ------
        ValueError
            Why there are none, in words that name the position; the run goes on without them.
        """

    def unit(self, source: Source) -> int:  # noqa: ARG002  positions are on their own
        """Return how many positions of a source belong together: no chunk divides them.

        One, unless a subclass says something else; it divides the number of positions.
        """
        return 1

    def identity(self) -> dict[str, Any]:
        """Return what ``run.json`` keeps of it, which JSON can hold.

        A run is resumed by the same work only. Here that is the name of the class, and its
        fields; a subclass with fields that JSON does not know says something else of them.
        """
        return {"work": type(self).__name__, "settings": asdict(self)}
