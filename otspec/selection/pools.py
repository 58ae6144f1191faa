"""Pools: the tokens that are drafted, cut into stretches of ascending target/draft."""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from otspec import ratios
from otspec.arithmetic import Array, IntArray, as_numbers, is_exact, prefix_sums, zeros
from otspec.digits import plain, quoted
from otspec.distributions import Distribution
from otspec.selection.histogram import Bins, equal_bins


@dataclass(frozen=True, eq=False)
class Pools:
    """A partition of the drafted tokens into m stretches of ascending target/draft.

    Parameters
    ----------
    draft, target : ndarray, shape (m,)
        The mass of each pool; the draft's is positive.
    floor, ceiling : ndarray, shape (m,)
        The draft mass of each pool times a ratio that none of its tokens is below, or above.
        (No law gives a pool more than 1, so that neither does the ceiling.)
    locate : callable
        Returns :attr:`index`, which not every use needs.
    """

    draft: Array
    target: Array
    floor: Array
    ceiling: Array
    locate: Callable[[], IntArray]

    @cached_property
    def knots(self) -> Array:
        """Draft mass below each boundary of pools, shape (m + 1,): from 0 to 1."""
        return prefix_sums(self.draft)

    @cached_property
    def index(self) -> IntArray:
        """Each token's pool, shape (n,); some pool for tokens that are never drafted."""
        return self.locate()


def by_token(draft: Distribution, target: Distribution) -> Pools:
    """Return a pool for every ratio that occurs: one per token, unless ratios tie."""
    keys = ratios.target_to_draft(draft, target)
    order = ratios.ascending(keys)
    order = order[draft[order] > 0]
    ascending = keys[order]
    starts = np.concatenate([[True], ascending[1:] != ascending[:-1]])

    def locate() -> IntArray:
        index = np.zeros(len(draft), dtype=np.intp)
        index[order] = np.cumsum(starts) - 1
        return index

    drafted, wanted = draft[order], target[order]
    if not starts.all():
        first = np.flatnonzero(starts)
        drafted, wanted = np.add.reduceat(drafted, first), np.add.reduceat(wanted, first)
    return Pools(drafted, wanted, wanted, wanted, locate)


def by_bins(draft: Distribution, target: Distribution, count: int) -> Pools:
    """Return bins of equal width in log₂(target/draft) between −8 and 8, in one pass.

    The first and the last reach to 0 and to infinity. Bins without draft mass are left out.
    """
    bins = equal_bins(count)
    if is_exact(draft):
        bins = Bins(_exactly(bins.thresholds, draft))
    drafted, wanted = bins.masses(draft, target)
    return _filled(drafted, wanted, *bins.edges, lambda: bins.index(draft, target))


def by_thresholds(draft: Distribution, target: Distribution, thresholds: Array) -> Pools:
    """Return the pools between thresholds: pool j has thresholds[j−1] ≤ target/draft < [j].

    Those without draft mass are left out.
    """
    bins = Bins(thresholds)
    keys = ratios.target_to_draft(draft, target)
    index = bins.place(keys)
    keys, occupied = keys[draft > 0], index[draft > 0]
    low, high = np.full((2, len(thresholds) + 1), keys[0], dtype=keys.dtype)
    low[occupied] = high[occupied] = keys
    np.minimum.at(low, occupied, keys)
    np.maximum.at(high, occupied, keys)
    return _filled(*bins.masses_at(index, draft, target), low, high, lambda: index)


def _filled(
    drafted: Array, wanted: Array, low: Array, high: Array, locate: Callable[[], IntArray]
) -> Pools:
    """Return the bins that hold draft mass, given bounds on their ratios."""
    filled = drafted > 0
    if filled.all():
        whole = locate
    else:
        # Only tokens that are never drafted can be in an empty bin.
        drafted, wanted, low, high = (part[filled] for part in (drafted, wanted, low, high))

        def whole() -> IntArray:
            renumbered: IntArray = np.maximum(np.cumsum(filled) - 1, 0)
            return renumbered[locate()]

    with np.errstate(over="ignore"):
        floor, ceiling = low * drafted, np.minimum(high * drafted, zeros(1, like=drafted) + 1)
    # Rounding must not put a pool's own mass outside.
    return Pools(drafted, wanted, np.minimum(floor, wanted), np.maximum(ceiling, wanted), whole)


def as_pools(pools: Any, like: Distribution) -> str | int | Array:
    """Check what is said about pools: a name, a number of bins, or thresholds.

    Parameters
    ----------
    pools : str, int or array_like
        ``"tokens"``, ``"fewest"``, a number of bins, or strictly increasing thresholds.
    like : ndarray
        In whose arithmetic thresholds are returned.

    Raises
    ------
    ValueError
        Something else, or thresholds that are negative, infinite or not increasing.
    """
    if isinstance(pools, str) and pools in ("tokens", "fewest"):
        return pools
    if isinstance(pools, str) or np.ndim(pools) == 0:
        return _as_count(pools)
    values = as_numbers(pools, "pools")
    if values.ndim != 1:
        raise ValueError(f"pools has shape {values.shape}: thresholds are one-dimensional")
    thresholds = _exactly(values, like)
    for j, value in enumerate(thresholds.tolist()):
        if not 0 <= value < np.inf:
            raise ValueError(
                f"pools[{j}] is {plain(values[j])}: a threshold is a finite number, at least 0"
            )
        if j and not thresholds[j - 1] < value:
            raise ValueError(
                f"pools[{j}] is {plain(values[j])} after {plain(values[j - 1])}: thresholds "
                "must increase"
            )
    return thresholds


def _as_count(pools: Any) -> int:
    try:
        count = 0 if isinstance(pools, (bool, np.bool_)) else operator.index(pools)
    except TypeError:
        count = 0
    if count < 1:
        raise ValueError(
            f"pools is {quoted(pools)}: pass 'tokens', 'fewest', a number of bins such as 256, or "
            "a list of increasing thresholds on target/draft"
        )
    return count


def _exactly(values: Array, like: Distribution) -> Array:
    """Return numbers in the arithmetic of ``like``; what is too large for a float is infinite."""
    if is_exact(like) == is_exact(values):
        return values
    if is_exact(like):
        exact = np.empty(len(values), dtype=object)
        exact[:] = [Fraction(value) if np.isfinite(value) else value for value in values.tolist()]
        return exact
    floats = np.full(len(values), np.inf)
    for j, value in enumerate(values.tolist()):
        if abs(value) <= np.finfo(float).max:
            floats[j] = value
    return floats
