"""Graded pools: drafts put in one of two pools at random (Pooled, prop. 7)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import product
from typing import Any

import numpy as np

from otspec.arithmetic import Array, IntArray, Number, as_number, is_exact, sums_by, zeros
from otspec.distributions import Distribution
from otspec.ratios import target_to_draft
from otspec.selection.knots import Knots
from otspec.selection.pools import Pools

LOWEST = Fraction(1, 2)
"""The lowest positive grade."""


@dataclass(frozen=True, eq=False)
class GradedPools(Pools):
    """Pools of which a draft of token y takes one of two, by a draw of its own.

    Parameters
    ----------
    upper : ndarray of int, shape (n,)
        The pool above :attr:`index`, or that itself.
    part : ndarray, shape (n,)
        With what probability a draft is put there.
    """

    upper: IntArray
    part: Array

    @cached_property
    def by_token(self) -> Knots:
        """The knots as sums of parts of tokens' masses."""
        if is_exact(self.tokens):
            return self.by_pool
        masses = np.concatenate([self.tokens * (1 - self.part), self.tokens * self.part])
        return Knots.of_tokens(masses, np.concatenate([self.index, self.upper]), len(self.draft))

    def spread(self, values: Array) -> Array:
        """Return for each token what its pools have, in the mean: (m,) -> (n,)."""
        mean: Array = (1 - self.part) * values[self.index] + self.part * values[self.upper]
        return mean

    def gathered(self, values: Array) -> Array:
        """Return for each pool what its tokens have, by their parts: (n,) -> (m,)."""
        drafted, count = self.tokens > 0, len(self.draft)
        lower = sums_by(self.index[drafted], (values * (1 - self.part))[drafted], count)
        gathered: Array = lower + sums_by(self.upper[drafted], (values * self.part)[drafted], count)
        return gathered

    def below(self, tokens: IntArray, knots: IntArray) -> Array:
        """Return how likely each token is put below each knot: (t,), (c,) -> (t, c)."""
        part = self.part[tokens][:, None]
        lower, upper = (pools[tokens][:, None] < knots for pools in (self.index, self.upper))
        below: Array = (1 - part) * lower + part * upper
        return below

    def beyond_cut(self, slopes: Array, cut: int, k: int) -> Number:
        """Return b(A) − p(A)^k for the tokens A below the ratio of a knot, which parts straddle."""
        below = (self.index < cut) & (self.tokens > 0)
        selected = self.law(slopes)[below].sum()
        return as_number(selected - self.tokens[below].sum() ** k, like=self.draft)

    def placements(self, tokens: Sequence[int]) -> Iterator[tuple[tuple[int, ...], Number]]:
        """Yield where drafts may be put, and how likely: up to 2^k ways."""
        ways: list[list[tuple[int, Any]]] = []
        for token in tokens:
            part = self.part[token]
            both = [(int(self.index[token]), 1 - part), (int(self.upper[token]), part)]
            ways.append([(pool, chance) for pool, chance in both if chance > 0])
        for way in product(*ways):
            chance = as_number(1, like=self.draft)
            for _, each in way:
                chance = chance * each
            yield tuple(pool for pool, _ in way), chance

    def placed(self, tokens: Sequence[int], rng: np.random.Generator) -> list[int]:
        """Put each draft in one of its pools, at random."""
        drawn = rng.random(len(tokens)).tolist()
        return [
            int((self.upper if uniform < self.part[token] else self.index)[token])
            for token, uniform in zip(tokens, drawn, strict=True)
        ]


def grades(like: Distribution, k: int, count: int) -> Array:
    """Return 0 and ``count`` grades from 1/2 to k in equal steps, shape (count + 1,)."""
    steps = [LOWEST + (k - LOWEST) * Fraction(j, count - 1) for j in range(count)]
    ascending = zeros(count + 1, like=like)
    ascending[1:] = steps if is_exact(like) else [float(step) for step in steps]
    return ascending


def by_grade(draft: Distribution, target: Distribution, k: int, count: int) -> Pools:
    """Return the grades that some token has, as pools.

    Parameters
    ----------
    draft, target : ndarray, shape (n,)
    k : int
        Number of drafts.
    count : int
        The number of positive grades.
    """
    levels = grades(draft, k, count)
    keys = target_to_draft(draft, target)
    lower = np.searchsorted(levels, keys, side="right") - 1
    lower[draft == 0] = 0
    upper = np.minimum(lower + 1, count)
    part, between = zeros(len(draft), like=draft), (draft > 0) & (lower < count)
    low, high = levels[lower[between]], levels[upper[between]]
    part[between] = (keys[between] - low) / (high - low)
    upper[part == 0] = lower[part == 0]
    masses = sums_by(lower, draft * (1 - part), count + 1)
    masses = masses + sums_by(upper, draft * part, count + 1)
    filled = masses > 0
    number = np.maximum(np.cumsum(filled) - 1, 0)
    wanted = (levels * masses)[filled]
    index = number[lower]
    return GradedPools(
        masses[filled], wanted, wanted, wanted, lambda: index, draft, number[upper], part
    )
