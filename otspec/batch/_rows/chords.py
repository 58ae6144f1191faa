"""A ρ for K-Seq, row by row, by chords of the overlap Σ min(q, ρp) (SpecTr, alg. 2; Theory, 6).

The overlap M(ρ) is looked at in two places, in one reading of the row, twice: ``tried``, (2).
``chords``, (2, 4), holds these places, and M there. The ρ that is found is the one of
:mod:`otspec.batch._kernels.inflated`.
"""

from __future__ import annotations

import math

import numpy as np

from otspec.batch._kernels.inflated import _FIRST, _SECOND, _STEPS
from otspec.batch._kernels.library import Array
from otspec.batch._rows.machine import inner_code
from otspec.batch._rows.numbers import geometric, rounded
from otspec.batch._rows.outcome import quotient

AT, OVERLAP = 0, 1
"""The rows of ``chords``: ρ, and M(ρ)."""
_SLACK = 1 + 2 * float(np.finfo(np.float64).eps)
"""The rounding of M, lest equal rows be taken for a little different ones."""


@inner_code
def begin(tried: Array, count: float, single: bool) -> None:
    """Write which ρ to try first."""
    tried[0], tried[1] = 1.0, rounded(1 + _FIRST * (count - 1), single)


@inner_code
def go_on(chords: Array, tried: Array, found: Array, count: float, single: bool) -> None:
    """Write which ρ to try next, once M is found at the first ones."""
    _know(chords, tried, found, 0)
    at, overlap = chords[AT, 1], chords[OVERLAP, 1]
    needed = _needed(overlap, count)
    less = 1 - _needed(chords[OVERLAP, 0], count)
    guess = min(_secant(1.0, less, at, at - needed), count)
    bound = max(geometric(chords[OVERLAP, 0], count), needed)
    low = min(guess, bound)
    apart = max(guess, bound) - low
    tried[0], tried[1] = rounded(low, single), rounded(low + _SECOND * apart, single)


@inner_code
def safe_rho(chords: Array, tried: Array, found: Array, count: float, single: bool) -> float:
    """Return a ρ that is at least ρ*, and close to it, once M is found at the last ones."""
    _know(chords, tried, found, 2)
    # M is 0 at 0, and does not fall up to k, where every rule is valid.
    start, at_start, less = 0.0, 0.0, -count
    end, at_end = count, max(chords[OVERLAP, 0], chords[OVERLAP, 1])
    at_end = max(at_end, chords[OVERLAP, 2], chords[OVERLAP, 3])
    more = count - _needed(at_end, count)
    for i in range(4):
        rho, overlap = chords[AT, i], chords[OVERLAP, i]
        slack = rho - _needed(overlap, count)
        if slack >= 0 or rho >= count:
            end, at_end, more = min(end, rho), min(at_end, overlap), min(more, slack)
        else:
            start, at_start, less = max(start, rho), max(at_start, overlap), max(less, slack)
    slope = quotient(at_end - at_start, end - start, 0.0)
    # As a function of ρ the slack at the chord is convex: the secants' guesses come from below.
    rho, needed = start, start
    for _ in range(_STEPS):
        rho = _secant(rho, less, end, more)
        needed = _needed(at_start + slope * (rho - start), count)
        less = rho - needed
    rho = max(rho, needed)
    # Rounded up rather than down.
    half_step = 2.0**-24 if single else 2.0**-53
    return rounded(rho * (1 + half_step), single) if rho > 1 else 1.0


@inner_code
def _know(chords: Array, tried: Array, found: Array, first: int) -> None:
    """Write what was tried."""
    for i in range(2):
        chords[AT, first + i] = tried[i]
        chords[OVERLAP, first + i] = min(found[i] * _SLACK, 1.0)


@inner_code
def _needed(overlap: float, count: float) -> float:
    """Return the least ρ at which an overlap is enough: M/(1 − (1 − M)^(1/k))."""
    if overlap >= 1:
        return 1.0
    if not overlap > 0:
        return count
    return -overlap / math.expm1(math.log1p(-overlap) / count)


@inner_code
def _secant(start: float, less: float, end: float, more: float) -> float:
    """Return where the line through two points is 0."""
    return end - quotient(more * (end - start), more - less, 0.0)
