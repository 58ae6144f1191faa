"""A stage of importance sampling in passes over ordered tokens (Canonical, alg. 1, remark 4).

The loops are compiled where Numba is installed, which importing this module imports, so that it is
imported where it is used.

Tokens are kept together with their masses: the rows of an array of shape (3, n) are the law that
is selected so far, that of the next draft, and the target.
"""

from __future__ import annotations

import numpy as np

from otspec.arithmetic import Array, IntArray
from otspec.compiling import compiled, jitable

_NEAR, _OFTEN = 4, 16
"""A token that comes after so few later ones is put in its place, a few times in a row."""
_BACK = 64
"""How many later tokens one that comes after them pushes out; else it is moved itself."""


@jitable
def _value(masses: Array, i: int) -> float:
    value: float = masses[2, i] - masses[0, i] * masses[1, i]
    return value


@jitable
def _before(tokens: IntArray, masses: Array, i: int, token: int, value: float) -> bool:
    """Whether the token at a place comes before another token."""
    other = _value(masses, i)
    return other > value or (other == value and tokens[i] < token)


@jitable
def _put(tokens: IntArray, masses: Array, i: int, to: IntArray, masses_to: Array, j: int) -> None:
    to[j] = tokens[i]
    for row in range(3):
        masses_to[row, j] = masses[row, i]


def move_few(tokens: IntArray, masses: Array, most: int) -> bool:
    """Order tokens by descending target − selected·following, ties by token, where few must move.

    From the last one on, those that are out of order are set apart; they are sorted, and merged
    with the others, in place: of a stage that follows another, they are among the first.

    Parameters
    ----------
    tokens : ndarray of int, shape (n,)
    masses : ndarray of float, shape (3, n)
        Of these tokens.
    most : int
        How many are moved at most.

    Returns
    -------
    bool
        False where more would have to move: the tokens are in no order then.
    """
    size, apart, masses_apart = len(tokens), np.empty(most + 1, np.intp), np.empty((3, most + 1))
    low, moved, near = size, 0, 0
    for i in range(size - 1, -1, -1):
        back, value = 0, _value(masses, i)
        while back <= _BACK and low + back < size:
            if not _before(tokens, masses, low + back, tokens[i], value):
                break
            back += 1
        near = near + 1 if 0 < back <= _NEAR else 0
        if 0 < near <= _OFTEN:
            _put(tokens, masses, i, apart, masses_apart, moved)
            for j in range(low, low + back):
                _put(tokens, masses, j, tokens, masses, j - 1)
            low -= 1
            _put(apart, masses_apart, moved, tokens, masses, low + back)
            continue
        over = back > _BACK
        out = 1 if over else back
        if moved + out > most:
            for j in range(moved):
                _put(apart, masses_apart, j, tokens, masses, i + 1 + j)
            return False
        for j in range(out):
            _put(tokens, masses, i if over else low + j, apart, masses_apart, moved + j)
        moved += out
        if not over:
            low += back - 1
            if i < low:
                _put(tokens, masses, i, tokens, masses, low)
    ranked = np.arange(moved)[::-1].copy()  # which is nearly their order
    for i in range(1, moved):
        each, j = ranked[i], i
        value = _value(masses_apart, each)
        while j > 0 and not _before(apart, masses_apart, ranked[j - 1], apart[each], value):
            ranked[j] = ranked[j - 1]
            j -= 1
        ranked[j] = each
    for i in range(moved):
        each, ahead = ranked[i], moved - i
        value = _value(masses_apart, each)
        while low < size and _before(tokens, masses, low, apart[each], value):
            _put(tokens, masses, low, tokens, masses, low - ahead)
            low += 1
        _put(apart, masses_apart, each, tokens, masses, low - ahead)
    return True


def surely(masses: Array, free: int) -> Array:
    """Do what :func:`otspec.programs.truncated.surely_selected` does: (3, n) -> (n,)."""
    certain = np.empty(masses.shape[1])
    first_after = second_after = 0.0
    for i in range(len(certain) - 1, -1, -1):
        first, second = masses[0, i], masses[1, i]
        certain[i] = (first * second + second_after * first) + first_after * second
        if i >= free:
            first_after, second_after = first_after + first, second_after + second
    return certain


def in_places(order: IntArray, certain: Array) -> tuple[IntArray, Array]:
    """Return where each token is in an order, and its mass: (n,), (n,) -> (n,), (n,)."""
    rank, law = np.empty(len(order), np.intp), np.empty(len(order))
    for i in range(len(order)):
        rank[order[i]], law[order[i]] = i, certain[i]
    return rank, law


fast_move_few = compiled(move_few)
fast_surely = compiled(surely)
fast_in_places = compiled(in_places)
