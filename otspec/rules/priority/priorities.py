"""Mixtures of priority orders: selection for any draft law, certified (Beyond, prop. 1).

A priority order selects the draft that comes first in a fixed order of the tokens. Its law is a
difference of ``inside`` values along the order, so that a mixture's law is known exactly. The
laws of the orders are the vertices of all feasible laws, so that some mixture is optimal.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from otspec import ratios
from otspec._base.arithmetic import Array, IntArray, Number, as_number
from otspec._base.frozen import Frozen, cached_property
from otspec.chance import Chance
from otspec.distributions import Distribution
from otspec.drafts import DraftLaw
from otspec.rules.priority.order_search import OrderSearch

FIRST_ORDERS = 4
"""Orders that are added before the weights are first optimised; then twice as many, and so on."""


@dataclass(frozen=True, eq=False)
class Mixture(Frozen):
    """Priority orders, how likely each is, and the law of the token that they select."""

    orders: IntArray  # (r, m): pools, the most urgent first; without pools tokens
    weights: Array  # (r,): positive
    law: Distribution  # (n,)
    accepted: Number  # Σ min(law, target)
    bound: Number  # no rule accepts more: the least bound among the cuts that were seen
    cut: IntArray  # ascending ids of the tokens whose cut gives the bound
    pools: IntArray  # (n,): the pool of each token; without pools each is its own

    def shares(self, drafts: Sequence[int]) -> Array:
        """Return with what probability each draft is selected, shape (k,)."""
        ranks = self._ranks[:, self.pools[list(drafts)]]
        first = ranks == ranks.min(axis=1, keepdims=True)
        alike = self.weights / first.sum(axis=1)
        shares: Array = (first * alike[:, None]).sum(axis=0)
        return shares

    def select(self, drafts: Sequence[int], chance: Chance) -> int:
        """Draw an order; return one of the drafts whose pool comes first in it, by its position."""
        ranks = self._ranks[chance.choose(self.weights), self.pools[list(drafts)]]
        first = np.flatnonzero(ranks == ranks.min())
        return int(first[chance.choose([1] * len(first))])

    @cached_property
    def _ranks(self) -> IntArray:
        """Each pool's place in each order, shape (r, m)."""
        ranks: IntArray = np.argsort(self.orders, axis=1)
        return ranks


def mix_priorities(law: DraftLaw, target: Distribution, gap: Number, most: int) -> Mixture:
    """Mix priority orders until the mixture is certified to be nearly optimal.

    Shapes: ``target`` (n,). ``gap``: stop when ``bound`` − ``accepted`` is at most this. ``most``:
    stop when this many orders were tried.

    Notes
    -----
    Each round adds orders (:meth:`otspec.rules.priority.order_search.OrderSearch.explore`), and
    then a linear program weighs all of them anew.
    """
    search = OrderSearch(law, target[None])
    search.add(ratios.ascending(-target))
    adding = FIRST_ORDERS
    while True:
        found = search.weighed()
        accepted = as_number(np.minimum(found.law, target).sum(), like=target)
        if search.bound - accepted <= gap or len(search.orders) >= most:
            break
        search.explore(found, min(adding, most - len(search.orders) - 1))
        adding *= 2
    # By rounding only a sum of accepted masses is above the bound.
    bound = max(accepted, search.bound)
    return Mixture(
        *(found.orders, found.weights, found.law, accepted, bound, search.cut),
        np.arange(len(target)),
    )
