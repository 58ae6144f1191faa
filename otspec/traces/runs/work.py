"""Chunks of positions, and what a run computes of each: rules compared, or other work."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from otspec._base.extras import needed
from otspec.rules.base.pair_rule import named_rules
from otspec.rules.importance.importance_sampling import FREE
from otspec.traces.comparison import compare
from otspec.traces.readers import Source
from otspec.traces.readers.logged_numbers import Warping
from otspec.traces.runs.result_files import Label

if TYPE_CHECKING:
    import pyarrow as pa


_CHUNK_BYTES = 32 * 2**20
_MOST_POSITIONS = 1024  # of a small vocabulary, where the results are larger than the logits


@dataclass(frozen=True)
class Chunk:
    """Some positions of one source, which one worker reads to write one part.

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


def chunks_of(
    sources: Sequence[Source], unit: Callable[[Source], int], size: int | None = None
) -> list[Chunk]:
    """Divide sources into chunks of so many positions, in whole units; by default 32 MB each."""
    chunks: list[Chunk] = []
    for source in sources:
        together = unit(source)
        if together < 1 or source.positions % together:
            raise ValueError(
                f"{source.name} has {source.positions:,} positions, which are no units of "
                f"{together:,}: a unit must divide them"
            )
        step = size or max(1, min(_MOST_POSITIONS, _CHUNK_BYTES // source.row_bytes))
        step = max(together, step - step % together)
        for start in range(0, source.positions, step):
            stop = min(start + step, source.positions)
            chunks.append(Chunk(len(chunks), source, start, stop))
    return chunks


@dataclass(frozen=True)
class Work(ABC):
    """What a run computes of each chunk; the base of frozen dataclasses whose fields say it.

    It is sent to other processes with each chunk, so that all its fields pickle, and should be
    small.
    """

    @abstractmethod
    def table_of(self, chunk: Chunk) -> pa.Table:
        """Return the results of a chunk, which depend on nothing but the chunk and this work.

        A ValueError says why there are none, in words that name the position; the run goes on.
        """

    def unit(self, source: Source) -> int:  # noqa: ARG002  positions are on their own
        """Return how many positions of a source, which it divides, no chunk may part: here one."""
        return 1

    def identity(self) -> dict[str, Any]:
        """Return what ``run.json`` keeps of it, as JSON: a run is resumed by the same work only.

        Here that is the name of the class, and its fields; a subclass with fields that JSON does
        not know says something else of them.
        """
        return {"work": type(self).__name__, "settings": asdict(self)}


@dataclass(frozen=True)
class Settings(Work):
    """Rules compared at every position."""

    ks: tuple[int, ...]
    laws: tuple[str, ...]  # draft laws, by name
    warpings: tuple[Warping, ...]
    free: int = FREE  # as for compare
    only: tuple[str, ...] = ()  # which rules, by name; by default as compare has them

    def __post_init__(self) -> None:
        named_rules(self.only, self.laws)

    def table_of(self, chunk: Chunk) -> pa.Table:
        """Compare the rules at the positions of a chunk: a row per comparison, in order."""
        pa = needed("pyarrow", "a run over traces", "runs")

        words, number = pa.dictionary(pa.int32(), pa.string()), pa.float64()  # words once each
        kinds = {
            "source": words, "position": pa.int64(), "temperature": number,
            "draft_temperature": number, "drafts": words, "rule": words, "k": pa.int32(),
            "acceptance": number, "optimum": number,
        }  # fmt: skip
        schema = pa.schema(kinds.items())
        # Where no law has such numbers of drafts there are no rows.
        columns = list(zip(*self._rows(chunk), strict=True)) or [()] * len(schema)
        arrays = [
            pa.array(column, field.type.value_type).dictionary_encode()
            if pa.types.is_dictionary(field.type)
            else pa.array(column, field.type)
            for field, column in zip(schema, columns, strict=True)
        ]
        return pa.table(arrays, schema=schema)

    def _rows(self, chunk: Chunk) -> Iterator[tuple[object, ...]]:
        name = chunk.source.name
        pairs = chunk.source.pairs(chunk.start, chunk.stop, self.warpings)
        for position, warping, draft, target in pairs:
            try:
                rows = compare(draft, target, self.ks, self.laws, only=self.only, free=self.free)
            except ValueError as error:
                raise ValueError(f"position {position}: {error}") from error
            at = name, position, warping.temperature, warping.of("draft").temperature
            for row in rows:
                numbers = float(row.acceptance), float(row.optimum)
                yield (*at, row.drafts, row.rule, row.k, *numbers)
