"""Mixtures of priority orders: selection for any draft law, certified (Beyond, prop. 1).

A priority order selects the draft that comes first in a fixed order of the tokens. Its law is a
difference of ``inside`` values along the order, so that a mixture's law is known exactly. The
laws of the orders are the vertices of all feasible laws, so that some mixture is optimal.

Column generation finds them: a linear program weighs the orders found so far; its dual prices are
the next.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from otspec import ratios
from otspec._base import Array, Frozen, IntArray, Number, arithmetic, cached_property
from otspec.chance import Chance
from otspec.distributions import Distribution
from otspec.drafts import DraftLaw
from otspec.solvers import SOLVERS, LinearProgram, Names, Sense, SolverError, Status

LARGEST_SHARE = 1e9


@dataclass(frozen=True, eq=False)
class Weighed(Frozen):
    """The best weights of the orders found so far."""

    orders: IntArray  # (r, n): those of positive weight
    weights: Array  # (r,)
    law: Distribution  # (n,): of the selected token
    prices: Array  # (n,): what more selection of each token would be worth


class OrderSearch:
    """Priority orders that were tried so far, and the best cut among their ends."""

    def __init__(self, law: DraftLaw, levels: Array) -> None:
        self.draft_law, self.levels = law, levels
        self.orders: list[IntArray] = []
        self.laws: list[Array] = []
        self.bound: Number = arithmetic.as_number(1, like=levels)
        self.cut = np.array([], dtype=np.intp)

    @property
    def wanted(self) -> Array:
        """The mean level, shape (n,)."""
        return self.levels.sum(axis=0) / len(self.levels)

    def add(self, order: IntArray) -> Array:
        """Add an order, the most urgent token first, and return its law."""
        rising = order[::-1]
        inside = self.draft_law.inside_prefixes(rising)
        law = arithmetic.zeros(len(order), like=self.levels)
        law[rising] = arithmetic.positive_part(np.diff(inside))  # floats may fall by rounding
        cuts = arithmetic.prefix_sums(self.levels[0][rising]) + (1 - inside)
        least = int(np.argmin(cuts))
        if cuts[least] < self.bound:
            self.bound = arithmetic.as_number(cuts[least], like=self.levels)
            self.cut = np.sort(rising[:least])
        self.orders.append(order)
        self.laws.append(law)
        return law

    def explore(self, found: Weighed, count: int) -> None:
        """Add the order of the prices, which would improve the weighing most, and some more."""
        # They put first what is served least in proportion to what is wanted, averaged as in Frank
        # and Wolfe's method for the lexicographically optimal law. With prices alone the rounds end
        # at the optimum: they are column generation.
        wanted, mean = self.wanted, found.law
        self.add(_by_price(found.prices, ratios.target_to_draft(wanted, found.law)))
        for _ in range(count):
            vertex = self.add(ratios.order(wanted, mean))
            mean = mean + 2 * (vertex - mean) / (len(self.orders) + 2)

    def weighed(self) -> Weighed:
        """Return the best weights of all orders."""
        laws = np.array(self.laws)
        flat = self.levels.ravel()
        program = _weighing(np.tile(laws, len(self.levels)), flat)
        solution = SOLVERS["rational" if program.exact else "highs"](program)
        # Not checked further: whatever the weights, the law is known and a cut gives the bound.
        if solution.status is not Status.OPTIMAL:
            raise SolverError(f"{program.title}: {solution.status.value}")
        weights = arithmetic.positive_part(solution.primal[: len(laws)])
        used = np.flatnonzero(weights > 0)
        weights = weights[used] / weights.sum()
        law = (weights[:, None] * laws[used]).sum(axis=0)
        # A row's dual is the worth of a share; per mass it is that over the target.
        prices = arithmetic.zeros(len(flat), like=self.levels)
        wanted = flat > 0
        with np.errstate(over="ignore"):
            prices[wanted] = solution.duals[1:] / flat[wanted]
        orders = np.array([self.orders[i] for i in used])
        return Weighed(orders, weights, law, prices.reshape(self.levels.shape).sum(axis=0))


def _weighing(laws: Array, target: Distribution) -> LinearProgram:
    """Maximize Σ q(y) a(y) over weights w and shares a(y) ≤ 1, a(y) ≤ Σ_r w_r b_r(y)/q(y)."""
    # Shares rather than masses, since solvers take coefficients below 1e-9 for zero; so are
    # selections of less than that share of the target here. Selections of more than LARGEST_SHARE
    # times the target are taken for that: solvers lose their way among very large coefficients.
    wanted = np.flatnonzero(target > 0)
    with np.errstate(over="ignore"):
        shares = laws[:, wanted] / target[wanted]
    if not arithmetic.is_exact(target):
        shares = np.minimum(shares, LARGEST_SHARE)
    # Columns: the weight of each order, then the share a(y) of each token.
    # Rows: the weights sum to 1, then a(y) - Σ_r w_r b_r(y)/q(y) <= 0 for each token.
    (count, n), every = shares.shape, np.arange(len(wanted))
    orders, tokens = np.nonzero(shares > (0 if arithmetic.is_exact(target) else 1e-9))
    zero, one = arithmetic.zeros(1, like=target), arithmetic.zeros(1, like=target) + 1
    infinite = np.full(count + n, np.inf).astype(target.dtype)
    return LinearProgram(
        "weighing of priority orders",
        Sense.MAXIMIZE,
        np.concatenate([np.repeat(zero, count), target[wanted]]),
        np.concatenate([np.zeros(count, dtype=np.intp), 1 + tokens, 1 + every]),
        np.concatenate([np.arange(count), orders, count + every]),
        np.concatenate([np.repeat(one, count), -shares[orders, tokens], np.repeat(one, n)]),
        np.concatenate([one, -infinite[:n]]),
        np.concatenate([one, np.repeat(zero, n)]),
        np.repeat(zero, count + n),
        np.concatenate([infinite[:count], np.repeat(one, n)]),
        Names([("weights", np.zeros((1, 0), dtype=np.intp)), ("token", wanted[:, None])]),
        Names([("weight", np.arange(count)[:, None]), ("share", wanted[:, None])]),
    )


def _by_price(prices: Array, served: Array) -> IntArray:
    """Return the tokens by descending price; among equal ones what is served least first."""
    keys = list(zip((-prices).tolist(), served.tolist(), strict=True))
    return np.array(sorted(range(len(keys)), key=keys.__getitem__), dtype=np.intp)


FIRST_ORDERS = 4
"""Orders that are added before the weights are first optimized; then twice as many, and so on."""


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
        return (first * alike[:, None]).sum(axis=0)

    def select(self, drafts: Sequence[int], chance: Chance) -> int:
        """Draw an order; return one of the drafts whose pool comes first in it, by its position."""
        ranks = self._ranks[chance.choose(self.weights), self.pools[list(drafts)]]
        first = np.flatnonzero(ranks == ranks.min())
        return int(first[chance.choose([1] * len(first))])

    @cached_property
    def _ranks(self) -> IntArray:
        """Each pool's place in each order, shape (r, m)."""
        return np.argsort(self.orders, axis=1)


def mix_priorities(law: DraftLaw, target: Distribution, gap: Number, most: int) -> Mixture:
    """Mix priority orders until ``bound`` − ``accepted`` ≤ ``gap``, or ``most`` are tried."""
    # Each round adds orders (OrderSearch.explore); then a linear program weighs all of them anew.
    search = OrderSearch(law, target[None])
    search.add(ratios.ascending(-target))
    adding = FIRST_ORDERS
    while True:
        found = search.weighed()
        accepted = arithmetic.as_number(np.minimum(found.law, target).sum(), like=target)
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
