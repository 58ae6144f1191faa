"""Graded pools of distinct drafts, row by row: grades and knots (Beyond, prop. 6 and 7).

``G`` is an integral over the time of a race, as in :mod:`otspec.batch._kernels.ring_heights`, whose
nodes it is a sum over.
"""

from __future__ import annotations

import numpy as np

from otspec.batch._kernels.library import Array
from otspec.batch._rows.exponential import LEAST, exponentials
from otspec.batch._rows.graded_pools import ABOVE, GRADE, INSIDE
from otspec.batch._rows.heaviest import DRAFTED, WANTED
from otspec.batch._rows.machine import inner_code, machine_code
from otspec.batch._rows.numbers import clipped, number_of
from otspec.batch._rows.outcome import quotient

_LONGEST = float(np.finfo(np.float64).max)


@inner_code
def highest_grade(heavy: Array, light: float, count: float, lift: float, most: float) -> float:
    """Return Σ 1/(1 − s_i) for i = 0 to count − 1, s_i the mass of the i heaviest tokens.

    No token is drafted more often than that times its draft mass. It is at most ``most``.
    """
    number = heavy.shape[1]
    total = light
    for i in range(number):
        total += heavy[DRAFTED, i]
    grade, left = 1.0, total
    for i in range(1, int(count)):
        left = light
        for j in range(min(i, number), number):
            left += heavy[DRAFTED, j]
        grade += quotient(total, left * lift, 0.0) * lift
    return min(grade, most)


@machine_code
def write_knots(
    grades: Array,
    kept: Array,
    heavy: Array,
    light: Array,
    lift: float,
    pools: Array,
    below: Array,
) -> None:
    """Write the grades, the lifted draft mass above each knot, and what is below it, row by row.

    Parameters
    ----------
    grades, kept : array, shape (rows, m)
        The positive grades, and Σ min(q, t p) over light tokens there, lifted.
    heavy : array, shape (rows, 2, h)
    light : array, shape (rows,)
    lift : float
    pools : array
    below : array, shape (rows, m, h + 1)
        What of each heavy token is below, and last what of the light ones is.
    """
    last, number = grades.shape[1] + 1, heavy.shape[2]
    for row in range(grades.shape[0]):
        own, all_light, total = pools[row], light[row] * lift, light[row]
        start, at_start, light_over = 0.0, 0.0, all_light
        for i in range(number):
            total += heavy[row, DRAFTED, i]
        own[GRADE, 0], own[ABOVE, 0], own[ABOVE, last] = 0.0, lift, 0.0
        for j in range(1, last):
            end, at_end, above = grades[row, j - 1], kept[row, j - 1], 0.0
            light_over = min(light_over, max((at_end - at_start) / (end - start), 0.0))
            for i in range(number):
                mass, wanted = heavy[row, DRAFTED, i] * lift, heavy[row, WANTED, i] * lift
                over = (min(end * mass, wanted) - min(start * mass, wanted)) / (end - start)
                over = min(max(over, 0.0), mass)
                above += over
                below[row, j - 1, i] = (mass - over) / total
            below[row, j - 1, number] = (all_light - light_over) / total
            own[GRADE, j], own[ABOVE, j] = end, (above + light_over) / total
            start, at_start = end, at_end


@machine_code
def write_heights(pools: Array, below: Array, valid: Array, rung: Array, weights: Array) -> None:
    """Write G at the knots of each row, and put in order what rounding has not.

    Parameters
    ----------
    pools, below : array
    valid : array, shape (rows, k)
    rung, weights : array
        The nodes of the integral.
    """
    last = pools.shape[2] - 1
    for row in range(pools.shape[0]):
        own, count = pools[row], max(number_of(valid[row]), 1.0)
        own[INSIDE, 0], own[INSIDE, last] = 0.0, 1.0
        for j in range(1, last):
            inside = _all_below(below[row, j - 1], own[ABOVE, j], count, rung, weights)
            own[INSIDE, j] = max(own[INSIDE, j - 1], inside)
        for j in range(1, last):
            own[ABOVE, j] = min(own[ABOVE, j - 1], own[ABOVE, j])


@inner_code
def _all_below(below: Array, above: float, count: float, rung: Array, weights: Array) -> float:
    """Return G at a knot, of what is below it and above.

    At each node, ``numbers`` are the chances that 0, …, count − 1 rings are below.
    """
    if not above > 0:
        return 1.0
    many, nodes, light = int(count), rung.size, below[-1]
    room, numbers = np.empty((4, nodes)), np.empty((many, nodes))
    times, powers, missed, shifted = room[0], room[1], room[2], room[3]
    for t in range(nodes):
        times[t] = min(rung[t] / above, _LONGEST)
        powers[t] = max(-light * times[t], LEAST)
    exponentials(powers, numbers[0], shifted)
    for c in range(1, many):
        for t in range(nodes):
            numbers[c, t] = numbers[c - 1, t] * -powers[t] / c
    for i in range(below.size - 1):
        if below[i] > 0:
            for t in range(nodes):
                powers[t] = -below[i] * times[t]
            exponentials(powers, missed, shifted)
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
