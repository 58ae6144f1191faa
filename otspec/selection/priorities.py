"""Mixtures of priority orders: selection for any draft law, certified (Beyond, prop. 1).

A priority order selects the draft that comes first in a fixed order of the tokens. Its law is a
difference of ``inside`` values along the order, so that a mixture's law is known exactly. The
laws of the orders are the vertices of all feasible laws, so that some mixture is optimal.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from otspec import ratios
from otspec.arithmetic import (
    Array,
    IntArray,
    Number,
    as_number,
    is_exact,
    positive_part,
    prefix_sums,
    sums_by,
    zeros,
)
from otspec.distributions import Distribution
from otspec.drafts import DraftLaw
from otspec.drafts.contract import inverted
from otspec.frozen import Frozen
from otspec.solvers import SOLVERS, LinearProgram, Names, Sense, SolverError, Status

FIRST_ORDERS = 4
"""Orders that are added before the weights are first optimised; then twice as many, and so on."""

LARGEST_SHARE = 1e9


@dataclass(frozen=True, eq=False)
class Mixture(Frozen):
    """Priority orders, how likely each is, and the law of the token that they select.

    Parameters
    ----------
    orders : ndarray of int, shape (r, n)
        Token ids, the most urgent first.
    weights : ndarray, shape (r,)
        Positive.
    law : ndarray, shape (n,)
    accepted : float or Fraction
        Σ min(law, target).
    bound : float or Fraction
        No rule accepts more: the least bound among the cuts that were seen.
    """

    orders: IntArray
    weights: Array
    law: Distribution
    accepted: Number
    bound: Number

    def shares(self, drafts: Sequence[int]) -> Array:
        """Return with what probability each draft is selected, shape (k,)."""
        first = np.argmin(self._ranks[:, list(drafts)], axis=1)
        return sums_by(first, self.weights, len(drafts))

    def select(self, drafts: Sequence[int], rng: np.random.Generator) -> int:
        """Draw an order, and return the draft that comes first in it."""
        order = int(inverted(self._cumulative_weights, rng.random(1))[0])
        return drafts[int(np.argmin(self._ranks[order, list(drafts)]))]

    @cached_property
    def _ranks(self) -> IntArray:
        """Each token's place in each order, shape (r, n)."""
        ranks: IntArray = np.argsort(self.orders, axis=1)
        return ranks

    @cached_property
    def _cumulative_weights(self) -> Array:
        return np.cumsum(self.weights.astype(float))


def mix_priorities(law: DraftLaw, target: Distribution, gap: Number, most: int) -> Mixture:
    """Mix priority orders until the mixture is certified to be nearly optimal.

    Parameters
    ----------
    law : DraftLaw
    target : ndarray, shape (n,)
    gap : number
        Stop when ``bound`` − ``accepted`` is at most this.
    most : int
        Stop when this many orders were tried.

    Returns
    -------
    Mixture

    Notes
    -----
    Each round adds the order of the dual prices, which would improve the weighing most, and
    orders that put first what is served least in proportion to the target, averaged as in Frank
    and Wolfe's method for the lexicographically optimal law. Then a linear program weighs all
    orders anew. With dual prices alone the rounds end at the optimum: they are column generation.
    """
    search = _Search(law, target)
    search.add(ratios.ascending(-target))
    mixture, prices = search.weighed()
    adding = FIRST_ORDERS
    while mixture.bound - mixture.accepted > gap and len(search.orders) < most:
        search.add(_by_price(prices, ratios.target_to_draft(target, mixture.law)))
        mean = mixture.law
        for _ in range(min(adding, most - len(search.orders))):
            vertex = search.add(ratios.order(target, mean))
            mean = mean + 2 * (vertex - mean) / (len(search.orders) + 2)
        adding *= 2
        mixture, prices = search.weighed()
    return mixture


class _Search:
    """Orders that were tried so far, their laws and the best bound."""

    def __init__(self, law: DraftLaw, target: Distribution) -> None:
        self.draft_law, self.target = law, target
        self.orders: list[IntArray] = []
        self.laws: list[Array] = []
        self.bound = as_number(1, like=target)

    def add(self, order: IntArray) -> Array:
        """Add an order, the most urgent token first, and return its law."""
        rising = order[::-1]
        inside = self.draft_law.inside_prefixes(rising)
        law = zeros(len(order), like=self.target)
        law[rising] = positive_part(np.diff(inside))  # floats may fall by rounding
        cuts = prefix_sums(self.target[rising]) + (1 - inside)
        self.bound = min(self.bound, as_number(cuts.min(), like=self.target))
        self.orders.append(order)
        self.laws.append(law)
        return law

    def weighed(self) -> tuple[Mixture, Array]:
        """Return the best mixture, and what more selection of each token would be worth."""
        laws = np.array(self.laws)
        program = _weighing(laws, self.target)
        solution = SOLVERS["rational" if program.exact else "highs"](program)
        # Not checked further: whatever the weights, the law is known and a cut gives the bound.
        if solution.status is not Status.OPTIMAL:
            raise SolverError(f"{program.title}: {solution.status.value}")
        weights = positive_part(solution.primal[: len(laws)])
        used = np.flatnonzero(weights > 0)
        weights = weights[used] / weights.sum()
        law = (weights[:, None] * laws[used]).sum(axis=0)
        accepted = as_number(np.minimum(law, self.target).sum(), like=self.target)
        orders = np.array([self.orders[i] for i in used])
        # A row's dual is the worth of a share; per mass it is that over the target.
        prices = zeros(len(law), like=self.target)
        wanted = self.target > 0
        with np.errstate(over="ignore"):
            prices[wanted] = solution.duals[1:] / self.target[wanted]
        # By rounding only a sum of accepted masses is above the bound.
        return Mixture(orders, weights, law, accepted, max(accepted, self.bound)), prices


def _weighing(laws: Array, target: Distribution) -> LinearProgram:
    """Maximise Σ q(y) a(y) over weights w and shares a(y) ≤ 1, a(y) ≤ Σ_r w_r b_r(y)/q(y).

    Shares rather than masses, since solvers take coefficients below 1e-9 for zero; so are
    selections of less than that share of the target here. Selections of more than LARGEST_SHARE
    times the target are taken for that: solvers lose their way among very large coefficients.
    """
    wanted = np.flatnonzero(target > 0)
    with np.errstate(over="ignore"):
        shares = laws[:, wanted] / target[wanted]
    if not is_exact(target):
        shares = np.minimum(shares, LARGEST_SHARE)
    (count, n), every = shares.shape, np.arange(len(wanted))
    orders, tokens = np.nonzero(shares > (0 if is_exact(target) else 1e-9))
    zero, one = zeros(1, like=target), zeros(1, like=target) + 1
    infinite = np.full(count + n, np.inf).astype(target.dtype)
    return LinearProgram(
        "weighing of priority orders",
        Sense.MAXIMISE,
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
