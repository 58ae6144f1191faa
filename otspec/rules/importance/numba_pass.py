"""Loops of importance sampling, for Numba if it is there (Canonical, alg. 1; SpecHub, app. E).

The rows of ``masses``, (3, n), are the law that is selected so far, the next draft and the target.
"""

import numpy as np

from otspec._base import Array, IntArray
from otspec._base.compiling import compiled, jitable

_NEAR = 64  # a token that comes after so few later ones is put in its place; else it is set apart
_OFTEN = 32
"""A later token that so many come before, one after the other, is set apart instead of these."""
_PUSHED = 4
"""How many places, for each token, are tokens pushed on at most to put others in their place."""

# Loops stand in place of NumPy's functions where these take Numba long to compile.


@jitable
def _value(masses: Array, i: int) -> float:
    return masses[2, i] - masses[0, i] * masses[1, i]


@jitable
def _before(tokens: IntArray, masses: Array, i: int, token: int, value: float) -> bool:
    """Whether the token at a place comes before another token."""
    other = _value(masses, i)
    if other != value:  # a branch that is foreseen: half the time of one condition
        return other > value
    return tokens[i] < token


@jitable
def _put(tokens: IntArray, masses: Array, i: int, to: IntArray, masses_to: Array, j: int) -> None:
    to[j] = tokens[i]
    for row in range(3):
        masses_to[row, j] = masses[row, i]


@jitable
def _merge(
    tokens: IntArray, masses: Array, low: int, apart: IntArray, masses_apart: Array, moved: int
) -> None:
    """Sort what was set apart, and merge it with the tokens from a place on."""
    ranked, gap = np.empty(moved, np.intp), 1
    for i in range(moved):
        ranked[i] = moved - 1 - i  # which is nearly their order
    while gap < moved // 3:
        gap = 3 * gap + 1
    while gap > 0:
        for i in range(gap, moved):
            each, j = ranked[i], i
            value = _value(masses_apart, each)
            while j >= gap and not _before(
                apart, masses_apart, ranked[j - gap], apart[each], value
            ):
                ranked[j] = ranked[j - gap]
                j -= gap
            ranked[j] = each
        gap //= 3
    for i in range(moved):
        each, ahead = ranked[i], moved - i
        value = _value(masses_apart, each)
        while low < len(tokens) and _before(tokens, masses, low, apart[each], value):
            _put(tokens, masses, low, tokens, masses, low - ahead)
            low += 1
        _put(apart, masses_apart, each, tokens, masses, low - ahead)


def move_few(tokens: IntArray, masses: Array, most: int) -> bool:
    """Order tokens (n,) and masses (3, n) by falling target − selected·following, ties by token."""
    # Insertion from the last one on. What must move far, ``most`` tokens at most, is set apart,
    # sorted and merged in place. False if there would be more: the tokens are in no order then.
    size, apart, masses_apart = len(tokens), np.empty(most + 1, np.intp), np.empty((3, most + 1))
    low, moved, left, first, often, head = size, 0, _PUSHED * size, -1, 0, -np.inf
    for i in range(size - 1, -1, -1):
        token, value = tokens[i], _value(masses, i)
        if low == size or value > head or (value == head and token < tokens[low]):
            low, head = low - 1, value
            if i < low:
                _put(tokens, masses, i, tokens, masses, low)
            continue
        back, end = 1, min(_NEAR + 1, size - low)
        while back < end and _before(tokens, masses, low + back, token, value):
            back += 1
        often = often + 1 if tokens[low] == first else 1
        first = tokens[low]
        far = back > min(_NEAR, left)
        if not far and often <= _OFTEN:
            _put(tokens, masses, i, apart, masses_apart, most)
            for j in range(low, low + back):
                _put(tokens, masses, j, tokens, masses, j - 1)
            low, left = low - 1, left - back
            _put(apart, masses_apart, most, tokens, masses, low + back)
            continue
        out = 1 if far else back
        if moved + out > most:
            for j in range(moved):
                _put(apart, masses_apart, j, tokens, masses, i + 1 + j)
            return False
        for j in range(out):
            _put(tokens, masses, i if far else low + j, apart, masses_apart, moved + j)
        moved += out
        if not far:
            low, head = low + back - 1, value
            if i < low:
                _put(tokens, masses, i, tokens, masses, low)
    _merge(tokens, masses, low, apart, masses_apart, moved)
    return True


def surely(tokens: IntArray, masses: Array, free: int, rank: IntArray, law: Array) -> None:
    """Write the law that :func:`otspec.programs.truncated.surely_selected` gives, and the ranks."""
    # tokens, rank, law: (n,), tokens in order; masses: (3, n).
    first_after = second_after = 0.0
    for i in range(len(tokens) - 1, -1, -1):
        token, first, second = tokens[i], masses[0, i], masses[1, i]
        masses[0, i] = (first * second + second_after * first) + first_after * second
        rank[token], law[token] = i, masses[0, i]
        if i >= free:
            first_after, second_after = first_after + first, second_after + second


def meet(weights: Array, drafts: IntArray, i: int, rank: IntArray, shares: Array) -> None:
    """Let draft i meet the one selected so far (:func:`.chosen`): ``weights`` (k, m), in place."""
    # drafts: (k, m); rank: (n,); shares, (s, s): as those of a Stage.
    free = len(shares)
    for m in range(drafts.shape[1]):
        other, new = rank[drafts[i, m]], 0.0
        for j in range(i):
            token = rank[drafts[j, m]]
            if token < free and other < free and token != other:
                stays = shares[token, other]
            else:
                stays = 1.0 if token <= other else 0.0
            new += weights[j, m] * (1 - stays)
            weights[j, m] *= stays
        weights[i, m] = new


fast_move_few = compiled(move_few)
fast_surely = compiled(surely)
fast_meet = compiled(meet)


@jitable
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


@jitable
def _push(got: Array, surplus: Array, distance: IntArray, level: int) -> None:
    """Move what tokens of a level have too much to those of the level before."""
    size = len(surplus)
    for i in range(size):
        if distance[i] != level or not surplus[i] > 0:
            continue
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


fast_push_all, fast_settle_all = compiled(push_all), compiled(settle_all)
