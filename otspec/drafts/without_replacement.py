"""Successive sampling: k distinct drafts, each drawn from what the earlier ones left."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from otspec._base import Frozen, as_permutation, cached_property
from otspec._base.arithmetic import Array, IntArray, Number, counted_power, suffix_sums
from otspec.chance import Chance
from otspec.distributions import Distribution
from otspec.drafts.base import inverted
from otspec.drafts.race import inside as race
from otspec.drafts.race.increments import inside_of_prefixes, light_odds, set_rises
from otspec.drafts.single import ByRatio, register


@register
@dataclass(frozen=True, eq=False)
class WithoutReplacement(ByRatio):
    """k distinct drafts: draft i from p renormalized off the drafts before it.

    Law: P(x) = Π_i p(x_i) / (1 − Σ_{j<i} p(x_j)) for distinct x_i, 0 otherwise. Source: MCSD alg.
    2, SpecHub alg. 1 (replacement off). ``inside`` is exact for exact input (a closed form for
    k ≤ 2, else a sum over sets of drafts, refused where they are too many). In floats it is a
    quadrature for k > 2, at any n, with an error below 1e-13. Parameters and errors:
    :class:`otspec.drafts.SingleDraftLaw`; also fewer than k tokens of positive probability.

    Examples
    --------
    >>> WithoutReplacement(["1/2", "1/3", "1/6"], k=2).inside([0, 1])
    Fraction(7, 12)
    """

    name: ClassVar[str] = "without-replacement"
    words: ClassVar[str] = "distinct"
    distinct: ClassVar[bool] = True

    def table_rows(self) -> int:
        """Return how many tuples the table would have at most."""
        return counted_power(self.n, self.k)

    def _table(self) -> tuple[IntArray, Array]:
        descending = np.argsort(-self.draft, kind="stable")
        sorted_draft = self.draft[descending]
        ranks = np.indices((self.n,) * self.k).reshape(self.k, -1).T
        in_order = np.sort(ranks, axis=1)
        ranks = ranks[(in_order[:, 1:] > in_order[:, :-1]).all(axis=1)]
        masses = sorted_draft[ranks[:, 0]]
        for i in range(1, self.k):
            rest = mass_left(sorted_draft, ranks[:, :i])
            # Nothing left means that every later draft has probability 0 already.
            masses = masses * (sorted_draft[ranks[:, i]] / np.where(rest == 0, 1, rest))
        return descending[ranks].astype(np.intp), masses

    def _inside(self, members: IntArray) -> Number:
        others = np.setdiff1d(np.arange(self.n), members, assume_unique=True)
        if len(others) == 0:
            return self._number(1)
        if self.k <= 2:
            order = np.concatenate([members, others])
            return self._number(self.inside_prefixes(order)[len(members)])
        if self.exact:
            return self._number(set_rises(self.draft[members], self.k).sum())
        (found,) = race.rises(self.draft[members], [self.k], float(self.draft[others].sum()))
        return min(1.0, float(found.sum()))

    def inside_prefixes(self, order: IntArray) -> Array:
        """Return P(all drafts inside order[:j]) for every j: k = 2 by 1 − c (1 + Σ p/(1−p))."""
        # c is the mass outside. k = 1 is a cumulative sum; above, quadrature in floats and a sum
        # over sets of drafts in exact arithmetic.
        draft = self.draft[as_permutation(order, self.n)]
        return inside_of_prefixes(draft, [self.k])[0]

    @property
    def accuracy(self) -> float:
        """By how much :meth:`inside` may be off, the error of the quadrature included."""
        quadrature = 0.0 if self.exact or self.k <= 2 else race.ACCURACY
        return super().accuracy + quadrature

    def _marginal(self, i: int) -> Distribution:
        if i == 0:
            return self.draft
        if i > 1:
            return super()._marginal(i)
        # p(y) Σ_{x≠y} p(x)/(1−p(x)), the heaviest x apart for the same reason.
        light, heavy, others = light_odds(self.draft)
        second = self.draft * (light.sum() - light)
        rest = self.draft.copy()
        rest[heavy] -= rest[heavy]
        return second + rest / others * self.draft[heavy]

    def _sample(self, size: int, rng: np.random.Generator) -> IntArray:
        return race.arrivals(self.draft.astype(float), self.k, size, rng)

    def draw(self, chance: Chance) -> tuple[int, ...]:
        """Draw one tuple: each draft from what the earlier ones leave."""
        left, drafts = self.draft.copy(), []
        for _ in range(self.k):
            # The chances are in proportion to these masses, whose sum is 1 − Σ_{j<i} p(x_j).
            drafts.append(chance.choose(left))
            left[drafts[-1]] -= left[drafts[-1]]
        return tuple(drafts)


def mass_left(descending: Array, drawn: IntArray) -> Array:
    """Return the mass off the drawn ranks, row by row: (n,), (m, i) -> (m,)."""
    # The gaps between drawn ranks are added up from suffix sums. Since the masses descend, what a
    # difference of suffix sums cancels is never much larger than the result, so no digits are lost
    # when the drawn tokens hold nearly all the mass.
    suffix = suffix_sums(descending)
    drawn = np.sort(drawn, axis=1)
    left = suffix[0] - suffix[drawn[:, 0]]
    for i in range(drawn.shape[1] - 1):
        left = left + (suffix[drawn[:, i] + 1] - suffix[drawn[:, i + 1]])
    return left + suffix[drawn[:, -1] + 1]


_TIMES = 4  # how many times k tokens are drawn at once for k distinct ones


def successive(draft: Array, k: int, size: int, rng: np.random.Generator) -> IntArray:
    """Draw tuples (size, k) without replacement, in time of the drafts, not the vocabulary."""
    # The tokens of i.i.d. draws in the order in which they come for the first time are draws
    # without replacement. Where they are too few, more are drawn off them one by one.
    drawn = inverted(np.cumsum(draft), rng.random((size, _TIMES * k)))
    rows = [list(dict.fromkeys(row))[:k] for row in drawn.tolist()]
    for row in rows:
        while len(row) < k:
            left = draft.copy()
            left[row] = 0.0
            row.append(int(inverted(np.cumsum(left), rng.random(1))[0]))
    return np.array(rows, dtype=np.intp)


@dataclass(frozen=True, eq=False)
class WithOne(Frozen):
    """k drafts without replacement, one of which is y.

    Law: P(x) of drafts x with y at place i is the probability of the others, z, to be drawn in
    this order without y, times p(y)/(1 − s_i) Π_{j<i} (1 − p(y) − s_j)/(1 − s_j), where s_j is the
    mass of the first j of z: y is not drawn in any of the first i rounds, and then it is.
    """

    draft: Array
    y: int
    k: int

    def sample(self, size: int, rng: np.random.Generator) -> IntArray:
        """Draw the other drafts, shape (size, k − 1)."""
        if self.k == 1:
            return np.empty((size, 0), dtype=np.intp)
        return successive(self._others / self._others.sum(), self.k - 1, size, rng)

    def weights(self, z: Sequence[int]) -> list[float]:
        """Return, for each place, the probability that y is drafted there among others like z."""
        found, left, before = [], 1.0, 1.0
        mass = float(self.draft[self.y])
        for token in (*z, self.y):
            found.append(before * min(mass / left, 1.0) if left > 0 else before)
            before = max(before - found[-1], 0.0)
            left = max(left - float(self.draft[token]), mass)
        return found

    @property
    def most(self) -> list[float]:
        """The most that each of them may be, whatever the others."""
        heaviest = np.sort(self._others)[::-1][: self.k - 1].tolist()
        mass, left, most = float(self.draft[self.y]), 1.0, []
        for each in (*heaviest, 0.0):
            most.append(min(mass / left, 1.0))
            left = max(left - each, mass)
        return most

    @cached_property
    def _others(self) -> Array:
        others = self.draft.copy()
        others[self.y] = 0
        return others
