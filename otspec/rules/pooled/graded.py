"""Graded pools: drafts put in one of two pools at random (Pooled, prop. 7; Beyond, prop. 6)."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import singledispatch
from itertools import product
from typing import Any, ClassVar

import numpy as np

from otspec._base import Array, IntArray, Number, arithmetic, cached_property
from otspec.chance import Chance
from otspec.distributions import Distribution
from otspec.drafts import WithoutReplacement
from otspec.drafts.single import ByRatio
from otspec.optimum.pools.knots import Knots
from otspec.optimum.pools.pools import Pools
from otspec.ratios import target_to_draft
from otspec.rules.pooled.exponential_clocks import all_below

LOWEST = Fraction(1, 2)  # the lowest positive grade
_LEAST = 2.0**-960  # grades are at most the number of drafts over that


@dataclass(frozen=True, eq=False)
class GradedPools(Pools):
    """Pools of which a draft of token y takes one of two, by a draw of its own."""

    split: ClassVar[bool] = True

    upper: IntArray  # (n,): the pool above :attr:`index`, or that itself
    part: Array  # (n,): with what probability a draft is put there
    heavy: Array  # (n,): whether only the first arrival of a token counts, if drafts are distinct

    @cached_property
    def by_token(self) -> Knots:
        """The knots as sums of parts of tokens' masses."""
        if arithmetic.is_exact(self.tokens):
            return self.by_pool
        masses = np.concatenate([self.tokens * (1 - self.part), self.tokens * self.part])
        return Knots.of_tokens(masses, np.concatenate([self.index, self.upper]), len(self.draft))

    def spread(self, values: Array) -> Array:
        """Return for each token what its pools have, on average: (m,) -> (n,)."""
        return (1 - self.part) * values[self.index] + self.part * values[self.upper]

    def gathered(self, values: Array) -> Array:
        """Return for each pool what its tokens have, by their parts: (n,) -> (m,)."""
        drafted, count = self.tokens > 0, len(self.draft)
        lower = arithmetic.sums_by(self.index[drafted], (values * (1 - self.part))[drafted], count)
        return lower + arithmetic.sums_by(self.upper[drafted], (values * self.part)[drafted], count)

    def below(self, tokens: IntArray, knots: IntArray) -> Array:
        """Return how likely each token is put below each knot: (t,), (c,) -> (t, c)."""
        part = self.part[tokens][:, None]
        lower, upper = (pools[tokens][:, None] < knots for pools in (self.index, self.upper))
        return (1 - part) * lower + part * upper

    def between(self, tokens: IntArray, start: int, end: int) -> Array:
        """Return how likely each token is put in the pools start to end − 1: (t,) -> (t,)."""
        # It is no difference: a part that is small against the others keeps its digits.
        part = self.part[tokens]
        lower, upper = (
            (pools[tokens] >= start) & (pools[tokens] < end) for pools in (self.index, self.upper)
        )
        return (1 - part) * lower + part * upper

    def rises_without_replacement(self, draft: Distribution, k: int) -> Array:
        """Return by how much P(all arrivals that count are below) rises over each pool: (m,)."""
        tokens, last = np.flatnonzero(draft), len(self.draft)
        draft, heavy = draft[tokens], self.heavy[tokens]
        heights = arithmetic.zeros(last + 1, like=draft)
        heights[last:] = arithmetic.as_number(1, like=draft)
        for knot in range(1, last):
            inside = draft * self.between(tokens, 0, knot)
            above = draft * self.between(tokens, knot, last)
            light = arithmetic.as_number(inside[~heavy].sum(), like=draft)
            beyond = arithmetic.as_number(above.sum(), like=draft)
            heights[knot] = all_below(inside[heavy], light, beyond, k)
        return arithmetic.positive_part(np.diff(heights))

    def counted_once(self, tokens: IntArray) -> Array:
        """Return whether only the first arrival of each token counts: (t,) -> (t,)."""
        return self.heavy[tokens]

    def beyond_cut(self, slopes: Array, cut: int, law: ByRatio) -> Number:
        """Return b(A) − f(A) for the tokens A below the ratio of a knot, which parts straddle."""
        below = (self.index < cut) & (self.tokens > 0)
        selected = self.law(slopes)[below].sum()
        return arithmetic.as_number(selected - law.inside(np.flatnonzero(below)), like=self.draft)

    def placements(self, tokens: Sequence[int]) -> Iterator[tuple[tuple[int, ...], Number]]:
        """Yield where drafts may be put, and how likely: up to 2^k ways."""
        ways: list[list[tuple[int, Any]]] = []
        for token in tokens:
            part = self.part[token]
            both = [(int(self.index[token]), 1 - part), (int(self.upper[token]), part)]
            ways.append([(pool, chance) for pool, chance in both if chance > 0])
        for way in product(*ways):
            chance = arithmetic.as_number(1, like=self.draft)
            for _, each in way:
                chance = chance * each
            yield tuple(pool for pool, _ in way), chance

    def placed(self, tokens: Sequence[int], chance: Chance) -> list[int]:
        """Put each draft in one of its pools, at random."""
        return [
            int((self.upper if chance.accept(self.part[token]) else self.index)[token])
            for token in tokens
        ]


def grades(like: Distribution, most: Number, count: int) -> Array:
    """Return 0 and ``count`` grades from 1/2 to ``most`` in equal steps, shape (count + 1,)."""
    highest = Fraction(most)
    steps = [LOWEST + (highest - LOWEST) * Fraction(j, count - 1) for j in range(count)]
    ascending = arithmetic.zeros(count + 1, like=like)
    ascending[1:] = steps if arithmetic.is_exact(like) else [float(step) for step in steps]
    return ascending


@singledispatch
def highest_grade(law: ByRatio, heavy: Array) -> Number:  # noqa: ARG001
    """Return how often a token is drafted over its draft mass at most; ``heavy`` tokens once."""
    return law.k


@highest_grade.register
def _(law: WithoutReplacement, heavy: Array) -> Number:
    """Return Σ 1/(1 − s_i) over i < k, s_i the mass of the i heaviest of the heavy tokens."""
    ascending = np.sort(law.draft[heavy])
    light = law.draft[~heavy].sum()
    lefts = light + arithmetic.prefix_sums(ascending)[::-1]
    distinct = min(law.k - 1, len(ascending))
    lefts = np.concatenate([lefts[: distinct + 1], np.repeat(lefts[distinct], law.k)])[1 : law.k]
    if arithmetic.is_exact(lefts):
        return arithmetic.as_number(1 + sum(1 / left for left in lefts), like=law.draft)
    return 1 + math.fsum(1 / max(left, _LEAST) for left in lefts.tolist())


def heaviest(draft: Distribution, count: int) -> Array:
    """Return which tokens are heavier than the one after the ``count`` heaviest: (n,) of bool."""
    border = np.sort(draft)[-count - 1] if count < len(draft) else 0
    return (draft > border).astype(bool)


def by_grade(
    draft: Distribution, target: Distribution, most: Number, count: int, heavy: Array | None = None
) -> Pools:
    """Return the grades that some token has, as pools: ``count`` positive ones up to ``most``."""
    # Token y lies between the grades of its ratio q(y)/p(y): lower <= ratio < upper.
    levels = grades(draft, most, count)
    keys = target_to_draft(draft, target)
    lower = np.searchsorted(levels, keys, side="right") - 1
    lower[draft == 0] = 0
    upper = np.minimum(lower + 1, count)
    # A draft of y goes to the upper grade with probability `part`, so that the mean is the ratio.
    part, between = arithmetic.zeros(len(draft), like=draft), (draft > 0) & (lower < count)
    low, high = levels[lower[between]], levels[upper[between]]
    part[between] = (keys[between] - low) / (high - low)
    upper[part == 0] = lower[part == 0]
    masses = arithmetic.sums_by(lower, draft * (1 - part), count + 1)
    masses = masses + arithmetic.sums_by(upper, draft * part, count + 1)
    # Grades that no token has are left out, and the others numbered anew.
    filled = masses > 0
    number = np.maximum(np.cumsum(filled) - 1, 0)
    wanted = (levels * masses)[filled]
    index = number[lower]
    both = number[upper], part, np.ones(len(draft), bool) if heavy is None else heavy
    return GradedPools(masses[filled], wanted, wanted, wanted, index, draft, *both)
