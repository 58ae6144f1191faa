"""Rules that select a draft above the highest barrier, then couple maximally with the target."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from functools import cached_property

import numpy as np

from otspec.arithmetic import Array, IntArray, Number, as_number, zeros
from otspec.distributions import Distribution
from otspec.rules.contract import PairRule
from otspec.rules.selecting import SelectingRule
from otspec.selection.barriers import Barriers
from otspec.selection.laws import SelectionLaw


class BarrierRule(SelectingRule, PairRule):
    """Pools of ascending target/draft, and lifetimes of the knots between them.

    A uniform number decides which knots are barriers: those whose lifetime exceeds it. A draft is
    selected among those above the highest barrier that has drafts above it.
    """

    @cached_property
    @abstractmethod
    def _wanted(self) -> SelectionLaw:
        """The law that the lifetimes are made for."""

    @cached_property
    @abstractmethod
    def _barriers(self) -> Barriers:
        """The lifetimes, and the law that they really give."""

    @abstractmethod
    def _shares(self, x: tuple[int, ...], lowest: int, end: int) -> Array:
        """Return the selection in the group of pools ``lowest`` to ``end`` − 1, shape (k,)."""

    @property
    def knots(self) -> Array:
        """Draft mass below each boundary of the m pools, shape (m + 1,), from 0 to 1."""
        return self._wanted.pools.knots

    @property
    def pool(self) -> IntArray:
        """Each token's pool, shape (n,), from 0 to m − 1 by ascending target/draft."""
        return self._wanted.pools.index

    @property
    def lifetimes(self) -> Array:
        """Below which uniform number each knot is a barrier, shape (m + 1,).

        From 0 to 1, but infinity at the cut and at both ends.
        """
        return self._barriers.lifetimes

    @property
    def _widths(self) -> Array:
        """The draft masses, shape (n,), in the unit of the pools'."""
        return self.draft

    @cached_property
    def law_of_selection(self) -> Distribution:
        """The law b of the selected draft, shape (n,)."""
        law: Distribution = self._barriers.slopes[self.pool] * self._widths
        return law

    def _coupled_law(self) -> Array:
        """Return min(b, q), shape (n,)."""
        # The law that was wanted: the one that is had differs by rounding, and takes longer.
        coupled: Array = np.minimum(self._wanted.slopes[self.pool] * self._widths, self.target)
        return coupled

    def _coupled(self) -> Number:
        """Return Σ min(b, q)."""
        coupled: Number = self._coupled_law().sum()
        return coupled

    def _selection(self, x: tuple[int, ...]) -> Array:
        """Return with what probability each draft is selected, shape (k,)."""
        selection = zeros(self.k, like=self.draft)
        for lowest, end, span in self._groups(max(self._pool_of(x))):
            selection += span * self._shares(x, lowest, end)
        return selection

    def _groups(self, top: int) -> Iterator[tuple[int, int, Number]]:
        """Yield the groups that hold pool ``top``, from a knot to a knot, and their spans."""
        lifetimes, lower, higher = self._longer
        one = as_number(1, like=self.draft)
        now, lowest, end = one - one, top, top + 1
        while now < one:
            until = min(lifetimes[lowest], lifetimes[end], one)
            if until > now:
                yield lowest, end, until - now
                now = until
            lowest = lower[lowest] if lifetimes[lowest] <= now else lowest
            end = higher[end] if lifetimes[end] <= now else end

    def _group(self, top: int, uniform: float) -> tuple[int, int]:
        """Return the group that holds pool ``top`` at one uniform number."""
        lifetimes = self._longer[0]
        lowest, end = top, top + 1
        for lower, higher in self._leaps:
            if lifetimes[lowest] <= uniform and lifetimes[lower[lowest]] <= uniform:
                lowest = lower[lowest]
            if lifetimes[end] <= uniform and lifetimes[higher[end]] <= uniform:
                end = higher[end]
        _, lower, higher = self._longer
        lowest = lower[lowest] if lifetimes[lowest] <= uniform else lowest
        return lowest, higher[end] if lifetimes[end] <= uniform else end

    @cached_property
    def _leaps(self) -> list[tuple[list[int], list[int]]]:
        """Return where 2^i steps to longer lifetimes lead, down and up, the longest leap first."""
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
        """Return the lifetimes, and the nearest lower and higher knots that live longer."""
        lifetimes = self.lifetimes.tolist()
        last = len(lifetimes) - 1
        lower = nearest_longer(lifetimes)
        higher = [last - j for j in nearest_longer(lifetimes[::-1])][::-1]
        return lifetimes, lower, higher

    def _pool_of(self, x: tuple[int, ...]) -> list[int]:
        return [self._pool_list[token] for token in x]

    @cached_property
    def _pool_list(self) -> list[int]:
        pools: list[int] = self.pool.tolist()  # scalars of arrays are slow
        return pools

    def _selected(self, x: tuple[int, ...], rng: np.random.Generator) -> int:
        group, chance = rng.random(2).tolist()
        lowest, end = self._group(max(self._pool_of(x)), group)
        shares = self._shares(x, lowest, end)
        selected = x[0]
        for token, share in zip(x, shares.tolist(), strict=True):
            if share > 0:
                selected = token
            chance -= share
            if chance < 0:
                break
        return selected


def nearest_longer(lifetimes: list[Number]) -> list[int]:
    """Return for each knot the nearest one before it that lives longer; 0 for the first."""
    longer = [0] * len(lifetimes)
    for j in range(1, len(lifetimes)):
        i = j - 1
        while lifetimes[i] <= lifetimes[j] and i:
            i = longer[i]
        longer[j] = i
    return longer
