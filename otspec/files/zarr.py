"""Arrays in Zarr groups, folders of chunks, each of which has to be there in full."""

from __future__ import annotations

import itertools
import math
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from otspec._base.arithmetic import Array
from otspec._base.extras import needed
from otspec.files.base import FORMATS, Box, Format, Located, StoredArray, boxes_of, located
from otspec.files.packed_chunks import refuse_larger_chunks

_ZARR_METADATA = ("zarr.json", ".zgroup", ".zarray", ".zmetadata")
_LARGEST_CHUNK = 2**30


@dataclass(frozen=True)
class ZarrArray(StoredArray):
    """An array of a Zarr group in a folder."""

    def all_files(self) -> list[Path]:
        """Return the files of the array, and those of its group."""
        folder = Path(self.path)
        if not folder.is_dir():
            return super().all_files()
        of_group = [file for file in sorted(folder.iterdir()) if file.is_file()]
        below = os.walk(folder / self.key)
        return of_group + sorted(Path(root, name) for root, _, names in below for name in names)

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
        zarr = needed("zarr", "it", "traces")
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
    """Refuse a box of which chunks are not stored, not in full, or unpack to too much.

    Zarr would make up missing ones from the fill value; Blosc reads past the end of short ones.
    """
    blosc = any("blosc" in type(codec).__name__.lower() for codec in array.compressors)
    for name in _chunk_names(array, box):
        if not (folder / name).exists():
            raise ValueError(f"chunk {name} is not stored: was writing interrupted?")
        if blosc and not array.shards:
            _refuse_short_blosc(folder / name)
        refuse_larger_chunks(folder / name, array)


def _refuse_short_blosc(path: Path) -> None:
    with path.open("rb") as stream:
        size = int.from_bytes(stream.read(16)[12:], "little")
    if size > path.stat().st_size:
        raise ValueError(f"chunk {path.name} is cut short: was writing interrupted?")


def locate_zarr(path: Path) -> Located:
    """Find the arrays of a Zarr group."""
    zarr = needed("zarr", "it", "traces")
    try:
        group = zarr.open_group(path, mode="r")
        arrays = dict(group.arrays())
    except Exception as error:  # metadata of any shape raises anything
        raise ValueError(f"it is no Zarr group of arrays: {error}") from error

    def locate(key: str) -> StoredArray:
        array = arrays[key]
        size = math.prod(array.shards or array.chunks) * array.dtype.itemsize
        if size > _LARGEST_CHUNK:
            raise ValueError(f"{key} has chunks of {size:,} bytes: store it with smaller ones")
        return ZarrArray(str(path), key, tuple(array.shape), array.dtype.str)

    return located(arrays, locate)


FORMATS.register(Format(".zarr", locate=locate_zarr, named=True, folder=True))
