"""A ρ for K-Seq, row by row, by chords of the overlap Σ min(q, ρp) (SpecTr, alg. 2; Theory, 6).

The overlap M(ρ) is looked at in two places, then in two more, as in
:mod:`otspec.batch._array_api.k_sequential`: ``tried`` and ``found``, (4,), are ρ and M there.
"""

from __future__ import annotations

import math

import numpy as np

from otspec.batch._array_api.k_sequential import FIRST, SECOND, STEPS
from otspec.batch._array_api.library import Array
from otspec.batch._numba.compiled import inner_code
from otspec.batch._numba.numbers import geometric, rounded
from otspec.batch._numba.outcome import quotient

_UP = 1 + 2 * float(np.finfo(np.float64).eps)
"""Lest equal rows be taken for a little different ones."""


@inner_code
def begin(tried: Array, count: float, single: bool) -> None:
    """Write which ρ to try first."""
    tried[0], tried[1] = 1.0, rounded(1 + FIRST * (count - 1), single)


@inner_code
def go_on(tried: Array, found: Array, count: float, single: bool) -> None:
    """Write which ρ to try next, once M is found at the first ones."""
    for i in range(2):
        found[i] = min(found[i] * _UP, 1.0)
    first, second = _needed(found[0], count), _needed(found[1], count)
    guess = min(_secant(tried[0], tried[0] - first, tried[1], tried[1] - second), count)
    # ρ* is at least what it would be if β were the same as at 1, or M as at the other place, if
    # that is above ρ*.
    bound = max(geometric(found[0], count), second)
    low, apart = min(guess, bound), abs(guess - bound)
    tried[2], tried[3] = rounded(low, single), rounded(low + SECOND * apart, single)


@inner_code
def safe_rho(tried: Array, found: Array, count: float, single: bool) -> float:
    """Return a ρ that is valid at the chord of M around ρ*, which is below M."""
    start, overlap, less, most = 0.0, 0.0, -_needed(0.0, count), 0.0
    end, at_end, more = count, 1.0, 0.0
    for i in range(4):
        found[i] = found[i] if i < 2 else min(found[i] * _UP, 1.0)
        most = max(most, found[i])
    # M is 0 at 0, and does not fall up to k, where every rule is valid.
    at_end, more = most, count - _needed(most, count)
    for i in range(4):
        slack = tried[i] - _needed(found[i], count)
        if slack >= 0 or tried[i] >= count:
            end, at_end, more = min(end, tried[i]), min(at_end, found[i]), min(more, slack)
        else:
            start, overlap, less = max(start, tried[i]), max(overlap, found[i]), max(less, slack)
    slope, rho, needed = quotient(at_end - overlap, end - start, 0.0), start, 0.0
    # As a function of ρ the slack at the chord is convex: the secants' guesses come from below.
    for _ in range(STEPS):
        rho = _secant(rho, less, end, more)
        needed = _needed(overlap + slope * (rho - start), count)
        less = rho - needed
    rho = max(rho, needed)
    # Rounded up rather than down.
    half_step = 2.0**-24 if single else 2.0**-53
    return rounded(rho * (1 + half_step), single) if rho > 1 else 1.0


@inner_code
def _needed(overlap: float, count: float) -> float:
    """Return the least ρ at which an overlap is enough: M/(1 − (1 − M)^(1/k))."""
    return -overlap / math.expm1(math.log1p(-overlap) / count) if overlap > 0 else count


@inner_code
def _secant(start: float, low: float, end: float, high: float) -> float:
    """Return where a line through two points is 0."""
    return end - quotient(high * (end - start), high - low, 0.0)
