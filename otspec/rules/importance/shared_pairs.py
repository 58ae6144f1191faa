"""Pairs of tokens shared out so that each gets what it wants, by flow (SpecHub, app. E)."""

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
    got, surplus = begun(masses, wanted)
    # Numbers in object arrays: scalars of typed arrays are slow.
    shares, left = got.astype(object), surplus.astype(object)
    push_all(shares, left)
    settle_all(shares, left)
    got[:] = shares
    return got


def begun(masses: Array, wanted: Array) -> tuple[Array, Array]:
    """Return shares of which the earlier token of each pair has all, and what it is too much."""
    size = len(wanted)
    got = zeros((size, size), like=masses)
    earlier = np.arange(size)[:, None] < np.arange(size)
    got[earlier] = masses[earlier]
    return got, got.sum(axis=1) - wanted


def _distances(got: Array, surplus: Array) -> IntArray:
    """Return how many pushes each token is from one that lacks something; s + 1 if none leads."""
    size, distance = len(surplus), np.empty(len(surplus), np.intp)
    for i in range(size):
        distance[i] = 0 if surplus[i] < 0 else size + 1
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


def _push(got: Array, surplus: Array, distance: IntArray, level: int) -> None:
    """Move what tokens of a level have too much to those of the level before."""
    size = len(surplus)
    for i in range(size):
        if distance[i] != level or not surplus[i] > 0:
            continue
        nothing, more = 0 * surplus[i], surplus[i]
        until = nothing
        for j in range(size):
            if distance[j] == level - 1:
                share = got[i, j]
                until += share
                moved = min(share, max(more - (until - share), nothing))
                got[i, j] -= moved
                got[j, i] += moved
                surplus[j] += moved
        surplus[i] = max(more - until, nothing)


def push_all(got: Array, surplus: Array) -> None:
    """Push the surplus (s,) of tokens until it reaches nobody who lacks something, in place."""
    # got, (s, s): what each token has of its pairs. A token that has more than it wants pushes it
    # along shortest ways to tokens that have less, by moving shares of pairs (preflow-push with
    # exact distances, which end up beyond any bound after at most s² rounds, whatever the numbers).
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


def _may(got: Array, surplus: Array, first: int, second: int, i: int, j: int) -> bool:
    """Whether a token may hand mass on to another, at the pair of ``first`` and ``second``."""
    # One hands on its share of a pair that is not settled. Or it keeps the mass and the other gives
    # up as much.
    return _by_pair(got, first, second, i, j) or _may_give_up(surplus, i, j)


def _may_give_up(surplus: Array, i: int, j: int) -> bool:
    """Whether i may keep mass if j gives up as much: both have too much, or both too little."""
    if surplus[i] < 0:
        return bool(surplus[j] <= 0)
    return bool(surplus[j] > 0)


def _by_pair(got: Array, first: int, second: int, i: int, j: int) -> bool:
    """Whether i has a share of its pair with j that is not settled."""
    if i < first or j < first or (i == first and j <= second):
        return False
    return bool(got[i, j] > 0)


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
    # What a token gets of its pair with ``second`` must find a way from it to ``second`` over pairs
    # that are not settled. A settled pair stays: mass around a cycle opens no new way.
    size = len(surplus)
    distance = np.empty(size, np.intp)
    for first in range(size - 1):
        held = False
        for later in range(first + 1, size):
            held = held or got[later, first] > 0
        if not held:
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


HELPERS = (_distances, _push, _may, _may_give_up, _by_pair, _reached, _to, _turn)
"""What :func:`push_all` and :func:`settle_all` call."""
