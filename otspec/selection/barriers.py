"""Barriers: which drafts compete for being selected (Pooled, prop. 2 and 4).

With a set Z of knots as barriers, look at the highest group of pools between two barriers that
holds a draft, and select one of its drafts. Where Z is random, made of the knots whose lifetime
exceeds a uniform number, every feasible law that is convex between its tight knots is reached.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from otspec.arithmetic import Array, IntArray, Number, as_number, is_exact
from otspec.distributions import Distribution
from otspec.frozen import Frozen, read_only
from otspec.selection.heights import Heights
from otspec.selection.knots import chain_sums
from otspec.selection.laws import SelectionLaw
from otspec.selection.pools import Pools


@dataclass(frozen=True, eq=False)
class Barriers(Frozen):
    """Lifetimes of the knots, and the law that they give.

    Parameters
    ----------
    pools : Pools
    heights : Heights
        The probability that all drafts are below each knot.
    lifetimes : ndarray, shape (m + 1,)
        A knot is a barrier while the uniform number is below its lifetime: a number from 0 to 1,
        or infinity for a tight knot.
    starts, ends : ndarray of int, shape (c,)
        The groups that occur: pools starts[g] to ends[g] − 1 between two barriers.
    spans : ndarray, shape (c,)
        For how much of the uniform number each group occurs.
    rises : ndarray, shape (c,)
        By how much the probability that all drafts are below rises over a group, per draft mass.
    heirs : ndarray of int, shape (c,)
        The group that each becomes a part of, or −1. The first m groups are the pools.
    """

    pools: Pools
    heights: Heights
    lifetimes: Array
    starts: IntArray
    ends: IntArray
    spans: Array
    rises: Array
    heirs: IntArray

    @cached_property
    def slopes(self) -> Array:
        """Per pool, the probability that it is selected over its draft mass, shape (m,).

        These are the slopes that the lifetimes have, which are the law's exactly in exact
        arithmetic. In floats each is a sum of positive products, one for every group that the pool
        is in, and may differ from the law's slope by rounding.
        """
        chords = self.heights.chords(self.starts, self.ends, self.rises)
        return chain_sums(chords * self.spans, self.heirs)[: len(self.pools.draft)]

    @cached_property
    def law(self) -> Distribution:
        """The law b of the selected token, shape (n,)."""
        return self.pools.law(self.slopes)

    def groups(self, top: int) -> Iterator[tuple[int, int, Number]]:
        """Yield the groups that pool ``top`` is in, and for how much of the uniform number.

        Parameters
        ----------
        top : int
            The highest pool that holds a draft.

        Yields
        ------
        lowest, end : int
            Drafts compete that are in the pools ``lowest`` to ``end`` − 1.
        span : float or Fraction
            They sum to 1.
        """
        lifetimes, lower, higher = self._longer
        one = as_number(1, like=self.spans)
        now, lowest, end = one - one, top, top + 1
        while now < one:
            until = min(lifetimes[lowest], lifetimes[end], one)
            if until > now:
                yield lowest, end, until - now
                now = until
            lowest = lower[lowest] if lifetimes[lowest] <= now else lowest
            end = higher[end] if lifetimes[end] <= now else end

    def group(self, top: int, uniform: float) -> tuple[int, int]:
        """Return the group that pool ``top`` is in at one uniform number: its ends, as above."""
        lifetimes, lower, higher = self._longer
        lowest, end = top, top + 1
        for down, up in self._leaps:
            if lifetimes[lowest] <= uniform and lifetimes[down[lowest]] <= uniform:
                lowest = down[lowest]
            if lifetimes[end] <= uniform and lifetimes[up[end]] <= uniform:
                end = up[end]
        lowest = lower[lowest] if lifetimes[lowest] <= uniform else lowest
        return lowest, higher[end] if lifetimes[end] <= uniform else end

    @cached_property
    def _leaps(self) -> list[tuple[list[int], list[int]]]:
        """Where 2^i steps to longer lifetimes lead, down and up, the longest leap first."""
        lower, higher = (np.array(steps) for steps in self._longer[1:])
        leaps = []
        while True:
            leaps.append((lower.tolist(), higher.tolist()))
            further = lower[lower], higher[higher]
            if (further[0] == lower).all() and (further[1] == higher).all():
                return leaps[::-1]
            lower, higher = further

    @cached_property
    def _longer(self) -> tuple[list[Number], list[int], list[int]]:
        """The lifetimes, and the nearest lower and higher knots that live longer."""
        lifetimes = self.lifetimes.tolist()
        last = len(lifetimes) - 1
        lower = nearest_longer(lifetimes)
        higher = [last - j for j in nearest_longer(lifetimes[::-1])][::-1]
        return lifetimes, lower, higher


def nearest_longer(lifetimes: list[Number]) -> list[int]:
    """Return for each knot the nearest one before it that lives longer; 0 for the first."""
    longer = [0] * len(lifetimes)
    for j in range(1, len(lifetimes)):
        i = j - 1
        while lifetimes[i] <= lifetimes[j] and i:
            i = longer[i]
        longer[j] = i
    return longer


def find_barriers(law: SelectionLaw, heights: Heights) -> Barriers:
    """Return barriers that select with the given law.

    Parameters
    ----------
    law : SelectionLaw
    heights : Heights
        The probability that all drafts are below each knot.

    Returns
    -------
    Barriers

    Notes
    -----
    O(m log m). Every knot that is not tight dies before 1; see the documentation for the proof.
    """
    # Both import Numba, if it is there.
    from otspec import compiling
    from otspec.selection import barrier_process

    widths, masses = law.pools.draft, heights.rises
    ids, one = np.arange(len(widths) + 1), as_number(1, like=widths)
    # All read-only, which Numba takes for a type of its own: one is compiled.
    arrays = [read_only(values) for values in (widths, masses, law.slopes, law.tight)]
    run: Callable[..., tuple[Array, ...]] = barrier_process.fast_burn
    if is_exact(widths) or not compiling.HAS_NUMBA:
        # Plain numbers in object arrays: scalars of typed arrays are slow.
        ids, run = ids.astype(object), barrier_process.burn
        arrays = [values.astype(object) for values in arrays]
    lifetimes, starts, ends, spans, rises, heirs = run(*arrays, ids, one)
    lifetimes[law.tight] = np.inf
    return Barriers(
        law.pools,
        heights,
        lifetimes.astype(widths.dtype, copy=False),
        starts.astype(np.intp, copy=False),
        ends.astype(np.intp, copy=False),
        spans.astype(widths.dtype, copy=False),
        rises.astype(widths.dtype, copy=False),
        heirs.astype(np.intp, copy=False),
    )
