"""Knots: draft masses below the boundaries of pools, their powers, and the slopes of chords.

A power u^k takes k times the relative error of u, so that a float is too short for a knot near 1.
Here every knot is two floats, and what powers are made of is what keeps its digits in floats: the
logarithm of u, from the mass above where that is less, and a chord's width over its upper end.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from otspec._base.arithmetic import Array, IntArray, is_exact, prefix_sums, zeros
from otspec._base.frozen import Frozen, cached_property

Which: TypeAlias = IntArray | slice
"""Which knots: their numbers, or a stretch of them."""


@dataclass(frozen=True, eq=False)
class Knots(Frozen):
    """Draft masses below each boundary of m pools, added up to about twice a float's digits.

    Notes
    -----
    Of n masses each leaves a rest of at most 2^−53, and rests are added up with the relative error
    of a float: knots are off by (n 2^−53)² at most in absolute terms, 3e-23 at n = 50,000.
    """

    # (m + 1,): multiples of 2^−52, of which sums below 2 are exact; exact numbers are whole
    whole: Array
    rest: Array  # (m + 1,): what is to be added to them

    @classmethod
    def of(cls, masses: Array) -> Knots:
        """Return the knots of pools of the given masses, shape (m,)."""
        from otspec._base import compiling
        from otspec.optimum.pools import knots_pass  # imports Numba, if it is there

        if compiling.HAS_NUMBA and not is_exact(masses):
            return cls(*knots_pass.fast_sums_in_parts(masses))
        return cls(*map(prefix_sums, in_parts(masses)))

    @classmethod
    def of_tokens(cls, masses: Array, index: IntArray, count: int) -> Knots:
        """Return the knots of pools of tokens, in floats.

        Shapes: ``masses`` (n,). ``index``, shape (n,): each token's pool. ``count``: how many pools
        there are.
        """
        from otspec._base import compiling
        from otspec.optimum.pools import knots_pass  # imports Numba, if it is there

        if compiling.HAS_NUMBA:
            whole, rest = knots_pass.fast_masses_in_parts(masses, index, count)
        else:
            whole, rest = (np.bincount(index, part, count) for part in in_parts(masses))
        return cls(prefix_sums(whole), prefix_sums(rest))

    @property
    def exact(self) -> bool:
        """Whether these are exact numbers."""
        return is_exact(self.whole)

    @cached_property
    def values(self) -> Array:
        """The knots as shares of all mass, shape (m + 1,): from 0 to 1."""
        values: Array = self.whole if self.exact else self._below / self._below[-1]
        return values

    def powers(self, k: int) -> Array:
        """Return u^k for each knot u, shape (m + 1,)."""
        if self.exact:
            exact: Array = self.whole**k
            return exact
        return np.asarray(np.exp(k * self._logarithms))

    def slopes(self, low: Which, high: Which, k: int) -> Array:
        """Return (v^k − u^k) over the draft mass between knots, u the lower and v the upper one.

        ``low`` and ``high``, shape (c,): which knots each chord connects. Result, shape (c,): in
        floats v^(k−1) (1 − (1 − x)^k)/x for the width x of the chord as a share of v: accurate to
        some roundings for chords however short, and at any k.
        """
        if self.exact:
            rise = self.powers(k)
            exact: Array = (rise[high] - rise[low]) / self._between(low, high)
            return exact
        share = np.minimum(self._between(low, high) / self._below[high], 1.0)
        factor = np.full(len(share), float(k))
        wide = share > 0
        with np.errstate(divide="ignore"):  # from 0 to v: a share of 1
            np.divide(-np.expm1(k * np.log1p(-share)), share, out=factor, where=wide)
        slopes: Array = np.exp((k - 1) * self._logarithms[high]) * factor / self._below[-1]
        return slopes

    def _between(self, low: Which, high: Which | int) -> Array:
        between: Array = (self.whole[high] - self.whole[low]) + (self.rest[high] - self.rest[low])
        return between

    @cached_property
    def _below(self) -> Array:
        return self.whole + self.rest

    @cached_property
    def _logarithms(self) -> Array:
        """The logarithm of each knot as a share of all mass, shape (m + 1,)."""
        below, above = self._below, self._between(slice(None), -1)
        # Knots ascend: from here on less is above than below.
        upper = len(below) - int(np.count_nonzero(above < below))
        logarithms = np.empty(len(below))
        np.log1p(-above[upper:] / below[-1], out=logarithms[upper:])
        with np.errstate(divide="ignore"):  # the first knot is 0
            np.log(below[:upper] / below[-1], out=logarithms[:upper])
        return logarithms


def power_slope(low: Any, high: Any, power: int) -> Any:
    """Return (high^power − low^power)/(high − low), of numbers or of arrays.

    It is added up as Σ low^a high^(power−1−a), by doubling: all terms are positive, so that it
    keeps its digits for numbers however close to each other, to 0 or to 1.
    """
    low_power, high_power = low, high
    total = high - high + 1
    bit = 1
    while 2 * bit <= power:
        bit *= 2
    bit //= 2
    while bit > 0:
        total = total * (low_power + high_power)
        low_power = low_power * low_power
        high_power = high_power * high_power
        if power & bit:
            total = total * high + low_power
            low_power = low_power * low
            high_power = high_power * high
        bit //= 2
    return total


def in_parts(masses: Array) -> tuple[Array, Array]:
    """Return masses of at most 1 as multiples of 2^−52 and what is left of them.

    Both are exact. Sums of the multiples are too, in any order, as long as they are below 2.
    """
    if is_exact(masses):
        return masses, zeros(len(masses), like=masses)
    whole = (masses + 1) - 1
    return whole, masses - whole


def chain_sums(terms: Array, heirs: IntArray) -> Array:
    """Add up terms along chains: each one's own, its heir's, that one's heir's and so on.

    Shapes: ``terms`` (c,). ``heirs``, shape (c,): −1 where a chain ends. Result, shape (c,): sums
    by halves of the chain, so that as many roundings as its length has binary digits meet in each.
    """
    sums = np.concatenate([terms, zeros(1, like=terms)])
    last = len(terms)
    ahead = np.concatenate([np.where(heirs < 0, last, heirs), [last]])
    while (ahead != last).any():
        sums = sums + sums[ahead]
        ahead = ahead[ahead]
    return sums[:-1]
