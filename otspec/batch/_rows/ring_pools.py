"""Graded pools of distinct drafts, row by row: grades and knots (Beyond, prop. 6 and 7).

``G`` is an integral over the time of a race, as in :mod:`otspec.batch._kernels.ring_heights`, whose
nodes it is a sum over.
"""

from __future__ import annotations

import math

import numpy as np

from otspec.batch._kernels.library import Array
from otspec.batch._rows.graded_pools import ABOVE, GRADE, INSIDE
from otspec.batch._rows.heaviest import DRAFTED, LIGHT, WANTED
from otspec.batch._rows.machine import inner_code
from otspec.batch._rows.numbers import clipped
from otspec.batch._rows.outcome import quotient

_LATEST = 700.0
"""A number of rings that no token is left after, to the last digit."""
_LONGEST = float(np.finfo(np.float64).max)


@inner_code
def highest_grade(heavy: Array, light: Array, count: float, lift: float, most: float) -> float:
    """Return Σ 1/(1 − s_i) for i = 0 to count − 1, s_i the mass of the i heaviest tokens.

    No token is drafted more often than that times its draft mass. It is at most ``most``.
    """
    number = heavy.shape[1]
    total, left = light[LIGHT], light[LIGHT]
    for i in range(number):
        total += heavy[DRAFTED, i]
    grade, left = 1.0, total
    for i in range(1, int(count)):
        left = light[LIGHT]
        for j in range(min(i, number), number):
            left += heavy[DRAFTED, j]
        grade += quotient(total, left * lift, 0.0) * lift
    return min(grade, most)


@inner_code
def take_knots(
    pools: Array,
    grades: Array,
    kept: Array,
    heavy: Array,
    light: Array,
    count: float,
    lift: float,
    rung: Array,
    weights: Array,
) -> None:
    """Write the grades, the lifted draft mass above each knot, and G.

    Parameters
    ----------
    pools : array
    grades, kept : array, shape (m,)
        The positive grades, and Σ min(q, t p) over light tokens there, lifted.
    heavy : array, shape (2, h)
    light : array, shape (2,)
    count, lift : float
    rung, weights : array
        The nodes of the integral.
    """
    last, number = grades.size + 1, heavy.shape[1]
    below, all_light = np.empty(number), light[LIGHT] * lift
    total, start, at_start, light_over = light[LIGHT], 0.0, 0.0, all_light
    for i in range(number):
        total += heavy[DRAFTED, i]
    pools[ABOVE, 0], pools[INSIDE, 0] = lift, 0.0
    for j in range(1, last):
        end, at_end = grades[j - 1], kept[j - 1]
        light_over = min(light_over, max((at_end - at_start) / (end - start), 0.0))
        above = 0.0
        for i in range(number):
            mass, wanted = heavy[DRAFTED, i] * lift, heavy[WANTED, i] * lift
            over = (min(end * mass, wanted) - min(start * mass, wanted)) / (end - start)
            over = min(max(over, 0.0), mass)
            above += over
            below[i] = (mass - over) / total
        above = (above + light_over) / total
        inside = _all_below(below, (all_light - light_over) / total, above, count, rung, weights)
        # The lesser and the greater, for what rounding has put out of order.
        pools[ABOVE, j] = min(pools[ABOVE, j - 1], above)
        pools[INSIDE, j] = max(pools[INSIDE, j - 1], inside)
        pools[GRADE, j], start, at_start = end, end, at_end
    pools[ABOVE, last], pools[INSIDE, last] = 0.0, 1.0


@inner_code
def _all_below(
    heavy: Array, light: float, above: float, count: float, rung: Array, weights: Array
) -> float:
    """Return G at a knot, of what is below it and above.

    At each node, ``numbers`` are the chances that 0, …, count − 1 rings are below.
    """
    if not above > 0:
        return 1.0
    many, nodes = int(count), rung.size
    times, missed, numbers = np.empty(nodes), np.empty(nodes), np.empty((many, nodes))
    for t in range(nodes):
        times[t] = min(rung[t] / above, _LONGEST)
        due = min(light * times[t], _LATEST)
        numbers[0, t] = math.exp(-due)
        for c in range(1, many):
            numbers[c, t] = numbers[c - 1, t] * due / c
    for i in range(heavy.size):
        if heavy[i] > 0:
            for t in range(nodes):
                missed[t] = math.exp(-heavy[i] * times[t])
            for c in range(many - 1, 0, -1):
                for t in range(nodes):
                    hit = numbers[c - 1, t] * (1 - missed[t])
                    numbers[c, t] = numbers[c, t] * missed[t] + hit
            for t in range(nodes):
                numbers[0, t] *= missed[t]
    missing = 0.0
    for t in range(nodes):
        fewer = 0.0
        for c in range(many):
            fewer += numbers[c, t]
        missing += weights[t] * fewer
    return clipped(1 - missing)
