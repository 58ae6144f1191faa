"""Pairs of tokens shared out so that each gets what it wants, by flow (SpecHub, app. E)."""

from itertools import pairwise
from typing import Any

import numpy as np

from otspec._base import Array, IntArray, zeros


def shared_pairs(masses: Array, wanted: Array) -> Array:
    """Divide the mass of each pair between its two tokens so that Σ min(got, wanted) is largest.

    This is a maximum flow from pairs to tokens, in either arithmetic. Of several the function
    returns the lexicographically first: the first token gets as much as a maximum flow allows of
    its pair with the second token, then of its pair with the third, and so on.

    Law: if masses and wants change by ε together, no entry changes by more than ε. So floats give
    what fractions give, up to roundings: as the optimum of a linear program over a network, whose
    matrix is totally unimodular and whose objective has no ties, each entry is piecewise linear
    with slopes 0, 1 and −1.

    ``masses``, shape (s, s): of the pair (i, j), i ≠ j; symmetric, at least 0. ``wanted``, shape
    (s,): at least 0. Result, shape (s, s), entry (i, j): what i gets of the pair; with (j, i) it is
    the mass; the diagonal is 0.
    """
    got, surplus = _begun(masses, wanted)
    _push_all(got, surplus)
    held = np.asarray(got > 0, dtype=bool)
    for first in range(len(wanted) - 1):
        _settle(got, held, surplus, first)
    return got


def quick_pairs(masses: Array, wanted: Array) -> Array:
    """Return the same for floats, compiled: worth its start where it is asked for often."""
    from otspec.rules.importance.numba_pass import fast_push_all, fast_settle_all

    got, surplus = _begun(masses, wanted)
    fast_push_all(got, surplus)
    fast_settle_all(got, surplus)
    return got


def _begun(masses: Array, wanted: Array) -> tuple[Array, Array]:
    """Return shares of which the earlier token of each pair has all, and what it is too much."""
    size = len(wanted)
    got = zeros((size, size), like=masses)
    earlier = np.arange(size)[:, None] < np.arange(size)
    got[earlier] = masses[earlier]
    return got, got.sum(axis=1) - wanted


def _push_all(got: Array, surplus: Array) -> None:
    """Find a maximum flow, in place."""
    # A token that has more than it wants pushes it along shortest ways to tokens that have less, by
    # moving shares of pairs (preflow-push with exact distances, which end up beyond any bound after
    # at most s² rounds whatever the numbers are).
    size = len(surplus)
    while True:
        distance = _distances(got > 0, surplus < 0)
        active = np.flatnonzero((surplus > 0) & (distance <= size))
        if not active.size:
            return
        for level in range(distance[active].max(), 0, -1):
            nearer = np.flatnonzero(distance == level - 1)
            tokens = np.flatnonzero((distance == level) & (surplus > 0))
            if tokens.size:
                _push(got, surplus, tokens, nearer)


def _distances(may_push: Array, goals: Array) -> IntArray:
    """Return how many pushes each token is from a goal; s + 1 if there is no way."""
    # Goals are at distance 0.
    size = len(goals)
    distance = np.where(goals, 0, size + 1)
    for steps in range(size):
        reached = may_push[:, distance == steps].any(axis=1) & (distance > size)
        if not reached.any():
            break
        distance[reached] = steps + 1
    return distance


def _push(got: Array, surplus: Array, tokens: IntArray, nearer: IntArray) -> None:
    """Move what tokens have too much to others that are nearer, as far as their pairs go."""
    pairs, back = (tokens[:, None], nearer), (nearer, tokens[:, None])
    shares = got[pairs]
    until = np.cumsum(shares, axis=1)
    moved = np.minimum(shares, np.maximum(surplus[tokens, None] - (until - shares), 0 * shares))
    got[pairs] -= moved
    got[back] += moved
    for row in moved:
        surplus[nearer] += row
    surplus[tokens] = np.maximum(surplus[tokens] - until[:, -1], 0 * until[:, -1])


def _settle(got: Array, held: Array, surplus: Array, first: int) -> None:
    """Give a token as much as can be of its pairs with later tokens, one by one, in place."""
    # What the token gets of its pair with ``second`` must find a way from it to ``second`` over
    # pairs that are not settled. A settled pair stays: mass around a cycle opens no new way.
    size, tokens = len(surplus), np.arange(len(surplus))
    held[:first] = held[:, :first] = False
    if not held[:, first].any():
        return
    reached = _distances(_open(held, surplus).T, tokens == first) <= size
    for second in range(first + 1, size):
        held[first, second] = False
        while reached[second] and held[second, first]:
            way = [first, second]
            if not _may_give_up(surplus, first, second):
                ways = _open(held, surplus)
                distance = _distances(ways, tokens == second)
                if distance[first] > size:
                    break
                while way[-2] != second:
                    nearer = ways[way[-2]] & (distance == distance[way[-2]] - 1)
                    way[-1:] = int(np.flatnonzero(nearer)[0]), second
                way.pop()
            _turn(got, held, surplus, way)


def _may_give_up(surplus: Array, i: Any, j: Any) -> Any:
    """Whether i may keep mass if j gives up as much: both have too much, or both too little."""
    return np.where(surplus[i] < 0, surplus[j] <= 0, surplus[j] > 0)


def _open(held: Array, surplus: Array) -> Array:
    """Return which tokens may hand mass on to which, shape (s, s) bool."""
    # One hands on its share of a pair that is not settled. Or it keeps the mass and the other gives
    # up as much.
    tokens = np.arange(len(surplus))
    return held | _may_give_up(surplus, tokens[:, None], tokens)


def _turn(got: Array, held: Array, surplus: Array, way: list[int]) -> None:
    """Move as much as can be of a pair, from the end of a way to its start and along the way."""
    hops = [(i, j, bool(held[i, j])) for i, j in pairwise(way)]
    amount = got[way[-1], way[0]]
    for i, j, by_pair in hops:
        kept = surplus[j] if surplus[i] >= 0 else -surplus[i]
        amount = min(amount, got[i, j] if by_pair else kept)
    for i, j, by_pair in [(way[-1], way[0], True), *hops]:
        if by_pair:
            got[i, j] -= amount
            got[j, i] += amount
            held[i, j], held[j, i] = got[i, j] > 0, j != way[0]
        else:
            surplus[i] += amount
            surplus[j] -= amount
