"""Numbers that are not exact, and say so."""

from __future__ import annotations

import math
from typing import Self

import numpy as np

from otspec.arithmetic import Array, Number
from otspec.distributions import SUM_TOLERANCE


class Estimate(float):
    """A float with an interval: the mean of a simulation, or a number between two bounds.

    Attributes
    ----------
    low, high : float
        The interval, which holds the float itself. For a mean it is Maurer and Pontil's empirical
        Bernstein bound for independent values of a known range, which holds at any sample size.
    confidence : float
        The probability with which the interval covers the true value, at least; 1 for bounds.
    size : int
        The number of independent values; 0 for bounds.
    """

    low: float
    high: float
    confidence: float
    size: int

    @classmethod
    def of_mean(
        cls, values: Array, confidence: float = 0.999, *, plus: float = 0.0, most: float = 1.0
    ) -> Self:
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
        estimate = cls(min(plus + float(np.mean(values)), most))
        # Not cut off at plus, which is known but for rounding only; the radius is far above that.
        estimate.low = max(0.0, estimate - radius)
        estimate.high = min(most, estimate + radius)
        estimate.confidence, estimate.size = confidence, size
        return estimate

    @classmethod
    def between(cls, low: float, high: float) -> Self:
        """Return ``low`` as an estimate of a number that is certainly in the interval.

        Raises
        ------
        ValueError
            Bounds that are no numbers, or the wrong way round.
        """
        if not low <= high:
            raise ValueError(f"low is {low} and high is {high}: pass the smaller bound first")
        estimate = cls(low)
        estimate.low, estimate.high = float(low), float(high)
        estimate.confidence, estimate.size = 1.0, 0
        return estimate

    def within(self, low: Number, high: Number) -> Self:
        """Return the estimate of a number that is certainly between two bounds, which cut it.

        Exact bounds are rounded outward.
        """
        bottom, top = float(low), float(high)
        low = math.nextafter(bottom, -math.inf) if bottom > low else bottom
        high = math.nextafter(top, math.inf) if top < high else top
        cut = type(self)(min(max(float(self), low), high))
        cut.low, cut.high = min(max(self.low, low), high), max(min(self.high, high), low)
        cut.confidence, cut.size = self.confidence, self.size
        return cut

    def __repr__(self) -> str:
        return (
            f"Estimate({float(self):.6g}, low={self.low:.6g}, high={self.high:.6g}, "
            f"confidence={self.confidence:g}, size={self.size})"
        )
