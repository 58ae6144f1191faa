"""Numbers that say how well they are known: exactly, or as estimates with intervals."""

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

from otspec._base.arithmetic import Array, Number
from otspec._base.frozen import Frozen
from otspec.distributions import SUM_TOLERANCE

CONFIDENCE = 0.95
"""Of intervals of what was counted in texts."""


@total_ordering
class Quantity:
    """A number and how well it is known: an :class:`Exact` one, or an :class:`Estimate`.

    Sums, differences, products and quotients with numbers and with each other are exact if all that
    goes in is, and else estimates: their interval holds the true result if the intervals that went
    in hold theirs (but for rounding), and their confidence is what the union bound leaves.
    Comparisons are of the values alone. An array of floats cannot keep intervals; for the mean of
    many there is :func:`average`.

    Attributes
    ----------
    value : float or Fraction
    low, high : float or Fraction
        The interval, which holds the value.
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

    Parameters
    ----------
    value : float or Fraction

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
        by a known factor, see :func:`average`. None for other intervals.

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
        """Return ``low`` as an estimate of a number that is certainly in the interval.

        Raises
        ------
        ValueError
            Bounds that are no numbers, or the wrong way round.
        """
        if not low <= high:
            raise ValueError(f"low is {low} and high is {high}: pass the smaller bound first")
        return cls(float(low), float(low), float(high), 1.0, 0)

    def within(self, low: Number, high: Number) -> Estimate:
        """Return the estimate of a number that is certainly between two bounds, which cut it.

        Exact bounds are rounded outward.
        """
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
    ) -> Estimates:
        """Estimate means of ``size`` independent values from 0 to ``most`` each, given the means.

        The interval is that of :meth:`Estimate.of_mean` with the greatest variance that values of
        such a mean can have, mean · (most − mean): it is as wide where all values are 0 or most.
        """
        means = np.clip(means, 0.0, most)  # sums of floats may be beyond by rounding
        log = math.log(4 / (1 - confidence))
        # Values v from 0 to most: Σ (v − mean)² ≤ Σ v (most − mean), size · mean · (most − mean).
        spread = np.sqrt(2 * means * (most - means) * log / (size - 1))
        radius = spread + 7 * np.asarray(most) * log / (3 * (size - 1))
        low, high = np.maximum(means - radius, 0.0), np.minimum(means + radius, most)
        return cls(means, low, high, confidence, size, most)

    def summed(self, axis: int) -> Estimates:
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


Known: TypeAlias = Exact | Estimate
"""What is computed exactly where that is quick, and else estimated."""


def value_of(number: Any) -> Any:
    """Return the value of an exact number or of an estimate; a plain number as it is."""
    return number.value if isinstance(number, Quantity) else number


def average(values: Iterable[Number | Known]) -> Known:
    """Return the mean of numbers, in floats; an :class:`Estimate` if there is one among them.

    Of m means of simulations, dependent ones too, each interval is widened to the confidence
    1 − δ/m, where 1 − δ is the least confidence among them: then all hold with confidence 1 − δ,
    which is that of the mean. Intervals of other kinds are not widened, and their doubts add up.

    Parameters
    ----------
    values : iterable of float, Fraction, Exact or Estimate
    """
    numbers = list(values)
    value = float(np.mean(np.array(numbers, dtype=float)))
    if not any(isinstance(number, Estimate) for number in numbers):
        return Exact(value)
    parts = [_as_estimate(number) for number in numbers]
    doubtful = [part for part in parts if part.confidence < 1]
    widens = len(doubtful) > 1 and all(part.bounds for part in doubtful)
    (confidence, size), bounds = _trust(parts), None
    if widens:
        confidence = min(part.confidence for part in doubtful)
        doubt = (1 - confidence) / len(doubtful)
        parts = [_widened(part, doubt) if part.confidence < 1 else part for part in parts]
        bounds = _mean_ends(part.bounds or _ends(part) for part in parts)
    return Estimate(value, *_mean_ends(map(_ends, parts)), confidence, size, bounds)


def _mean_ends(ends: Iterable[tuple[float, float]]) -> tuple[float, float]:
    """Return the mean of the lower ends, and that of the upper ones."""
    low, high = zip(*ends, strict=True)
    return float(np.mean(low)), float(np.mean(high))


def _widened(part: Estimate, doubt: float) -> Estimate:
    """Return an estimate with an empirical Bernstein interval that fails less often.

    Its radius is a √log(4/δ) + b log(4/δ). From δ to a smaller one it grows by at most the ratio of
    the logarithms. An end that a certain bound has cut off may be taken as it is, and cut again.
    """
    factor = math.log(4 / doubt) / math.log(4 / (1 - part.confidence))
    least, most = part.bounds or _ends(part)
    low = max(least, part.value - factor * (part.value - part.low))
    high = min(most, part.value + factor * (part.high - part.value))
    return Estimate(part.value, low, high, 1 - doubt, part.size, part.bounds)


def _as_estimate(number: Any) -> Estimate:
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
    first, second = parts = _as_estimate(one), _as_estimate(other)
    low, high = -math.inf, math.inf
    if operation is not operator.truediv or not second.low <= 0 <= second.high:
        corners = [operation(a, b) for a, b in itertools.product(_ends(first), _ends(second))]
        if not any(map(math.isnan, corners)):  # as 0 times infinity is
            low, high = min(corners), max(corners)
    return Estimate(operation(first.value, second.value), low, high, *_trust(parts))


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
