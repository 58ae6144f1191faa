"""Pools of a row and the law that they allow (Pooled, prop. 3 and 7).

``pools`` is an array, (8, m + 2), whose rows are named below: what is known of the m + 1 pools, and
of the m + 2 knots around them.
"""

from __future__ import annotations

import numpy as np

from otspec.batch._kernels.graded_pools import LOWEST
from otspec.batch._kernels.library import Array
from otspec.batch._rows.machine import inner_code
from otspec.batch._rows.numbers import clipped, rounded
from otspec.batch._rows.outcome import quotient

GRADE = 0
"""Pools: t_0 = 0 to t_m."""
SLOPE = 1
"""Pools: the probability that a pool is selected over its draft mass; not descending."""
ABOVE = 2
"""Knots: the draft mass above, times a power of two, the lift."""
INSIDE = 3
"""Knots: how likely all drafts are below."""
WANTED = 4
"""Knots: the target mass of the pools below."""
ALIVE = 5
"""Knots: 1 for a barrier, else 0."""
KINK = 6
"""Knots: what is left of the kink of the law."""
RATE = 7
"""Knots: how fast the kink wanes."""


@inner_code
def new_pools(grades: int) -> Array:
    """Return room for the pools of a row."""
    return np.zeros((8, grades + 2))


@inner_code
def even_grades(grades: Array, most: float, single: bool) -> None:
    """Write the positive grades, in equal steps from 1/2 to ``most``."""
    for j in range(grades.size):
        grades[j] = rounded(LOWEST + (most - LOWEST) * (j / (grades.size - 1)), single)


@inner_code
def take_overlaps(pools: Array, grades: Array, overlaps: Array, count: float) -> None:
    """Write the grades, and the knots of independent drafts, from Σ min(q, t p) at the grades."""
    last, before, start, knot = pools.shape[1] - 1, 0.0, 0.0, 0.0
    pools[ABOVE, 0], pools[INSIDE, 0] = 1.0, 0.0
    for j in range(1, last):
        end, here = grades[j - 1], overlaps[j - 1]
        knot = max(knot, clipped(1 - (here - before) / (end - start)))
        pools[GRADE, j], pools[ABOVE, j], pools[INSIDE, j] = end, 1 - knot, knot**count
        start, before = end, here
    pools[ABOVE, last], pools[INSIDE, last] = 0.0, 1.0


@inner_code
def best_law(pools: Array, lift: float) -> int:
    """Write the slopes of the best law that the pools allow, and return the knot at its cut."""
    last, tight, lacking = pools.shape[1] - 1, 0, pools[INSIDE, 0]
    for j in range(last):
        mass = pools[ABOVE, j] - pools[ABOVE, j + 1]
        pools[WANTED, j + 1] = pools[WANTED, j] + (pools[GRADE, j] / lift) * mass
        gap = pools[INSIDE, j + 1] - pools[WANTED, j + 1]
        tight = j + 1 if gap > lacking else tight
        lacking = max(gap, lacking)
    low, high = _tangents(pools, lift, tight, lacking)
    slope, most = 0.0, pools[GRADE, last - 1]
    for j in range(last):
        grade = pools[GRADE, j]
        own = max(grade, low) if j < tight else min(grade, high)
        # Where next to nothing is above, a slope is rounding; it must not be below the others.
        slope = max(slope, min(own, most))
        pools[SLOPE, j] = slope
    return tight


@inner_code
def _tangents(pools: Array, lift: float, tight: int, lacking: float) -> tuple[float, float]:
    """Return the least and the largest slope of the law.

    They are those of the lines from (0, 0) and from (1, 1) that touch the lifted target curve. With
    no draft mass on a side there is no line, and a slope that is out of the way.
    """
    last = pools.shape[1] - 1
    beyond = 2 * pools[GRADE, last - 1]
    low, high, under, over = beyond, 0.0, False, False
    for i in range(1, last):
        above, lifted = pools[ABOVE, i], pools[WANTED, i] + lacking
        if i <= tight and lift - above > 0:
            low, under = min(low, lift * (lifted / (lift - above))), True
        if i >= tight and above > 0:
            high, over = max(high, lift * ((1 - lifted) / above)), True
    return low if under else 0.0, high if over else beyond


@inner_code
def write_rest(pools: Array, count: float, weight: Array) -> None:
    """Write the weight (q − b)₊, as :mod:`otspec.batch._kernels.graded_pools` has it.

    It is the target if no draft counts.
    """
    last, j = pools.shape[1] - 2, 0
    high = pools[SLOPE, last] if count > 0 else 0.0
    for i in range(1, last):
        j = i if pools[GRADE, i] <= high else j
    start, at_start = pools[GRADE, j], pools[SLOPE, j]
    rise = clipped((pools[SLOPE, j + 1] - at_start) / (pools[GRADE, j + 1] - start))
    weight[0], weight[1], weight[2], weight[3] = 1.0, at_start - rise * start, rise, high


@inner_code
def position(pools: Array, drafted: float, wanted: float) -> tuple[int, float]:
    """Return the pool at or below a ratio, and how far it is to the next."""
    last, below = pools.shape[1] - 2, 0
    for i in range(1, last + 1):
        below = i if pools[GRADE, i] * drafted <= wanted else below
    low, high = pools[GRADE, below], pools[GRADE, min(below + 1, last)]
    return below, clipped(quotient(wanted - low * drafted, (high - low) * drafted, 0.0))


@inner_code
def law_at(pools: Array, drafted: float, below: int, part: float) -> float:
    """Return the law of the selected token at a draft, given its position."""
    low, high = pools[SLOPE, below], pools[SLOPE, min(below + 1, pools.shape[1] - 2)]
    return drafted * (low + part * (high - low))
