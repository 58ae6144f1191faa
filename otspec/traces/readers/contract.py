"""What a format of logged arrays has to say: where the arrays are, and how rows of one are read."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from otspec._base.arithmetic import Array
from otspec._base.registry import Registry, instance_of
from otspec.files.contract import UNREADABLE
from otspec.traces.readers.boxes import Box, boxes_of

SIDES = ("draft", "target")
"""The two models; names of their arrays begin with these and an underscore."""

DRAFTED = "block_"
"""What the names of arrays begin with that hold blocks beside a sample of positions."""


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

    def rows(self, start: int, stop: int) -> Array:
        """Read the rows of a range of positions, the leading axes taken as one.

        Returns
        -------
        ndarray, shape (stop − start, n)
            Of the stored dtype, in memory.

        Raises
        ------
        ValueError
            What is stored there cannot be read any more, or was not unpacked; the message names
            the file.
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

    def all_files(self) -> list[Path]:
        """Return all files that say what the array is, in an order that is always the same."""
        return [Path(self.path)]

    def unpacked(self, to: Path) -> StoredArray:  # noqa: ARG002  it has rows as it is
        """Return an array that has rows: this one, or a compressed one unpacked into a file.

        Raises
        ------
        ValueError
            Too little room for the file, or damaged contents.
        """
        return self

    @abstractmethod
    def _read(self, boxes: list[Box]) -> Iterator[Array]:
        """Yield the part of the array in each box of leading axes."""


@dataclass(frozen=True)
class TraceFormat:
    """A format of files, or folders, that logged arrays are in.

    Those may be larger than the memory: arrays are found by headers, and read by rows.

    Parameters
    ----------
    name : str
        The ending of its files, such as ``".npz"``.
    locate : callable
        Takes the path, and returns the arrays by name, found by their headers; raises
        ``ValueError`` for what is malformed.
    folder : bool
        Whether it is a folder.
    named : bool
        Whether its arrays have names. Then ``FILE.npz:DRAFT+TARGET`` names two of them. If not
        there is one in each file, named ``""``, and a source is a pair of files,
        ``DRAFT.npy+TARGET.npy``.
    """

    name: str
    locate: Callable[[Path], dict[str, StoredArray]]
    folder: bool = False
    named: bool = True

    @property
    def example(self) -> str:
        """How a source of two arrays is named on the command line."""
        return f"trace{self.name}" if self.named else f"draft{self.name}+target{self.name}"


FORMATS: Registry[TraceFormat] = Registry(
    "trace format", "otspec.trace_formats", instance_of(TraceFormat)
)
"""The formats of traces by the ending of their names, in the order of tables."""


def located(
    keys: Iterable[str], locate: Callable[[str], StoredArray | None]
) -> dict[str, StoredArray]:
    """Return the arrays of a file by name.

    What cannot be read as an array is left out, unless its name is one of a trace.

    Parameters
    ----------
    keys : iterable of str
    locate : callable
        Takes a name, and finds the array by its header; None if it is no array.
    """
    found: dict[str, StoredArray] = {}
    for key in keys:
        try:
            array = locate(key)
        except UNREADABLE:
            if key.removeprefix(DRAFTED).startswith(SIDES):
                raise
        else:
            found |= {} if array is None else {key: array}
    return found
