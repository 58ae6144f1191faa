"""How much a chunk of a Zarr array unpacks to, asked before it is unpacked."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import math
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

import numpy as np

from otspec._base.memory import refuse_too_large

_WIDEST = 16
"""Most bytes of a number, whatever filters make of it."""
_BLOCK = 2**16
_NO_CHUNK = 2**64 - 1
_CHECKSUM = 4
_ZSTD = b"\x28\xb5\x2f\xfd"
_ZSTD_MOST = 2**15
"""Zstandard packs no better than a block of 128 KiB into 4 bytes."""
_OPENED: dict[str, Any] = {"gzip": gzip.open, "bz2": bz2.open, "lzma": lzma.open}


def refuse_larger_chunks(path: Path, array: Any) -> None:
    """Refuse a chunk, or a shard of chunks, that unpacks to more than its shape says.

    ``path``: of the chunk or shard.
    """
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
