"""The parts of a run's results: each file says what it holds, and proves that it is whole."""

from __future__ import annotations

import hashlib
import io
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from otspec._base.extras import needed
from otspec._base.writing import in_one_step

if TYPE_CHECKING:
    import pyarrow as pa
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


def write_part(table: pa.Table, label: Label, path: Path) -> None:
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


def read_part(path: Path, label: Label) -> pa.Table:
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
