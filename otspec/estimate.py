"""Numbers that are not exact, and say so, also when they were added up and multiplied."""

from __future__ import annotations

import itertools
import math
import operator
from collections.abc import Callable, Iterable
from fractions import Fraction
from numbers import Real
from typing import Any

import numpy as np

from otspec._base.arithmetic import Array, Number
from otspec.distributions import SUM_TOLERANCE

CONFIDENCE = 0.95
"""Of intervals of what was counted in texts."""


class Estimate(float):
    """A float with an interval: the mean of a simulation, or a number between two bounds.

    Sums, differences, products and quotients with numbers and other estimates are estimates: their
    interval holds the true result if the intervals that went in hold theirs (but for rounding),
    and their confidence is what the union bound leaves. An array of floats cannot keep intervals;
    for the mean of many there is :func:`average`.

    Attributes
    ----------
    low, high : float
        The interval, which holds the float itself. For a mean it is Maurer and Pontil's empirical
        Bernstein bound for independent values of a known range, which holds at any sample size.
    confidence : float
        The probability with which the interval covers the true value, at least; 1 for bounds.
    size : int
        The number of independent values; 0 for bounds, the sum where estimates are combined.

    Examples
    --------
    >>> known, simulated = Estimate.between(0.25, 0.5), Estimate.of_mean(np.full(10_001, 0.5))
    >>> 1 + known
    Estimate(1.25, low=1.25, high=1.5, confidence=1, size=0)
    >>> known * simulated
    Estimate(0.125, low=0.124516, high=0.250968, confidence=0.999, size=10001)
    """

    __array_priority__ = -1.0  # above NumPy's scalars, whose own operators return plain floats

    low: float
    high: float
    confidence: float
    size: int

    @classmethod
    def of_mean(
        cls, values: Array, confidence: float = 0.999, *, plus: float = 0.0, most: float = 1.0
    ) -> Estimate:
        """Estimate the mean of independent values, plus a known number.

        Parameters
        ----------
        values : ndarray of float, shape (size,)
            At least two, from 0 to ``most``. The bound is what the interval rests on: it must hold
            for every value that could have been drawn, not only for those that were.
        confidence : float
            Between 0 and 1, excluded.
        plus : float
            Added to the mean and to the interval.
        most : float
            What neither a value nor the result can exceed.

        Raises
        ------
        ValueError
            Fewer than two values, one outside its range by more than sums of floats may be, or
            another confidence.
        """
        if not 0 < confidence < 1:
            raise ValueError(
                f"confidence is {confidence}: it must be between 0 and 1, such as 0.999"
            )
        size = len(values)
        if size < 2:
            raise ValueError(
                f"size is {size}: an interval needs at least 2 values, better thousands"
            )
        slack = SUM_TOLERANCE * most
        outside = np.flatnonzero(~((values >= -slack) & (values <= most + slack)))
        if outside.size:
            raise ValueError(
                f"values[{outside[0]}] is {values[outside[0]]}, outside the range from 0 to {most} "
                "that the interval rests on: pass the largest possible value as most"
            )
        values = np.clip(values, 0.0, most)  # sums of floats may be beyond by rounding
        log = math.log(4 / (1 - confidence))
        spread = math.sqrt(2 * float(np.var(values, ddof=1)) * log / size)
        radius = spread + 7 * most * log / (3 * (size - 1))
        value = min(plus + float(np.mean(values)), most)
        # Not cut off at plus, which is known but for rounding only; the radius is far above that.
        low, high = max(0.0, value - radius), min(most, value + radius)
        return _estimate(value, low, high, confidence, size)

    @classmethod
    def between(cls, low: float, high: float) -> Estimate:
        """Return ``low`` as an estimate of a number that is certainly in the interval.

        Raises
        ------
        ValueError
            Bounds that are no numbers, or the wrong way round.
        """
        if not low <= high:
            raise ValueError(f"low is {low} and high is {high}: pass the smaller bound first")
        return _estimate(low, float(low), float(high), 1.0, 0)

    def __add__(self, other: Number) -> Estimate:
        return _combined(operator.add, self, other)

    __radd__ = __add__

    def __neg__(self) -> Estimate:
        return self * -1

    def __sub__(self, other: Number) -> Estimate:
        return _combined(operator.sub, self, other)

    def __rsub__(self, other: Number) -> Estimate:
        return -self + other

    def __mul__(self, other: Number) -> Estimate:
        return _combined(operator.mul, self, other)

    __rmul__ = __mul__

    def __truediv__(self, other: Number) -> Estimate:
        return _combined(operator.truediv, self, other)

    def __rtruediv__(self, other: Number) -> Estimate:
        return _combined(operator.truediv, other, self)

    def within(self, low: Number, high: Number) -> Estimate:
        """Return the estimate of a number that is certainly between two bounds, which cut it.

        Exact bounds are rounded outward.
        """
        bottom, top = _around(low)[0], _around(high)[1]
        value, lowest, highest = (
            min(max(end, bottom), top) for end in (float(self), self.low, self.high)
        )
        return _estimate(value, lowest, highest, self.confidence, self.size)

    def __repr__(self) -> str:
        return (
            f"Estimate({float(self):.6g}, low={self.low:.6g}, high={self.high:.6g}, "
            f"confidence={self.confidence:g}, size={self.size})"
        )


def average(values: Iterable[Number]) -> float:
    """Return the mean of numbers; an :class:`Estimate` if there is one among them.

    Parameters
    ----------
    values : iterable of float, Fraction or Estimate
    """
    numbers = list(values)
    value = float(np.mean(np.array(numbers, dtype=float)))
    if not any(isinstance(number, Estimate) for number in numbers):
        return value
    parts = [_as_estimate(number) for number in numbers]
    low, high = (float(np.mean(ends)) for ends in zip(*map(_ends, parts), strict=True))
    return _estimate(value, low, high, *_trust(parts))


def _estimate(value: float, low: float, high: float, confidence: float, size: int) -> Estimate:
    estimate = Estimate(value)
    estimate.low, estimate.high = low, high
    estimate.confidence, estimate.size = confidence, size
    return estimate


def _as_estimate(number: Any) -> Estimate:
    """Return a number as an estimate that is certain; an estimate as it is."""
    if isinstance(number, Estimate):
        return number
    return _estimate(float(number), *_around(number), 1.0, 0)


def _around(number: Number) -> tuple[float, float]:
    """Return the closest floats between which an exact number is; a float twice."""
    nearest = float(number)
    return (
        math.nextafter(nearest, -math.inf) if nearest > number else nearest,
        math.nextafter(nearest, math.inf) if nearest < number else nearest,
    )


def _combined(operation: Callable[[float, float], float], one: Any, other: Any) -> Estimate:
    """Return the result of an operation that is monotone in both numbers, but across a pole."""
    if not (isinstance(one, Real) and isinstance(other, Real)):
        refused: Estimate = NotImplemented  # so that Python asks the other side
        return refused
    first, second = parts = _as_estimate(one), _as_estimate(other)
    low, high = -math.inf, math.inf
    if operation is not operator.truediv or not second.low <= 0 <= second.high:
        corners = [operation(a, b) for a, b in itertools.product(_ends(first), _ends(second))]
        if not any(map(math.isnan, corners)):  # as 0 times infinity is
            low, high = min(corners), max(corners)
    return _estimate(operation(float(first), float(second)), low, high, *_trust(parts))


def _ends(estimate: Estimate) -> tuple[float, float]:
    return estimate.low, estimate.high


def _trust(parts: Iterable[Estimate]) -> tuple[float, int]:
    """Return with which confidence all intervals hold, by the union bound, and the sizes' sum."""
    doubt = sum(1 - Fraction(part.confidence) for part in parts)
    return float(max(1 - doubt, Fraction(0))), sum(part.size for part in parts)


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
