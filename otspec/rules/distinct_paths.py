"""Recursive rejection of many distinct drafts at full vocabulary, along simulated rejections."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from otspec.arithmetic import Array, IntArray, prefix_sums, suffix_sums
from otspec.distributions import Distribution
from otspec.estimate import Estimate
from otspec.frozen import Frozen
from otspec.ratios import ascending, target_to_draft

UNIT = 600
"""Draft masses are counted in units of 2^−600, so that no quotient by one leaves the floats."""


@dataclass(frozen=True, eq=False)
class DistinctPaths(Frozen):
    """Drafts of recursive rejection without replacement, drawn given that all are rejected.

    After rejections the rule's residual is (q − c·p)₊ for a number c that grows by
    W/(draft mass not yet drafted) with each draft, where W(c) = Σ (q − c·p)₊. Given the earlier
    drafts, the next one is rejected with probability W(new c)/W(old c). If each draft is drawn
    given that it is rejected, these chances multiply to W itself: P(first i rejected) is the mean
    of W(c_i), and the accepted law the mean of min(q, c_i·p). Both are unbiased, and exact for
    the first draft. Every value of W(c_i) is a probability, so that it is between 0 and 1.

    However little the drafted tokens leave, the mass that is left keeps its digits: it is added up
    without the h heaviest tokens, the most that are all drafted. Then the heaviest token that is
    left is at least as heavy as each drafted one that is still among those added up, so that at
    most a k-th of the digits' size is cancelled.

    Parameters
    ----------
    draft, target : ndarray of float, shape (n,)
    k : int
        The most drafts.
    size : int
        Number of paths.
    seed : int
    """

    draft: Distribution
    target: Distribution
    k: int
    size: int
    seed: int = 0

    @cached_property
    def levels(self) -> Array:
        """Level c after i rejected drafts, path by path: shape (k + 1, size).

        Infinite where it is beyond the floats.
        """
        with np.errstate(over="ignore"):
            return np.asarray(np.ldexp(self._drawn[0], UNIT))

    @cached_property
    def rejected(self) -> Array:
        """Weight W after i rejected drafts, path by path: shape (k + 1, size)."""
        return np.array([self._wanted(level) for level in self._drawn[0]])

    @property
    def drafts(self) -> IntArray:
        """The rejected drafts, shape (k, size)."""
        return self._order[self._drawn[1]]

    def acceptances(self) -> tuple[Array, Array]:
        """Return the acceptance of 0, …, k drafts and its standard errors."""
        return 1 - self.rejected.mean(axis=1), self._errors(self.rejected)

    def by_draft(self) -> tuple[Array, Array]:
        """Return the probability that draft 1, …, k is the accepted one, and standard errors."""
        accepted = self.rejected[:-1] - self.rejected[1:]
        return accepted.mean(axis=1), self._errors(accepted)

    def accepted_law(self, k: int) -> Array:
        """Return the probability that the output is y and one of k drafts, shape (n,)."""
        # Sorted levels: the mean of min(q, c·p) in one pass.
        levels = np.sort(self._drawn[0][k])
        below = np.searchsorted(levels, self._token_ratios, side="right")
        law: Array = self._units * prefix_sums(levels)[below] + self.target * (self.size - below)
        return law / self.size

    def output(self, k: int, y: int) -> Estimate:
        """Return entry y of :meth:`accepted_law` with its interval."""
        with np.errstate(over="ignore"):
            hits = np.minimum(self._units[y] * self._drawn[0][k], self.target[y])
        found = Estimate.of_mean(hits, most=float(self.target[y]))
        return found + (float(self.accepted_law(k)[y]) - float(found))

    def output_by_draft(self, k: int, y: int) -> list[Estimate]:
        """Return, for each of k drafts, the probability that it is the accepted one and is y."""
        with np.errstate(over="ignore"):
            hits = np.minimum(self._units[y] * self._drawn[0][: k + 1], self.target[y])
        most = float(self.target[y])
        return [Estimate.of_mean(more, most=most) for more in np.diff(hits, axis=0)]

    def rule(self, k: int) -> PathsRule:
        """Return what a tree of drafts needs of the rule for k drafts."""
        return PathsRule(self, k)

    def _errors(self, values: Array) -> Array:
        errors: Array = values.std(axis=1, ddof=1) / np.sqrt(self.size)
        return errors

    @cached_property
    def _order(self) -> IntArray:
        return ascending(self._token_ratios)

    @cached_property
    def _units(self) -> Array:
        """The draft in units of 2^−600."""
        return np.ldexp(self.draft, UNIT)

    @cached_property
    def _token_ratios(self) -> Array:
        return target_to_draft(self._units, self.target)

    @cached_property
    def _sorted(self) -> tuple[Array, Array, Array]:
        """Ratios, draft and target by ascending ratio."""
        order = self._order
        return self._token_ratios[order], self._units[order], self.target[order]

    @cached_property
    def _above(self) -> tuple[Array, Array]:
        """Draft and target mass from each place on."""
        _, draft, target = self._sorted
        return suffix_sums(draft), suffix_sums(target)

    @cached_property
    def _below(self) -> tuple[Array, Array]:
        """Draft mass before each place without the h heaviest tokens, and target mass.

        Shapes (k, n + 1), for h from 0 to k − 1, and (n + 1,).
        """
        _, draft, target = self._sorted
        lighter = np.where(self._heaviness >= np.arange(self.k)[:, None], draft, 0.0)
        return np.cumsum(np.pad(lighter, [(0, 0), (1, 0)]), axis=1), prefix_sums(target)

    @cached_property
    def _heaviness(self) -> IntArray:
        """How many tokens are heavier than that of each place; k if so many are, shape (n,)."""
        heaviness = np.full(len(self.draft), self.k)
        heaviest = np.argsort(-self._sorted[1], kind="stable")[: self.k]
        heaviness[heaviest] = np.arange(len(heaviest))
        return heaviness

    def _wanted(self, level: Array) -> Array:
        """Return Σ (q − c·p)₊ for each c."""
        place = np.searchsorted(self._sorted[0], level, side="right")
        draft, target = self._above
        return np.asarray(np.maximum(target[place] - level * draft[place], 0.0))

    @cached_property
    def _drawn(self) -> tuple[Array, IntArray]:
        """Levels by unit, and the places of the rejected drafts in the order of the ratios."""
        rng = np.random.default_rng(self.seed)
        levels = np.zeros((self.k + 1, self.size))
        places = np.zeros((self.k, self.size), dtype=np.intp)
        for i in range(self.k):
            left = self._left(places[:i])
            grown = np.divide(self._wanted(levels[i]), left.total, out=np.zeros(self.size),
                              where=left.total > 0)  # fmt: skip
            levels[i + 1] = levels[i] + grown
            uniforms = rng.random(self.size)
            places[i] = self._rejected_place(levels[i], levels[i + 1], left, uniforms)
        return levels, places

    def _left(self, drafted: IntArray) -> _Left:
        """Return what the tokens that were drafted leave, given their places by path."""
        below = self._below[0]
        drafted = np.sort(drafted, axis=0)
        heaviness = self._heaviness[drafted]
        gone = np.zeros((self.k + 1, self.size), dtype=bool)
        np.put_along_axis(gone, heaviness, values=True, axis=0)
        gone[self.k] = False
        heads = np.argmin(gone, axis=0)
        # Those among the heads are not in the sums that the others are taken out of.
        masses = np.where(heaviness >= heads, self._sorted[1][drafted], 0.0)
        total = np.maximum(below[heads, -1] - masses.sum(axis=0), self._heaviest[heads])
        return _Left(heads, drafted, masses, total)

    @cached_property
    def _heaviest(self) -> Array:
        """The heaviest masses, descending; 0 where there are no more tokens, shape (k,)."""
        heaviest = np.sort(self._sorted[1])[::-1][: self.k]
        return np.pad(heaviest, (0, self.k - len(heaviest)))

    def _rejected_place(
        self, before: Array, after: Array, left: _Left, uniforms: Array
    ) -> IntArray:
        """Draw tokens in proportion to what the offer exceeds the residual by.

        That is c'·p − max(q, c·p) where positive, c and c' the levels before and after, off the
        tokens that are gone.
        """
        ratios = self._sorted[0]
        draft_below, target_below = self._below
        low = np.searchsorted(ratios, before, side="right")
        high = np.searchsorted(ratios, after, side="right")

        def lost_before(place: IntArray) -> Array:
            flat = np.minimum(place, low)
            drafted_flat = draft_below[left.heads, flat]
            lost = (after - before) * drafted_flat
            lost += after * (draft_below[left.heads, place] - drafted_flat)
            lost -= target_below[place] - target_below[flat]
            return np.asarray(lost)

        masses = (after - before) * left.masses
        wanted = uniforms * (lost_before(high) - masses.sum(axis=0))
        for place, mass in zip(left.drafted, masses, strict=True):
            wanted += np.where(wanted >= lost_before(place), mass, 0.0)
        # The last place whose mass before it is at most what is wanted.
        first, last = np.zeros_like(high), np.maximum(high - 1, 0)
        while (first < last).any():
            middle = (first + last + 1) // 2
            fits = lost_before(middle) <= wanted
            first, last = np.where(fits, middle, first), np.where(fits, last, middle - 1)
        return first


class _Left(NamedTuple):
    """What drafted tokens leave, path by path.

    Parameters
    ----------
    heads : ndarray of int, shape (size,)
        How many of the heaviest tokens are drafted before the first that is not.
    drafted : ndarray of int, shape (i, size)
        Places, ascending.
    masses : ndarray, shape (i, size)
        Their draft masses; 0 for the heads.
    total : ndarray, shape (size,)
        The draft mass that is left.
    """

    heads: IntArray
    drafted: IntArray
    masses: Array
    total: Array


@dataclass(frozen=True, eq=False)
class PathsRule:
    """Acceptance and accepted law of recursive rejection of k distinct drafts, from paths.

    Parameters
    ----------
    paths : DistinctPaths
    k : int
        At most the paths' k.
    """

    paths: DistinctPaths
    k: int

    def acceptance(self) -> float:
        """Return the estimated acceptance."""
        return float(1 - self.paths.rejected[self.k].mean())

    def accepted_law(self) -> Array:
        """Return the estimated probability that the output is y and a draft, shape (n,)."""
        return self.paths.accepted_law(self.k)
