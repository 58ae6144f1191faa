"""Pooled selection of i.i.d. drafts: the optimum (Pooled, prop. 2, 3 and 4; Theory, 4 and 25)."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import comb
from typing import ClassVar

import numpy as np

from otspec._base import as_integer, cached_property
from otspec._base.arithmetic import Array, Number, as_number, is_exact, positive_part, zeros
from otspec.chance import Chance
from otspec.distributions import Distribution
from otspec.drafts import IID
from otspec.drafts.single import ByRatio
from otspec.estimate import Estimates
from otspec.rules.base.accepted import DrawnDrafts, Estimated, NotExactError
from otspec.rules.base.counts import refuse_many_counts
from otspec.rules.base.rule import CountedLaw
from otspec.rules.pooled.base import PooledRule
from otspec.rules.pooled.draft_counts import selected_counts

MOST_COUNTED = 4_000  # most tokens in floats for which it is counted how often each is drafted
TWICE = 1e-3  # how likely a light token is to be drafted again, at most
MOST_DRAFTS = 10**9  # compiled loops count in integers


@dataclass(frozen=True, eq=False, init=False)
class PooledSelection(PooledRule):
    """Select a draft from the highest group of pools that holds one, then couple maximally.

    Pools are sets of tokens that are adjacent in the order of target/draft. A uniform number
    decides which boundaries of pools are barriers. The rule looks for the highest barrier with
    drafts above it, and selects one of these drafts uniformly at random. The distribution b of the
    selected token is known. It is accepted with probability min(1, q/b), else the output is drawn
    from (q − b)₊. So the rule is exactly lossless, whatever the pools.

    Laws: the output is distributed as the target. With :class:`ByToken` and :class:`Fewest` pools
    no rule for i.i.d. drafts accepts more. Source: the feasible laws b are those of Border's
    theorem; the barriers are derived in the documentation ("Pooled selection").

    Parameters
    ----------
    draft, target, k, normalize
        As for :class:`otspec.rules.PairRule`.
    pools : Partition, str, int or array_like
        ``ByToken()`` or ``"tokens"``: a pool for every ratio that occurs. ``Fewest()`` or
        ``"fewest"``: the fewest pools with which Σ min(b, q) is the optimum, often ten at full
        vocabulary. ``Bins(256)`` or the number: bins of equal width in log₂(target/draft) between
        −8 and 8: no sort. ``Thresholds([...])`` or the strictly increasing numbers: on
        target/draft. ``Graded(6)``: what :func:`otspec.batch.pooled_selection` does.

    Raises
    ------
    ValueError
        As :class:`otspec.rules.PairRule`; or unusable pools, or more than 10⁹ drafts.

    Notes
    -----
    Floats: ``law_of_selection`` is computed from the lifetimes by sums of positive terms, from
    knots of twice a float's digits. Its total variation from what the rule really selects is at
    most (32 + log₂ n) ε + 4k (n ε)², ε = 2^−53: below 6e-15 at n = 50,000 up to k = 1,000, and
    below 1e-14 up to k = 10⁷. What rounding makes of the lifetimes can only cost acceptance.

    Graded pools draw where each draft belongs: the kernel is a mean over up to 2^k ways.

    Examples
    --------
    >>> rule = PooledSelection(["1/2", "3/10", "1/5"], ["1/10", "3/5", "3/10"], k=2)
    >>> rule.acceptance()
    Fraction(17, 20)
    >>> [str(mass) for mass in rule.law_of_selection]
    ['1/4', '9/20', '3/10']
    """

    name: ClassVar[str] = "pooled-selection"
    title: ClassVar[str] = "pooled selection"
    batch: ClassVar[str | None] = "pooled_selection"

    law_class: ClassVar[type[ByRatio]] = IID

    @classmethod
    def check_k(cls, k: int) -> None:
        """Refuse more than 10⁹ drafts with a ``ValueError``."""
        otherwise = "limit_acceptance() is what the optimum tends to"
        as_integer(k, "k", 1, MOST_DRAFTS, otherwise=otherwise)

    def acceptance(self) -> Number:
        """Return Σ min(b, q) plus :meth:`residual_hits`."""
        accepted = self.accepted_selection().sum()
        return as_number(accepted + self.residual_hits(), like=self.draft)

    def _counted(self) -> CountedLaw:
        """Return the accepted law by how many of the drafts are the output."""
        if not self.pools.optimal:
            return super()._counted()
        refuse_many_counts(self)
        accepted = selected_counts(self.barriers, self.k) * self.coupling.chances
        return CountedLaw(accepted, positive_part(self.target - self.law_of_selection))

    def _by_position(self) -> Array:
        """Return the accepted law by which draft is the first that is the output, shape (k, n)."""
        # All orders of the drafts are alike, so that of c equal ones the first is draft i in C(k −
        # i, c − 1) of C(k, c) ways. By enumeration with pools that are not optimal.
        if not self.pools.optimal:
            return super()._by_position()
        if not is_exact(self.draft) and len(self.draft) > MOST_COUNTED:
            raise NotExactError(
                f"which of {self.k} drafts is the first that is the output takes long to count for "
                f"{len(self.draft):,} tokens: estimate() counts the likeliest"
            )
        return _by_first(self._counted().accepted)

    def estimate(self, size: int = 2_000, seed: int = 0) -> Estimated:
        """Return what :meth:`accepted` says: with optimal pools little is left to estimate."""
        return (CountedDrafts if self.pools.optimal else DrawnDrafts)(self, size, seed)

    def residual_hits(self) -> Number:
        """Return how often a residual token happens to be a draft: 0 with optimal pools."""
        # Numba, if it is there, is imported where it is needed.
        from otspec.rules.pooled.draft_counts import residual_hits

        if self.pools.optimal:
            return as_number(0, like=self.draft)
        return as_number(residual_hits(self.target, self.barriers, self.k), like=self.draft)

    def shares_of(self, x: Sequence[int]) -> Array:
        """Return with what probability each draft is selected, shape (k,)."""
        weights = zeros(self.k, like=self.draft)
        for pools, chance in self.barriers.pools.placements(x):
            for lowest, _, span in self.barriers.groups(max(pools)):
                inside = np.array([pool >= lowest for pool in pools])
                weights[inside] += chance * span / int(inside.sum())
        return weights

    def verify(self, drafts: Sequence[int], chance: Chance) -> int | Distribution:
        """Verify drafts; see :meth:`otspec.rules.Rule.verify`."""
        pools = self.barriers.pools.placed(drafts, chance)
        lowest, _ = self.barriers.drawn(max(pools), chance)
        competing = [position for position, pool in enumerate(pools) if pool >= lowest]
        return self.coupling.verify(drafts, self._one_of(competing, chance), chance)

    def _one_of(self, competing: Sequence[int], chance: Chance) -> int:
        """Select one of the drafts that compete, uniformly at random."""
        return competing[chance.choose([1] * len(competing))]


@dataclass(frozen=True, eq=False)
class CountedDrafts(DrawnDrafts):
    """Positions of i.i.d. drafts, as if tokens that rarely come twice never did."""

    # Light are those that are drafted twice, given that they are drafted, less than once in 1000.

    rule: PooledSelection

    @cached_property
    def by_token(self) -> Estimates:
        """What is known, shape (n,)."""
        known = self.rule.accepted_selection().astype(float)
        return Estimates(known, known, known)

    @cached_property
    def by_position_and_token(self) -> Estimates:
        """Bounds that are certain, and counted for heavy tokens, shape (k, n)."""
        rule, k = self.rule, self.rule.k
        accepted, draft = self.by_token.value, rule.draft.astype(float)
        # Drafted once, y is draft i with probability 1/k. Twice or more it is at most as often as
        # some two of the drafts are y, and then first at any of them.
        twice = np.minimum(accepted, comb(k, 2) * draft**2)
        low, high = (accepted - twice) / k, accepted / k + twice * (1 - 1 / k)
        value, low, high = (np.tile(row, (k, 1)) for row in (accepted / k, low, high))
        heavy = np.flatnonzero(draft * k > TWICE)
        counts = selected_counts(rule.barriers, k, heavy) * rule.coupling.chances[heavy]
        for part in (value, low, high):
            part[:, heavy] = _by_first(counts)
        return Estimates(value, low, high)


def _by_first(counts: Array) -> Array:
    """Return the law by the output's first position, all orders of drafts being alike: (k, n)."""
    # Of c drafts that are y, draft i is the first in C(k − 1 − i, c − 1) of C(k, c) places.
    k = len(counts)
    by_draft, many = zeros(counts.shape, like=counts), np.arange(1, k + 1)
    share = np.array([as_number(Fraction(c, k), like=counts) for c in many.tolist()])
    for i in range(k):
        by_draft[i] = share @ counts
        share = share * np.maximum(k - i - many, 0) / max(k - 1 - i, 1)
    return by_draft


@dataclass(frozen=True, eq=False, init=False)
class EarliestPooledSelection(PooledSelection):
    """Select the first of the competing drafts, in place of one drawn uniformly at random.

    Law: of i.i.d. drafts those that compete are i.i.d., too, so that output, acceptance and counts
    are those of :class:`PooledSelection`, whose parameters and errors these are. Earlier drafts are
    the output more often, as trees want whose first children have more below them
    (:class:`otspec.blocks.UniversalTreeEarliest`).

    Examples
    --------
    >>> rule = EarliestPooledSelection(["1/2", "1/2"], ["1/2", "1/2"], k=2)
    >>> rule.acceptance(), [str(chance) for chance in rule.accepted().by_position]
    (Fraction(1, 1), ['1', '0'])
    """

    name: ClassVar[str] = "earliest-pooled-selection"
    title: ClassVar[str] = "pooled selection (earliest)"
    batch: ClassVar[str | None] = None
    compared: ClassVar[bool] = False

    def _by_position(self) -> Array:
        """Return the accepted law by the first draft that is the output, by enumeration: (k, n)."""
        return super(PooledSelection, self)._by_position()

    def estimate(self, size: int = 2_000, seed: int = 0) -> Estimated:
        """Estimate what :meth:`accepted` says, from drafts that are drawn at random."""
        return DrawnDrafts(self, size, seed)

    def shares_of(self, x: Sequence[int]) -> Array:
        """Return with what probability each draft is selected, shape (k,)."""
        weights = zeros(self.k, like=self.draft)
        for pools, chance in self.barriers.pools.placements(x):
            for lowest, _, span in self.barriers.groups(max(pools)):
                first = next(place for place, pool in enumerate(pools) if pool >= lowest)
                weights[first] += chance * span
        return weights

    def _one_of(self, competing: Sequence[int], chance: Chance) -> int:  # noqa: ARG002
        return competing[0]
