"""Means over places of a trace and over blocks, with the t intervals that the book prints."""

from __future__ import annotations

from collections.abc import Sequence

from otspec.logged.comparison import mean_and_error

CONFIDENCE = 0.95


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

    return float(stdtrit(count - 1, 0.5 + CONFIDENCE / 2)) * error if count > 1 else float("inf")


def in_words(mean: float, error: float, count: int, digits: int = 3) -> str:
    """Return the ends of the t interval of a mean."""
    wide = radius(error, count)
    return f"{mean - wide:.{digits}f} to {mean + wide:.{digits}f}" if count > 1 else "unknown"


def mean_in_words(values: Sequence[float], digits: int = 3) -> tuple[float, str]:
    """Return the mean of independent values, and the ends of its t interval in words."""
    mean, error = mean_and_error(values)
    return mean, in_words(mean, error, len(values), digits)
