"""Means with intervals: many from one simulation, of what is known in part, and over texts."""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from otspec._base import Array, Frozen, Number
from otspec.estimate.quantity import Estimate, Exact, Known, as_estimate, ends_of, trust_in

CONFIDENCE = 0.95  # of intervals of what was counted in texts


@dataclass(frozen=True, eq=False)
class Estimates(Frozen):
    """Many numbers from one simulation, each with its interval; an entry is an :class:`Estimate`.

    Parameters
    ----------
    value, low, high : ndarray of float, of one shape
    confidence : float
        With which each interval covers, at least.
    size : int
        The number of independent values; 0 for bounds.
    most : float or ndarray, optional
        What the numbers cannot exceed, if they are means of values from 0 to that.
    """

    value: Array
    low: Array
    high: Array
    confidence: float = 1.0
    size: int = 0
    most: float | Array | None = None

    @classmethod
    def of_means(
        cls, means: Array, size: int, confidence: float = 0.999, *, most: float | Array = 1.0
    ) -> "Estimates":
        """Estimate means of ``size`` independent values from 0 to ``most``, given the means."""
        # The interval is that of Estimate.of_mean with the greatest variance that values of such a
        # mean can have, mean · (most − mean): it is as wide where all values are 0 or most.
        means = np.clip(means, 0.0, most)  # sums of floats may be beyond by rounding
        log = math.log(4 / (1 - confidence))
        # Values v from 0 to most: Σ (v − mean)² ≤ Σ v (most − mean), size · mean · (most − mean).
        spread = np.sqrt(2 * means * (most - means) * log / (size - 1))
        radius = spread + 7 * np.asarray(most) * log / (3 * (size - 1))
        low, high = np.maximum(means - radius, 0.0), np.minimum(means + radius, most)
        return cls(means, low, high, confidence, size, most)

    def summed(self, axis: int) -> "Estimates":
        """Return the sums along an axis, of probabilities of events that exclude each other."""
        parts = [part.sum(axis=axis) for part in (self.value, self.low, self.high)]
        return Estimates.of_means(parts[0], self.size) if self.size else Estimates(*parts)

    def __getitem__(self, index: Any) -> Any:
        """Return an entry as an :class:`Estimate`, or a part of the entries."""
        value, low, high = (part[index] for part in (self.value, self.low, self.high))
        most: Any = self.most
        if most is not None:
            most = np.broadcast_to(np.asarray(most), self.value.shape)[index]
        if np.ndim(value):
            return Estimates(value, low, high, self.confidence, self.size, most)
        bounds = None if most is None else (0.0, float(most))
        return Estimate(float(value), float(low), float(high), self.confidence, self.size, bounds)


def average(values: Iterable[Number | Known]) -> Known:
    """Return the mean of numbers, in floats; an :class:`Estimate` if there is one among them.

    Of m means of simulations, dependent ones too, each interval is widened to the confidence
    1 − δ/m, where 1 − δ is the least confidence among them: then all hold with confidence 1 − δ,
    which is that of the mean. Intervals of other kinds are not widened, and their doubts add up.
    """
    numbers = list(values)
    value = float(np.mean(np.array(numbers, dtype=float)))
    if not any(isinstance(number, Estimate) for number in numbers):
        return Exact(value)
    parts = [as_estimate(number) for number in numbers]
    doubtful = [part for part in parts if part.confidence < 1]
    widens = len(doubtful) > 1 and all(part.bounds for part in doubtful)
    (confidence, size), bounds = trust_in(parts), None
    if widens:
        confidence = min(part.confidence for part in doubtful)
        doubt = (1 - confidence) / len(doubtful)
        parts = [_widened(part, doubt) if part.confidence < 1 else part for part in parts]
        bounds = _mean_ends(part.bounds or ends_of(part) for part in parts)
    return Estimate(value, *_mean_ends(map(ends_of, parts)), confidence, size, bounds)


def _mean_ends(ends: Iterable[tuple[float, float]]) -> tuple[float, float]:
    """Return the mean of the lower ends, and that of the upper ones."""
    low, high = zip(*ends, strict=True)
    return float(np.mean(low)), float(np.mean(high))


def _widened(part: Estimate, doubt: float) -> Estimate:
    """Return an estimate with an empirical Bernstein interval that fails less often."""
    # Its radius is a √log(4/δ) + b log(4/δ). From δ to a smaller one it grows by at most the ratio
    # of the logarithms. An end that a certain bound has cut off may be taken as it is, and cut
    # again.
    factor = math.log(4 / doubt) / math.log(4 / (1 - part.confidence))
    least, most = part.bounds or ends_of(part)
    low = max(least, part.value - factor * (part.value - part.low))
    high = min(most, part.value + factor * (part.high - part.value))
    return Estimate(part.value, low, high, 1 - doubt, part.size, part.bounds)


def radius_of(square: float, texts: int) -> float:
    """Return half of the t interval, with 95% confidence, of a sum over independent texts.

    Parameters
    ----------
    square : float
        Σ over the texts of the square of what each adds to the sum, whose value is 0.
    texts : int

    Returns
    -------
    float
        NaN for fewer than two texts.
    """
    if texts < 2:
        return math.nan
    from scipy.special import stdtrit

    error = math.sqrt(square * texts / (texts - 1))
    return float(stdtrit(texts - 1, 0.5 + CONFIDENCE / 2)) * error
