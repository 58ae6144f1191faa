"""Drafts without replacement drawn given that they are rejected, path by path (MCSD, alg. 2)."""

from typing import NamedTuple, Self

import numpy as np

from otspec._base import Array, IntArray, prefix_sums
from otspec.drafts.single import likeliest

UNIT = 600
"""Draft masses are counted in units of 2^−600, so that no quotient by one leaves the floats."""


class Heaviest(NamedTuple):
    """Draft masses added up along the tokens, without some of the k heaviest."""

    masses: Array  # (n,)
    ranks: IntArray  # (n,): how many tokens are heavier than each; k if so many are
    light: Array  # (n + 1,): the mass before each place without the k heaviest
    places: IntArray  # (m,): where the k heaviest are, ascending
    counts: IntArray  # (n + 1,): how many of them are before each place
    # (k, m + 1): the mass of the first of these places without the h heaviest, for h from 0 to k −
    # 1
    steps: Array
    largest: Array  # (k,): their masses, descending; 0 where there are no more tokens

    @classmethod
    def of(cls, masses: Array, k: int) -> Self:
        """Set the k heaviest tokens apart; of equal ones those at the first places."""
        heaviest = likeliest(masses, min(k, len(masses)))
        ranks = np.full(len(masses), k)
        ranks[heaviest] = np.arange(len(heaviest))
        light = masses.copy()
        light[heaviest] = 0.0
        places = np.sort(heaviest)
        counted = np.where(ranks[places] >= np.arange(k)[:, None], masses[places], 0.0)
        steps = np.cumsum(np.pad(counted, [(0, 0), (1, 0)]), axis=1)
        largest = np.pad(masses[heaviest], (0, k - len(heaviest)))
        counts = np.zeros(len(masses) + 1, dtype=np.intp)
        np.cumsum(ranks < k, out=counts[1:])
        return cls(masses, ranks, prefix_sums(light), places, counts, steps, largest)

    def before(self, place: IntArray, heads: IntArray) -> Array:
        """Return the mass before places without the ``heads`` heaviest tokens."""
        return self.light[place] + self.steps[heads, self.counts[place]]

    def reached(self, mass: Array, heads: IntArray) -> IntArray:
        """Return the last place before which there is so much mass at most, (size,) each."""
        at, passed = self.light[self.places], np.empty(len(heads), dtype=np.intp)
        for head in np.flatnonzero(np.bincount(heads)):
            rows = heads == head
            passed[rows] = np.searchsorted(at + self.steps[head, :-1], mass[rows], side="right")
        steps = self.steps[heads, passed]
        # Between the last of the heaviest that is reached and the next one, or just the last one.
        borders = np.concatenate([[-1], self.places, [len(self.masses) + 1]])
        place = np.searchsorted(self.light, mass - steps, side="right") - 1
        place = np.clip(place, borders[passed] + 1, borders[passed + 1] - 1)
        inside = (passed > 0) & (mass < np.append(0.0, at)[passed] + steps)
        return np.where(inside, borders[passed], place)


class Left(NamedTuple):
    """What drafted tokens leave, path by path, with all its digits.

    It is added up without the ``heads`` heaviest tokens, the most that are all drafted. So the
    heaviest token that is left is at least as heavy as each drafted one among those added up.
    """

    heaviest: Heaviest
    gone: Array  # (k + 1, size): which of the heaviest tokens are drafted; the last row is none
    # (size,): how many of the heaviest tokens are drafted before the first that is not
    heads: IntArray
    drafted: IntArray  # (i, size): places, ascending
    masses: Array  # (i, size): their draft masses; 0 for the heads, which are not in the sums
    total: Array  # (size,): the draft mass that is left

    @classmethod
    def of(cls, heaviest: Heaviest, gone: Array, drafted: IntArray) -> Self:
        """Return what drafted tokens leave, given their places."""
        heads = np.argmin(gone, axis=0)
        counted = heaviest.ranks[drafted] >= heads
        masses = np.where(counted, heaviest.masses[drafted], 0.0)
        sums = heaviest.light[-1] + heaviest.steps[heads, -1] - masses.sum(axis=0)
        total = np.maximum(sums, heaviest.largest[heads])
        return cls(heaviest, gone, heads, drafted, masses, total)

    @classmethod
    def all_of(cls, heaviest: Heaviest, size: int) -> Self:
        """Return what is left before anything is drafted."""
        gone = np.zeros((len(heaviest.largest) + 1, size), dtype=bool)
        return cls.of(heaviest, gone, np.empty((0, size), dtype=np.intp))

    def without(self, places: IntArray) -> "Left":
        """Return what one more drafted token of each path leaves."""
        gone = self.gone.copy()
        gone[self.heaviest.ranks[places], np.arange(len(places))] = True
        gone[-1] = False
        rows = []
        for row in self.drafted:
            rows.append(np.minimum(row, places))
            places = np.maximum(row, places)
        return Left.of(self.heaviest, gone, np.array([*rows, places]))

    def before(self, place: IntArray) -> Array:
        """Return the mass before places, of the heads nothing but of the other drafted tokens."""
        return self.heaviest.before(place, self.heads)


class Levels(NamedTuple):
    """The levels c before and after a draft, and how many ratios are at most each: (size,)."""

    before: Array
    after: Array
    low: IntArray
    high: IntArray

    def rejected(self, left: Left, wanted_below: Array, uniforms: Array) -> IntArray:
        """Draw the places of rejected drafts in proportion to what they exceed the residual by."""
        # That is c'·p − max(q, c·p) where positive, c and c' the levels before and after, off the
        # tokens that are gone. Below the ratio c that is (c' − c)·p, where all of those are.
        # uniforms: (size,); wanted_below, (n + 1,): the target mass of the first tokens by ratio.
        grown, flat = self.after - self.before, left.before(self.low)

        def partly(place: IntArray, rows: slice | IntArray = slice(None)) -> Array:
            """Return what is lost between the place of c and one that is not below it."""
            more = left.heaviest.before(place, left.heads[rows]) - flat[rows]
            lost: Array = self.after[rows] * more
            lost -= wanted_below[place] - wanted_below[self.low[rows]]
            return lost

        masses = grown * left.masses
        wanted = uniforms * (grown * flat + partly(self.high) - masses.sum(axis=0))
        for before, mass in zip(grown * left.before(left.drafted), masses, strict=True):
            wanted += np.where(wanted >= before, mass, 0.0)
        over = wanted - grown * flat
        found = np.zeros(len(uniforms), dtype=np.intp)
        below = np.flatnonzero(over < 0)
        found[below] = left.heaviest.reached(wanted[below] / grown[below], left.heads[below])
        # The last place before which at most what is wanted is lost.
        rows = np.flatnonzero(over >= 0)
        first, last = self.low[rows], self.high[rows] - 1
        while (first < last).any():
            middle = (first + last + 1) // 2
            fits = partly(middle, rows) <= over[rows]
            first, last = np.where(fits, middle, first), np.where(fits, last, middle - 1)
        found[rows] = first
        return np.minimum(found, np.maximum(self.high - 1, 0))
