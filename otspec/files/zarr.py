"""Arrays in Zarr groups: folders of packed chunks, each of which has to be there in full."""

import bz2
import gzip
import io
import itertools
import lzma
import math
import os
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import numpy as np

from otspec._base import Array, needed, refuse_too_large
from otspec.files.base import FORMATS, Format, Located, Slices, StoredArray, located, slices_of

_WIDEST = 16  # most bytes of a number, whatever filters make of it
_BLOCK = 2**16
_NO_CHUNK = 2**64 - 1
_CHECKSUM = 4
_ZSTD = b"\x28\xb5\x2f\xfd"
_ZSTD_MOST = 2**15  # Zstandard packs no better than a block of 128 KiB into 4 bytes
_OPENED: dict[str, Any] = {"gzip": gzip.open, "bz2": bz2.open, "lzma": lzma.open}


def refuse_larger_chunks(path: Path, array: Any) -> None:
    """Refuse a chunk, or a shard of chunks, that unpacks to more than its shape says."""
    names = [_name(codec) for codec in array.compressors]
    packing = [name for name in names if name not in ("crc32c", "shuffle")]
    if not packing:
        return
    if len(packing) > 1:
        raise ValueError(f"its chunks are packed by {' and '.join(packing)}: store it with one")
    most = math.prod(array.chunks) * _WIDEST
    for content in _chunks(path, array):
        if _unpacked(packing[0], content, most) > most:
            raise ValueError(
                f"chunk {path.name} unpacks to more than {most:,} bytes: was writing interrupted?"
            )


def _name(codec: Any) -> str:
    """Return the name of a codec of zarr's or of numcodecs."""
    named: str = getattr(codec, "codec_id", "") or type(codec).__name__.removesuffix("Codec")
    return named.lower()


def _chunks(path: Path, array: Any) -> Iterator[bytes]:
    """Yield the packed chunks of a file: one, or those of a shard."""
    content = path.read_bytes()
    if not array.shards:
        yield content
        return
    sharding = array.metadata.codecs[0]
    if [_name(codec) for codec in sharding.index_codecs] != ["bytes", "crc32c"]:
        raise ValueError("the index of its shards is packed: store it with the usual one")
    count = math.prod(array.shards) // math.prod(array.chunks)
    at_end = sharding.index_location.value == "end"
    start = len(content) - _CHECKSUM - 16 * count if at_end else 0
    if start < 0 or len(content) < 16 * count:
        raise ValueError(f"chunk {path.name} is cut short: was writing interrupted?")
    for offset, size in np.frombuffer(content, "<u8", 2 * count, start).reshape(-1, 2).tolist():
        if offset != _NO_CHUNK:
            yield content[offset : offset + size]


def _unpacked(name: str, content: bytes, most: int) -> int:
    """Return to how many bytes a packed chunk unpacks; of more than ``most`` one more will do."""
    if name == "blosc":
        return int.from_bytes(content[4:8], "little")
    if name == "lz4":
        return int.from_bytes(content[:4], "little")
    if name == "zstd":
        return _of_zstd(content)
    if name == "zlib":
        return len(zlib.decompressobj().decompress(content, most + 1))
    if name in _OPENED:
        with _OPENED[name](io.BytesIO(content)) as stream:
            return _counted(stream, most)
    raise ValueError(f"its chunks are packed by {name}: store it with zstd, blosc or gzip")


def _counted(stream: IO[bytes], most: int) -> int:
    count = 0
    while count <= most and (block := stream.read(_BLOCK)):
        count += len(block)
    return count


def _of_zstd(content: bytes) -> int:
    """Return what the header of a frame says; if it does not, refuse what may be too large."""
    described = int.from_bytes(content[4:5], "little")
    single = described >> 5 & 1
    start = 6 - single + (0, 1, 2, 4)[described & 3]
    width = (single, 2, 4, 8)[described >> 6]
    if content[:4] != _ZSTD or not width:
        refuse_too_large(len(content) * _ZSTD_MOST)
        return 0
    return int.from_bytes(content[start : start + width], "little") + 256 * (width == 2)


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
            for each in slices_of(self.shape[:-1], start, stop):
                for name in _chunk_names(array, each):
                    yield Path(self.path, self.key, name)

    def _metadata(self) -> Iterator[Path]:
        for folder in (Path(self.path), Path(self.path, self.key)):
            for name in _ZARR_METADATA:
                if (folder / name).exists():
                    yield folder / name

    def _read(self, slices: list[Slices]) -> Iterator[Array]:
        with self._opened() as array:
            for each in slices:
                _refuse_torn_chunks(Path(self.path) / self.key, array, each)
                yield np.asarray(array[each])

    @contextmanager
    def _opened(self) -> Iterator[Any]:
        zarr = needed("zarr", "it", "traces")
        try:
            yield zarr.open_group(self.path, mode="r")[self.key]
        except Exception as error:  # codecs and stores raise what they like
            raise ValueError(f"cannot read {self.path}, array {self.key!r}: {error}") from error


def _chunk_names(array: Any, each: Slices) -> Iterator[str]:
    """Yield the names of the files with the chunks, or shards, of a slice of leading axes."""
    sizes = array.shards or array.chunks
    spans = [
        range(part.start // size, math.ceil(part.stop / size))
        for part, size in zip(each, sizes, strict=False)
    ]
    vocabulary = range(math.ceil(array.shape[-1] / sizes[-1]))
    for place in itertools.product(*spans, vocabulary):
        yield array.metadata.encode_chunk_key(place)


def _refuse_torn_chunks(folder: Path, array: Any, each: Slices) -> None:
    """Refuse a slice of which chunks are not stored, not in full, or unpack to too much."""
    # Zarr would make up missing ones from the fill value; Blosc reads past the end of short ones.
    blosc = any("blosc" in type(codec).__name__.lower() for codec in array.compressors)
    for name in _chunk_names(array, each):
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
