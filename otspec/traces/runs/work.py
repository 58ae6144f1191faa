"""Chunks of positions, what a run computes of each, and the files that it keeps of them."""

from __future__ import annotations

import hashlib
import io
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from otspec._base import ArrowTable, in_one_step, needed
from otspec.rules.base.pair_rule import named_rules
from otspec.rules.importance.importance_sampling import FREE
from otspec.traces.comparison import compare
from otspec.traces.readers import Source
from otspec.traces.readers.logged_numbers import Warping

if TYPE_CHECKING:
    import pyarrow.parquet as pq


SCHEMA = 3  # version of the columns of parts, and of the files of a run

_MARK = b"otspec-sha256:"
_BLANK = _MARK + b"0" * 64
_SEAL = re.compile(_MARK + rb"[0-9a-f]{64}")


@dataclass(frozen=True)
class Label:
    """What a part says of itself.

    Parameters
    ----------
    run : str
        A digest of all that the run was made with.
    source : str
        The name of the source.
    start, stop : int
        Positions of the source.
    """

    run: str
    source: str
    start: int
    stop: int

    def metadata(self) -> dict[str, str]:
        """Return the label as the metadata of a Parquet file."""
        return {
            "otspec schema": str(SCHEMA),
            "otspec run": self.run,
            "otspec source": self.source.encode(errors="backslashreplace").decode(),
            "otspec positions": f"{self.start} to {self.stop - 1}",
        }

    @classmethod
    def of_metadata(cls, found: Mapping[bytes, bytes]) -> Label:
        """Return the label that a Parquet file's metadata are; a ValueError if they are none."""
        told = {key.decode(): value.decode() for key, value in found.items()}
        first, _, last = told.get("otspec positions", "").partition(" to ")
        run, source = told.get("otspec run", ""), told.get("otspec source", "")
        label = cls(run, source, int(first or 0), int(last or 0) + 1)
        _check_label(found, label)
        return label


def write_part(table: ArrowTable, label: Label, path: Path) -> None:
    """Write a table with its label and a seal, in one step."""
    # The seal is the SHA-256 of the file with zeros in the seal's place. Pages have the checksums
    # of Parquet too, so that other readers can notice damage.
    pq = needed("pyarrow.parquet", "a run over traces", "runs")
    stream = io.BytesIO()
    with pq.ParquetWriter(
        stream, table.schema, compression="zstd", write_page_checksum=True
    ) as writer:
        writer.write_table(table)
        writer.add_key_value_metadata(label.metadata() | {"otspec seal": _BLANK.decode()})
    content = stream.getvalue()
    with in_one_step(path) as part:
        part.write(content.replace(_BLANK, _MARK + _digest(content)))


def read_part(path: Path, label: Label) -> ArrowTable:
    """Read a table that was written with a label; a ValueError names a file that is not whole."""
    with _opened(path) as part:
        _check_label(part.metadata.metadata, label)
        return part.read()


def read_label(path: Path) -> Label:
    """Return what a part says that it holds."""
    with _opened(path) as part:
        return Label.of_metadata(part.metadata.metadata)


@contextmanager
def _opened(path: Path) -> Iterator[pq.ParquetFile]:
    """Open a part that is whole; errors while it is read name the file."""
    pa = needed("pyarrow", "a run over traces", "runs")
    pq = needed("pyarrow.parquet", "a run over traces", "runs")
    try:
        content = path.read_bytes()
        _check_seal(content)  # what is damaged never reaches the reader of Parquet
        yield pq.ParquetFile(io.BytesIO(content), page_checksum_verification=True)
    except (pa.ArrowException, OSError, ValueError) as error:
        raise ValueError(f"cannot use {path}: {' '.join(str(error).split())[:200]}") from error


def _check_seal(content: bytes) -> None:
    seals = _SEAL.findall(content)
    if not seals:
        raise ValueError("it has no seal: it is damaged, or another program or version wrote it")
    if seals != [_MARK + _digest(content.replace(seals[0], _BLANK))]:
        raise ValueError("it was damaged since it was written")


def _digest(content: bytes) -> bytes:
    return hashlib.sha256(content).hexdigest().encode()


def _check_label(found: Mapping[bytes, bytes], label: Label) -> None:
    for key, value in label.metadata().items():
        there = found.get(key.encode(), b"nothing").decode()
        if there != value:
            raise ValueError(f"its {key.removeprefix('otspec ')} is {there}, not {value}")


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
    def table_of(self, chunk: Chunk) -> ArrowTable:
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

    def table_of(self, chunk: Chunk) -> ArrowTable:
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
