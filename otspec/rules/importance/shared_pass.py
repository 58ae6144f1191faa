"""What ``shared_pairs`` does with arrays, in loops, for Numba if it is there (SpecHub, app. E)."""

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
    """Push the surplus (s,) of tokens until it reaches nobody who lacks something, in place."""
    # got, (s, s): what each token of a pair has of it.
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


@jitable
def _may(got: Array, surplus: Array, first: int, second: int, i: int, j: int) -> bool:
    """Whether a token may hand mass on to another: see ``_open`` beside ``shared_pairs``."""
    return _by_pair(got, first, second, i, j) or _may_give_up(surplus, i, j)


@jitable
def _may_give_up(surplus: Array, i: int, j: int) -> bool:
    """Whether one may keep mass if the other gives up as much."""
    if surplus[i] < 0:
        return bool(surplus[j] <= 0)
    return bool(surplus[j] > 0)


@jitable
def _by_pair(got: Array, first: int, second: int, i: int, j: int) -> bool:
    if i < first or j < first or (i == first and j <= second):
        return False
    return bool(got[i, j] > 0)


@jitable
def _reached(got: Array, surplus: Array, first: int) -> Array:
    """Return which tokens may be handed mass of one that has settled no pair with a later one."""
    size = len(surplus)
    reached, ahead, found = np.zeros(size, np.bool_), np.empty(size, np.intp), 1
    reached[first], ahead[0], done = True, first, 0
    while done < found:
        for j in range(size):
            if not reached[j] and _may(got, surplus, first, first, ahead[done], j):
                reached[j], ahead[found] = True, j
                found += 1
        done += 1
    return reached


@jitable
def _to(got: Array, surplus: Array, first: int, second: int, distance: IntArray) -> bool:
    """Write how many steps each token is from ``second``; whether ``first`` has a way to it."""
    size, ahead, found, done = len(surplus), np.empty(len(surplus), np.intp), 1, 0
    distance[:] = size + 1
    distance[second], ahead[0] = 0, second
    while done < found:
        j = ahead[done]
        for i in range(size):
            if distance[i] > size and _may(got, surplus, first, second, i, j):
                distance[i], ahead[found] = distance[j] + 1, i
                found += 1
        done += 1
    return bool(distance[first] <= size)


@jitable
def _turn(got: Array, surplus: Array, first: int, second: int, distance: IntArray) -> None:
    """Move as much as can be of a pair to its first token, and as much back on the first way."""
    way, size = [first], len(surplus)
    while way[-1] != second:
        i = way[-1]
        for j in range(size):
            nearer = distance[j] == distance[i] - 1
            if nearer and _may(got, surplus, first, second, i, j):
                way.append(j)
                break
    amount = got[second, first]
    by_pair = [_by_pair(got, first, second, way[h], way[h + 1]) for h in range(len(way) - 1)]
    for h, shared in enumerate(by_pair):
        i, j = way[h], way[h + 1]
        kept = surplus[j] if surplus[i] >= 0 else -surplus[i]
        amount = min(amount, got[i, j] if shared else kept)
    got[second, first] -= amount
    got[first, second] += amount
    for h, shared in enumerate(by_pair):
        i, j = way[h], way[h + 1]
        if shared:
            got[i, j] -= amount
            got[j, i] += amount
        else:
            surplus[i] += amount
            surplus[j] -= amount


def settle_all(got: Array, surplus: Array) -> None:
    """Make a maximum flow, as :func:`push_all` left it, the lexicographically first, in place."""
    size = len(surplus)
    distance = np.empty(size, np.intp)
    for first in range(size - 1):
        if not (got[first + 1 :, first] > 0).any():
            continue
        reached = _reached(got, surplus, first)
        for second in range(first + 1, size):
            if reached[second]:
                while got[second, first] > 0:
                    if _may_give_up(surplus, first, second):
                        distance[:] = size
                        distance[first], distance[second] = 1, 0
                    elif not _to(got, surplus, first, second, distance):
                        break
                    _turn(got, surplus, first, second, distance)


fast_push_all, fast_settle_all = compiled(push_all), compiled(settle_all)
