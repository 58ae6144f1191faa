"""Races of exponential numbers, and products of uniform ones, compared exactly.

Minus the logarithms of the products are the times t_1 < t_2 < … of a Poisson process of rate 1,
of which bounds a_j < t_j < b_j are known. Their chance is that of how many times there are before
each bound, which follows from the bound before it by a Poisson law.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.special import gammainc, gammaln, xlogy

from otspec._base import Number, exponential
from otspec.chance import Branch

_SAME = 1e-6  # factors this close, relative to each other, count as the same: float32


class Racer:
    """An exponential number: that of the racer who came before it, if one is known, plus another.

    The first of two racers of rates a and b is the one with chance a / (a + b), comes at the rate a
    + b whoever it is, and the other after it at its own rate. A rate is one over the factor.
    """

    def __init__(self, chance: Branch, factor: Number) -> None:
        self._chance, self._factor = chance, factor
        self._rate: Number = 1 / factor
        self._before: Racer | None = None

    def alike(self, factor: Number) -> bool:
        """Whether it runs with the factor that it began with."""
        return factor == self._factor or math.isclose(factor, self._factor, rel_tol=_SAME)

    def beats(self, other: Racer) -> bool:
        """Return whether it comes before another one: a random choice unless that is known."""
        while True:
            mine, others = self._line(), other._line()
            known = sum(a is b for a, b in zip(mine, others, strict=False))
            if known in (len(mine), len(others)):
                return len(mine) <= len(others)
            _run(self._chance, mine[known], others[known])

    def _line(self) -> list[Racer]:
        """Return who comes before it, in order, and itself."""
        line, racer = [self], self._before
        while racer is not None:
            line.append(racer)
            racer = racer._before  # noqa: SLF001
        return line[::-1]


def first(chance: Branch, racers: Sequence[Racer]) -> int:
    """Return which of some racers comes first: one choice if nothing is known of them."""
    if all(racer._before is None for racer in racers):  # noqa: SLF001
        rates = [racer._rate for racer in racers]  # noqa: SLF001
        winner = chance.choose(rates)
        racers[winner]._rate = sum(rates)  # noqa: SLF001
        for place, racer in enumerate(racers):
            if place != winner:
                racer._before = racers[winner]  # noqa: SLF001
        return winner
    best = 0
    for place in range(1, len(racers)):
        if racers[place].beats(racers[best]):
            best = place
    return best


def _run(chance: Branch, one: Racer, two: Racer) -> None:
    """Let two racers run who come after the same one."""
    rates = one._rate, two._rate  # noqa: SLF001
    first, second = (one, two) if chance.choose(rates) == 0 else (two, one)
    first._rate = sum(rates)  # noqa: SLF001
    second._before = first  # noqa: SLF001


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
    """What is known of the products of the first j of some uniform numbers, for all j."""

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
    most, before = len(bounds), 0.0
    law = np.eye(1, most + 1)[0]  # of how many times there were so far; at last of so many or more
    counts = np.arange(most)
    for edge in sorted({edge for pair in bounds for edge in pair if edge < math.inf}):
        lasted, before = edge - before, edge
        steps = np.exp(xlogy(counts, lasted) - lasted - gammaln(counts + 1))
        reached = law[-1] + law[:-1] @ gammainc(most - counts, lasted)
        law = np.append(np.convolve(law[:-1], steps)[:most], reached)
        for place, (low, high) in enumerate(bounds, start=1):
            if edge == low:  # before this time
                law[place:] = 0
            if edge == high:
                law[:place] = 0
    return float(law.sum())
