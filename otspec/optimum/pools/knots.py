"""Knots: draft masses below the boundaries of pools, their powers, and the slopes of chords.

A power u^k takes k times the relative error of u, so that a float is too short for a knot near 1.
Here every knot is two floats, and powers are made of what keeps its digits: the logarithm of u,
from the mass above where that is less, and a chord's width over its upper end (Pooled, prop. 5).
"""

from dataclasses import dataclass
from functools import lru_cache
from typing import Any, TypeAlias

import numpy as np

from otspec import ratios
from otspec._base import Frozen, cached_property
from otspec._base.arithmetic import Array, IntArray, is_exact, prefix_sums, sums_by, zeros
from otspec.distributions import Distribution

LEAST_SHARE = 1e-290
"""Times the most drafts it is nothing beside 1, and it is still a float of all digits."""
Which: TypeAlias = IntArray | slice  # which knots: their numbers, or a stretch of them


@dataclass(frozen=True, eq=False)
class Knots(Frozen):
    """Draft masses below each boundary of m pools, added up to about twice a float's digits."""

    # Of n masses each leaves a rest of at most 2^−53, added up with the relative error of a float:
    # knots are off by (n 2^−53)² at most in absolute terms, 3e-23 at n = 50,000.
    whole: Array  # (m + 1,): multiples of 2^−52, whose sums below 2 are exact; or exact numbers
    rest: Array  # (m + 1,): what is to be added to them

    @classmethod
    def of(cls, masses: Array) -> "Knots":
        """Return the knots of pools of the given masses, shape (m,)."""
        from otspec._base import compiling
        from otspec.optimum.pools import knots_pass  # imports Numba, if it is there

        if compiling.HAS_NUMBA and not is_exact(masses):
            return cls(*knots_pass.fast_sums_in_parts(masses))
        return cls(*map(prefix_sums, in_parts(masses)))

    @classmethod
    def of_tokens(cls, masses: Array, index: IntArray, count: int) -> "Knots":
        """Return the knots of pools of tokens, in floats: each token's pool is its index."""
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
        return self.whole if self.exact else self._below / self._below[-1]

    def powers(self, k: int) -> Array:
        """Return u^k for each knot u, shape (m + 1,)."""
        if self.exact:
            return self.whole**k
        return np.asarray(np.exp(k * self._logarithms))

    def slopes(self, low: Which, high: Which, k: int) -> Array:
        """Return (v^k − u^k) over the draft mass between knots, u the lower and v the upper one."""
        # In floats v^(k−1) (1 − (1 − x)^k)/x for the width x of the chord as a share of v: accurate
        # to some roundings for chords however short, and at any k.
        if self.exact:
            rise = self.powers(k)
            return (rise[high] - rise[low]) / self._between(low, high)
        below = self._below
        # For a width that is lost beside its knot the factor is k, as for any that is so small.
        share = np.maximum(np.minimum(self._between(low, high) / below[high], 1.0), LEAST_SHARE)
        with np.errstate(divide="ignore"):  # from 0 to v: a share of 1
            factor = np.expm1(k * np.log1p(-share)) / -share
        return np.exp((k - 1) * self._logarithms[high]) * factor / below[-1]

    def _between(self, low: Which, high: Which | int) -> Array:
        return (self.whole[high] - self.whole[low]) + (self.rest[high] - self.rest[low])

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
    """Return (high^power − low^power)/(high − low), of numbers or of arrays."""
    # It is added up as Σ low^a high^(power−1−a), by doubling: all terms are positive, so that it
    # keeps its digits for numbers however close to each other, to 0 or to 1.
    low_power, high_power = low, high
    total = high - high + 1
    bit = 1
    while 2 * bit <= power:
        bit *= 2
    bit //= 2
    # S_n = Σ low^a high^(n−1−a) for n, the first bits of the power: S_2n = S_n (low^n + high^n).
    while bit > 0:
        total = total * (low_power + high_power)
        low_power = low_power * low_power
        high_power = high_power * high_power
        if power & bit:  # S_(n+1) = S_n high + low^n
            total = total * high + low_power
            low_power = low_power * low
            high_power = high_power * high
        bit //= 2
    return total


def in_parts(masses: Array) -> tuple[Array, Array]:
    """Return masses of at most 1 as multiples of 2^−52 and what is left of them."""
    # Both are exact. Sums of the multiples are too, in any order, as long as they are below 2.
    if is_exact(masses):
        return masses, zeros(len(masses), like=masses)
    whole = (masses + 1) - 1
    return whole, masses - whole


def chain_sums(terms: Array, parents: IntArray) -> Array:
    """Add up terms along chains, each its own, its parent's and so on (−1 ends), by halves."""
    sums = np.concatenate([terms, zeros(1, like=terms)])
    last = len(terms)
    ahead = np.concatenate([np.where(parents < 0, last, parents), [last]])
    while (ahead != last).any():
        sums = sums + sums[ahead]
        ahead = ahead[ahead]
    return sums[:-1]


SHIFTS = (46, 44, 42, 40)
"""How many of a float's bits cells leave out: 64 cells an octave are left, or more."""
OCTAVES = 8
"""Equal bins cover target/draft from 2^−OCTAVES to 2^OCTAVES; the outermost are open-ended."""


@dataclass(frozen=True, eq=False)
class Histogram(Frozen):
    """Bin j has thresholds[j−1] ≤ target/draft < thresholds[j]."""

    thresholds: Array  # (t,): strictly increasing, at least 0

    def place(self, keys: Array) -> IntArray:
        """Return the bin of each ratio."""
        return np.searchsorted(self.thresholds, keys, side="right").astype(np.intp)

    def binned(
        self, draft: Distribution, target: Distribution
    ) -> tuple[IntArray, IntArray, Array, Array]:
        """Return each token's bin among those with draft mass, which these are, and both masses."""
        from otspec._base import compiling
        from otspec.optimum.pools import knots_pass  # imports Numba, if it is there

        if compiling.HAS_NUMBA and not is_exact(draft) and self._cells is not None:
            bins = len(self.thresholds) + 1
            return knots_pass.fast_binned(draft, target, *self._cells, bins)
        index = self.place(ratios.target_to_draft(draft, target))
        return among_filled(index, *self.masses_at(index, draft, target))

    def masses_at(
        self, index: IntArray, draft: Distribution, target: Distribution
    ) -> tuple[Array, Array]:
        """Return the draft and the target mass of the drafted tokens in each bin."""
        bins = len(self.thresholds) + 1
        wanted = np.where(draft > 0, target, draft)
        if is_exact(draft):
            return sums_by(index, draft, bins), sums_by(index, wanted, bins)
        return np.bincount(index, draft, bins), np.bincount(index, wanted, bins)

    @cached_property
    def edges(self) -> tuple[Array, Array]:
        """The lower and the upper edge of each bin, each of shape (t + 1,)."""
        edges = np.concatenate([zeros(1, like=self.thresholds), self.thresholds, [np.inf]])
        return edges[:-1], edges[1:]

    @cached_property
    def _cells(self) -> tuple[IntArray, int, int] | None:
        """What finds the bin of a ratio by its leading bits, the first cell, how many are left out.

        None where floats are too close to each other, or too many.
        """
        # A cell's number of thresholds below it, moved to the left, plus what is missing from its
        # own threshold to its end. Below the first cell and above the last are two more.
        bits, count = self.thresholds.view(np.int64), len(self.thresholds)
        if not count:
            return np.zeros(1, dtype=np.int64), 0, 0
        if count >= 1 << 16:  # bins are numbered in 16 bits
            return None
        for shift in SHIFTS:
            lowest, highest = (bits[[0, -1]] >> shift).tolist()
            starts = np.arange(lowest, highest + 1) << shift
            below = np.searchsorted(bits, starts)
            if np.diff(below, append=count).max() <= 1:
                beyond = np.maximum(starts + (1 << shift) - bits[below], 0)
                cells = np.concatenate([[0], (below << shift) + beyond, [count << shift]])
                return cells, lowest - 1, shift
        return None


def among_filled(
    index: IntArray, drafted: Array, wanted: Array
) -> tuple[IntArray, IntArray, Array, Array]:
    """Keep the bins that hold draft mass: each token's among them, which they are, and masses."""
    filled = np.flatnonzero(drafted > 0)
    if len(filled) < len(drafted):
        # Only tokens that are never drafted can be in an empty bin.
        index = np.maximum(np.cumsum(drafted > 0) - 1, 0).take(index)
        drafted, wanted = drafted[filled], wanted[filled]
    return index, filled, drafted, wanted


@lru_cache(maxsize=16)
def equal_bins(count: int) -> Histogram:
    """Return bins of equal width in log₂(target/draft)."""
    return Histogram(np.exp2(np.linspace(-OCTAVES, OCTAVES, count + 1)[1:-1]))
