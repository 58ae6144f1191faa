"""What a format of files says of itself, the table of formats, small files, errors of one line."""

import csv
import math
import zipfile
import zlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from otspec._base import Array, Registry, instance_of, meant, refuse_too_large

Named = dict[str, Any]  # what a file holds, by name; a format without names uses the empty one

Slices = tuple[slice, ...]  # a range along each of the leading axes of an array

UNREADABLE = (
    ValueError, OSError, EOFError, KeyError, MemoryError, OverflowError, RuntimeError,
    csv.Error, zipfile.BadZipFile, zlib.error,
)  # fmt: skip
"""What the readers raise on a malformed file; ``RuntimeError``: a password, or deep nesting."""


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
        (..., n); of tokens (..., L).
    dtype : str
        As NumPy writes it, such as ``"<f2"``.
    """

    path: str
    key: str
    shape: tuple[int, ...]
    dtype: str

    @property
    def size(self) -> int:
        """Bytes of the numbers."""
        return math.prod(self.shape) * np.dtype(self.dtype).itemsize

    def rows(self, start: int, stop: int) -> Array:
        """Read the rows of a range of positions, the leading axes taken as one: (stop − start, n).

        A ValueError names a file that cannot be read any more, or was not unpacked.
        """
        slices = list(slices_of(self.shape[:-1], start, stop))
        parts = [np.reshape(part, (-1, self.shape[-1])) for part in self._read(slices)]
        return np.concatenate(parts)

    def files(self, start: int, stop: int) -> Iterator[Path]:  # noqa: ARG002  all are in one
        """Yield the files in which the rows of a range of positions are."""
        yield Path(self.path)

    def all_files(self) -> list[Path]:
        """Return all files that say what the array is, in an order that is always the same."""
        return [Path(self.path)]

    def unpacked(self, to: Path) -> "StoredArray":  # noqa: ARG002  it has rows as it is
        """Return an array that has rows: this one, or a compressed one unpacked into a file."""
        return self

    @abstractmethod
    def _read(self, slices: list[Slices]) -> Iterator[Array]:
        """Yield the part of the array in each of some slices of the leading axes."""


def slices_of(shape: tuple[int, ...], start: int, stop: int) -> Iterator[Slices]:
    """Split a range of flattened positions into the fewest slices of the axes, in order."""
    if len(shape) < 2:
        yield tuple(slice(start, stop) for _ in shape)
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


def _within(shape: tuple[int, ...], index: int, start: int, stop: int) -> Iterator[Slices]:
    for each in slices_of(shape[1:], start, stop):
        yield (slice(index, index + 1), *each)


Located = dict[str, StoredArray | Exception]
"""The arrays of a file by name; what cannot be read as an array is the reason for that."""


def _not_at_all(path: Path, *_: Any) -> Any:
    """Stand for a reading that a format has not, so that no table lists it for that."""
    raise ValueError(f"{path}: this format cannot be read this way: use another")


@dataclass(frozen=True)
class Format:
    """A format of files, or folders: arrays are read whole, or found by headers and read by rows.

    Parameters
    ----------
    name : str
        The ending of its files, such as ``".npy"``.
    read : callable, optional
        Reads a small file whole. It takes the path and a tuple of names, and returns the arrays of
        those names, or all of them if there is none.
    locate : callable, optional
        Finds arrays that may be larger than the memory. It takes the path, and returns a
        :class:`StoredArray` for each name, found by the headers; an exception for what cannot be
        read as an array. Both functions raise ``ValueError`` for what is malformed.
    holds : str
        What is in such a file, for the documentation.
    named : bool
        Whether each of its arrays has a name. Then ``FILE.npz:DRAFT+TARGET`` names two of them. If
        not there is one in each file, named ``""``, and a trace is a pair of files,
        ``DRAFT.npy+TARGET.npy``.
    folder : bool
        Whether it is a folder.
    """

    name: str
    read: Callable[[Path, tuple[str, ...]], Named] = _not_at_all
    locate: Callable[[Path], Located] = _not_at_all
    holds: str = ""
    named: bool = False
    folder: bool = False

    @property
    def example(self) -> str:
        """How one of its arrays is named on the command line."""
        return f"FILE{self.name}{':KEY' if self.named else ''}"

    @property
    def trace_example(self) -> str:
        """How a trace of two arrays is named on the command line."""
        return f"trace{self.name}" if self.named else f"draft{self.name}+target{self.name}"


FORMATS: Registry[Format] = Registry("file format", "otspec.formats", instance_of(Format))
"""The formats by the ending of their names, in the order of tables."""


def small_formats() -> dict[str, Format]:
    """Return the formats of small files, which are read whole, by their endings."""
    return {name: form for name, form in FORMATS.items() if form.read is not _not_at_all}


def trace_formats() -> dict[str, Format]:
    """Return the formats of traces, which are read by rows, by their endings."""
    return {name: form for name, form in FORMATS.items() if form.locate is not _not_at_all}


def format_of(path: Path, formats: dict[str, Format], what: str) -> Format:
    """Return the format of a file or folder that is there, by its ending."""
    form = formats.get(path.suffix)
    if form is None:
        raise ValueError(f"{path}: unknown file type: {what} {', '.join(formats)}")
    with named_errors(path):
        folder, there = path.is_dir(), path.exists()
    if not there:
        raise ValueError(f"{path}: no such file")
    if folder != form.folder:
        raise ValueError(
            f"{path} is a {'directory' if folder else 'file'}: name a "
            f"{'file' if folder else 'directory'}"
        )
    return form


@contextmanager
def named_errors(path: Path) -> Iterator[None]:
    """Turn whatever a reader raises on a malformed file into a ValueError that names the file."""
    try:
        yield
    except UNREADABLE as error:
        text = str(error.args[0]) if isinstance(error, KeyError) else str(error)
        reason = " ".join(text.split()) or type(error).__name__
        raise ValueError(f"cannot read {path}: {reason[:200]}") from error


def located(keys: Iterable[str], locate: Callable[[str], StoredArray]) -> Located:
    """Return the arrays of a file by name, each found by its header."""
    found: Located = {}
    for key in keys:
        try:
            found[key] = locate(key)
        except UNREADABLE as error:
            # Without the frames that were left, which hold streams and what they unpacked.
            error.__cause__ = error.__context__ = None
            found[key] = error.with_traceback(None)
    return found


def selected(names: Iterable[str], keys: tuple[str, ...]) -> tuple[str, ...]:
    """Return which names to read: those asked for, or all of them."""
    there = tuple(names)
    for key in keys:
        if key not in there:
            held = ", ".join(there) or "nothing"
            raise ValueError(f"there is no {key!r} in it: it holds {held}{meant(key, there)}")
    return keys or there


def once(items: Iterable[tuple[str, Any]]) -> Named:
    """Return named values, none of them named twice."""
    found: Named = {}
    for key, value in items:
        if key in found:
            raise ValueError(f"{key!r} is named twice in it: give each its own name")
        found[key] = value
    return found


def read_file(path: str | PathLike[str], keys: tuple[str, ...] = ()) -> Named:
    """Read the arrays of one file.

    Parameters
    ----------
    path : path
        Of a format in :func:`small_formats`, by its ending. A .csv holds numbers, in one row, one
        column, or columns under a header; a .json a list, or an object of lists.
    keys : tuple of str
        Read only these where the format has names; by default all.

    Returns
    -------
    dict of str to array_like
        Arrays, or lists of numbers and strings (.csv, .json). The name is empty for a .npy
        file, a .json list and a .csv file without a header.

    Raises
    ------
    ValueError
        No such file, a directory, empty, malformed, an unknown ending, or a missing key; pickled
        objects are never loaded.
    """
    path = Path(path)
    form = format_of(path, small_formats(), "use one of")
    with named_errors(path):
        size = path.stat().st_size
        if size == 0:
            raise ValueError("the file is empty")
        refuse_too_large(size)
        return form.read(path, keys)


def pick(path: str, name: str, index: tuple[int, ...]) -> Array | list[Any]:
    """Read one array of a file by its name, "" if it is the only one, and of that one row.

    ``index`` are leading indices, such as (block, position). Errors are those of :func:`read_file`,
    or that a name is needed or an index out of range.
    """
    arrays = read_file(path, (name,) if name else ())
    if name and "" in arrays:
        raise ValueError(f"{path} holds one array without a name: write {path}, without :{name}")
    if not arrays:
        raise ValueError(f"{path} holds no array")
    if len(arrays) != 1:
        names = ", ".join(arrays)
        raise ValueError(f"{path} holds {names}: say which one, as in {path}:{next(iter(arrays))}")
    values = next(iter(arrays.values()))
    for level in index:
        try:
            values = values[level]
        except (IndexError, TypeError, KeyError):
            shown = ",".join(map(str, index))
            raise ValueError(
                f"{path} has no row {shown}: the array has shape {np.shape(values)} there"
            ) from None
    return values
