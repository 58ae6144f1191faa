"""Products of uniform numbers, one factor more each: all are compared with numbers, exactly.

Minus their logarithms are the times t_1 < t_2 < … of a Poisson process of rate 1, whose density is
exp(−t_k). What is known of them are bounds a_j < t_j < b_j, so that each chance is a quotient of
integrals of polynomials times exp(−t).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from numpy.polynomial import Polynomial

from otspec._base.arithmetic import Number
from otspec._base.extended_numbers import exponential
from otspec.chance import Branch
from otspec.conformance.following.races import Racer

_NOTHING = Polynomial([0.0])


class Product:
    """The product of the first few of some uniform numbers; it is used as a uniform number is."""

    def __init__(self, products: Products, last: int) -> None:
        self._products, self._last = products, last
        self.chance = products.chance

    @property
    def low(self) -> float:
        """What it is known to be above."""
        return exponential(-self._products.bounds[self._last][1])

    @property
    def high(self) -> float:
        """What it is known to be below."""
        return exponential(-self._products.bounds[self._last][0])

    def below(self, threshold: Number) -> bool:
        """Return whether it is below a threshold."""
        return self._products.below(self._last, threshold)

    def times(self, factor: Any) -> Product:
        """Return the product with one factor more."""
        product = self._products.longer(self._last, factor)
        factor.become_factor()
        return product

    def racer(self, factor: Number, mirrored: bool, aligned: bool = False) -> Racer:
        """Refuse: products are no exponential numbers."""
        del factor, mirrored, aligned
        raise self.chance.refused("it compares a product of random numbers with a random number")


class Products:
    """What is known of the products of the first j of some uniform numbers, for all j.

    Parameters
    ----------
    low, high : number
        What is known of the first of the numbers.
    """

    def __init__(self, chance: Branch, low: Number, high: Number) -> None:
        self.chance = chance
        self._factors: list[Any] = [None]
        self.bounds = [(_time(high), _time(low))]

    def longer(self, last: int, factor: Any) -> Product:
        """Return the product of one factor more than up to a place."""
        if last + 1 == len(self._factors):
            self._factors.append(factor)
            self.bounds.append((self.bounds[-1][0], math.inf))
        elif self._factors[last + 1] is not factor:
            raise self.chance.refused("it multiplies a product of random numbers by two others")
        return Product(self, last + 1)

    def below(self, place: int, threshold: Number) -> bool:
        """Return whether a product is below a threshold: a branch unless that is known."""
        low, high = self.bounds[place]
        time = _time(threshold)
        if not low < time < high:
            return bool(time <= low)
        later, sooner = list(self.bounds), list(self.bounds)
        later[place], sooner[place] = (time, high), (low, time)
        if self.chance.choose((_integral(later), _integral(sooner))) == 0:
            self.bounds = later
            return True
        self.bounds = sooner
        return False


def _time(product: Number) -> float:
    if product >= 1:
        return 0.0
    return math.inf if product <= 0 else -math.log(product)


def _integral(bounds: Sequence[tuple[float, float]]) -> float:
    """Return the chance that each of the first times of a Poisson process is between its bounds."""
    edges = sorted({0.0, math.inf, *(edge for pair in bounds for edge in pair)})
    cells = list(pairwise(edges))
    density = [Polynomial([1.0]) for _ in cells]
    for place, (low, high) in enumerate(bounds):
        if place:
            density = _summed(cells, density)
        density = [
            each if low <= cell[0] and cell[1] <= high else _NOTHING
            for cell, each in zip(cells, density, strict=True)
        ]
    return sum(_decayed(each, *cell) for cell, each in zip(cells, density, strict=True))


def _summed(
    cells: Sequence[tuple[float, float]], density: Sequence[Polynomial]
) -> list[Polynomial]:
    """Return the integral of a density from 0 on."""
    before, sums = 0.0, []
    for (low, high), each in zip(cells, density, strict=True):
        inside = each.integ(lbnd=low)
        sums.append(inside + before)
        if high < math.inf:
            before += float(inside(high))
    return sums


def _decayed(polynomial: Polynomial, low: float, high: float) -> float:
    """Return the integral of a polynomial times exp(−t) between two times."""
    total = 0.0
    for order in range(polynomial.degree() + 1):
        derivative = polynomial.deriv(order) if order else polynomial
        total += float(derivative(low)) * math.exp(-low)
        if high < math.inf:
            total -= float(derivative(high)) * math.exp(-high)
    return total
