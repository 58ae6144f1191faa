"""Pools of tokens on the two sides of a cut, split where the drafts serve them unequally.

An optimal law of the selected token is at least the target on the tokens of a best cut and at
most the target off them (Different, prop. 2 and 3). In a pool the law is Σ c_i p_i(y). So a pool
inside needs what its neediest token asks for, and one outside has as much room as its fullest
token. Pools may be coarse where the law may be far above the target (Different, prop. 4 and 5).
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from heapq import heapify, heappop, heappush

import numpy as np

from otspec import ratios
from otspec._base import Array, Frozen, IntArray, Number, arithmetic, cached_property
from otspec.distributions import Distribution


def cut_by_moves(drafts: Array, target: Distribution) -> Array:
    """Return a token set (n,) of low q(A) − Π p_i(A), from all tokens or from none."""
    # Every minimizer is inside the set that all tokens shrink to and holds the one that no token
    # grows to; the better of the two is returned.
    shrunk, grown = (
        settled(drafts, target, np.full(len(target), start)) for start in (True, False)
    )
    return lower_cut(drafts, target, shrunk, grown)


def lower_cut(drafts: Array, target: Distribution, first: Array, second: Array) -> Array:
    """Return the token set of lower q(A) − Π p_i(A), the first if they are alike."""
    lower = cut_value(drafts, target, second) < cut_value(drafts, target, first)
    return second if lower else first


def settled(drafts: Array, target: Distribution, members: Array) -> Array:
    """Return a token set (n,) that is no worse and that no token improves by a move of its own."""
    # All that is worth a move moves at once: leaving together loses no more of Π p_i(A) than
    # leaving one by one, and joining together gains no less.
    value = cut_value(drafts, target, members)
    while True:
        moved = members.copy()
        for joining in (False, True):
            moved ^= (moved != joining) & _worthwhile(drafts, target, moved, joining)
        found = cut_value(drafts, target, moved)
        if not found < value:  # also where a move is worth a rounding only
            return members
        members, value = moved, found


def cut_value(drafts: Array, target: Distribution, members: Array) -> Number:
    """Return q(A) − P(all drafts inside A)."""
    return target[members].sum() - np.prod(masses(drafts, members))


def masses(drafts: Array, members: Array) -> Array:
    """Return p_i(A) for every draft, shape (k,)."""
    return arithmetic.zeros(len(drafts), like=drafts) + drafts[:, members].sum(axis=1)


def rises(low: Array, step: Array) -> Array:
    """Return Π_i (low + step) − Π_i low as a sum of positive terms: (k, m), (k, m) -> (m,)."""
    total = arithmetic.zeros(step.shape[1], like=step)
    for i in range(len(step)):
        others = np.prod((low + step)[:i], axis=0) * np.prod(low[i + 1 :], axis=0)
        total += step[i] * others
    return total


def _worthwhile(drafts: Array, target: Distribution, members: Array, joining: bool) -> Array:
    """Return which tokens it pays to move alone, if they are on the other side: (n,) of bool."""
    inside = masses(drafts, members)[:, None]
    if joining:
        return target < rises(inside + 0 * drafts, drafts)
    return target > rises(arithmetic.positive_part(inside - drafts), drafts)


@dataclass(frozen=True, eq=False)
class CutPool(Frozen):
    """Tokens on one side of a cut."""

    tokens: IntArray  # of which each can be drafted
    inside: bool  # whether they belong to the cut
    drafts: Array  # (k, n)
    target: Distribution  # (n,)
    # (k,): how likely draft i is selected if it is in the pool, as far as that is known
    rates: Array

    @property
    def demand(self) -> Number:
        """What a pool must get so that each token inside has enough, outside none too much."""
        served, wanted = self._ratios
        return (wanted.max() if self.inside else wanted.min()) * served.sum()

    def loss(self, law: Distribution) -> Number:
        """Return by how much a law of the selected token is below the target, outside above it."""
        excess = law[self.tokens] - self.target[self.tokens]
        return arithmetic.positive_part(-excess if self.inside else excess).sum()

    @cached_property
    def split(self) -> tuple[Number, tuple[IntArray, ...]]:
        """The best two parts by target/Σ c_i p_i, and how much nearer they are to the target."""
        served, wanted = self._ratios
        if len(served) < 2:
            return served[0] * 0, ()
        order = ratios.ascending(wanted)
        served, wanted = served[order], wanted[order]
        low, high = arithmetic.prefix_sums(served)[1:-1], arithmetic.suffix_sums(served)[1:-1]
        with np.errstate(over="ignore"):
            gains = (
                (wanted[-1] - wanted[:-1]) * low if self.inside else (wanted[1:] - wanted[0]) * high
            )
        best = int(np.argmax(gains))
        return gains[best], (self.tokens[order[: best + 1]], self.tokens[order[best + 1 :]])

    @cached_property
    def _ratios(self) -> tuple[Array, Array]:
        """Σ c_i p_i and target/Σ c_i p_i for each token; 0 where nothing is served."""
        served = (self.rates[:, None] * self.drafts[:, self.tokens]).sum(axis=0)
        wanted = ratios.target_to_draft(served, self.target[self.tokens])
        wanted[served == 0] = arithmetic.zeros(1, like=served)[0]
        return served, wanted


def sides(drafts: Array, target: Distribution, cut: Array, rates: Array) -> list[CutPool]:
    """Return the tokens of a cut and the other ones that can be drafted, without empty pools."""
    drafted = (drafts > 0).any(axis=0)
    found = [
        CutPool(np.flatnonzero(side & drafted), inside, drafts, target, known(rates))
        for side, inside in ((cut, True), (~cut, False))
    ]
    return [pool for pool in found if len(pool.tokens)]


def refined(pools: Sequence[CutPool], which: Iterable[int], most: int) -> list[CutPool]:
    """Split the pools ``which``, best gain first, until there are ``most`` or nothing is gained."""
    found = list(pools)
    heap = [(-found[j].split[0], j) for j in which]
    heapify(heap)
    while heap and len(found) < most and heap[0][0] < 0:
        _, j = heappop(heap)
        parts = [replace(found[j], tokens=tokens) for tokens in found[j].split[1]]
        found[j] = parts[0]
        found.append(parts[1])
        for place in (j, len(found) - 1):
            heappush(heap, (-found[place].split[0], place))
    return found


def known(rates: Array) -> Array:
    """Return rates of which none is 0: nothing is known of what is never selected."""
    return rates + (rates == 0)
