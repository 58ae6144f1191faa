"""Pooled selection row by row (Pooled, prop. 3, 4 and 7).

A draft is selected by pools and barriers, as in ``_array_api.pooled``, then coupled maximally.
"""

import math

import numpy as np

from otspec.batch._array_api.pooled.graded_pools import LOWEST
from otspec.batch._numba.compiled import (
    DRAWN,
    ZERO,
    accepts,
    clipped,
    holds,
    inner_code,
    machine_code,
    rounded,
    split,
)
from otspec.batch._numba.models import row_of
from otspec.batch._numba.passes import (
    PLAIN,
    Units,
    Weight,
    both_of,
    draw_rest,
    overlaps,
    served,
)


@inner_code
def group_of(pools, tight: int, top: int, factor: float, uniform: float) -> tuple[int, int]:
    """Return the barriers around the group of pools that holds pool ``top``."""
    # The knot `tight`, at the cut, is always a barrier, as are both ends.
    low, high, last = top, top + 1, pools.shape[1] - 1
    while low > 0 and low != tight and not _is_barrier(pools, low, factor, uniform):
        low -= 1
    while high < last and high != tight and not _is_barrier(pools, high, factor, uniform):
        high += 1
    return low, high


@inner_code
def _is_barrier(pools, knot: int, factor: float, uniform: float) -> bool:
    """Return whether all chords that end at a knot are less steep than those that begin there."""
    # They are those of B − u G, B the law that is wanted below a knot.
    ending, beginning, width, rise = -math.inf, math.inf, 0.0, 0.0
    for j in range(knot - 1, -1, -1):
        width += pools[ABOVE, j] - pools[ABOVE, j + 1]
        rise += _rise(pools, j, factor, uniform)
        ending = max(ending, rise / width) if width > 0 else ending
    width, rise = 0.0, 0.0
    for j in range(knot, pools.shape[1] - 1):
        width += pools[ABOVE, j] - pools[ABOVE, j + 1]
        rise += _rise(pools, j, factor, uniform)
        beginning = min(beginning, rise / width) if width > 0 else beginning
    return beginning > ending


@inner_code
def _rise(pools, j: int, factor: float, uniform: float) -> float:
    """Return by how much B − u G rises over a pool."""
    wanted = (pools[SLOPE, j] / factor) * (pools[ABOVE, j] - pools[ABOVE, j + 1])
    return wanted - uniform * (pools[INSIDE, j + 1] - pools[INSIDE, j])


_LEAST = float(np.finfo(np.float64).smallest_normal)

GRADE = 0  # pools: t_0 = 0 to t_m
SLOPE = 1  # pools: the probability that a pool is selected over its draft mass; not descending
ABOVE = 2  # knots: the draft mass above, times a power of two, the factor
INSIDE = 3  # knots: how likely all drafts are below
WANTED = 4  # knots: the target mass of the pools below
KINDS = 5  # how many rows there are


@inner_code
def even_grades(grades, most: float, single: bool) -> None:
    """Write the positive grades, in equal steps from 1/2 to ``most``."""
    for j in range(grades.size):
        grades[j] = rounded(LOWEST + (most - LOWEST) * (j / (grades.size - 1)), single)


@inner_code
def take_overlaps(pools, grades, overlaps, count: float) -> None:
    """Write the grades, and the knots of independent drafts, from Σ min(q, t p) at the grades."""
    last, before, start, knot = pools.shape[1] - 1, 0.0, 0.0, 0.0
    pools[GRADE, 0], pools[ABOVE, 0], pools[INSIDE, 0] = 0.0, 1.0, 0.0
    for j in range(1, last):
        end, here = grades[j - 1], overlaps[j - 1]
        knot = max(knot, clipped(1 - (here - before) / (end - start)))
        pools[GRADE, j], pools[ABOVE, j], pools[INSIDE, j] = end, 1 - knot, knot**count
        start, before = end, here
    pools[ABOVE, last], pools[INSIDE, last] = 0.0, 1.0


@inner_code
def best_law(pools, factor: float) -> int:
    """Write the slopes of the best law that the pools allow, and return the knot at its cut."""
    last, tight, lacking = pools.shape[1] - 1, ZERO, pools[INSIDE, 0]
    pools[WANTED, 0] = 0.0
    for j in range(last):
        mass = pools[ABOVE, j] - pools[ABOVE, j + 1]
        pools[WANTED, j + 1] = pools[WANTED, j] + (pools[GRADE, j] / factor) * mass
        gap = pools[INSIDE, j + 1] - pools[WANTED, j + 1]
        tight = j + 1 if gap > lacking else tight
        lacking = max(gap, lacking)
    low, high = _tangents(pools, factor, lacking)
    for j in range(last):
        pools[SLOPE, j] = min(max(pools[GRADE, j], low), high)
    return tight


@inner_code
def _tangents(pools, factor: float, lacking: float) -> tuple[float, float]:
    """Return the least and the largest slope of the law, at most and at least 1."""
    # They are those of the lines from (0, 0) and from (1, 1) that touch the raised target curve.
    low, high = 1 / factor, 1 / factor
    for i in range(pools.shape[1]):
        above, raised = pools[ABOVE, i], pools[WANTED, i] + lacking
        if factor - above > 0:
            low = min(low, raised / (factor - above))
        if above > 0:
            high = max(high, (1 - raised) / above)
    return factor * low, factor * high


@inner_code
def rest_weight(pools, units: Units, count: float) -> Weight:
    """Return the weight (q − b)₊, as :mod:`otspec.batch._array_api.pooled.graded_pools` has it."""
    # It is the target if no draft counts.
    last, j = pools.shape[1] - 2, 0
    high = pools[SLOPE, last] if count > 0 else 0.0
    for i in range(1, last + 1):
        j = i if pools[GRADE, i] <= high else j
    grade, slope, rise = pools[GRADE, j], pools[SLOPE, j], 0.0
    if j < last:
        rise = clipped((high - slope) / (pools[GRADE, j + 1] - grade))
    return units, slope - rise * grade, rise, high


@inner_code
def level(pools, drafted: float, wanted: float) -> tuple[int, float, float]:
    """Return the pool at or below a draft's ratio, how far it is to the next, and the law there."""
    below, part, slope = 0, 0.0, pools[SLOPE, 0]
    # What is never drafted is in the lowest pool if it is not wanted, else in the highest.
    ratio = wanted / (drafted + _LEAST)
    for j in range(pools.shape[1] - 2):
        scale = 1 / (pools[GRADE, j + 1] - pools[GRADE, j])
        filled = clipped(ratio * scale - pools[GRADE, j] * scale)
        below += filled >= 1
        part += filled if filled < 1 else 0.0
        slope += filled * (pools[SLOPE, j + 1] - pools[SLOPE, j])
    return below, part, drafted * slope


@machine_code
def verify(draft, target, drafts, uniforms, valid, token, accepted, index, grades: int) -> None:
    """Select one of the drafts of a row by graded pools, then couple it with the target."""
    pools, pool = np.empty((KINDS, grades + 2)), np.empty(valid.shape[1], np.int64)
    for row in range(drafts.shape[0]):
        (its, unit), (wanted, other) = row_of(draft, row), row_of(target, row)
        units, tokens, count = (unit, other), drafts[row], float(valid[row].sum())
        tight = _take_law(its, wanted, units, count, pools)
        index[row] = _selected(
            pools, tight, its, wanted, units, tokens, uniforms[row], valid[row], pool
        )
        if index[row] >= 0:
            token[row] = tokens[index[row]]
        else:
            token[row] = draw_rest(its, wanted, rest_weight(pools, units, count), uniforms[row, -1])
        accepted[row] = holds(tokens, valid[row], token[row])


@inner_code
def _take_law(draft, target, units: Units, count: float, pools) -> int:
    """Write the pools of a row and the law of the selected draft; return the knot at its cut."""
    scales, kept = np.empty(pools.shape[1] - 2), np.empty(pools.shape[1] - 2)
    even_grades(scales, max(count, 1.0), draft.itemsize == 4)
    overlaps(draft, target, units, scales, kept)
    take_overlaps(pools, scales, kept, max(count, 1.0))
    return best_law(pools, 1.0)


@machine_code
def acceptance(draft, target, found, k: int, grades: int) -> None:
    """Write Σ min(b, q) for each row, b the law of the selected draft."""
    pools, count = np.empty((KINDS, grades + 2)), float(k)
    for row in range(found.size):
        _take_law(draft[row], target[row], PLAIN, count, pools)
        found[row] = served(draft[row], target[row], rest_weight(pools, PLAIN, count))


@inner_code
def _selected(pools, tight: int, draft, target, units: Units, drafts, uniforms, valid, pool) -> int:
    """Return which draft is selected and accepted, or −1."""
    top, moment, left = ZERO, 0.0, 0.0
    for i in range(pool.size):
        token = drafts[i] if valid[i] else 0
        drafted, wanted = both_of(draft, target, units, token)
        below, part, _ = level(pools, drafted, wanted)
        up, left = split(uniforms[i], part)
        moment = left if i == 0 else moment
        pool[i] = below + up if valid[i] else -1
        top = max(top, pool[i])
    lowest, _ = group_of(pools, tight, top, 1.0, moment)
    took, accepting = _chosen(pool, lowest, left)
    if took < 0:
        return DRAWN
    drafted, wanted = both_of(draft, target, units, drafts[took])
    _, _, law = level(pools, drafted, wanted)
    return took if accepts(accepting, wanted, law) else DRAWN


@inner_code
def _chosen(pool, lowest: int, uniform: float) -> tuple[int, float]:
    """Return one of the drafts in pools from the lowest, −1 if there is none, and what is left."""
    size = 0
    for i in range(pool.size):
        size += pool[i] >= lowest
    place = min(int(uniform * size), size - 1)
    left = uniform * size - place
    for i in range(pool.size):
        if pool[i] >= lowest:
            if place == 0:
                return i, left
            place -= 1
    return DRAWN, left
