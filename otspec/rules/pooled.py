"""Pooled selection of i.i.d. drafts: the optimum (Pooled, prop. 2, 3 and 4; Theory, 4)."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, Self

import numpy as np

from otspec.arguments import as_integer, as_real
from otspec.arithmetic import Array, IntArray, Number, as_number, refuse_long_power, zeros
from otspec.coupling import Coupling
from otspec.distributions import Distribution, DistributionLike, as_k, as_pair
from otspec.rules.pair_rule import PairRule
from otspec.selection.barriers import Barriers, find_barriers
from otspec.selection.heights import PowerHeights
from otspec.selection.laws import SelectionLaw, clipped_law
from otspec.selection.partitions import Partition, Thresholds, as_partition
from otspec.selection.refinement import losses, refined_thresholds

MOST_DRAFTS = 10**9
"""Compiled loops count in integers."""


class PooledRule(PairRule):
    """Pools of ascending target/draft, and lifetimes of the knots between them.

    A uniform number decides which knots are barriers: those whose lifetime exceeds it. A draft is
    selected among those above the highest barrier that has drafts above it, and then coupled
    maximally with the target.
    """

    broad: ClassVar[bool] = True

    @cached_property
    @abstractmethod
    def barriers(self) -> Barriers:
        """Which drafts compete, and the law of the one that is selected."""

    @cached_property
    @abstractmethod
    def wanted_law(self) -> SelectionLaw:
        """The law that the lifetimes are made for; in floats they give it but for rounding."""

    @property
    def knots(self) -> Array:
        """Draft mass below each boundary of the m pools, shape (m + 1,), from 0 to 1."""
        return self.wanted_law.pools.knots

    @property
    def pool(self) -> IntArray:
        """Each token's pool, shape (n,), from 0 to m − 1 by ascending target/draft."""
        return self.wanted_law.pools.index

    @property
    def lifetimes(self) -> Array:
        """Below which uniform number each knot is a barrier, shape (m + 1,).

        From 0 to 1, but infinity at the cut and at both ends.
        """
        return self.barriers.lifetimes

    @property
    def law_of_selection(self) -> Distribution:
        """The law b of the selected draft, shape (n,)."""
        return self.barriers.law

    @cached_property
    def coupling(self) -> Coupling:
        """How the selected draft becomes the output."""
        return Coupling(self.barriers.law, self.target)

    @abstractmethod
    def _shares(self, x: Sequence[int]) -> Array:
        """Return with what probability each draft is selected, shape (k,)."""

    def joint_kernel(self, x: Sequence[int]) -> Array:
        """Return the law of the accepted draft and the output, given the drafts: (k + 1, n)."""
        return self.coupling.joint_kernel(x, self._shares(x))

    def _accepted_selection(self) -> Array:
        """Return min(b, q), shape (n,)."""
        # The law that was wanted: the one that is had differs by rounding, and takes longer.
        wanted = self.wanted_law
        accepted: Array = np.minimum(
            wanted.pools.spread(wanted.slopes) * wanted.pools.tokens, self.target
        )
        return accepted


@dataclass(frozen=True, eq=False)
class PooledSelection(PooledRule):
    """Select a draft from the highest group of pools that holds one, then couple maximally.

    Pools are stretches of tokens of ascending target/draft. A uniform number decides which of
    their boundaries are barriers; one of the drafts above the highest barrier with drafts above
    it is selected, all alike. The law b of the selected token is known, so that accepting it
    with probability min(1, q/b) and drawing from (q − b)₊ otherwise is exactly lossless, whatever
    the pools.

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
    colour: ClassVar[str] = "#CC79A7"
    marker: ClassVar[str] = "h"

    pools: Partition

    def __init__(
        self,
        draft: DistributionLike,
        target: DistributionLike,
        k: int,
        pools: Partition | str | int | Sequence[object] | Array = "tokens",
        *,
        normalize: bool = False,
    ) -> None:
        super().__init__(draft, target, k, normalize=normalize)
        refuse_long_power(self.draft, _as_drafts_count(self.k))
        self._hold(pools=as_partition(pools).fitting(self.draft))

    @classmethod
    def within(
        cls,
        draft: DistributionLike,
        target: DistributionLike,
        k: int,
        loss: Number,
        *,
        normalize: bool = False,
    ) -> Self:
        """Return the rule with thresholds that are refined until it is nearly optimal.

        Parameters
        ----------
        draft, target : array_like, shape (n,)
        k : int
        loss : number
            The most that :meth:`acceptance` may be below the optimum, at least 0.
        normalize : bool
            Scale both distributions to sum 1.

        Returns
        -------
        PooledSelection
            Its :meth:`loss_bound` is at most ``loss``; in floats, unless that is below rounding.

        Raises
        ------
        ValueError
            As the rule; or a negative loss.
        """
        checked = as_pair(draft, target, normalize=normalize)
        most = as_real(loss, "loss", 0, infinite=True)
        refuse_long_power(checked[0], _as_drafts_count(k))
        thresholds = refined_thresholds(*checked, _as_drafts_count(k), most)
        return cls(*checked, k, Thresholds(thresholds))

    @cached_property
    def wanted_law(self) -> SelectionLaw:
        """The law that the lifetimes are made for; in floats they give it but for rounding."""
        return clipped_law(self._heights.pools, self._heights.values)

    @cached_property
    def barriers(self) -> Barriers:
        """Which drafts compete, and the law of the one that is selected."""
        return find_barriers(self.wanted_law, self._heights)

    @cached_property
    def _heights(self) -> PowerHeights:
        return PowerHeights(self.pools.pools(self.draft, self.target, self.k), self.k)

    def loss_bound(self) -> Number:
        """Return how far the acceptance is below the optimum at most, from the knots alone.

        Exactly 0 with pools that are optimal.
        """
        if self.pools.optimal:
            return as_number(0, like=self.draft)
        wanted = self.wanted_law
        lost = losses(self.draft, self.target, wanted).sum()
        beyond = wanted.pools.beyond_cut(wanted.slopes, wanted.cut, self.k)
        return as_number(lost + beyond, like=self.draft)

    def acceptance(self) -> Number:
        """Return Σ min(b, q) plus :meth:`residual_hits`."""
        accepted = self._accepted_selection().sum()
        return as_number(accepted + self.residual_hits(), like=self.draft)

    def accepted_law(self) -> Array:
        """Return min(b, q), shape (n,); by enumeration with pools that are not optimal.

        Raises
        ------
        NotExactError
            Such pools, and more draft tuples than can be enumerated.
        """
        if not self.pools.optimal:
            return super().accepted_law()
        return self._accepted_selection()

    def acceptance_by_draft(self) -> Array:
        """Return Σ min(b, q)/k for each draft, shape (k,): all are selected alike."""
        by_draft: Array = zeros(self.k, like=self.draft) + self._accepted_selection().sum() / self.k
        return by_draft

    def residual_hits(self) -> Number:
        """Return how often a residual token happens to be one of the drafts.

        Exactly 0 with pools that are optimal, whose Σ min(b, q) is the optimum already.
        """
        # Numba, if it is there, is imported where it is needed.
        from otspec.selection.residual_hits import residual_hits

        if self.pools.optimal:
            return as_number(0, like=self.draft)
        return as_number(residual_hits(self.target, self.barriers, self.k), like=self.draft)

    def _shares(self, x: Sequence[int]) -> Array:
        weights = zeros(self.k, like=self.draft)
        for pools, chance in self.barriers.pools.placements(x):
            for lowest, _, span in self.barriers.groups(max(pools)):
                inside = np.array([pool >= lowest for pool in pools])
                weights[inside] += chance * span / int(inside.sum())
        return weights

    def sample(self, x: Sequence[int], rng: np.random.Generator) -> tuple[int, bool]:
        """Draw the output for the given drafts, and whether it is one of them."""
        pools = self.barriers.pools.placed(x, rng)
        uniform, choice = rng.random(2).tolist()
        lowest, _ = self.barriers.group(max(pools), uniform)
        competing = [token for token, pool in zip(x, pools, strict=True) if pool >= lowest]
        token = self.coupling.sample(competing[int(choice * len(competing))], rng)
        return token, token in x


def _as_drafts_count(k: int) -> int:
    otherwise = "limit_acceptance() is what the optimum tends to"
    return as_integer(as_k(k), "k", 1, MOST_DRAFTS, otherwise=otherwise)
