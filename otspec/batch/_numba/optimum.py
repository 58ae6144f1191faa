"""The optimum for i.i.d. drafts row by row: the least of its tangents (Theory, 1, 2 and 32)."""

import math
from collections.abc import Callable

import numpy as np

from otspec.batch._array_api import optimum, sorted_rows
from otspec.batch._array_api.library import Array, library_of
from otspec.batch._numba.compiled import inner_code, machine_code, rounded
from otspec.batch._numba.passes import PLAIN, overlaps, read_overlaps, split

SCALE = 0  # tangents: from 0 to k, ascending
OUTSIDE = 1  # tangents: the draft mass r outside the sets that they are tangent at, from 1 to 0
OVERLAP = 2  # tangents: Σ min(target, scale·draft)

LOW = 0  # stretches between tangents: the least mass outside that the optimum may have there
HIGH = 1  # stretches: the most
MIDDLE = 2  # stretches: the one that the chord is for
GAP = 3  # stretches: by how much the optimum may be below what is known; 0 if by rounding only
SHARE = 4  # stretches: how many of the next places they get, in proportion
KINDS = 5  # how many rows that array has

_TINY = float(np.finfo(np.float64).smallest_normal)


def acceptance(draft, target, found, k: int) -> None:
    """Write 1 + min over sets A of q(A) − P(all drafts inside A) of each row."""
    if k == 1:
        sums = np.empty((len(found), 1))
        read_overlaps(draft, target, np.ones_like(sums), sums, 0, 1)
        found[:] = np.minimum(sums[:, 0], 1)
        return
    _found(draft, target, found, np.empty_like(found), k, sorted_rows.acceptance, found)


def best_cut(draft, target, scale, outside, cost, k: int) -> None:
    """Write the c of the set A = {q ≤ c·p} that has that minimum in each row, p off A, and q(A)."""
    if k == 1:
        scale[:] = 1
    else:
        _found(draft, target, np.empty_like(scale), scale, k, sorted_rows.best_scale, scale)
    scale[:] = scale.astype(draft.dtype)
    _split(draft, target, scale, outside, cost)


@machine_code
def _split(draft, target, scale, outside, cost) -> None:
    for row in range(draft.shape[0]):
        outside[row], cost[row] = split(draft[row], target[row], scale[row])


def _found(draft, target, least, scale, k: int, decide: Callable[..., Array], wanted) -> None:
    """Write the least tangent and its scale; what is wanted is decided where the row is open."""
    is_open = np.empty(len(least), np.bool_)
    _tangents(draft, target, least, scale, is_open, float(k))
    with np.errstate(all="ignore"):  # which each thread has of its own
        for row in np.flatnonzero(is_open):
            here = slice(row, row + 1)
            wanted[here] = decide(library_of(draft), draft[here], target[here], k)


@machine_code
def _tangents(draft, target, found, best, is_open, k: float) -> None:
    """Write the least tangent of each row, its scale, and whether the optimum may be lower."""
    single = draft.itemsize == 4
    rounds = optimum.ROUNDS if single else optimum.FINE_ROUNDS
    unit = 2.0**-23 if single else 2.0**-52
    most = 1 + optimum.FIRST + rounds * optimum.NEXT
    known, stretches = np.empty((3, most)), np.empty((KINDS, most - 1))
    for row in range(draft.shape[0]):
        known[SCALE, 0], known[OUTSIDE, 0], known[OVERLAP, 0] = 0.0, 1.0, 0.0
        for j in range(1, 1 + optimum.FIRST):
            known[OUTSIDE, j] = _outside_at(j / optimum.FIRST, k)
        start, end, is_open[row] = 1, 1 + optimum.FIRST, True
        while is_open[row] and end <= most:
            _write_scales(known, start, end, k, single)
            scales, sums = known[SCALE, start:end], known[OVERLAP, start:end]
            overlaps(draft[row], target[row], PLAIN, scales, sums)
            _sort(known, start, end)
            found[row], best[row] = _least(known, end, k)
            is_open[row] = _compare(known, end, stretches, found[row], k, unit)
            start, end = end, end + optimum.NEXT
            if is_open[row] and end <= most:
                _next_places(stretches, known, start, end, k)


@inner_code
def _write_scales(known, start: int, end: int, k: float, single: bool) -> None:
    """Turn masses outside into scales, rounded, and the masses that belong to these."""
    for j in range(start, end):
        scale = rounded(_scale(known[OUTSIDE, j], k), single)
        known[SCALE, j] = scale
        known[OUTSIDE, j] = max(-math.expm1(math.log(scale / k) / (k - 1)), 0.0)


@inner_code
def _sort(known, start: int, end: int) -> None:
    """Put the tangents from ``start`` on among those before."""
    for j in range(start, end):
        place = j
        while place > 0 and known[SCALE, place - 1] > known[SCALE, place]:
            for kind in range(known.shape[0]):
                before = known[kind, place - 1]
                known[kind, place - 1], known[kind, place] = known[kind, place], before
            place -= 1


@inner_code
def _least(known, size: int, k: float) -> tuple[float, float]:
    """Return the least that is known, which is at least the optimum, and its scale."""
    least, scale = math.inf, 0.0
    for j in range(size):
        value = known[OVERLAP, j] + _two_outside(known[OUTSIDE, j], k)
        if value < least:
            least, scale = value, known[SCALE, j]
    return least, scale


@inner_code
def _compare(known, size: int, stretches, least: float, k: float, unit: float) -> bool:
    """Write where between tangents the optimum may be, and how low; return whether anywhere."""
    is_open, last, most = False, size - 2, math.inf
    for j in range(last + 1):
        slope, error = _slope(known, j, unit)
        # At an optimum the mass outside is the slope there, between those of the neighbors.
        lowest = 0.0
        if j < last:
            after, its_error = _slope(known, j + 1, unit)
            lowest = after - its_error
        low = max(known[OUTSIDE, j + 1], lowest)
        high = min(known[OUTSIDE, j], most)
        possible = known[SCALE, j + 1] - known[SCALE, j] > 0 and high >= low
        high = max(low, high)
        middle = min(max(slope, low), high)
        chord = slope * (_scale(middle, k) - known[SCALE, j])
        gap = least - (known[OVERLAP, j] + chord + _two_outside(middle, k))
        gap = gap if possible and gap > optimum.LEFT * unit else 0.0
        stretches[LOW, j], stretches[HIGH, j], stretches[MIDDLE, j] = low, high, middle
        stretches[GAP, j], stretches[SHARE, j] = gap, np.sqrt(gap)
        is_open = is_open or gap > 0
        most = slope + error
    return is_open


@inner_code
def _slope(known, j: int, unit: float) -> tuple[float, float]:
    """Return the slope of a chord, and what it may be off."""
    width = known[SCALE, j + 1] - known[SCALE, j]
    # Of equal scales nothing follows for the neighbors.
    per = 1 / (width if width > 0 else _TINY)
    return (known[OVERLAP, j + 1] - known[OVERLAP, j]) * per, optimum.SUMS * unit * per


@inner_code
def _next_places(stretches, known, start: int, end: int, k: float) -> None:
    """Write where to look next: every stretch gets its share of the places."""
    whole, last = 0.0, start - 2
    for j in range(last + 1):
        whole += stretches[SHARE, j]
    j, passed = 0, stretches[SHARE, 0]
    for i in range(start, end):
        mark = (i - start + 1) / (end - start + 1) * whole
        while passed <= mark and j < last:
            j += 1
            passed += stretches[SHARE, j]
        # −1 to 1 from end to end of the stretch, 0 where the minimum is expected.
        part = 1 + 2 * (mark - passed) / stretches[SHARE, j]
        left, right = _height(stretches[HIGH, j], k), _height(stretches[LOW, j], k)
        edge = optimum.EDGE * (right - left)
        center = min(max(_height(stretches[MIDDLE, j], k), left + edge), right - edge)
        near = min(abs(part), 1.0) ** optimum.NEARER
        height = center + near * ((left if part < 0 else right) - center)
        known[OUTSIDE, i] = _outside_at(height, k)


@inner_code
def _scale(outside: float, k: float) -> float:
    """Return k (1 − r)^(k−1)."""
    return k * math.exp((k - 1) * math.log1p(-outside))


@inner_code
def _two_outside(outside: float, k: float) -> float:
    """Return 1 − (1 − r)^k − k r (1 − r)^(k−1)."""
    return 1 - math.exp((k - 1) * math.log1p(-outside)) * (1 + (k - 1) * outside)


@inner_code
def _height(outside: float, k: float) -> float:
    """Return (1 − r)^(k/2): stretches of one height have about as much room for the optimum."""
    return math.exp(0.5 * k * math.log1p(-outside))


@inner_code
def _outside_at(height: float, k: float) -> float:
    """Return the r of a height."""
    return -math.expm1(math.log(height) * (2 / k))
