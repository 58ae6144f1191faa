"""Mixtures of priority orders of pools, for independent drafts that differ (Different, prop. 1).

Of the drafts in the first pool of the order that has any, all are selected alike. Given that draft
i is one of them, its token has the law of p_i in the pool, so that the law of the selected token
is Σ c_i p_i(y) there, with rates c_i that follow from the masses of the pools alone.
"""

from dataclasses import dataclass, replace

import numpy as np

from otspec import ratios
from otspec._base import Array, Frozen, IntArray, Number, as_number, prefix_sums, sums_by, zeros
from otspec.distributions import Distribution
from otspec.drafts import DraftLaw, Independent
from otspec.rules.priority import cut_pools
from otspec.rules.priority.order_search import Mixture, OrderSearch, Weighed, mix_priorities

FIRST_POOLS = 32  # pools for which orders are mixed first; then for half as many more, and so on
EXPLORED = 12  # orders that are added in a round beside that of the prices


@dataclass(frozen=True, eq=False)
class Problem(Frozen):
    """Independent drafts, given by their distributions, and a target."""

    drafts: Array  # (k, n)
    target: Distribution  # (n,)

    @classmethod
    def of_law(cls, law: DraftLaw, target: Distribution) -> "Problem":
        """Return the problem of a law of independent drafts."""
        return cls(np.array([law.marginal(i) for i in range(law.k)]), target)

    def pooled(self, labels: IntArray, size: int) -> Array:
        """Return the mass of each pool in each draft distribution, shape (k, size)."""
        return np.array([sums_by(labels, draft, size) for draft in self.drafts])

    def law(self, rates: Array, labels: IntArray) -> Distribution:
        """Return Σ c_i p_i, the law of the selected token."""
        return (rates[:, labels] * self.drafts).sum(axis=0)

    def mixture(
        self, orders: tuple[IntArray, Array], law: Distribution, cut: Array, labels: IntArray
    ) -> Mixture:
        """Return a mixture of weighed orders of pools with the bound of a cut."""
        accepted = as_number(np.minimum(law, self.target).sum(), like=self.target)
        bound = as_number(1 + cut_pools.cut_value(self.drafts, self.target, cut), like=self.target)
        # By rounding only a sum of accepted masses is above the bound.
        bound = max(accepted, bound)
        return Mixture(*orders, law, accepted, bound, np.flatnonzero(cut), labels)

    def better(self, cut: Array, law: Distribution) -> Array:
        """Return a cut, or the better one that a law points to: what it serves too much of."""
        found = cut_pools.settled(self.drafts, self.target, law > self.target)
        return cut_pools.lower_cut(self.drafts, self.target, cut, found)

    def pools_about(self, cut: Array, size: int) -> list[cut_pools.CutPool]:
        """Return pools for the rates that the first of the tokens inside a cut would have."""
        inside = cut_pools.masses(self.drafts, cut)
        rates = zeros(len(inside), like=inside)
        rates += [np.prod(np.delete(inside, i)) for i in range(len(inside))]
        pools = cut_pools.sides(self.drafts, self.target, cut, rates)
        return cut_pools.refined(pools, range(len(pools)), size)


def mix_groups(
    law: DraftLaw, target: Distribution, gap: Number, most: int, labels: IntArray
) -> Mixture:
    """Mix priority orders of pools that ``labels`` (n,) give, for independent drafts."""
    problem, size = Problem.of_law(law, target), int(labels.max()) + 1
    pooled = problem.pooled(labels, size)
    wanted = sums_by(labels, target, size)
    found = mix_priorities(Independent(list(pooled)), wanted, gap, most)
    mixed = problem.law(mean_rates(found.orders, found.weights, pooled), labels)
    cut = problem.better(cut_pools.cut_by_moves(problem.drafts, target), mixed)
    return problem.mixture((found.orders, found.weights), mixed, cut, labels)


def mix_cut_pools(
    law: DraftLaw, target: Distribution, gap: Number, most: int, count: int
) -> Mixture:
    """Mix priority orders of at most ``count`` pools that do not cross a cut."""
    # Each round adds orders that give the neediest token of a pool inside the cut enough, and the
    # fullest of one outside not too much. Then pools that still lose are split by what their tokens
    # got. A mixture that points to a better cut starts the pools again.
    problem = Problem.of_law(law, target)
    drafts = problem.drafts
    cut, size, tried = cut_pools.cut_by_moves(drafts, target), min(FIRST_POOLS, count), 0
    pools, orders = problem.pools_about(cut, size), np.empty((0, 0), dtype=np.intp)
    best: Mixture | None = None
    while True:
        # New orders of the pools, and the best weights of all orders (column generation).
        labels = _labels(pools, len(target))
        pooled = problem.pooled(labels, len(pools))
        found, added = _round(Independent(list(pooled)), levels(pools), orders, most - tried)
        tried += added
        # The law of the selected token, Σ_i c_i p_i(y), and the cut that it points to.
        rates = mean_rates(found.orders, found.weights, pooled)
        mixed = problem.law(rates, labels)
        better = problem.better(cut, mixed)
        mixture = problem.mixture((found.orders, found.weights), mixed, better, labels)
        if best is None or mixture.accepted > best.accepted:
            best = mixture
        best = replace(best, bound=max(best.accepted, mixture.bound), cut=mixture.cut)
        if best.bound - best.accepted <= gap or tried >= most:
            return best
        if (better != cut).any():
            cut, pools = better, problem.pools_about(better, len(pools))
            orders = orders[:0]
            continue
        finer = _finer(pools, mixed, rates, min(count, max(len(pools) + 8, len(pools) * 3 // 2)))
        orders, pools = _expanded(mixture, finer), finer


def levels(pools: list[cut_pools.CutPool]) -> Array:
    """Return what is wanted of each pool with and without urgency, shape (2, m)."""
    # Inside the cut the target is urgent, and outside what no token has too much of.
    rows = []
    for pool in pools:
        target, demand = pool.target[pool.tokens].sum(), pool.demand
        rows.append((target, demand) if pool.inside else (demand, target))
    return np.array(rows, dtype=pools[0].target.dtype).T


def mean_rates(orders: IntArray, weights: Array, pooled: Array) -> Array:
    """Return the rates of a mixture of orders, (r, m), (r,), (k, m) -> (k, m)."""
    rates = zeros(pooled.shape, like=pooled)
    for order, weight in zip(orders, weights, strict=True):
        rates += weight * rates_of(order, pooled)
    return rates


def rates_of(order: IntArray, pooled: Array) -> Array:
    """Return how likely draft i is selected given that it is in pool D: (m,), (k, m) -> (k, m)."""
    # If L are the pools after D, that is ∫₀¹ Π_{j≠i} (p_j(L) + t·p_j(D)) dt: let each draft in D
    # draw a uniform number, of which the largest is selected.
    rates = zeros(pooled.shape, like=pooled)
    rising = order[::-1]
    # low[j] = p_j(L), the pools after each one; step[j] = p_j(D).
    step = pooled[:, rising]
    low = np.array([prefix_sums(row)[:-1] for row in step])
    for i in range(len(pooled)):
        # The coefficients of Π_{j≠i} (low[j] + t step[j]) by powers of t, one factor at a time.
        powers = [zeros(len(order), like=pooled) + 1]
        for j in range(len(pooled)):
            if j != i:
                nothing = 0 * low[j]
                powers = [
                    power * low[j] + lower * step[j]
                    for power, lower in zip([*powers, nothing], [nothing, *powers], strict=True)
                ]
        # ∫₀¹ t^degree dt = 1/(degree + 1)
        for degree, coefficient in enumerate(powers):
            rates[i, rising] += coefficient / (degree + 1)
    return rates


def _round(law: DraftLaw, wanted: Array, orders: IntArray, most: int) -> tuple[Weighed, int]:
    """Return the best weights of known orders and of some new ones, and how many are new."""
    search = OrderSearch(law, wanted)
    for order in orders:
        search.add(order)
    if len(orders) == 0:
        search.add(ratios.ascending(-search.wanted))
    left = most - (len(search.orders) - len(orders))
    if left > 0:
        search.explore(search.weighed(), min(EXPLORED, left - 1))
    return search.weighed(), len(search.orders) - len(orders)


def _finer(
    pools: list[cut_pools.CutPool], law: Distribution, rates: Array, size: int
) -> list[cut_pools.CutPool]:
    """Split pools whose tokens get too little inside the cut, too much outside; or else any."""
    losses = np.array([pool.loss(law) for pool in pools])
    served = [replace(pool, rates=cut_pools.known(rates[:, j])) for j, pool in enumerate(pools)]
    much = losses.sum() / (2 * len(pools))
    finer = cut_pools.refined(
        served, np.flatnonzero((losses > 0) & (losses >= much)).tolist(), size
    )
    return finer if len(finer) > len(pools) else cut_pools.refined(served, range(len(pools)), size)


def _expanded(mixture: Mixture, finer: list[cut_pools.CutPool]) -> IntArray:
    """Return the orders of a mixture for finer pools, of which those of one come together."""
    parents = mixture.pools[[pool.tokens[0] for pool in finer]]
    places = np.argsort(mixture.orders, axis=1)[:, parents]
    return np.argsort(places, axis=1, kind="stable")


def _labels(pools: list[cut_pools.CutPool], n: int) -> IntArray:
    """Return the pool of each token; the first where a token cannot be drafted."""
    labels = np.zeros(n, dtype=np.intp)
    for j, pool in enumerate(pools):
        labels[pool.tokens] = j
    return labels
