"""Pooled selection that prefers the earlier of its drafts (Theory, 25): the optimum as well."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from otspec._base.arithmetic import Array, zeros
from otspec.chance import Chance
from otspec.rules.base.accepted import DrawnDrafts, Estimated
from otspec.rules.pooled.selection import PooledSelection


@dataclass(frozen=True, eq=False, init=False)
class EarliestPooledSelection(PooledSelection):
    """Select the first of the drafts that compete, where pooled selection selects all alike.

    Law: of i.i.d. drafts those that compete are i.i.d., too, so that the first of them has the law
    of any of them: output, acceptance and how often the output is drafted are those of
    :class:`PooledSelection`, whose parameters and errors these are. Which draft is the output is
    not: the earlier ones are it more often. That is what a tree wants whose first children have
    more below them (:class:`otspec.blocks.UniversalTreeEarliest`).

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
                weights[_first_of(pools, lowest)] += chance * span
        return weights

    def _one_of(self, competing: Sequence[int], chance: Chance) -> int:  # noqa: ARG002
        return competing[0]


def _first_of(pools: Sequence[int], lowest: int) -> int:
    """Return the first draft in the pools from the lowest one that competes."""
    return next(place for place, pool in enumerate(pools) if pool >= lowest)
