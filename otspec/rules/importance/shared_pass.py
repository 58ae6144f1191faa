"""Pairs shared out by pushes in loops, compiled where Numba is installed (SpecHub, app. E).

The loops do what :func:`otspec.rules.importance.shared_pairs.shared_pairs` does with arrays, in the same
order. Importing this module imports Numba if it is there, so that it is imported where it is used.
"""

from __future__ import annotations

import numpy as np

from otspec._base.arithmetic import Array, IntArray
from otspec._base.compiling import compiled, jitable


@jitable
def _distances(got: Array, surplus: Array) -> IntArray:
    """Return how many pushes each token is from one that lacks something; s + 1 if none leads."""
    size = len(surplus)
    distance = np.where(surplus < 0, 0, size + 1)
    for steps in range(size):
        reached = False
        for i in range(size):
            if distance[i] > size:
                for j in range(size):
                    if distance[j] == steps and got[i, j] > 0:
                        distance[i] = steps + 1
                        reached = True
                        break
        if not reached:
            break
    return distance


@jitable
def _push(got: Array, surplus: Array, distance: IntArray, level: int) -> None:
    """Move what tokens of a level have too much to those of the level before."""
    size = len(surplus)
    active = np.flatnonzero((distance == level) & (surplus > 0))
    for i in active:
        until, more = 0.0, surplus[i]
        for j in range(size):
            if distance[j] == level - 1:
                share = got[i, j]
                until += share
                moved = min(share, max(more - (until - share), 0.0))
                got[i, j] -= moved
                got[j, i] += moved
                surplus[j] += moved
        surplus[i] = max(more - until, 0.0)


def push_all(got: Array, surplus: Array) -> None:
    """Push what tokens have too much until nobody who lacks something can be reached, in place.

    Parameters
    ----------
    got : ndarray of float, shape (s, s)
        What each token of a pair has of it.
    surplus : ndarray of float, shape (s,)
        What each has more than it wants.
    """
    size = len(surplus)
    while True:
        distance = _distances(got, surplus)
        highest = 0
        for i in range(size):
            if surplus[i] > 0 and distance[i] <= size:
                highest = max(highest, distance[i])
        if highest == 0:
            return
        for level in range(highest, 0, -1):
            _push(got, surplus, distance, level)


fast_push_all = compiled(push_all)
