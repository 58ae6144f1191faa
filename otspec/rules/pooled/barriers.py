"""Barriers: which drafts compete for being selected (Pooled, prop. 1, 2 and 4).

With a set Z of knots as barriers, look at the highest group of pools between two barriers that
holds a draft, and select one of its drafts. Where Z is random, made of the knots whose lifetime
exceeds a uniform number, every feasible law that is convex between its tight knots is reached.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import singledispatch
from typing import TypeAlias

import numpy as np

from otspec._base import Frozen, arithmetic, cached_property
from otspec._base.arithmetic import Array, IntArray, Number, is_exact, prefix_sums
from otspec.chance import Chance, Drawn
from otspec.distributions import Distribution
from otspec.drafts import IID, WithoutReplacement
from otspec.drafts.single import ByRatio
from otspec.optimum.pools.knots import chain_sums
from otspec.optimum.pools.pools import Pools, SelectionLaw


@dataclass(frozen=True, eq=False)
class SummedMasses(Frozen):
    """G at the m + 1 knots of pools, a convex curve from 0 to 1, by its rise over each pool."""

    # (m,): the probability that all drafts are in the pool or below, and not all below
    rises: Array

    @property
    def values(self) -> Array:
        """G at each knot, shape (m + 1,)."""
        return prefix_sums(self.rises)

    def chords(self, starts: IntArray, ends: IntArray, slopes: Array) -> Array:  # noqa: ARG002
        """Return the slopes of chords between knots with all digits that are known."""
        return slopes


@dataclass(frozen=True, eq=False)
class PowerMasses(Frozen):
    """The same for k i.i.d. drafts, where G is u^k at knot u."""

    pools: Pools
    k: int

    @property
    def values(self) -> Array:
        """u^k at each knot, shape (m + 1,)."""
        return self.pools.by_pool.powers(self.k)

    @property
    def rises(self) -> Array:
        """By how much u^k rises over each pool, shape (m,)."""
        slopes = self.pools.by_pool.slopes(slice(-1), slice(1, None), self.k)
        return self.pools.draft * slopes

    def chords(self, starts: IntArray, ends: IntArray, slopes: Array) -> Array:
        """Return slopes of chords, in floats from the tokens' own masses."""
        # So no knot is rounded to a float before its power is taken.
        return slopes if is_exact(slopes) else self.pools.by_token.slopes(starts, ends, self.k)


InsideMasses: TypeAlias = SummedMasses | PowerMasses


@singledispatch
def inside_masses_of(law: ByRatio, pools: Pools) -> InsideMasses:
    """Return G of a draft law over pools of its draft distribution, in whatever unit."""
    last = np.cumsum(np.bincount(pools.index[pools.tokens > 0], minlength=len(pools.draft)))
    inside = law.inside_prefixes(pools.in_order)[: int(last[-1]) + 1]
    return SummedMasses(np.diff(inside[np.concatenate([[0], last])]))


@inside_masses_of.register
def _(law: IID, pools: Pools) -> InsideMasses:
    return PowerMasses(pools, law.k)


@inside_masses_of.register
def _(law: WithoutReplacement, pools: Pools) -> InsideMasses:
    return SummedMasses(pools.rises_without_replacement(law.draft, law.k))


NEAR = 4  # how many knots are looked at one by one for one that is a barrier
WINDOW = 32  # how many are looked at together after these; then twice as many, and so on


@dataclass(frozen=True, eq=False)
class Barriers(Frozen):
    """Lifetimes of the knots, and the law that they give."""

    pools: Pools
    heights: InsideMasses  # the probability that all drafts are below each knot
    # (m + 1,): a knot is a barrier while the uniform number is below its lifetime: a number from 0
    # to 1, or infinity for a tight knot
    lifetimes: Array
    # starts, ends: (c,): the groups that occur: pools starts[g] to ends[g] − 1 between two barriers
    starts: IntArray
    ends: IntArray
    spans: Array  # (c,): for how much of the uniform number each group occurs
    # (c,): by how much the probability that all drafts are below rises over a group, per draft mass
    rises: Array
    parents: IntArray  # (c,): the group that each becomes a part of, or −1
    origins: IntArray  # (m,): the group that each pool is in at the uniform number 0

    @cached_property
    def slopes(self) -> Array:
        """Per pool, the probability that it is selected over its draft mass, shape (m,)."""
        # The slopes of the lifetimes: the law's in exact arithmetic. In floats each is a sum of
        # positive products, one for every group of the pool, and may differ by rounding.
        chords = self.heights.chords(self.starts, self.ends, self.rises)
        return chain_sums(chords * self.spans, self.parents)[self.origins]

    @cached_property
    def law(self) -> Distribution:
        """The law b of the selected token, shape (n,)."""
        return self.pools.law(self.slopes)

    def groups(self, top: int) -> Iterator[tuple[int, int, Number]]:
        """Yield each group, ``lowest`` to ``end`` − 1, whose highest drafted pool is ``top``."""
        # ``span``: for how much of the uniform number drafts in the group compete; they sum to 1.
        knots, (lifetimes, lower, higher) = self._knots[0], self._longer
        one = arithmetic.as_number(1, like=self.spans)
        low = int(knots.searchsorted(top, side="right")) - 1
        now, high = one - one, low + 1
        while now < one:
            until = min(lifetimes[low], lifetimes[high], one)
            if until > now:
                yield int(knots[low]), int(knots[high]), until - now
                now = until
            low = lower[low] if lifetimes[low] <= now else low
            high = higher[high] if lifetimes[high] <= now else high

    def drawn(self, top: int, chance: Chance) -> tuple[int, int]:
        """Draw the uniform number, and return the group that pool ``top`` is in: its ends."""
        if isinstance(chance, Drawn):  # one group is found sooner than all of them
            return self.group(top, chance.uniform())
        groups = list(self.groups(top))
        lowest, end, _ = groups[chance.choose([span for _, _, span in groups])]
        return lowest, end

    def group(self, top: int, uniform: float) -> tuple[int, int]:
        """Return the group that pool ``top`` is in at one uniform number: its ends, as above."""
        knots, lifetimes, falling = self._knots
        above = int(knots.searchsorted(top, side="right"))
        low = len(knots) - 1 - _first_beyond(falling, len(knots) - above, uniform)
        return int(knots[low]), int(knots[_first_beyond(lifetimes, above, uniform)])

    def groups_at(self, tops: IntArray, uniforms: Array) -> tuple[IntArray, IntArray]:
        """Return the same for many pools, each at its uniform number: lowest pools, and ends."""
        knots, lifetimes, falling = self._knots
        above = knots.searchsorted(tops, side="right")
        low = len(knots) - 1 - _firsts_beyond(falling, len(knots) - above, uniforms)
        return knots[low], knots[_firsts_beyond(lifetimes, above, uniforms)]

    @cached_property
    def _knots(self) -> tuple[IntArray, Array, Array]:
        """The knots that are ever barriers, their lifetimes as floats, and these backwards."""
        knots = np.flatnonzero(self.lifetimes > 0)
        lifetimes = self.lifetimes[knots].astype(float)
        return knots, lifetimes, lifetimes[::-1]

    @cached_property
    def _longer(self) -> tuple[list[Number], list[int], list[int]]:
        """The lifetimes of these knots, and the nearest below and above that live longer."""
        lifetimes = self.lifetimes[self._knots[0]].tolist()
        last = len(lifetimes) - 1
        lower = nearest_longer(lifetimes)
        higher = [last - j for j in nearest_longer(lifetimes[::-1])][::-1]
        return lifetimes, lower, higher


def _first_beyond(values: Array, start: int, bound: float) -> int:
    """Return the first place from ``start`` on with a value above the bound; there must be one."""
    width = WINDOW
    for place in range(start, start + NEAR):  # quicker than an array of so few
        if values[place] > bound:
            return place
    start += NEAR
    while True:
        beyond = values[start : start + width] > bound
        first = int(beyond.argmax())
        if beyond[first]:
            return start + first
        start, width = start + width, 2 * width


def _firsts_beyond(values: Array, starts: IntArray, bounds: Array) -> IntArray:
    """Return the same for many places and bounds."""
    found = starts.copy()
    for _ in range(NEAR):
        found += values[found] <= bounds
    far = np.flatnonzero(values[found] <= bounds)
    places = zip(found[far].tolist(), bounds[far].tolist(), strict=True)
    found[far] = [_first_beyond(values, *place) for place in places]
    return found


def nearest_longer(lifetimes: list[Number]) -> list[int]:
    """Return for each knot the nearest one before it that lives longer; 0 for the first."""
    longer = [0] * len(lifetimes)
    for j in range(1, len(lifetimes)):
        i = j - 1
        while lifetimes[i] <= lifetimes[j] and i:
            i = longer[i]
        longer[j] = i
    return longer


def find_barriers(law: SelectionLaw, heights: InsideMasses) -> Barriers:
    """Return barriers that select with the given law, in O(m log m)."""
    # Every knot that is not tight dies before 1; see the documentation for the proof.
    from otspec._base.compiling import looped
    from otspec.rules.pooled.barrier_process import fast_live, live  # imports Numba, if it is there

    parts = law.slopes, law.pools.draft, heights.rises, law.tight, np.arange(len(law.tight))
    found = looped(live, fast_live, parts, arithmetic.as_number(1, like=law.slopes))
    number, place = law.slopes.dtype, np.dtype(np.intp)
    kinds = number, place, place, number, number, place, place
    typed = (each.astype(kind, copy=False) for each, kind in zip(found, kinds, strict=True))
    return Barriers(law.pools, heights, *typed)
