"""Recursive rejection of many distinct drafts at full vocabulary, along simulated rejections."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from otspec._base import Array, Frozen, IntArray, cached_property, prefix_sums
from otspec.distributions import Distribution
from otspec.estimate import Estimate, Estimates
from otspec.ratios import Ordered, Pair, target_to_draft
from otspec.rules.base.accepted import Estimated
from otspec.rules.rejection.rejected_draws import UNIT, Heaviest, Left, Levels

FEW = 4_096  # up to so many tokens NumPy is as quick as loading what is compiled


@dataclass(frozen=True, eq=False)
class DistinctPaths(Frozen):
    """Drafts of recursive rejection without replacement, drawn given that all are rejected.

    After rejections the rule's residual is (q − c·p)₊ for a number c that grows by
    W/(draft mass not yet drafted) with each draft, where W(c) = Σ (q − c·p)₊. Given the earlier
    drafts, the next one is rejected with probability W(new c)/W(old c). If each draft is drawn
    given that it is rejected, these chances multiply to W itself: P(first i rejected) is the mean
    of W(c_i), and the accepted law the mean of min(q, c_i·p). Both are unbiased, and exact for
    the first draft. Every value of W(c_i) is a probability, so that it is between 0 and 1.
    However little the drafted tokens leave, the mass that is left keeps its digits: at most a k-th
    of it is canceled (:class:`otspec.rules.rejection.rejected_draws.Left`).
    """

    pair: Pair  # in floats
    k: int  # the most drafts
    size: int  # number of paths
    seed: int = 0

    @property
    def draft(self) -> Distribution:
        """What is drafted, shape (n,)."""
        return self.pair.draft

    @property
    def target(self) -> Distribution:
        """What the output is distributed as, shape (n,)."""
        return self.pair.target

    @cached_property
    def levels(self) -> Array:
        """Level c after i rejected drafts, infinite beyond the floats: shape (k + 1, size)."""
        with np.errstate(over="ignore"):
            return np.asarray(np.ldexp(self._drawn.levels, UNIT))

    @property
    def rejected(self) -> Array:
        """Weight W after i rejected drafts, path by path: shape (k + 1, size)."""
        return self._drawn.rejected

    @property
    def drafts(self) -> IntArray:
        """The rejected drafts, shape (k, size)."""
        return self.pair.order[self._drawn.places]

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
        levels = np.sort(self._drawn.levels[k])
        below = np.searchsorted(levels, self._token_ratios, side="right")
        law: Array = self._units * prefix_sums(levels)[below] + self.target * (self.size - below)
        return law / self.size

    def accepted_up_to(self, k: int, y: int) -> Array:
        """Return how likely y is accepted among the first 0, …, k drafts, path by path."""
        # The result has shape (k + 1, size).
        with np.errstate(over="ignore"):
            levels = self._units[y] * self._drawn.levels[: k + 1]
        return np.asarray(np.minimum(levels, self.target[y]))

    def of_first(self, k: int) -> "PathsEstimate":
        """Return what the paths say of the rule for the first k drafts."""
        return PathsEstimate(self, k)

    def _errors(self, values: Array) -> Array:
        return values.std(axis=1, ddof=1) / np.sqrt(self.size)

    @cached_property
    def _units(self) -> Array:
        """The draft in units of 2^−600."""
        return np.ldexp(self.draft, UNIT)

    @cached_property
    def _token_ratios(self) -> Array:
        return target_to_draft(self._units, self.target)

    @cached_property
    def _sorted(self) -> Ordered:
        """Ratios, draft and target by ascending ratio, in those units."""
        draft, target = np.ldexp(self.pair.by_ratio.draft, UNIT), self.pair.by_ratio.target
        return Ordered(target_to_draft(draft, target), draft, target)

    @cached_property
    def _drawn(self) -> "_Drawn":
        uniforms = np.random.default_rng(self.seed).random((self.k, self.size))
        levels, rejected = np.zeros((2, self.k + 1, self.size))
        rejected[0] = self._wanted(levels[0])[1]
        drawn = _Drawn(levels, rejected, np.zeros((self.k, self.size), dtype=np.intp))
        heaviest = Heaviest.of(self._sorted.draft, self.k)
        if len(self.draft) >= FEW:
            from otspec._base import compiling  # imports Numba, if it is there

            if compiling.HAS_NUMBA:
                from otspec.rules.rejection import rejected_pass

                sums = self._sorted.ratios, self.pair.below[1], *self._above
                ratios, below, draft, target = map(compiling.unwriteable, sums)
                known = ratios, below, draft, target
                rejected_pass.fast_draw(heaviest, known, uniforms, *drawn)
                return drawn
        self._draw(drawn, Left.all_of(heaviest, self.size), uniforms)
        return drawn

    def _draw(self, drawn: "_Drawn", left: Left, uniforms: Array) -> None:
        """Draw all drafts, one of each path at a time, given the weights before the first."""
        levels, rejected, places = drawn
        low = self._wanted(levels[0])[0]
        for i in range(self.k):
            if i:
                left = left.without(places[i - 1])
            grown = np.divide(rejected[i], left.total, out=np.zeros(self.size),
                              where=left.total > 0)  # fmt: skip
            levels[i + 1] = levels[i] + grown
            high, rejected[i + 1] = self._wanted(levels[i + 1])
            passed = Levels(levels[i], levels[i + 1], low, high)
            places[i] = passed.rejected(left, self.pair.below[1], uniforms[i])
            low = high

    def _wanted(self, level: Array) -> tuple[IntArray, Array]:
        """Return how many ratios are at most each c, and Σ (q − c·p)₊."""
        place = np.searchsorted(self._sorted.ratios, level, side="right")
        draft, target = self._above
        return place, np.maximum(target[place] - level * draft[place], 0.0)

    @cached_property
    def _above(self) -> tuple[Array, Array]:
        """Draft and target mass from each place on."""
        return np.ldexp(self.pair.above[0], UNIT), self.pair.above[1]


class _Drawn(NamedTuple):
    """Levels and weights after each draft, (k + 1, size), and places of drafts by ratio."""

    levels: Array
    rejected: Array
    places: IntArray


@dataclass(frozen=True, eq=False)
class PathsEstimate(Estimated):
    """What recursive rejection of k distinct drafts accepts, from paths."""

    paths: DistinctPaths
    k: int  # at most the paths' k

    @cached_property
    def probability(self) -> Estimate:
        """The mean of 1 − W(c)."""
        return Estimate.of_mean(1 - self.paths.rejected[self.k])

    @cached_property
    def by_token(self) -> Estimates:
        """The mean of min(q, c·p), without bias, shape (n,)."""
        return self._means(self.paths.accepted_law(self.k))

    @cached_property
    def by_position_and_token(self) -> Estimates:
        """The same by token, shape (k, n)."""
        up_to = [self.paths.accepted_law(k) for k in range(self.k + 1)]
        return self._means(np.diff(up_to, axis=0))

    def of_token(self, y: int) -> Estimate:
        """Return entry y of :attr:`by_token` with the interval of its own values."""
        return Estimate.of_mean(
            self.paths.accepted_up_to(self.k, y)[-1], most=float(self.paths.target[y])
        )

    def of_token_by_position(self, y: int) -> list[Estimate]:
        """Return column y of :attr:`by_position_and_token` likewise."""
        most = float(self.paths.target[y])
        return [
            Estimate.of_mean(more, most=most)
            for more in np.diff(self.paths.accepted_up_to(self.k, y), axis=0)
        ]

    def _means(self, means: Array) -> Estimates:
        return Estimates.of_means(means, self.paths.size, most=self.paths.target)
