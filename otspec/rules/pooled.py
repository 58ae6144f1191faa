"""Pooled selection: the optimum for i.i.d. drafts at any vocabulary size."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np

from otspec.arguments import as_real
from otspec.arithmetic import Array, Number, as_number, refuse_long_power, zeros
from otspec.distributions import DistributionLike, as_pair
from otspec.frozen import frozen
from otspec.rules.barrier_rule import BarrierRule
from otspec.selection.barriers import Barriers, find_barriers
from otspec.selection.fewest import fewest_thresholds
from otspec.selection.laws import SelectionLaw, clipped_law
from otspec.selection.pools import Pools, as_pools, by_bins, by_thresholds, by_token, checked_power
from otspec.selection.refinement import losses, refined_thresholds


@dataclass(frozen=True, eq=False)
class PooledSelection(BarrierRule):
    """Select a draft from the highest group of pools that holds one, then couple maximally.

    Pools are stretches of tokens of ascending target/draft. A uniform number decides which of
    their boundaries are barriers; one of the drafts above the highest barrier with drafts above
    it is selected, all alike. The law b of the selected token is known, so that accepting it
    with probability min(1, q/b) and drawing from (q − b)₊ otherwise is exactly lossless, whatever
    the pools.

    Laws: the output is distributed as the target. With ``"tokens"`` and ``"fewest"`` no rule for
    i.i.d. drafts accepts more. Source: the feasible laws b are those of Border's theorem; the
    barriers are derived in the documentation ("Pooled selection").

    Parameters
    ----------
    draft, target, k, normalize
        As for :class:`otspec.rules.contract.PairRule`.
    pools : str, int or array_like
        ``"tokens"``: a pool for every ratio that occurs. ``"fewest"``: the fewest pools with
        which Σ min(b, q) is the optimum, often ten at full vocabulary. A number of bins of equal
        width in log₂(target/draft) between −8 and 8: no sort. Or strictly increasing thresholds
        on target/draft.

    Raises
    ------
    ValueError
        As :class:`otspec.rules.contract.PairRule`; or unusable pools, or more than 10⁹ drafts.

    Notes
    -----
    Floats: ``law_of_selection`` is computed from the lifetimes by sums of positive terms, from
    knots of twice a float's digits. Its total variation from what the rule really selects is at
    most (32 + log₂ n) ε + 4k (n ε)², ε = 2^−53: below 6e-15 at n = 50,000 up to k = 1,000, and
    below 1e-14 up to k = 10⁷. What rounding makes of the lifetimes can only cost acceptance.

    Examples
    --------
    >>> rule = PooledSelection(["1/2", "3/10", "1/5"], ["1/10", "3/5", "3/10"], k=2)
    >>> rule.acceptance()
    Fraction(17, 20)
    >>> [str(mass) for mass in rule.law_of_selection]
    ['1/4', '9/20', '3/10']
    """

    title: ClassVar[str] = "pooled selection"

    pools: Any = "tokens"

    def __post_init__(self, normalize: bool) -> None:
        super().__post_init__(normalize)
        checked_power(self.k)
        refuse_long_power(self.draft, self.k)
        object.__setattr__(self, "pools", frozen(as_pools(self.pools, self.draft)))

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
        refuse_long_power(checked[0], checked_power(k))
        return cls(*checked, k, refined_thresholds(*checked, checked_power(k), most))

    @cached_property
    def _wanted(self) -> SelectionLaw:
        pools = self._partition()
        return clipped_law(pools, pools.by_pool.powers(self.k))

    def _partition(self) -> Pools:
        pair = self.draft, self.target
        if isinstance(self.pools, int):
            return by_bins(*pair, self.pools)
        if not isinstance(self.pools, str):
            return by_thresholds(*pair, self.pools)
        if self.pools == "fewest":
            return by_thresholds(*pair, fewest_thresholds(*pair, self.k))
        return by_token(*pair)

    @cached_property
    def _barriers(self) -> Barriers:
        return find_barriers(self._wanted, power=self.k)

    def loss_bound(self) -> Number:
        """Return how far the acceptance is below the optimum at most, from the knots alone.

        Exactly 0 with ``"tokens"`` and ``"fewest"``.
        """
        if isinstance(self.pools, str):
            return as_number(0, like=self.draft)
        return as_number(losses(self.draft, self.target, self._wanted).sum(), like=self.draft)

    def acceptance(self) -> Number:
        """Return Σ min(b, q) plus :meth:`residual_hits`."""
        return as_number(self._coupled() + self.residual_hits(), like=self.draft)

    def accepted_law(self) -> Array:
        """Return min(b, q), shape (n,); with other pools than "tokens" and "fewest" by drafts.

        Raises
        ------
        ValueError
            Bins or thresholds, and more draft tuples than can be enumerated.
        """
        return self._coupled_law() if isinstance(self.pools, str) else super().accepted_law()

    def acceptance_by_draft(self) -> Array:
        """Return Σ min(b, q)/k for each draft, shape (k,): all are selected alike."""
        return zeros(self.k, like=self.draft) + self._coupled() / self.k

    def residual_hits(self) -> Number:
        """Return how often a residual token happens to be one of the drafts.

        Exactly 0 with ``"tokens"`` and ``"fewest"``, whose Σ min(b, q) is the optimum already.
        """
        # Numba, if it is there, is imported where it is needed.
        from otspec.selection.residual_hits import residual_hits

        if isinstance(self.pools, str):
            return as_number(0, like=self.draft)
        hits = residual_hits(
            self.draft,
            self.target,
            self.law_of_selection,
            self._wanted.pools,
            self._barriers,
            self.k,
        )
        return as_number(hits, like=self.draft)

    def _shares(self, x: tuple[int, ...], lowest: int, end: int) -> Array:  # noqa: ARG002
        inside = [pool >= lowest for pool in self._pool_of(x)]
        share = as_number(1, like=self.draft) / sum(inside)
        return np.array([share if among else share * 0 for among in inside])

    def _selected(self, x: tuple[int, ...], rng: np.random.Generator) -> int:
        pools = self._pool_of(x)
        uniform, choice = rng.random(2).tolist()
        lowest, _ = self._group(max(pools), uniform)
        group = [token for token, pool in zip(x, pools, strict=True) if pool >= lowest]
        return group[int(choice * len(group))]
