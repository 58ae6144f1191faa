"""Pools of a row and the law that they allow (Pooled, prop. 3 and 7).

``pools`` is an array, (5, m + 2), whose rows are named below: what is known of the m + 1 pools, and
of the m + 2 knots around them.
"""

import math

import numpy as np

from otspec.batch._array_api.pooled.graded_pools import LOWEST
from otspec.batch._numba.compiled import inner_code
from otspec.batch._numba.outcome import ZERO, clipped, rounded

_LEAST = float(np.finfo(np.float64).smallest_normal)

GRADE = 0  # pools: t_0 = 0 to t_m
SLOPE = 1  # pools: the probability that a pool is selected over its draft mass; not descending
ABOVE = 2  # knots: the draft mass above, times a power of two, the factor
INSIDE = 3  # knots: how likely all drafts are below
WANTED = 4  # knots: the target mass of the pools below
KINDS = 5
"""How many rows there are."""


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
    low, high = _tangents(pools, factor, tight, lacking)
    slope, most = 0.0, pools[GRADE, last - 1]
    for j in range(last):
        grade = pools[GRADE, j]
        own = min(max(grade, low), most) if j < tight else min(grade, high)
        # Where next to nothing is above, a slope is rounding; it must not be below the others.
        slope = max(slope, own)
        pools[SLOPE, j] = slope
    return tight


@inner_code
def _tangents(pools, factor: float, tight: int, lacking: float) -> tuple[float, float]:
    """Return the least and the largest slope of the law."""
    # They are those of the lines from (0, 0) and from (1, 1) that touch the raised target curve.
    # With no draft mass on a side there is no line, and a slope that is out of the way.
    low, high = math.inf, -1.0
    for i in range(pools.shape[1]):
        above, raised = pools[ABOVE, i], pools[WANTED, i] + lacking
        if i <= tight and factor - above > 0:
            low = min(low, raised / (factor - above))
        if i >= tight and above > 0:
            high = max(high, max(1 - raised, 0.0) / above)
    return factor * low if low < math.inf else 0.0, factor * high if high >= 0 else math.inf


@inner_code
def write_rest(pools, count: float, weight) -> None:
    """Write the weight (q − b)₊, as :mod:`otspec.batch._array_api.pooled.graded_pools` has it."""
    # It is the target if no draft counts.
    last, j = pools.shape[1] - 2, 0
    high = pools[SLOPE, last] if count > 0 else 0.0
    for i in range(1, last + 1):
        j = i if pools[GRADE, i] <= high else j
    grade, slope, rise = pools[GRADE, j], pools[SLOPE, j], 0.0
    if j < last:
        rise = clipped((high - slope) / (pools[GRADE, j + 1] - grade))
    weight[0], weight[1], weight[2], weight[3] = 1.0, slope - rise * grade, rise, high


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
