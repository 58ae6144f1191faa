"""Reading arrays from files, each error one line that names the file and what to do."""

from __future__ import annotations

import csv
import json
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from otspec.arithmetic import Array
from otspec.memory import refuse_too_large
from otspec.npy import members_of, read_members, read_npy

Named = dict[str, Any]
"""What a file holds, by name; a format without names uses the empty one."""

_UNREADABLE = (
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

_DEEPEST = 32
_TOO_DEEP = f"its lists and objects are nested more than {_DEEPEST} levels deep"


def read_file(path: str | PathLike[str], keys: tuple[str, ...] = ()) -> Named:
    """Read the arrays of one file.

    Parameters
    ----------
    path : path
        Ending in .npy, .npz, .csv, .json or .safetensors. A .csv holds numbers, in one row, one
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
    reader = READERS.get(path.suffix)
    if reader is None:
        raise ValueError(f"{path}: unknown file type: use one of {', '.join(READERS)}")
    with named_errors(path):
        folder, there = path.is_dir(), path.exists()
    if folder:
        raise ValueError(f"{path} is a directory: name a file")
    if not there:
        raise ValueError(f"{path}: no such file")
    with named_errors(path):
        size = path.stat().st_size
        if size == 0:
            raise ValueError("the file is empty")
        refuse_too_large(size)
        return reader(path, keys)


@contextmanager
def named_errors(path: Path) -> Iterator[None]:
    """Turn whatever a reader raises on a malformed file into one line that names the file.

    Raises
    ------
    ValueError
    """
    try:
        yield
    except _UNREADABLE as error:
        text = str(error.args[0]) if isinstance(error, KeyError) else str(error)
        reason = " ".join(text.split()) or type(error).__name__
        raise ValueError(f"cannot read {path}: {reason[:200]}") from error


def _selected(names: list[str], keys: tuple[str, ...]) -> tuple[str, ...]:
    for key in keys:
        if key not in names:
            raise ValueError(f"there is no {key!r} in it: it holds {', '.join(names) or 'nothing'}")
    return keys or tuple(names)


def _read_npy(path: Path, _keys: tuple[str, ...]) -> Named:
    return {"": read_npy(path)}


def _read_npz(path: Path, keys: tuple[str, ...]) -> Named:
    with zipfile.ZipFile(path) as archive:
        members = members_of(archive)
        arrays = [key for key, member in members.items() if member.filename.endswith(".npy")]
        chosen = _selected(list(members), keys) if keys else tuple(arrays)
        found = read_members(archive, [members[key] for key in chosen])
    return dict(zip(chosen, found, strict=True))


def _read_csv(path: Path, keys: tuple[str, ...]) -> Named:
    with path.open(newline="", encoding="utf-8-sig") as stream:
        rows = [[cell.strip() for cell in row] for row in csv.reader(stream, strict=True) if row]
    if not rows:
        raise ValueError("the file has no rows")
    if len({len(row) for row in rows}) != 1:
        raise ValueError("its rows have different lengths")
    if not any(_is_number(cell) for cell in rows[0]):
        columns = _once((name, [row[i] for row in rows[1:]]) for i, name in enumerate(rows[0]))
        return {key: columns[key] for key in _selected(list(columns), keys)}
    if len(rows) == 1:
        return {"": rows[0]}
    if all(len(row) == 1 for row in rows):
        return {"": [row[0] for row in rows]}
    return {"": rows}


def _is_number(cell: str) -> bool:
    return any(character.isdigit() for character in cell) or cell.lower() in {"nan", "inf", "-inf"}


def _read_json(path: Path, keys: tuple[str, ...]) -> Named:
    # Numbers stay text, so that the caller can read them exactly, and refuse too many digits.
    text = path.read_text(encoding="utf-8")
    try:
        content = json.loads(text, parse_float=str, parse_int=str, object_pairs_hook=_once)
        _refuse_deep(content)
    except RecursionError:
        raise ValueError(_TOO_DEEP) from None
    if isinstance(content, dict):
        return {key: content[key] for key in _selected(list(content), keys)}
    if not isinstance(content, list):
        raise ValueError("it holds a single value, not a list or an object of lists")
    return {"": content}


def _once(items: Iterable[tuple[str, Any]]) -> Named:
    """Return named values, none of them named twice."""
    found: Named = {}
    for key, value in items:
        if key in found:
            raise ValueError(f"{key!r} is named twice in it: give each its own name")
        found[key] = value
    return found


def _refuse_deep(content: Any) -> None:
    """Refuse more nesting than arrays have axes, level by level."""
    level = [content]
    for _ in range(_DEEPEST):
        nested = (item for item in level if isinstance(item, (list, dict)))
        level = [
            below
            for item in nested
            for below in (item.values() if isinstance(item, dict) else item)
        ]
    if any(isinstance(item, (list, dict)) for item in level):
        raise ValueError(_TOO_DEEP)


def _read_safetensors(path: Path, keys: tuple[str, ...]) -> Named:
    try:
        from safetensors import SafetensorError, safe_open
    except ImportError:
        raise ValueError(
            "reading .safetensors needs the package safetensors: pip install 'otspec[traces]'"
        ) from None
    try:
        with safe_open(path, framework="numpy") as tensors:
            names = _selected(list(tensors.keys()), keys)
            arrays = {key: tensors.get_tensor(key) for key in names}
        for key, array in arrays.items():
            if array.dtype.kind == "V":  # a type that another package taught NumPy
                raise TypeError(f"{key} has type {array.dtype}")
        return arrays
    except (SafetensorError, TypeError, AttributeError) as error:
        # The last two: a dtype such as bfloat16, which NumPy does not have.
        raise ValueError(f"{error} (a type such as bfloat16 must be stored as float32)") from error


READERS: dict[str, Callable[[Path, tuple[str, ...]], Named]] = {
    ".npy": _read_npy,
    ".npz": _read_npz,
    ".csv": _read_csv,
    ".json": _read_json,
    ".safetensors": _read_safetensors,
}
"""The reader of each file ending."""


def pick(path: str, name: str, index: tuple[int, ...]) -> Array | list[Any]:
    """Read one array of a file, and of that one row.

    Parameters
    ----------
    path : str
    name : str
        Which array; empty if the file holds only one.
    index : tuple of int
        Leading indices, such as (block, position); empty for the whole array.

    Raises
    ------
    ValueError
        As :func:`read_file`; also when a name is needed, and for an index out of range.
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
    found: Array | list[Any] = values
    return found
