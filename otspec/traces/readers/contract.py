"""Arrays that stay in their files: rows are read when they are asked for."""

from __future__ import annotations

import itertools
import math
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from otspec.arithmetic import Array

Box = tuple[slice, ...]

_ZARR_METADATA = ("zarr.json", ".zgroup", ".zarray", ".zmetadata")


@dataclass(frozen=True)
class StoredArray(ABC):
    """An array in a file, by its place there; small enough to send to other processes.

    Parameters
    ----------
    path : str
        The file or folder, absolute, so that workers find it from any folder.
    key : str
        The array's name in it; empty in a file of one array.
    shape : tuple of int
        (..., n).
    dtype : str
        As NumPy writes it, such as ``"<f2"``.
    """

    path: str
    key: str
    shape: tuple[int, ...]
    dtype: str

    def rows(self, start: int, stop: int) -> Array:
        """Read the rows of a range of positions, the leading axes taken as one.

        Returns
        -------
        ndarray, shape (stop − start, n)
            Of the stored dtype, in memory.

        Raises
        ------
        ValueError
            What is stored there cannot be read any more; the message names the file.
        """
        boxes = list(boxes_of(self.shape[:-1], start, stop))
        parts = [np.reshape(part, (-1, self.shape[-1])) for part in self._read(boxes)]
        return np.concatenate(parts)

    def files(self, start: int, stop: int) -> Iterator[Path]:  # noqa: ARG002  all are in one
        """Yield the files in which the rows of a range of positions are.

        Raises
        ------
        ValueError
            What says where they are cannot be read any more.
        """
        yield Path(self.path)

    @abstractmethod
    def _read(self, boxes: list[Box]) -> Iterator[Array]:
        """Yield the part of the array in each box of leading axes."""


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


@dataclass(frozen=True)
class SafetensorsArray(StoredArray):
    """A tensor of a .safetensors file."""

    def _read(self, boxes: list[Box]) -> Iterator[Array]:
        from safetensors import SafetensorError, safe_open

        try:
            with safe_open(self.path, framework="numpy") as tensors:
                part = tensors.get_slice(self.key)
                for box in boxes:
                    yield part[*box, slice(None)]
        except (SafetensorError, OSError) as error:
            raise ValueError(f"cannot read {self.path}: {error}") from error


@dataclass(frozen=True)
class ZarrArray(StoredArray):
    """An array of a Zarr group in a folder."""

    def files(self, start: int, stop: int) -> Iterator[Path]:
        """Yield the files of the metadata, and of the chunks that hold a range of positions."""
        yield from self._metadata()
        with self._opened() as array:
            for box in boxes_of(self.shape[:-1], start, stop):
                for name in _chunk_names(array, box):
                    yield Path(self.path, self.key, name)

    def _metadata(self) -> Iterator[Path]:
        for folder in (Path(self.path), Path(self.path, self.key)):
            for name in _ZARR_METADATA:
                if (folder / name).exists():
                    yield folder / name

    def _read(self, boxes: list[Box]) -> Iterator[Array]:
        with self._opened() as array:
            for box in boxes:
                _refuse_torn_chunks(Path(self.path) / self.key, array, box)
                yield np.asarray(array[box])

    @contextmanager
    def _opened(self) -> Iterator[Any]:
        import zarr

        try:
            yield zarr.open_group(self.path, mode="r")[self.key]
        except Exception as error:  # codecs and stores raise what they like
            raise ValueError(f"cannot read {self.path}, array {self.key!r}: {error}") from error


def _chunk_names(array: Any, box: Box) -> Iterator[str]:
    """Yield the names of the files with the chunks, or shards, of a box of leading axes."""
    sizes = array.shards or array.chunks
    spans = [
        range(part.start // size, math.ceil(part.stop / size))
        for part, size in zip(box, sizes, strict=False)
    ]
    vocabulary = range(math.ceil(array.shape[-1] / sizes[-1]))
    for place in itertools.product(*spans, vocabulary):
        yield array.metadata.encode_chunk_key(place)


def _refuse_torn_chunks(folder: Path, array: Any, box: Box) -> None:
    """Refuse a box of which chunks are not stored, or not in full.

    Zarr would make up missing ones from the fill value; Blosc reads past the end of short ones.
    """
    blosc = any("blosc" in type(codec).__name__.lower() for codec in array.compressors)
    for name in _chunk_names(array, box):
        if not (folder / name).exists():
            raise ValueError(f"chunk {name} is not stored: was writing interrupted?")
        if blosc and not array.shards:
            _refuse_short_blosc(folder / name)


def _refuse_short_blosc(path: Path) -> None:
    with path.open("rb") as stream:
        size = int.from_bytes(stream.read(16)[12:], "little")
    if size > path.stat().st_size:
        raise ValueError(f"chunk {path.name} is cut short: was writing interrupted?")


def boxes_of(shape: tuple[int, ...], start: int, stop: int) -> Iterator[Box]:
    """Split a range of flattened positions into the fewest boxes of the axes.

    Parameters
    ----------
    shape : tuple of int
        At least one axis, none empty.
    start, stop : int

    Yields
    ------
    tuple of slice
        In order; the positions in a box are in order too.

    Examples
    --------
    >>> list(boxes_of((2, 3), 1, 6))
    [(slice(0, 1, None), slice(1, 3, None)), (slice(1, 2, None), slice(0, 3, None))]
    """
    if len(shape) == 1:
        yield (slice(start, stop),)
        return
    inner = math.prod(shape[1:])
    (first, skipped), (last, left) = divmod(start, inner), divmod(stop, inner)
    if first == last:
        yield from _within(shape, first, skipped, left)
        return
    if skipped:
        yield from _within(shape, first, skipped, inner)
        first += 1
    if first < last:
        yield (slice(first, last), *(slice(0, length) for length in shape[1:]))
    if left:
        yield from _within(shape, last, 0, left)


def _within(shape: tuple[int, ...], index: int, start: int, stop: int) -> Iterator[Box]:
    for box in boxes_of(shape[1:], start, stop):
        yield (slice(index, index + 1), *box)
