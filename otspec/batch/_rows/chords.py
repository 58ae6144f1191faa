"""A ρ for K-Seq, row by row, by chords of the overlap Σ min(q, ρp) (SpecTr, alg. 2; Theory, 6).

The overlap M(ρ) is known at four ascending ρ: ``chords`` is an array, (2, 4), of these and of M
there. Those in the middle are tried, in one reading of the row, twice: ``tried``, (2). The ρ that is
found is the one of :mod:`otspec.batch._kernels.inflated`.
"""

from __future__ import annotations

import numpy as np

from otspec.batch._kernels.inflated import _CUTS, _FIRST, _ROUGH, _SECOND, _SECTIONS
from otspec.batch._kernels.library import Array
from otspec.batch._rows.machine import inner_code
from otspec.batch._rows.numbers import clipped, geometric, rounded
from otspec.batch._rows.outcome import quotient

AT, OVERLAP = 0, 1
"""The rows of ``chords``: ρ, and M(ρ)."""
_SLACK = 1 + 2 * float(np.finfo(np.float64).eps)
"""The rounding of g, lest equal rows be taken for a little different ones."""


@inner_code
def begin(chords: Array, tried: Array, count: float, single: bool) -> None:
    """Write which ρ to try first."""
    chords[AT, 0], chords[OVERLAP, 0] = 0.0, 0.0
    tried[0], tried[1] = 1.0, rounded(1 + _FIRST * (count - 1), single)


@inner_code
def go_on(chords: Array, tried: Array, found: Array, count: float, single: bool) -> None:
    """Write which ρ to try next, once M is found at the first ones."""
    _know(chords, tried, found)
    # M does not fall up to k, where every rule is valid.
    chords[AT, 3], chords[OVERLAP, 3] = count, found[1]
    within = _bracket(chords, count)
    before, after = max(within - 1, 1), min(within + 1, 3)
    _, high = _root(chords, within, within, within, count, _ROUGH)
    # The lower of the neighbouring chords, extended, is above M; at an end there is one neighbour.
    first, second = before, after
    first = after if before == within else first
    second = before if after == within else second
    low, _ = _root(chords, first, second, within, count, _ROUGH)
    start, end = chords[AT, within - 1], chords[AT, within]
    at_start, at_end = chords[OVERLAP, within - 1], chords[OVERLAP, within]
    chords[AT, 0], chords[OVERLAP, 0] = start, at_start
    chords[AT, 3], chords[OVERLAP, 3] = end, at_end
    tried[0], tried[1] = rounded(low, single), rounded(low + _SECOND * (high - low), single)


@inner_code
def safe_rho(chords: Array, tried: Array, found: Array, count: float, single: bool) -> float:
    """Return a ρ that is at least ρ*, and close to it, once M is found at the last ones."""
    _know(chords, tried, found)
    within = _bracket(chords, count)
    _, rho = _root(chords, within, within, within, count, _CUTS)
    # Rounded up rather than down.
    half_step = 2.0**-24 if single else 2.0**-53
    return rounded(rho * (1 + half_step), single) if rho > 1 else 1.0


@inner_code
def _know(chords: Array, tried: Array, found: Array) -> None:
    """Write what was tried."""
    for i in range(2):
        chords[AT, i + 1], chords[OVERLAP, i + 1] = tried[i], found[i]


@inner_code
def _bracket(chords: Array, count: float) -> int:
    """Return the index of the first valid ρ, at least 1."""
    for i in range(1, 3):
        if _is_valid(chords[AT, i], chords[OVERLAP, i], count):
            return i
    return 3


@inner_code
def _is_valid(rho: float, overlap: float, count: float) -> bool:
    """Return whether ρ is at least g, so that the rule is lossless."""
    return rho * _SLACK >= geometric(clipped(quotient(overlap, rho, 0.0)), count)


@inner_code
def _chord(chords: Array, i: int, rho: float) -> float:
    """Return the chord that ends at point i, at ρ."""
    start, at_start = chords[AT, i - 1], chords[OVERLAP, i - 1]
    slope = quotient(chords[OVERLAP, i] - at_start, chords[AT, i] - start, 0.0)
    return at_start + slope * (rho - start)


@inner_code
def _root(
    chords: Array, first: int, second: int, within: int, count: float, cuts: int
) -> tuple[float, float]:
    """Return between which ρ of a bracket a curve becomes valid.

    The curve is the lower one of two chords, but at least that of the bracket. M(ρ)/ρ descends
    along it, so that halving finds the same section as looking at all of them.
    """
    low, high = chords[AT, within - 1], chords[AT, within]
    for _ in range(cuts):
        invalid, valid, width = 0, _SECTIONS, high - low
        while valid - invalid > 1:
            middle = (invalid + valid) // 2
            rho = low + width * (middle / _SECTIONS)
            upper = min(_chord(chords, first, rho), _chord(chords, second, rho))
            if _is_valid(rho, max(upper, _chord(chords, within, rho)), count):
                valid = middle
            else:
                invalid = middle
        low, high = low + width * (invalid / _SECTIONS), low + width * (valid / _SECTIONS)
    return low, high
