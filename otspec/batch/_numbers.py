"""Which numbers the batch functions take beside arrays, and up to where."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from otspec._base.coerce import shown
from otspec.batch._arrays import kind_of
from otspec.distributions import as_k

MOST_DRAFTS = 2**53
"""Up to here every number of drafts is a float64."""
MOST_PASSES = 10_000
"""Where every draft costs a pass."""
MOST_DISTINCT = 64
"""Where the masses of pools of distinct drafts are needed."""
MOST_GRADES = 256
"""Pools are looked at in pairs, once for each of them."""
_NO_NUMBERS = (bool, np.bool_, str, bytes, complex, np.complexfloating)
"""What Python or NumPy would turn into a float, though it is none."""


def as_count(
    name: str, value: Any, least: int, most: int | None = None, why: str = "no less"
) -> int:
    """Return an integer between two bounds.

    Raises
    ------
    ValueError
        Naming the argument, its value and the bounds; ``why`` says what the upper one is for.
    """
    number: int = value if type(value) is int else _as_integer(name, value)
    if number < least:
        raise ValueError(f"{name} is {number}: it must be at least {least}")
    if most is not None and number > most:
        raise ValueError(f"{name} is {shown(number)}: it must be at most {most:,}, {why}")
    return number


def _as_integer(name: str, value: Any) -> int:
    if getattr(value, "ndim", 0):
        raise ValueError(f"{name} is {kind_of(value)}: it must be one integer")
    return as_k(value, name)


def as_number_of_drafts(k: Any) -> int:
    """Return a number of drafts that costs nothing, up to the largest that float64 holds."""
    return as_count("k", k, 1, MOST_DRAFTS, "a number that float64 holds")


def as_grades(grades: Any) -> int:
    """Return a number of grades."""
    return as_count("grades", grades, 2, MOST_GRADES, "and 6 do well")


def as_number(name: str, value: Any) -> float:
    """Return a real number as a float.

    Raises
    ------
    ValueError
        Naming the argument and its value.
    """
    if isinstance(value, _NO_NUMBERS) or not hasattr(type(value), "__float__"):
        raise ValueError(f"{name} is {shown(value)}: it must be a number")
    try:
        return float(value)
    except OverflowError:
        return math.inf
    except (TypeError, ValueError, RuntimeError):
        raise ValueError(f"{name} is {shown(value)}: it must be one number") from None
