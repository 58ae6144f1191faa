"""Pooled selection of two distinct drafts: the optimum (Beyond, prop. 2)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np

from otspec.arithmetic import Array, as_number, sums_by
from otspec.drafts import SingleDraftLaw, WithoutReplacement
from otspec.drafts.rises import inside_pairs
from otspec.rules.pooled import PooledRule
from otspec.selection.barriers import Barriers, find_barriers
from otspec.selection.heights import SummedHeights
from otspec.selection.laws import SelectionLaw, clipped_law
from otspec.selection.pools import Pools, by_token


@dataclass(frozen=True, eq=False)
class PooledSelectionWithoutReplacement(PooledRule):
    """Select one of two distinct drafts by random barriers, then couple maximally.

    If both drafts a and b are in the highest group, which has draft mass P while 1 − τ is the
    mass of that group and all above it, a is selected with probability

        (1 − p(a) + κ (p(a) − p(b))) / (2 − p(a) − p(b)),   κ = (1 − τ)/P.

    That makes the law of the selected token proportional to the draft inside each group.

    Laws: the output is distributed as the target; no rule for two drafts without replacement
    accepts more. Source: the documentation ("Pooled selection", distinct drafts). Parameters and
    errors: :class:`otspec.rules.PairRule`, :class:`otspec.WithoutReplacement`; ``k`` is 2.

    Examples
    --------
    >>> rule = PooledSelectionWithoutReplacement(["1/2", "1/3", "1/6"], ["1/6", "1/3", "1/2"])
    >>> rule.acceptance()
    Fraction(11, 12)
    """

    name: ClassVar[str] = "pooled-selection-without-replacement"
    title: ClassVar[str] = "pooled selection (distinct)"
    law_class: ClassVar[type[SingleDraftLaw]] = WithoutReplacement
    only_k: ClassVar[int | None] = 2
    colour: ClassVar[str] = "#332288"
    marker: ClassVar[str] = "p"

    k: int = 2

    @cached_property
    def wanted_law(self) -> SelectionLaw:
        """The law that the lifetimes are made for; in floats they give it but for rounding."""
        return clipped_law(self._pools, self._heights.values)

    @cached_property
    def barriers(self) -> Barriers:
        """Which drafts compete, and the law of the one that is selected."""
        return find_barriers(self.wanted_law, self._heights)

    @cached_property
    def _pools(self) -> Pools:
        return by_token(self.draft, self.target).in_small_units()

    @cached_property
    def _heights(self) -> SummedHeights:
        """The probability that both drafts are below each knot."""
        order = np.argsort(self._pools.index, kind="stable")
        order = order[self.draft[order] > 0]
        pairs = inside_pairs(self.draft[order])
        return SummedHeights(sums_by(self._pools.index[order], pairs, len(self._pools.draft)))

    def accepted_law(self) -> Array:
        """Return min(b, q), which sums to the optimum; a residual token is never a draft."""
        return self._accepted_selection()

    def _shares(self, x: Sequence[int]) -> Array:
        groups = self.barriers.groups(int(self.pool[list(x)].max()))
        shares = [span * self._shares_in(x, lowest, end) for lowest, end, span in groups]
        return np.asarray(sum(shares))

    def sample(self, x: Sequence[int], rng: np.random.Generator) -> tuple[int, bool]:
        """Draw the output for the given drafts, and whether it is one of them."""
        uniform, choice = rng.random(2).tolist()
        lowest, end = self.barriers.group(int(self.pool[list(x)].max()), uniform)
        first, second = self._shares_in(x, lowest, end)
        selected = x[0] if choice < first or second == 0 else x[1]
        token = self.coupling.sample(selected, rng)
        return token, token in x

    def _shares_in(self, x: Sequence[int], lowest: int, end: int) -> Array:
        """Return how likely each draft is selected in the group ``lowest`` to ``end`` − 1: (2,)."""
        one = as_number(1, like=self.draft)
        inside = self.pool[list(x)] >= lowest
        if not inside.all():
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
