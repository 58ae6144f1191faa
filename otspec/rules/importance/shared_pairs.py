"""Pairs of tokens shared out so that each gets what it wants, by flow (SpecHub, app. E)."""

from __future__ import annotations

import numpy as np

from otspec._base.arithmetic import Array, IntArray, zeros


def shared_pairs(masses: Array, wanted: Array) -> Array:
    """Divide the mass of each pair between its two tokens so that Σ min(got, wanted) is largest.

    That is a maximum flow from the pairs to the tokens, in either arithmetic: a token that has
    more than it wants pushes it along shortest ways to tokens that have less, by moving shares of
    pairs (preflow-push with exact distances, which end up beyond any bound after at most s² rounds
    whatever the numbers are).

    Parameters
    ----------
    masses : ndarray, shape (s, s)
        Entry (i, j), for i ≠ j: of the pair of i and j; symmetric, at least 0.
    wanted : ndarray, shape (s,)
        At least 0.

    Returns
    -------
    ndarray, shape (s, s)
        Entry (i, j): what i gets of the pair of i and j, which with (j, i) is its mass; the
        diagonal is 0.

    Examples
    --------
    >>> masses = np.array([[0.0, 0.5, 0.25], [0.5, 0.0, 0.25], [0.25, 0.25, 0.0]])
    >>> shared_pairs(masses, np.array([0.25, 0.5, 0.25])).sum(axis=1)
    array([0.25, 0.5 , 0.25])
    """
    size, (got, surplus) = len(wanted), _begun(masses, wanted)
    while True:
        distance = _distances(got > 0, surplus < 0)
        active = np.flatnonzero((surplus > 0) & (distance <= size))
        if not active.size:
            return got
        for level in range(distance[active].max(), 0, -1):
            nearer = np.flatnonzero(distance == level - 1)
            tokens = np.flatnonzero((distance == level) & (surplus > 0))
            if tokens.size:
                _push(got, surplus, tokens, nearer)


def quick_pairs(masses: Array, wanted: Array) -> Array:
    """Return the same for floats, compiled: worth its start where it is asked for often."""
    from otspec.rules.importance.shared_pass import fast_push_all

    got, surplus = _begun(masses, wanted)
    fast_push_all(got, surplus)
    return got


def _begun(masses: Array, wanted: Array) -> tuple[Array, Array]:
    """Return shares of which the earlier token of each pair has all, and what it is too much."""
    size = len(wanted)
    got = zeros((size, size), like=masses)
    earlier = np.arange(size)[:, None] < np.arange(size)
    got[earlier] = masses[earlier]
    return got, got.sum(axis=1) - wanted


def _distances(may_push: Array, lacking: Array) -> IntArray:
    """Return how many pushes each token is from one that lacks something; s + 1 if there is no way.

    Those that lack something are at distance 0.
    """
    size = len(lacking)
    distance = np.where(lacking, 0, size + 1)
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
