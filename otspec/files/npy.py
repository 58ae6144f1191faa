"""An array in NumPy's .npy format, counted before it is read: no more than its header says.

NumPy reads the header, once it is seen to hold nothing of which Python's compiler would warn: that
goes through filters that all threads share.
"""

import io
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import numpy as np
from numpy.lib import format as numpy_format

from otspec._base import Array, refuse_too_large
from otspec.files.base import FORMATS, Format, Located, Named, Slices, StoredArray

BLOCK = 2**12
"""Bytes that are asked for at a time.

``zipfile`` unpacks as many packed bytes of bzip2 and LZMA at once, however much they hold: these
are some 80 MB at most.
"""
_LONGEST_HEADER = 10_000
_READERS = {
    (1, 0): (2, numpy_format.read_array_header_1_0),
    (2, 0): (4, numpy_format.read_array_header_2_0),
}
"""By version: bytes that tell the length of the header, and what reads both."""
_TYPE = r"[<>=|]?(?:[biufcOSUV]\d{0,9}|\?|[mM]8(?:\[\d{0,9}[A-Za-z]{1,7}\])?)"
_PLAIN = re.compile(
    rf"(?:(['\"])(?:descr|fortran_order|shape|{_TYPE})\1|True|False|\d{{1,19}}(?!\w)|[\s{{}}(),:])*"
)
"""What a header consists of: its names, types of numbers, lengths."""


@dataclass(frozen=True)
class Header:
    """What the header of an array in .npy format says; other numbers may follow."""

    shape: tuple[int, ...]
    dtype: str  # as NumPy writes it, such as ``"<f2"``; never objects or structures
    fortran: bool  # whether the first axis varies fastest
    length: int  # bytes of the header, after which the numbers follow

    @property
    def size(self) -> int:
        """Bytes of the numbers."""
        return math.prod(self.shape) * np.dtype(self.dtype).itemsize

    def refuse_other_size(self, size: int) -> None:
        """Refuse another number of bytes after the header than it says."""
        if size != self.size:
            raise ValueError(
                f"its header says shape {self.shape} of {np.dtype(self.dtype)}, {self.size:,} "
                f"bytes, but {size:,} follow: was writing interrupted?"
            )

    def read(self, stream: IO[bytes]) -> Array:
        """Read the array from a stream that stands after the header."""
        buffer: Array = np.empty(self.size, dtype=np.uint8)
        done = 0
        for block in blocks_of(stream, self.size):
            buffer[done : done + len(block)] = np.frombuffer(block, dtype=np.uint8)
            done += len(block)
        return buffer.view(self.dtype).reshape(self.shape, order="F" if self.fortran else "C")


def blocks_of(stream: IO[bytes], size: int) -> Iterator[bytes]:
    """Yield the bytes of a stream in blocks, and one byte more would be asked for."""
    # That lets an archive compare its checksum.
    while size and (block := stream.read(min(BLOCK, size))):
        size -= len(block)
        yield block
    if size:
        raise ValueError(f"an array ends {size:,} bytes early: was writing interrupted?")
    if stream.read(1):
        raise ValueError("an array is longer than its header says: was writing interrupted?")


def read_header(stream: IO[bytes]) -> Header:
    """Read the header of an array in .npy format; the stream stands after it then."""
    start = stream.read(numpy_format.MAGIC_LEN)
    if start[:-2] != numpy_format.MAGIC_PREFIX:
        raise ValueError("it is no array in .npy format: save it again with np.save")
    version = start[-2], start[-1]
    if version not in _READERS:
        raise ValueError(f"its .npy format version is {version}: save it again with np.save")
    width, read = _READERS[version]
    prefix = stream.read(width)
    length = int.from_bytes(prefix, "little")
    if length > _LONGEST_HEADER:
        raise ValueError(f"its header has {length:,} bytes: save it again with np.save")
    content = stream.read(length)
    if len(content) != length or len(prefix) != width:
        raise ValueError("its header is cut short: was writing interrupted?")
    # Python 2 wrote long integers with an L behind.
    text = re.sub(r"(?<=\d)L(?=\s*[,)])", " ", content.decode("latin-1"))
    if re.search(r"['\"]descr['\"]\s*:\s*\[", text):
        raise ValueError("it holds structures, not numbers: save each of their fields as an array")
    try:
        if not _PLAIN.fullmatch(text):
            raise ValueError("other things are in it")
        shape, fortran, dtype = read(io.BytesIO(prefix + text.encode("latin-1")))
    except Exception as error:  # what NumPy's parsers make of damaged text
        shown = text.strip()[:80]
        raise ValueError(
            f"its header cannot be read, {shown!r}: save floats of it again with np.save"
        ) from error
    if dtype.hasobject:
        raise ValueError("it holds Python objects, which are never unpickled (allow_pickle=False)")
    if dtype.itemsize == 0:
        raise ValueError(f"its header says type {dtype.str!r}, of no size: save it as floats")
    return Header(shape, dtype.str, fortran, len(start) + width + length)


@dataclass(frozen=True)
class MappedArray(StoredArray):
    """Numbers that lie one after the other in a file."""

    offset: int  # where they start, in bytes
    fortran: bool  # whether the first axis varies fastest

    @classmethod
    def at(cls, path: Path, key: str, header: Header, offset: int) -> "MappedArray":
        """Return the array whose header was read, and whose numbers start at an offset."""
        return cls(str(path), key, header.shape, header.dtype, offset, header.fortran)

    def rows(self, start: int, stop: int) -> Array:
        """Read rows as :meth:`StoredArray.rows` does, all at once unless they lie scattered."""
        if self.fortran:
            return super().rows(start, stop)
        tokens = self.shape[-1]
        return self._numbers(start * tokens, (stop - start) * tokens).reshape(-1, tokens)

    def whole(self) -> Array:
        """Read the array."""
        numbers = self._numbers(0, math.prod(self.shape))
        return numbers.reshape(self.shape, order="F" if self.fortran else "C")

    def _numbers(self, start: int, count: int) -> Array:
        """Read numbers as they lie in the file."""
        width = np.dtype(self.dtype).itemsize
        try:
            # Not mapped: if somebody cuts a mapped file short, reading it ends the process.
            numbers = np.fromfile(self.path, self.dtype, count, offset=self.offset + start * width)
        except OSError as error:
            raise ValueError(f"cannot read {self.path}: {error}") from error
        if numbers.size != count:
            raise ValueError(
                f"cannot read {self.path}: it ends before number {start + count:,} of its array: "
                "was it changed?"
            )
        return numbers

    def _read(self, slices: list[Slices]) -> Iterator[Array]:
        # Mapped anew for every chunk: pages that were read count as memory of the process.
        try:
            mapped = np.memmap(
                self.path, self.dtype, "r", self.offset, self.shape, "F" if self.fortran else "C"
            )
        except (OSError, ValueError) as error:
            raise ValueError(f"cannot read {self.path}: {error}") from error
        for each in slices:
            yield np.array(mapped[each])


def read_npy(path: Path, _keys: tuple[str, ...] = ()) -> Named:
    """Read a .npy file."""
    array = _located(path)
    refuse_too_large(array.size)
    return {"": array.whole()}


def locate_npy(path: Path) -> Located:
    """Find the one array of a .npy file, which has no name."""
    return {"": _located(path)}


def _located(path: Path) -> MappedArray:
    with path.open("rb") as stream:
        header = read_header(stream)
    header.refuse_other_size(path.stat().st_size - header.length)
    return MappedArray.at(path, "", header, header.length)


FORMATS.register(Format(".npy", read_npy, locate_npy, "one array, as NumPy saves it"))
