"""Means over places of a trace and over blocks, with the t intervals that the book prints."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TypeAlias

from otspec.logged.comparison import mean_and_error

CONFIDENCE = 0.95
Ends: TypeAlias = tuple[float, float]
"""The least and the greatest value that there can be."""
ENDS: Ends = (-math.inf, math.inf)
CHANCE: Ends = (0.0, 1.0)


def radius(error: float, count: int) -> float:
    """Return half the width of the t interval of a mean of so many values.

    Parameters
    ----------
    error : float
        The standard error of the mean.
    count : int
        How many independent values it is the mean of; infinite for a single one.
    """
    from scipy.special import stdtrit

    return float(stdtrit(count - 1, 0.5 + CONFIDENCE / 2)) * error if count > 1 else math.inf


def in_words(mean: float, error: float, count: int, ends: Ends = ENDS, digits: int = 3) -> str:
    """Return the ends of the t interval of a mean, which are between those that are possible."""
    if count < 2:
        return "unknown"
    wide = radius(error, count)
    low, high = max(mean - wide, ends[0]), min(mean + wide, ends[1])
    return f"{low:.{digits}f} to {high:.{digits}f}"


def mean_in_words(values: Sequence[float], ends: Ends = ENDS, digits: int = 3) -> tuple[float, str]:
    """Return the mean of independent values, and the ends of its t interval in words."""
    mean, error = mean_and_error(values)
    return mean, in_words(mean, error, len(values), ends, digits)


def of_calls(depth: int) -> Ends:
    """Return the least and the most tokens of a call when so many are drafted, one by one."""
    return 1.0, depth + 1.0
