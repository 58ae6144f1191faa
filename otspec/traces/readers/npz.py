"""Traces in .npz archives: stored arrays are read where they are, compressed ones unpacked."""

from __future__ import annotations

import math
import shutil
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import numpy as np

from otspec._base.arithmetic import Array
from otspec.files import named_errors
from otspec.files.npy import BLOCK
from otspec.files.npz import member_header, members_of
from otspec.traces.readers.boxes import Box
from otspec.traces.readers.contract import FORMATS, StoredArray, TraceFormat, located
from otspec.traces.readers.mapped import MappedArray


@dataclass(frozen=True)
class PackedArray(StoredArray):
    """A compressed array of a .npz file, which has no rows before it is unpacked.

    Parameters
    ----------
    header : int
        Length of the header in bytes.
    fortran : bool
    """

    header: int
    fortran: bool

    def _read(self, boxes: list[Box]) -> Iterator[Array]:  # noqa: ARG002  there are no rows
        raise ValueError(f"{self.path}: {self.key} is compressed: unpack the source first")

    def unpacked(self, to: Path) -> MappedArray:
        """Unpack the array into a file, as large as the header says and no larger.

        Raises
        ------
        ValueError
            Too little room on the disk, or damaged contents.
        """
        size = self.header + math.prod(self.shape) * np.dtype(self.dtype).itemsize
        with named_errors(Path(self.path)):
            free = shutil.disk_usage(to.parent).free
            if size > 0.9 * free:
                raise ValueError(
                    f"{self.key} unpacks to {size:,} bytes, but {to.parent} has {free:,} free: "
                    "store it as .npy, or choose another folder with --out"
                )
            with (
                zipfile.ZipFile(self.path) as archive,
                archive.open(members_of(archive)[self.key]) as packed,
                to.open("wb") as stream,
            ):
                _copy(packed, stream, size)
        return MappedArray(
            str(to), self.key, self.shape, self.dtype, offset=self.header, fortran=self.fortran
        )


def _copy(packed: IO[bytes], stream: IO[bytes], size: int) -> None:
    left = size
    # One byte past the end, so that the checksum is compared.
    while block := packed.read(min(BLOCK, left + 1)):
        left -= len(block)
        if left < 0:
            raise ValueError("an array is longer than its header says")
        stream.write(block)
    if left:
        raise ValueError(f"an array ends {left:,} bytes early")


def locate_npz(path: Path) -> dict[str, StoredArray]:
    """Find the arrays of a .npz file.

    Raises
    ------
    ValueError, zipfile.BadZipFile
        A malformed archive, or one with two members of one name.
    """
    with zipfile.ZipFile(path) as archive:
        members = members_of(archive)
        arrays = [key for key, member in members.items() if member.filename.endswith(".npy")]
        return located(arrays, lambda key: _locate_member(path, archive, members[key], key))


def _locate_member(
    path: Path, archive: zipfile.ZipFile, member: zipfile.ZipInfo, key: str
) -> StoredArray:
    header = member_header(archive, member)
    if member.compress_type != zipfile.ZIP_STORED:
        return PackedArray(
            str(path), key, header.shape, header.dtype, header.length, header.fortran
        )
    with path.open("rb") as stream:
        stream.seek(member.header_offset)
        local = stream.read(30)  # the directory repeats all of it but the length of its last field
    start = member.header_offset + 30
    start += int.from_bytes(local[26:28], "little") + int.from_bytes(local[28:30], "little")
    if start + member.file_size > path.stat().st_size:
        raise ValueError(f"{key} reaches past the end of the file")
    return MappedArray.at(path, key, header, start + header.length)


FORMATS.register(TraceFormat(".npz", locate_npz))
