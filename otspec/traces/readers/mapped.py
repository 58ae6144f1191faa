"""Logged numbers that lie one after the other in a file, at some place."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from otspec._base.arithmetic import Array
from otspec.files.npy import Header
from otspec.traces.readers.boxes import Box
from otspec.traces.readers.contract import StoredArray


@dataclass(frozen=True)
class MappedArray(StoredArray):
    """Numbers that lie one after the other in a file.

    Parameters
    ----------
    offset : int
        Where they start, in bytes.
    fortran : bool
        Whether the first axis varies fastest.
    """

    offset: int
    fortran: bool

    @classmethod
    def at(cls, path: Path, key: str, header: Header, offset: int) -> MappedArray:
        """Return the array whose header was read, and whose numbers start at an offset."""
        return cls(str(path), key, header.shape, header.dtype, offset, header.fortran)

    def rows(self, start: int, stop: int) -> Array:
        """Read rows as :meth:`StoredArray.rows` does, all at once unless they lie scattered."""
        if self.fortran:
            return super().rows(start, stop)
        tokens = self.shape[-1]
        row_bytes = tokens * np.dtype(self.dtype).itemsize
        try:
            # Not mapped: if somebody cuts a mapped file short, reading it ends the process.
            numbers = np.fromfile(
                self.path,
                self.dtype,
                (stop - start) * tokens,
                offset=self.offset + start * row_bytes,
            )
        except OSError as error:
            raise ValueError(f"cannot read {self.path}: {error}") from error
        if numbers.size != (stop - start) * tokens:
            raise ValueError(f"cannot read {self.path}: it ends before position {stop - 1}")
        return numbers.reshape(-1, tokens)

    def _read(self, boxes: list[Box]) -> Iterator[Array]:
        # Mapped anew for every chunk: pages that were read count as memory of the process.
        try:
            mapped = np.memmap(
                self.path, self.dtype, "r", self.offset, self.shape, "F" if self.fortran else "C"
            )
        except (OSError, ValueError) as error:
            raise ValueError(f"cannot read {self.path}: {error}") from error
        for box in boxes:
            yield np.array(mapped[box])
