"""What a format of small files has to say, the table of formats, and one line for every error."""

from __future__ import annotations

import csv
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from otspec._base.registry import Registry, instance_of, meant

Named = dict[str, Any]
"""What a file holds, by name; a format without names uses the empty one."""

UNREADABLE = (
    ValueError,
    OSError,
    EOFError,
    KeyError,
    MemoryError,
    OverflowError,
    RuntimeError,
    csv.Error,
    zipfile.BadZipFile,
    zlib.error,
)
"""What the readers raise on a malformed file; ``RuntimeError``: a password, or deep nesting."""


@dataclass(frozen=True)
class Reader:
    """A format of small files.

    Those are read whole, if they fit into half of the memory.

    Parameters
    ----------
    name : str
        The ending of its files, such as ``".npy"``.
    read : callable
        Takes the path and a tuple of names, and returns the arrays of those names, or all of them
        if there is none; raises ``ValueError`` for a malformed file.
    holds : str
        What is in such a file, for the documentation.
    keyed : bool
        Whether each of its arrays has a name.
    """

    name: str
    read: Callable[[Path, tuple[str, ...]], Named]
    holds: str = ""
    keyed: bool = False

    @property
    def example(self) -> str:
        """How one of its arrays is named on the command line."""
        return f"FILE{self.name}{':KEY' if self.keyed else ''}"


READERS: Registry[Reader] = Registry("reader", "otspec.readers", instance_of(Reader))
"""The formats of small files by the ending of their names, in the order of tables."""


@contextmanager
def named_errors(path: Path) -> Iterator[None]:
    """Turn whatever a reader raises on a malformed file into one line that names the file.

    Raises
    ------
    ValueError
    """
    try:
        yield
    except UNREADABLE as error:
        text = str(error.args[0]) if isinstance(error, KeyError) else str(error)
        reason = " ".join(text.split()) or type(error).__name__
        raise ValueError(f"cannot read {path}: {reason[:200]}") from error


def selected(names: Iterable[str], keys: tuple[str, ...]) -> tuple[str, ...]:
    """Return which names to read: those asked for, or all of them.

    Raises
    ------
    ValueError
        One is not there.
    """
    there = tuple(names)
    for key in keys:
        if key not in there:
            held = ", ".join(there) or "nothing"
            raise ValueError(f"there is no {key!r} in it: it holds {held}{meant(key, there)}")
    return keys or there


def once(items: Iterable[tuple[str, Any]]) -> Named:
    """Return named values, none of them named twice.

    Raises
    ------
    ValueError
    """
    found: Named = {}
    for key, value in items:
        if key in found:
            raise ValueError(f"{key!r} is named twice in it: give each its own name")
        found[key] = value
    return found
