"""Recursive rejection of many distinct drafts at full vocabulary, along simulated rejections."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from otspec.arithmetic import Array, IntArray, prefix_sums, suffix_sums
from otspec.distributions import Distribution
from otspec.frozen import Frozen
from otspec.ratios import ascending, target_to_draft

LEAST_REST = 1e-12
"""Draft mass below which nothing is left to draft."""


@dataclass(frozen=True, eq=False)
class DistinctPaths(Frozen):
    """Drafts of recursive rejection without replacement, drawn given that all are rejected.

    After rejections the rule's residual is (q − c·p)₊ for a number c that grows by
    W/(draft mass not yet drafted) with each draft, where W(c) = Σ (q − c·p)₊. Given the earlier
    drafts, the next one is rejected with probability W(new c)/W(old c). If each draft is drawn
    given that it is rejected, these chances multiply to W itself: P(first i rejected) is the mean
    of W(c_i), and the accepted law the mean of min(q, c_i·p). Both are unbiased, and exact for
    the first draft.

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
        """Level c after i rejected drafts, path by path: shape (k + 1, size)."""
        return self._drawn[0]

    @cached_property
    def rejected(self) -> Array:
        """Weight W after i rejected drafts, path by path: shape (k + 1, size)."""
        return np.array([self._wanted(level) for level in self.levels])

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
        levels = np.sort(self.levels[k])
        below = np.searchsorted(levels, self._token_ratios, side="right")
        law: Array = self.draft * prefix_sums(levels)[below] + self.target * (self.size - below)
        return law / self.size

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
    def _token_ratios(self) -> Array:
        return target_to_draft(self.draft, self.target)

    @cached_property
    def _sorted(self) -> tuple[Array, Array, Array]:
        """Ratios, draft and target by ascending ratio."""
        order = self._order
        return self._token_ratios[order], self.draft[order], self.target[order]

    @cached_property
    def _above(self) -> tuple[Array, Array]:
        """Draft and target mass from each place on."""
        _, draft, target = self._sorted
        return suffix_sums(draft), suffix_sums(target)

    @cached_property
    def _below(self) -> tuple[Array, Array]:
        """Draft and target mass before each place."""
        _, draft, target = self._sorted
        return prefix_sums(draft), prefix_sums(target)

    def _wanted(self, level: Array) -> Array:
        """Return Σ (q − c·p)₊ for each c."""
        place = np.searchsorted(self._sorted[0], level, side="right")
        draft, target = self._above
        return np.asarray(np.maximum(target[place] - level * draft[place], 0.0))

    @cached_property
    def _drawn(self) -> tuple[Array, IntArray]:
        """Levels, and the places of the rejected drafts in the order of the ratios."""
        rng = np.random.default_rng(self.seed)
        draft = self._sorted[1]
        levels = np.zeros((self.k + 1, self.size))
        places = np.zeros((self.k, self.size), dtype=np.intp)
        rest = np.ones(self.size)
        for i in range(self.k):
            grown = np.divide(self._wanted(levels[i]), rest, out=np.zeros(self.size),
                              where=rest > LEAST_REST)  # fmt: skip
            levels[i + 1] = levels[i] + grown
            uniforms = rng.random(self.size)
            places[i] = self._rejected_place(levels[i], levels[i + 1], places[:i], uniforms)
            rest -= draft[places[i]]
        return levels, places

    def _rejected_place(
        self, before: Array, after: Array, gone: IntArray, uniforms: Array
    ) -> IntArray:
        """Draw tokens in proportion to what the offer exceeds the residual by.

        That is c'·p − max(q, c·p) where positive, c and c' the levels before and after, off the
        tokens that are gone.
        """
        ratios, draft, _ = self._sorted
        draft_below, target_below = self._below
        low = np.searchsorted(ratios, before, side="right")
        high = np.searchsorted(ratios, after, side="right")

        def lost_before(place: IntArray) -> Array:
            flat = np.minimum(place, low)
            lost = (after - before) * draft_below[flat]
            lost += after * (draft_below[place] - draft_below[flat])
            lost -= target_below[place] - target_below[flat]
            return np.asarray(lost)

        gone = np.sort(gone, axis=0)
        masses = (after - before) * draft[gone]
        wanted = uniforms * (lost_before(high) - masses.sum(axis=0))
        for place, mass in zip(gone, masses, strict=True):
            wanted += np.where(wanted >= lost_before(place), mass, 0.0)
        # The last place whose mass before it is at most what is wanted.
        left, right = np.zeros_like(high), np.maximum(high - 1, 0)
        while (left < right).any():
            middle = (left + right + 1) // 2
            fits = lost_before(middle) <= wanted
            left, right = np.where(fits, middle, left), np.where(fits, right, middle - 1)
        return left


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
