"""A number and how well it is known: an exact one, or an estimate with an interval."""

from __future__ import annotations

import itertools
import math
import operator
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import total_ordering
from numbers import Real
from typing import Any, TypeAlias

import numpy as np

from otspec._base import Array, Number
from otspec.distributions import SUM_TOLERANCE


@total_ordering
class Quantity:
    """A number and how well it is known: an :class:`Exact` one, or an :class:`Estimate`.

    Sums, differences, products and quotients with numbers and with each other are exact if all that
    goes in is, and else estimates: their interval holds the true result if those that went in do
    (but for rounding), and their confidence is what the union bound leaves. Comparisons are of the
    values alone. An array of floats cannot keep intervals; for the mean of many there is
    :func:`otspec.estimate.average`.

    Attributes
    ----------
    value, low, high : float or Fraction
        The number, and the interval that holds it.
    confidence : float
        The probability with which the interval covers the true number, at least; 1 for bounds and
        for exact numbers.
    size : int
        The number of independent values; 0 for bounds and exact numbers, the sum where estimates
        are combined.
    """

    __array_ufunc__ = None  # so that NumPy's scalars leave operators to the ones below

    value: Number

    def __float__(self) -> float:
        return float(self.value)

    def __eq__(self, other: object) -> bool:
        return bool(self.value == value_of(other))

    def __lt__(self, other: Any) -> bool:
        return bool(self.value < value_of(other))

    def __hash__(self) -> int:
        return hash(self.value)

    def __format__(self, form: str) -> str:
        return format(self.value, form)

    def __add__(self, other: Any) -> Known:
        return _combined(operator.add, self, other)

    __radd__ = __add__

    def __neg__(self) -> Known:
        return self * -1

    def __sub__(self, other: Any) -> Known:
        return _combined(operator.sub, self, other)

    def __rsub__(self, other: Any) -> Known:
        return _combined(operator.sub, other, self)

    def __mul__(self, other: Any) -> Known:
        return _combined(operator.mul, self, other)

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Known:
        return _combined(operator.truediv, self, other)

    def __rtruediv__(self, other: Any) -> Known:
        return _combined(operator.truediv, other, self)


@dataclass(frozen=True, eq=False, repr=False)
class Exact(Quantity):
    """A number that is known: by a formula or a sum over everything, exactly but for rounding.

    Examples
    --------
    >>> known = 2 * Exact(Fraction(1, 8))
    >>> known, known.low == known.high, known.confidence
    (Exact(1/4), True, 1.0)
    """

    value: Number
    confidence = 1.0
    size = 0

    @property
    def low(self) -> Number:
        """The value."""
        return self.value

    high = low

    def __str__(self) -> str:
        return str(self.value)

    def __repr__(self) -> str:
        return f"Exact({self.value})"


@dataclass(frozen=True, eq=False, repr=False)
class Estimate(Quantity):
    """A number with an interval: the mean of a simulation, or one between two bounds.

    Parameters
    ----------
    value, low, high, confidence, size
        As of every :class:`Quantity`. The interval of a mean is Maurer and Pontil's empirical
        Bernstein bound for independent values of a known range, which holds at any sample size.
    bounds : (float, float), optional
        Certain bounds of a number whose interval is such a bound: at another confidence it is wider
        by a known factor, see :func:`otspec.estimate.average`. None for other intervals.

    Examples
    --------
    >>> known, simulated = Estimate.between(0.25, 0.5), Estimate.of_mean(np.full(10_001, 0.5))
    >>> 1 + known
    Estimate(1.25, low=1.25, high=1.5, confidence=1, size=0)
    >>> known * simulated
    Estimate(0.125, low=0.124516, high=0.250968, confidence=0.999, size=10001)
    """

    value: float
    low: float
    high: float
    confidence: float
    size: int
    bounds: tuple[float, float] | None = None

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
        return cls(float(value), float(low), float(high), confidence, size, (0.0, float(most)))

    @classmethod
    def between(cls, low: float, high: float) -> Estimate:
        """Return ``low`` as an estimate of a number in the interval; else ``ValueError``."""
        if not low <= high:
            raise ValueError(f"low is {low} and high is {high}: pass the smaller bound first")
        return cls(float(low), float(low), float(high), 1.0, 0)

    def within(self, low: Number, high: Number) -> Estimate:
        """Return the estimate cut by two certain bounds; exact ones are rounded outward."""
        bottom, top = _around(low)[0], _around(high)[1]
        ends = self.value, self.low, self.high, *(self.bounds or ())
        value, lowest, highest, *cut = (min(max(end, bottom), top) for end in ends)
        bounds = (cut[0], cut[1]) if cut else None
        return Estimate(value, lowest, highest, self.confidence, self.size, bounds)

    def __repr__(self) -> str:
        return (
            f"Estimate({self.value:.6g}, low={self.low:.6g}, high={self.high:.6g}, "
            f"confidence={self.confidence:g}, size={self.size})"
        )


Known: TypeAlias = Exact | Estimate
"""What is computed exactly where that is quick, and else estimated."""


def value_of(number: Any) -> Any:
    """Return the value of an exact number or of an estimate; a plain number as it is."""
    return number.value if isinstance(number, Quantity) else number


def as_estimate(number: Any) -> Estimate:
    """Return a number as an estimate that is certain; an estimate as it is."""
    if isinstance(number, Estimate):
        return number
    number = value_of(number)
    return Estimate(float(number), *_around(number), 1.0, 0)


def _around(number: Number) -> tuple[float, float]:
    """Return the closest floats between which an exact number is; a float twice."""
    nearest = float(number)
    return (
        math.nextafter(nearest, -math.inf) if nearest > number else nearest,
        math.nextafter(nearest, math.inf) if nearest < number else nearest,
    )


def _combined(operation: Callable[[Any, Any], Any], one: Any, other: Any) -> Known:
    """Return the result of an operation that is monotone in both numbers, but across a pole."""
    plain = value_of(one), value_of(other)
    if not all(isinstance(number, Real) for number in plain):
        refused: Estimate = NotImplemented  # so that Python asks the other side
        return refused
    if not (isinstance(one, Estimate) or isinstance(other, Estimate)):
        return Exact(operation(*plain))
    first, second = parts = as_estimate(one), as_estimate(other)
    low, high = -math.inf, math.inf
    if operation is not operator.truediv or not second.low <= 0 <= second.high:
        corners = [operation(a, b) for a, b in itertools.product(ends_of(first), ends_of(second))]
        if not any(map(math.isnan, corners)):  # as 0 times infinity is
            low, high = min(corners), max(corners)
    return Estimate(operation(first.value, second.value), low, high, *trust_in(parts))


def ends_of(estimate: Estimate) -> tuple[float, float]:
    """Return the interval of an estimate."""
    return estimate.low, estimate.high


def trust_in(parts: Iterable[Estimate]) -> tuple[float, int]:
    """Return with which confidence all intervals hold, by the union bound, and the sizes' sum."""
    doubt = sum(1 - Fraction(part.confidence) for part in parts)
    return float(max(1 - doubt, Fraction(0))), sum(part.size for part in parts)
