"""Objects that a caller passes, whose methods may raise anything: one line is made of that."""

import math
from array import ArrayType
from collections.abc import Mapping
from fractions import Fraction
from itertools import islice
from typing import Any

import numpy as np
import numpy.typing as npt

from otspec._base.digits import shortened

_DEEPEST = 32  # levels of nested lists; an array has no more axes
_MOST_ENTRIES = 2**31  # lists that hold one list many times are larger than they look
_MOST_GIVEN = 10**6  # entries of a sequence that is no list, which may say and give anything


def as_array(values: Any, name: str) -> npt.NDArray[Any]:
    """Return an array of whatever NumPy makes one of."""
    if _is_sequence(values):
        values = boxed(values, name).tolist()
    try:
        array = np.asanyarray(values)
        masked = is_masked(array)
    except Exception as error:  # __array__, __len__ and the like are the caller's code
        raise ValueError(
            f"{name} cannot be read as an array ({reason(error)}): convert it to a NumPy array "
            "first"
        ) from error
    if masked:
        raise ValueError(
            f"{name} has masked entries: give them a value with filled(0), or drop them with "
            "compressed()"
        )
    return np.asarray(array)


def unboxed(value: Any) -> Any:
    """Return the entry of an array of no dimension; anything else as it is."""
    single = isinstance(value, np.ndarray) and value.ndim == 0 and not is_masked(value)
    return value[()] if single else value


def is_masked(values: Any) -> bool:
    """Whether entries of a NumPy masked array, or of one that lists hold, are masked."""
    if not isinstance(values, np.ma.MaskedArray):
        return False
    mask = np.ma.getmaskarray(values)
    return bool(mask.any()) if mask.dtype == bool else True


def boxed(values: Any, name: str) -> npt.NDArray[Any]:
    """Put nested lists into an object array without letting NumPy turn strings into numbers."""
    try:
        shape = _shape(values, name)
        level = [values]
        for depth in range(len(shape) + 1):
            rows = [_row(value, name) for value in level]
            lengths = {None if row is None else len(row) for row in rows}
            if lengths - ({shape[depth]} if depth < len(shape) else {None}):
                raise ValueError(f"{name} is ragged: its rows must have one length")
            level = [entry for row in rows if row is not None for entry in row] or level
            if 0 in lengths:
                level = []
                break
        if any(map(is_masked, level)):
            raise ValueError(f"{name} has masked entries: fill or drop them first")
        return np.fromiter(level, dtype=object, count=len(level)).reshape(shape)
    except ValueError:
        raise
    except Exception as error:  # lists may be of a class of the caller's
        raise ValueError(f"{name} cannot be read as a list ({reason(error)})") from error


def _shape(values: Any, name: str) -> tuple[int, ...]:
    """Return the shape of nested lists, going by the first entry of each."""
    shape: list[int] = []
    row = _row(values, name)
    while row is not None:
        shape.append(len(row))
        if len(shape) > _DEEPEST or math.prod(shape) > _MOST_ENTRIES:
            raise ValueError(
                f"{name} is nested more than {_DEEPEST} levels deep, or holds itself: pass a list "
                "of numbers"
            )
        row = _row(row[0], name) if row else None
    return tuple(shape)


def _row(value: Any, name: str) -> list[Any] | None:
    """Return the entries of a list or an array; None for a single entry."""
    if _is_sequence(value):
        return _in_full(value, name)
    if not getattr(value, "ndim", 0):
        return None
    return as_array(value, name).tolist()


def _is_sequence(values: Any) -> bool:
    """Whether it is a list, or what NumPy would go through like one, without end if it has none."""
    kind = type(values)
    if issubclass(kind, (list, tuple)):
        return True
    if not hasattr(kind, "__getitem__") or not hasattr(kind, "__len__"):
        return False
    if issubclass(kind, (str, bytes, bytearray, memoryview, ArrayType, Mapping)):
        return False
    return not any(hasattr(kind, f"__array{what}__") for what in ("", "_interface", "_struct"))


def _in_full(values: Any, name: str) -> list[Any]:
    """Return the entries of a sequence, of which there have to be as many as it says."""
    if type(values) in (list, tuple):
        return list(values)
    try:
        count = len(values)
        entries = list(islice(iter(values), min(count, _MOST_GIVEN) + 1))
    except Exception as error:  # __len__, __iter__ and __getitem__ are the caller's code
        raise ValueError(f"{name} cannot be read as a list ({reason(error)})") from error
    if len(entries) > _MOST_GIVEN:
        raise ValueError(f"{name} has more than {_MOST_GIVEN:,} entries: pass a list or an array")
    if len(entries) != count:
        raise ValueError(
            f"{name} says that its length is {shown(count)}, but gives "
            f"{'more' if len(entries) > count else 'fewer'} entries: pass a list or an array"
        )
    return entries


def shown(value: Any, most: int = 60) -> str:
    """Return a value as error messages show it: on one line, and short."""
    try:
        exact = isinstance(value, (Fraction, int)) and not isinstance(value, bool)
        text = shortened(value) if exact else " ".join(repr(value).split())
    except Exception:  # __repr__ is the caller's code; lists may be too deep, integers too long
        text = f"of type {type(value).__name__}"
    return text if len(text) <= most else text[: most - 3] + "..."


def reason(error: Exception) -> str:
    """Return what an exception of the caller's code says, on one line."""
    return shown(error, 120)
