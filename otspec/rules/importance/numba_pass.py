"""Loops of importance sampling, for Numba if it is there (Canonical, alg. 1; SpecHub, app. E).

The rows of ``masses``, (3, n), are the law that is selected so far, the next draft and the target.
"""

import numpy as np

from otspec._base import Array, IntArray
from otspec._base.compiling import compiled, jitable
from otspec.rules.importance import shared_pairs

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


for _helper in shared_pairs.HELPERS:
    jitable(_helper)
fast_push_all, fast_settle_all = compiled(shared_pairs.push_all), compiled(shared_pairs.settle_all)


def quick_pairs(masses: Array, wanted: Array) -> Array:
    """Return what ``shared_pairs`` does for floats: worth its start where it is asked for often."""
    got, surplus = shared_pairs.begun(masses, wanted)
    fast_push_all(got, surplus)
    fast_settle_all(got, surplus)
    return got
