"""Two independent, non-identical drafts (Theory, 43): the cut at any vocabulary size.

The least q(A) − p₁(A) p₂(A) is the least over σ of σ²/4 + C(σ), where

    C(σ) = max over δ of  − δ²/4 − Σ (λ₁p₁ + λ₂p₂ − q)₊,   λ₁ = (σ − δ)/2,  λ₂ = (σ + δ)/2.

C is concave, hence at least its chord between two σ. So intervals of σ are divided, where σ²/4 and
the chord are least, until none can have a lower value than the best set that was seen. A value of C
takes one sort. What :data:`MOST` values leave, such as ties all over an interval, is settled by
walks along the lines that cross it.
"""

import math
from fractions import Fraction
from heapq import heappop, heappush
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from otspec._base import Array, IntArray, Number, is_exact, positive_part, prefix_sums
from otspec.distributions import Distribution

_SIDE = 2  # the square's side: any number above 1


def best_beside_lines(weights: Array, pivots: IntArray, bound: Number) -> Array | None:
    """Return the token set of the lowest value beside some tokens' lines, if below a bound."""
    best = None
    for pivot in pivots.tolist():
        found = _along_line(weights, pivot, bound)
        if found is not None:
            best, bound = found, set_value(weights, found)
    return best


def set_value(weights: Array, members: Array) -> Number:
    """Return q(A) − p₁(A) p₂(A)."""
    first, second, cost = weights[:, members].sum(axis=1)
    return cost - first * second


def _along_line(weights: Array, pivot: int, bound: Number) -> Array | None:
    """Return the best token set next to the pivot's line, or None if none is below ``bound``."""
    first, second, own = weights[:, pivot]
    if _SIDE * (first + second) <= own:
        return None
    # Where the line q = λ₁p₁ + λ₂p₂ enters and leaves the square, each of shape (2,).
    ends = _clipped(first, second, own), _clipped(second, first, own)[::-1]
    start, end = (_signs(weights, point) for point in ends)
    # Tokens on the pivot's own line change sides with it.
    pivots = (start == 0) & (end == 0)
    pivots[pivot] = True
    at_start = ((start > 0) | ((start == 0) & (end > 0))) & ~pivots
    enters, leaves = (start < 0) & (end > 0), (start > 0) & (end < 0)
    moving = np.flatnonzero(enters | leaves)
    moving = moving[np.argsort(start[moving] / (start[moving] - end[moving]), kind="stable")]
    direction = np.where(enters[moving], 1, -1)
    base = weights[:, at_start].sum(axis=1)
    steps = weights[:, moving] * direction
    pivot_weights = weights[:, pivots].sum(axis=1)
    best: Array | None = None
    for with_pivots in (False, True):
        offset = base + pivot_weights if with_pivots else base
        first, second, cost = (
            start_sum + prefix_sums(row) for start_sum, row in zip(offset, steps, strict=True)
        )
        values = cost - first * second
        edge = int(np.argmin(values))
        if values[edge] < bound:
            bound = values[edge]
            best = at_start | (pivots & with_pivots)
            best[moving[:edge]] = enters[moving[:edge]]
    return best


def _clipped(along: Number, other: Number, target: Number) -> Array:
    """Return the end of the line with the largest λ of ``along``."""
    if target > _SIDE * along:
        return np.array([Fraction(_SIDE) if isinstance(along, Fraction) else _SIDE,
                         (target - _SIDE * along) / other])  # fmt: skip
    return np.array([target / along, 0 * target])


def _signs(weights: Array, point: Array) -> Array:
    """Return λ₁p₁ + λ₂p₂ − q per token, rounded to 0 where it is within rounding of 0."""
    # At a minimizer every token is off its line by p₁(y)p₂(y), so that moving a token that is
    # within rounding of a line across it changes the value by rounding only.
    reach = point @ weights[:2]
    signs: Array = reach - weights[2]
    if not is_exact(weights):
        signs[np.abs(signs) <= 4 * np.finfo(float).eps * (reach + weights[2])] = 0
    return signs


MOST = 32  # values of C that are computed at most
ROUNDING = 8 * float(np.finfo(float).eps)  # float values that differ by less are alike


class _Point(NamedTuple):
    """A value of σ, a number that C(σ) is not below, and the δ that shows it."""

    sigma: Number
    value: Number
    delta: Number


class _Interval(NamedTuple):
    """The least of σ²/4 and the chord of C between two points, and where that is."""

    lowest: Number
    sigma: Number
    left: _Point
    right: _Point

    @classmethod
    def between(cls, left: _Point, right: _Point) -> "_Interval":
        """Return the interval of two points."""
        slope = (right.value - left.value) / (right.sigma - left.sigma)
        sigma = min(max(-2 * slope, left.sigma), right.sigma)
        chord = left.value + slope * (sigma - left.sigma)
        return cls(sigma * sigma / 4 + chord, sigma, left, right)


def best_halfplane(first: Distribution, second: Distribution, target: Distribution) -> IntArray:
    """Return the token set that minimizes q(A) − p₁(A) p₂(A), in floats to within rounding."""
    return np.flatnonzero(_Search(first, second, target).members)


def proved_by_prices(
    first: Distribution, second: Distribution, target: Distribution
) -> Number | None:
    """Return what prices prove that q(A) − p₁(A) p₂(A) is not below; None where ties need more."""
    search = _Search(first, second, target)
    return bound_by_prices(first, second, target, search.prices) if search.proved else None


def bound_by_prices(
    first: Distribution, second: Distribution, target: Distribution, prices: Array
) -> Number:
    """Return what q(A) − p₁(A) p₂(A) is not below, by prices λ₁ and λ₂ of ascending sum, 0 to 2."""
    points = []
    for one, other in prices:
        worth = positive_part(one * first + other * second - target).sum()
        delta = other - one
        points.append(_Point(one + other, -(delta * delta) / 4 - worth, delta))
    return min(_Interval.between(*pair).lowest for pair in pairwise(points))


class _Search:
    """The search over σ for the token set that minimizes q(A) − p₁(A) p₂(A)."""

    def __init__(self, first: Distribution, second: Distribution, target: Distribution) -> None:
        self._weights = np.stack([first, second, target])  # (3, n)
        self._sum, self._difference, self._target = first + second, first - second, target
        self._spare = 0 if is_exact(target) else ROUNDING
        zero = target.sum() * 0
        self.members = np.zeros(len(target), bool)  # the best set, shape (n,)
        self.least: Number = zero  # its value
        ends = _Point(zero, zero, zero), self._point(zero + 2)
        self.points = list(ends)
        self._open = [_Interval.between(*ends)]
        self._divide()
        self.lines = self._lines()  # the tokens whose lines cross what is left
        self.proved = all(each.lowest >= self.least - self._spare for each in self._open)
        """Whether prices alone prove that no set is lower, before walks along lines."""
        found = best_beside_lines(self._weights, self.lines, self.least)
        if found is not None:
            self._note(found)

    @property
    def prices(self) -> Array:
        """λ₁ and λ₂ for each σ that was looked at, shape (m, 2): see :func:`bound_by_prices`."""
        pairs = [(p.sigma - p.delta, p.sigma + p.delta) for p in sorted(self.points)]
        return np.array(pairs) / 2

    def _divide(self) -> None:
        """Divide the interval of the lowest bound until no bound is below the best set."""
        while self._open and len(self.points) < MOST:
            lowest, sigma, left, right = heappop(self._open)
            if lowest >= self.least - self._spare:
                self._open = []  # nor are the others lower
            elif left.sigma < sigma < right.sigma:
                middle = self._point(_short(sigma, left.sigma, right.sigma))
                self.points.append(middle)
                for part in ((left, middle), (middle, right)):
                    heappush(self._open, _Interval.between(*part))

    def _point(self, sigma: Number) -> _Point:
        """Return C(σ), and note the token sets that attain it."""
        reach = sigma * self._sum - 2 * self._target
        members, delta = self._balance(reach, reach)
        for each in members:
            self._note(each)
        margins = reach - delta * self._difference
        return _Point(sigma, -(delta * delta) / 4 - positive_part(margins).sum() / 2, delta)

    def _balance(self, leaving: Array, entering: Array) -> tuple[list[Array], Number]:
        """Return the sets beside the δ that is p₁ − p₂ of the set there, and this δ."""
        # As δ grows from −1 to 1, tokens with p₁ > p₂ leave {λ₁p₁ + λ₂p₂ > q}, and those with p₁ <
        # p₂ enter: at δ = (σ(p₁ + p₂) − 2q)/(p₁ − p₂). `leaving`, `entering`: the numerator for the
        # two kinds. Where p₁ − p₂ of the set passes δ, the best set has a part of a token.
        difference = self._difference
        reach = np.where(difference > 0, leaving, entering)
        moving = np.abs(reach) < np.abs(difference)
        inside = np.where(moving, difference, reach) > 0  # at δ = −1
        moves = np.flatnonzero(moving)
        places = reach[moves] / difference[moves]
        order = np.argsort(places, kind="stable")
        moves, places = moves[order], places[order]
        # p₁ − p₂ of the set after each number of moves, all of which lower it.
        after = difference[inside].sum() - prefix_sums(np.abs(difference[moves]))
        count = int(np.argmax(np.append(after[:-1] <= places, True)))
        inside[moves[:count]] ^= True
        if count == 0 or after[count] >= places[count - 1]:
            return [inside], after[count]
        before = inside.copy()
        before[moves[count - 1]] ^= True
        return [inside, before], places[count - 1]

    def _note(self, members: Array) -> None:
        value = set_value(self._weights, members)
        if value < self.least:
            self.least, self.members = value, members

    def _lines(self) -> IntArray:
        """Return the tokens whose lines cross an open interval, for all δ that are best in it."""
        # There the sets of a δ have p₁ − p₂ between those with σ of one end for the tokens with p₁
        # > p₂ and σ of the other end for the others.
        crossing = np.zeros(len(self._target), bool)
        for lowest, _, left, right in self._open:
            if lowest >= self.least - self._spare:
                continue
            low, high = (end.sigma * self._sum - 2 * self._target for end in (left, right))
            deltas = [self._balance(*pair)[1] for pair in ((low, high), (high, low))]
            shifts = np.sort([delta * self._difference for delta in deltas], axis=0)
            slack = self._spare * (high + 4 * self._target + np.abs(self._difference))
            crossing |= (low - shifts[1] <= slack) & (high - shifts[0] >= -slack)
        return np.flatnonzero(crossing & (self._target > 0) & (self._sum > 0))


def _short(sigma: Number, low: Number, high: Number) -> Number:
    """Return a fraction of few digits near one between two others; a float itself."""
    if not isinstance(sigma, Fraction):
        return sigma
    unit = 64 * math.ceil(1 / (high - low))
    near = Fraction(round(sigma * unit), unit)
    return near if low < near < high else sigma
