"""Pooled selection of two distinct drafts: the optimum at any vocabulary size."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar

import numpy as np

from otspec.arithmetic import Array, as_number, is_exact, prefix_sums, sums_by
from otspec.drafts import SingleDraftLaw, WithoutReplacement
from otspec.drafts.without_replacement import inside_pairs
from otspec.rules.barrier_rule import BarrierRule
from otspec.selection.barriers import Barriers, find_barriers
from otspec.selection.laws import SelectionLaw, clipped_law
from otspec.selection.pools import Pools, by_token

_POWER = 512
"""Draft masses are counted in units of 2^−512, so that selection over draft mass is a float for
subnormal ones too: what is selected of such a pool may be all that one heavy token leaves over."""


@dataclass(frozen=True, eq=False)
class PooledSelectionWithoutReplacement(BarrierRule):
    """Select one of two distinct drafts by random barriers, then couple maximally.

    If both drafts a and b are in the highest group, which has draft mass P while 1 − τ is the
    mass of that group and all above it, a is selected with probability

        (1 − p(a) + κ (p(a) − p(b))) / (2 − p(a) − p(b)),   κ = (1 − τ)/P.

    That makes the law of the selected token proportional to the draft inside each group.

    Laws: the output is distributed as the target; no rule for two drafts without replacement
    accepts more. Source: the documentation ("Pooled selection", distinct drafts). Parameters and
    errors: :class:`otspec.rules.contract.PairRule`, :class:`otspec.WithoutReplacement`; ``k`` is 2.

    Examples
    --------
    >>> rule = PooledSelectionWithoutReplacement(["1/2", "1/3", "1/6"], ["1/6", "1/3", "1/2"])
    >>> rule.acceptance()
    Fraction(11, 12)
    """

    title: ClassVar[str] = "pooled selection (distinct)"
    law_class: ClassVar[type[SingleDraftLaw]] = WithoutReplacement
    only_k: ClassVar[int | None] = 2

    k: int = 2

    @cached_property
    def _pools(self) -> Pools:
        pools = by_token(self.draft, self.target)
        return replace(pools, draft=_in_units(pools.draft))

    @property
    def _widths(self) -> Array:
        return _in_units(self.draft)

    @cached_property
    def _wanted(self) -> SelectionLaw:
        return clipped_law(self._pools, prefix_sums(self._masses))

    @cached_property
    def _barriers(self) -> Barriers:
        return find_barriers(self._wanted, masses=self._masses)

    @cached_property
    def _masses(self) -> Array:
        """Per pool, the probability that both drafts are in it or below, and not both below."""
        order = np.argsort(self._pools.index, kind="stable")
        order = order[self.draft[order] > 0]
        return sums_by(
            self._pools.index[order], inside_pairs(self.draft[order]), len(self._pools.draft)
        )

    def accepted_law(self) -> Array:
        """Return min(b, q), which sums to the optimum; a residual token is never a draft."""
        return self._coupled_law()

    def _shares(self, x: tuple[int, ...], lowest: int, end: int) -> Array:
        one = as_number(1, like=self.draft)
        inside = [pool >= lowest for pool in self._pool_of(x)]
        if not all(inside):
            return np.array([one if among else one - one for among in inside])
        knots = self.knots
        first, second = self.draft[list(x)]
        mass, others = knots[end] - knots[lowest], 2 * one - first - second
        # In floats either may be 0: then both drafts are here as good as never.
        lead = (first - second) / mass if mass > 0 else one - one
        share = one - first + (one - knots[lowest]) * lead
        share = share / others if others > 0 else one
        share = min(max(share, one - one), one)
        return np.array([share, one - share])


def _in_units(masses: Array) -> Array:
    """Return float masses times 2^512; exact ones as they are."""
    return masses if is_exact(masses) else np.ldexp(masses, _POWER)
