"""An array in NumPy's .npy format, counted before it is read.

The header is parsed here, not by Python's compiler as NumPy does, which warns through filters
that all threads share. No more is read than the header says.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import numpy as np

from otspec._base.arithmetic import Array
from otspec._base.memory import refuse_too_large
from otspec.files.contract import READERS, Named, Reader

_MAGIC = b"\x93NUMPY"
_LONGEST_HEADER = 2**16
BLOCK = 2**12
"""Bytes that are asked for at a time.

``zipfile`` unpacks as many packed bytes of bzip2 and LZMA at once, however much they hold: these
are some 80 MB at most.
"""
_LENGTH_BYTES = {(1, 0): 2, (2, 0): 4}
_TYPE = re.compile(r"[<>=|]?(?:[biufcOSUV]\d{0,9}|\?|[mM]8(?:\[\d{0,9}[A-Za-z]{1,7}\])?)")
_ITEM = re.compile(
    r"\s*(?P<q>['\"])(?P<key>descr|fortran_order|shape)(?P=q)\s*:\s*(?:"
    r"(?P<t>['\"])(?P<descr>[^'\"\\]{1,40})(?P=t)|(?P<fortran_order>True|False)"
    r"|\(\s*(?P<shape>(?:\d{1,19}L?\s*,\s*)*(?:\d{1,19}L?\s*)?)\))\s*(?P<end>,?\s*\}?\s*)"
)


@dataclass(frozen=True)
class Header:
    """What the header of an array in .npy format says.

    The numbers that follow may be others: :meth:`refuse_other_size` compares how many there are.

    Parameters
    ----------
    shape : tuple of int
    dtype : str
        As NumPy writes it, such as ``"<f2"``; never objects or structures.
    fortran : bool
        Whether the first axis varies fastest.
    length : int
        Bytes of the header, after which the numbers follow.
    """

    shape: tuple[int, ...]
    dtype: str
    fortran: bool
    length: int

    @property
    def size(self) -> int:
        """Bytes of the numbers."""
        return math.prod(self.shape) * np.dtype(self.dtype).itemsize

    def refuse_other_size(self, size: int) -> None:
        """Refuse another number of bytes after the header than it says.

        Raises
        ------
        ValueError
        """
        if size != self.size:
            raise ValueError(
                f"its header says shape {self.shape} of {np.dtype(self.dtype)}, {self.size:,} "
                f"bytes, but {size:,} follow: was writing interrupted?"
            )

    def read(self, stream: IO[bytes]) -> Array:
        """Read the array from a stream that stands after the header.

        Raises
        ------
        ValueError
            A stream that ends early or goes on.
        """
        buffer: Array = np.empty(self.size, dtype=np.uint8)
        done = 0
        while done < self.size:
            block = stream.read(min(BLOCK, self.size - done))
            if not block:
                raise ValueError(f"an array ends {self.size - done:,} bytes early")
            buffer[done : done + len(block)] = np.frombuffer(block, dtype=np.uint8)
            done += len(block)
        # One byte past the end, so that the checksum of an archive is compared.
        if stream.read(1):
            raise ValueError("an array is longer than its header says")
        array: Array = buffer.view(self.dtype)
        return array.reshape(self.shape, order="F" if self.fortran else "C")


def read_header(stream: IO[bytes]) -> Header:
    """Read the header of an array in .npy format; the stream stands after it then.

    Raises
    ------
    ValueError
        No such header; an array of Python objects or of structures.
    """
    start = stream.read(len(_MAGIC) + 2)
    if start[:-2] != _MAGIC or len(start) != len(_MAGIC) + 2:
        raise ValueError("it is no array in .npy format: save it again with np.save")
    version = start[-2], start[-1]
    if version not in _LENGTH_BYTES:
        raise ValueError(f"its .npy format version is {version}: save it again with np.save")
    prefix = stream.read(_LENGTH_BYTES[version])
    length = int.from_bytes(prefix, "little")
    if length > _LONGEST_HEADER:
        raise ValueError(f"its header has {length:,} bytes: save it again with np.save")
    text = stream.read(length)
    if len(text) != length or len(prefix) != _LENGTH_BYTES[version]:
        raise ValueError("its header is cut short: was writing interrupted?")
    shape, dtype, fortran = _parsed(text.decode("latin-1"))
    return Header(shape, dtype.str, fortran, len(start) + len(prefix) + length)


def _parsed(text: str) -> tuple[tuple[int, ...], np.dtype[np.generic], bool]:
    text = text.strip()
    found: dict[str, str] = {}
    place = 1
    while text[:1] == "{" and (item := _ITEM.match(text, place)):
        key, value = item["key"], item[item["key"]]
        if value is None or key in found:
            break
        found[key], place = value, item.end()
        if item["end"].rstrip().endswith("}"):
            break
    if len(found) != 3 or place != len(text) or not text.endswith("}"):
        raise ValueError(_unreadable(text))
    if not _TYPE.fullmatch(found["descr"]):
        raise ValueError(f"its header says type {found['descr']!r}: save it as floats")
    try:
        dtype = np.dtype(found["descr"])
    except TypeError:
        raise ValueError(f"its header says type {found['descr']!r}, which is none") from None
    if dtype.hasobject:
        raise ValueError("it holds Python objects, which are never unpickled (allow_pickle=False)")
    if dtype.itemsize == 0:
        raise ValueError(f"its header says type {found['descr']!r}, of no size")
    lengths = re.findall(r"\d+", found["shape"])
    return tuple(int(length) for length in lengths), dtype, found["fortran_order"] == "True"


def _unreadable(text: str) -> str:
    if re.search(r"['\"]descr['\"]\s*:\s*\[", text):
        return "it holds structures, not numbers: save each of their fields as an array"
    return f"its header cannot be read, {text[:80]!r}: save it again with np.save"


def read_npy(path: Path, _keys: tuple[str, ...] = ()) -> Named:
    """Read a .npy file.

    Raises
    ------
    ValueError
        A file of another size than its header says, or no array that is read here.
    """
    with path.open("rb") as stream:
        header = read_header(stream)
        header.refuse_other_size(path.stat().st_size - header.length)
        refuse_too_large(header.size)
        return {"": header.read(stream)}


READERS.register(Reader(".npy", read_npy, "one array, as NumPy saves it"))
