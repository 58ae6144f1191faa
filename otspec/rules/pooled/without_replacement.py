"""Pooled selection of distinct drafts: the optimum for every k (Beyond, prop. 2, 3, 4 and 5)."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from typing import ClassVar

import numpy as np

from otspec._base import Array, IntArray, Number, as_number, cached_property, is_exact, zeros
from otspec.chance import Chance
from otspec.distributions import Distribution, DistributionLike
from otspec.drafts import WithoutReplacement
from otspec.drafts.single import ByRatio
from otspec.drafts.without_replacement import WithOne, successive
from otspec.estimate import Estimate, Estimates
from otspec.optimum.pools.pools import UNITS, Pools
from otspec.rules.base.accepted import (
    DrawnDrafts,
    Estimated,
    enumerated_acceptance,
    refuse_many_tuples,
)
from otspec.rules.pooled.base import PooledRule
from otspec.rules.pooled.exponential_clocks import ClockedDrafts
from otspec.rules.pooled.partitions import Partition

_SMALL = 2.0**-20
_WHOLE = math.ldexp(1.0, UNITS)  # all of the draft's mass, in the units of the pools


@dataclass(frozen=True, eq=False)
class PooledSelectionWithoutReplacement(PooledRule):
    """Select one of k distinct drafts by random barriers, then couple maximally.

    Let D be the highest group of pools between barriers that holds a draft, P its draft mass, u the
    mass of all tokens above it, s that of all k drafts and G the drafts in D. With probability

        λ = (u/P) · p(G)/(1 − s)

    a token of G is selected in proportion to the draft distribution, and the first drawn of G
    otherwise. That makes the law of the selected token proportional to the draft inside each group.

    Laws: the output is distributed as the target, whatever the pools; with :class:`ByToken` and
    :class:`Fewest` pools no rule for k drafts without replacement accepts more. If k is the number
    of tokens that can be drafted, its most, all that the target wants of them is accepted. Source:
    "Beyond i.i.d. drafts" in the documentation. Parameters and errors: :class:`PooledSelection` and
    :class:`otspec.WithoutReplacement`.

    Examples
    --------
    >>> rule = PooledSelectionWithoutReplacement(["1/2", "1/3", "1/6"], ["1/6", "1/3", "1/2"])
    >>> rule.acceptance()
    Fraction(11, 12)
    >>> pair = ["1/2", "1/4", "1/8", "1/8"], ["1/8", "1/8", "1/4", "1/2"]
    >>> [str(PooledSelectionWithoutReplacement(*pair, k).acceptance()) for k in (1, 2, 3, 4)]
    ['1/2', '17/21', '1', '1']
    """

    name: ClassVar[str] = "pooled-selection-without-replacement"
    title: ClassVar[str] = "pooled selection (distinct)"
    batch: ClassVar[str | None] = "pooled_selection_without_replacement"
    law_class: ClassVar[type[ByRatio]] = WithoutReplacement

    def __init__(
        self,
        draft: DistributionLike,
        target: DistributionLike,
        k: int = 2,
        pools: Partition | str | int | Sequence[object] | Array = "tokens",
        *,
        normalize: bool = False,
    ) -> None:
        super().__init__(draft, target, k, pools, normalize=normalize)

    @cached_property
    def _pools(self) -> Pools:
        return self.pools.pools(self.law, self.target).in_small_units()

    def acceptance(self) -> Number:
        """Return Σ min(b, q) with optimal pools: a residual token is then never a draft.

        In floats that is found as the optimum of the law, which it is (Beyond, prop. 3), without
        b. With other pools how often a residual token is a draft takes an enumeration.

        Raises
        ------
        NotExactError
            Such pools, and more than 20,000 draft tuples; :meth:`estimate` simulates them.
        """
        # In floats the optimum of the law, without b (Beyond, prop. 3).
        if self.pools.optimal and is_exact(self.draft):
            return as_number(self.accepted_selection().sum(), like=self.draft)
        if self.pools.optimal:
            return self.acceptances_of(self.pair, [self.k])[0].value
        if not is_exact(self.draft):
            refuse_many_tuples(self.law)
        return enumerated_acceptance(self)

    def estimate(self, size: int = 2_000, seed: int = 0) -> Estimated:
        """Estimate what :meth:`accepted` says; with optimal pools only positions are simulated."""
        return DistinctDrafts(self, size, seed)

    def shares_of(self, x: Sequence[int]) -> Array:
        """Return with what probability each draft is selected, shape (k,)."""
        if self._pools.split:
            return self._shares_by_clocks(x)
        shares = zeros(self.k, like=self.draft)
        for lowest, end, span in self.barriers.groups(int(self.pool[list(x)].max())):
            shares += span * self._shares_in(x, lowest, end)
        return shares

    def verify(self, drafts: Sequence[int], chance: Chance) -> int | Distribution:
        """Verify drafts; see :meth:`otspec.rules.Rule.verify`."""
        if self._pools.split:
            shares = self._shares_by_clocks(drafts)
        else:
            top = int(self.pool[list(drafts)].max())
            shares = self._shares_in(drafts, *self.barriers.drawn(top, chance))
        return self.coupling.verify(drafts, chance.choose(shares), chance)

    def some_shares_of(self, xs: IntArray, uniforms: Array) -> Array:
        """Return how likely each draft of tuples (s, k) is selected at uniforms (s,): (s, k)."""
        if self._pools.split:
            return np.array([self._shares_by_clocks(x) for x in xs.tolist()], dtype=float)
        pools = self.pool[xs]
        lowest, ends = self.barriers.groups_at(pools.max(axis=1), uniforms)
        groups = zip(lowest.tolist(), ends.tolist(), strict=True)
        if is_exact(self.draft):
            pairs = zip(xs.tolist(), groups, strict=True)
            return np.array([self._shares_in(x, *group) for x, group in pairs], dtype=float)
        masses_of = cache(self._above_and_in)
        above, group = np.array([masses_of(*each) for each in groups]).T
        inside = pools >= lowest[:, None]
        masses = np.where(inside, self._pools.tokens[xs], 0.0)
        held, left = masses.sum(axis=1), self._lefts(xs)
        shares, proportion = np.zeros(xs.shape), np.zeros(len(xs))
        some = (above > 0) & (group > 0) & (left > 0) & (held > 0)
        above, group, held, left = above[some], group[some], held[some], left[some]
        proportion[some] = np.minimum((above / left) * (held / group), 1)
        shares[some] = proportion[some, None] * (masses[some] / held[:, None])
        shares[np.arange(len(xs)), inside.argmax(axis=1)] += 1 - proportion
        return shares

    def _shares_in(self, x: Sequence[int], lowest: int, end: int) -> Array:
        """Return how likely each draft is selected in the group ``lowest`` to ``end`` − 1: (k,)."""
        one, masses = as_number(1, like=self.draft), self._pools.tokens[list(x)]
        shares = zeros(self.k, like=self.draft)
        inside = self.pool[list(x)] >= lowest
        above, group = self._above_and_in(lowest, end)
        held, left = masses[inside].sum(), self._left(list(x))
        # In floats any of them may be 0 that cannot be: then such drafts are here as good as never.
        proportion = one - one
        if above > 0 and group > 0 and left > 0 and held > 0:
            proportion = min((above / left) * (held / group), one)
            shares[inside] = proportion * (masses[inside] / held)
        shares[int(np.argmax(inside))] += one - proportion
        return shares

    def _shares_by_clocks(self, x: Sequence[int]) -> Array:
        """Return how likely each draft is selected, over all arrivals and all barriers: (k,)."""
        barriers, tokens = self.barriers, np.asarray(x)
        masses = self._pools.tokens[tokens]
        lefts = zeros(self.k + 1, like=masses)
        for arrived in range(self.k + 1):
            lefts[arrived] = self._left(x[:arrived])
        drafts = ClockedDrafts(masses, self._pools.counted_once(tokens), lefts)
        shares, last = zeros(self.k, like=masses), len(self.knots) - 1
        for start, end, span in zip(barriers.starts, barriers.ends, barriers.spans, strict=True):
            edges = pairwise((0, int(start), int(end), last))
            below, inside, beyond = (self._pools.between(tokens, *each) for each in edges)
            above, group = self._above_and_in(int(start), int(end))
            shares += span * drafts.shares(below, inside, beyond, above, group)
        return shares

    def _above_and_in(self, lowest: int, end: int) -> tuple[Number, Number]:
        """Return the draft mass above a group, and in it, in the units of the pools."""
        knots, pools = self.knots, self._pools.draft
        one = as_number(1, like=knots)
        above, group = one - knots[end], knots[end] - knots[lowest]
        if is_exact(knots):
            return above, group
        # A difference has few digits of what is small: then its pools are summed.
        of_pools = (pools[end:], above), (pools[lowest:end], group)
        above, group = (
            float(some.sum()) if mass < _SMALL else math.ldexp(mass, UNITS)
            for some, mass in of_pools
        )
        return above, group

    def _lefts(self, xs: IntArray) -> Array:
        """Return the same as :meth:`_left` of tuples (s, k), in floats: (s,)."""
        rows = (-self._pools.tokens[xs]).tolist()
        lefts = np.array([math.fsum((_WHOLE, *row)) for row in rows])
        for row in np.flatnonzero(lefts < _SMALL * _WHOLE).tolist():
            lefts[row] = self._left(xs[row].tolist())
        return lefts

    def _left(self, drafts: Sequence[int]) -> Number:
        """Return the draft mass off some drafts, in the units of the pools."""
        tokens = self._pools.tokens
        masses = tokens[list(drafts)]
        if is_exact(masses):
            return as_number(1 - masses.sum(), like=masses)
        left = math.fsum([_WHOLE, *(-masses).tolist()])
        if left < _SMALL * _WHOLE:  # the masses' own roundings count: add up the others
            left = float(np.delete(tokens, list(drafts)).sum())
        return left


@dataclass(frozen=True, eq=False)
class DistinctDrafts(DrawnDrafts):
    """An estimate of what pooled selection of distinct drafts accepts."""

    rule: PooledSelectionWithoutReplacement

    @cached_property
    def probability(self) -> Estimate:
        """What is known plus simulated residual hits."""
        rule = self.rule
        accepted = as_number(rule.accepted_selection().sum(), like=rule.draft)
        known = accepted, accepted + rule.loss_bound()
        return self.with_hits(lambda x: rule.coupling.hits(x, rule.shares_of(x)), known)

    @cached_property
    def by_token(self) -> Estimates:
        """What is known with optimal pools, shape (n,)."""
        if not self.rule.pools.optimal:
            return super().by_token
        known = self.rule.accepted_selection().astype(float)
        return Estimates(known, known, known)

    @cached_property
    def by_position_and_token(self) -> Estimates:
        """The simulated positions of what is known by token, without bounds on them: (k, n)."""
        # A token that is hardly ever drafted is taken to be what the others are on average.
        rule, k = self.rule, self.rule.k
        if not rule.pools.optimal:
            return super().by_position_and_token
        rng, hits = np.random.default_rng(self.seed), np.zeros((k, len(rule.draft)))
        size, places = max(self.size // 10, 2), np.arange(k)
        chances = rule.coupling.chances.astype(float)
        drawn = successive(rule.draft.astype(float), k, size, rng)
        shares = rule.some_shares_of(drawn, rng.random(size))
        np.add.at(hits, (places, drawn), shares * chances[drawn])
        by_place = hits.sum(axis=1, keepdims=True)
        hits += by_place / by_place.sum() if hits.any() else 1 / k
        known = self.by_token.value
        return Estimates(hits / hits.sum(axis=0) * known, 0 * hits, np.tile(known, (k, 1)))

    def of_token_by_position(self, y: int) -> list[Estimate]:
        """Estimate how often y is accepted at each position from drafts that y is among."""
        # The others are drawn without y; how likely y is drafted among them at each place is known.
        rule, size = self.rule, self.size
        drafts = WithOne(rule.draft.astype(float), y, rule.k)
        rng = np.random.default_rng(self.seed)
        others, uniforms = drafts.sample(size, rng), rng.random(size)
        weights = np.array([drafts.weights(z) for z in others.tolist()])
        chances, residual = (
            each.astype(float) for each in (rule.coupling.chances, rule.coupling.residual)
        )
        found = []
        for i, most in enumerate(drafts.most):
            xs = np.insert(others, i, y, axis=1)
            shares = rule.some_shares_of(xs, uniforms)
            rejected = (shares * (1 - chances[xs])).sum(axis=1)
            hits = weights[:, i] * (shares[:, i] * chances[y] + rejected * residual[y])
            found.append(Estimate.of_mean(hits, most=most))
        return found
