"""Graded pools of distinct drafts, row by row: grades and knots (Beyond, prop. 6 and 7).

``G`` is the integral of :mod:`otspec.batch._array_api.pooled.clock_pools`. ``e^x`` of many numbers
at once is in steps that vector instructions take, unlike a call for each.
"""

import math

import numpy as np

from otspec.batch._numba.compiled import clipped, fused, greater, inner_code, quotient
from otspec.batch._numba.pooled.graded_pools import ABOVE, GRADE, INSIDE
from otspec.batch._numba.pooled.heaviest import DRAFTED, WANTED

LEAST = -700.0  # below, e^x is nothing beside 1, and next to what a float64 holds
_FOLDS = 1 / math.log(2)
_HIGH = float.fromhex("0x1.62E42FEEp-1")
"""The first 32 bits of log 2, whose products with small integers are exact."""
_LOW = float.fromhex("0x1.A39EF35793C76p-33")  # the other bits of log 2
_SHIFT = 1.5 * 2.0**52  # added to a number, leaves its nearest integer in the last bits
_WIDE = 8  # of so many nodes at once no loop has some left over
_TERMS = tuple(1 / math.factorial(i) for i in range(14))


@inner_code
def exponentials(powers, values, shifted) -> None:
    """Write e^x of numbers that are at most 0, to within a few last digits."""
    # e^x = 2^n e^r, n the integer nearest to x/log 2, by the series of e^r, where 14 terms are more
    # than a float64 holds. Of `shifted`, as large, nothing is kept.
    for i in range(powers.size):
        x = greater(powers[i], LEAST)
        shifted[i] = x * _FOLDS + _SHIFT
        n = shifted[i] - _SHIFT
        r = (x - n * _HIGH) - n * _LOW
        value = _TERMS[13]
        value = fused(value, r, _TERMS[12])
        value = fused(value, r, _TERMS[11])
        value = fused(value, r, _TERMS[10])
        value = fused(value, r, _TERMS[9])
        value = fused(value, r, _TERMS[8])
        value = fused(value, r, _TERMS[7])
        value = fused(value, r, _TERMS[6])
        value = fused(value, r, _TERMS[5])
        value = fused(value, r, _TERMS[4])
        value = fused(value, r, _TERMS[3])
        value = fused(value, r, _TERMS[2])
        value = fused(value, r, 1.0)
        values[i] = fused(value, r, 1.0)
    _times_powers_of_two(values.view(np.int64), shifted.view(np.int64))


@inner_code
def _times_powers_of_two(values, shifted) -> None:
    """Add to the exponents of floats, given by their bits, the integers in the last bits."""
    for i in range(values.size):
        values[i] += shifted[i] << 52


_LONGEST = float(np.finfo(np.float64).max)


@inner_code
def highest_grade(heavy, light: float, count: float, factor: float, most: float) -> float:
    """Return Σ 1/(1 − s_i) for i = 0 to count − 1, s_i the mass of the i heaviest tokens."""
    # No token is drafted more often than that times its draft mass. It is at most `most`.
    number = heavy.shape[1]
    total = light
    for i in range(number):
        total += heavy[DRAFTED, i]
    grade, left = 1.0, total
    for i in range(1, int(count)):
        left = light
        for j in range(min(i, number), number):
            left += heavy[DRAFTED, j]
        grade += quotient(total, left * factor, 0.0) * factor
    return min(grade, most)


@inner_code
def write_knots(grades, kept, heavy, light: float, factor: float, pools, below) -> None:
    """Write the grades, the scaled draft mass above each knot, and what is below it."""
    # `kept` is Σ min(q, t p) over light tokens at the grades, scaled; `below` is (m, h + 1), of
    # each heavy token and last of the light ones together.
    last, number, all_light, total = grades.size + 1, heavy.shape[1], light * factor, light
    start, at_start, light_over = 0.0, 0.0, all_light
    for i in range(number):
        total += heavy[DRAFTED, i]
    pools[GRADE, 0], pools[ABOVE, 0], pools[ABOVE, last] = 0.0, factor, 0.0
    for j in range(1, last):
        end, at_end, above = grades[j - 1], kept[j - 1], 0.0
        light_over = min(light_over, max((at_end - at_start) / (end - start), 0.0))
        for i in range(number):
            mass, wanted = heavy[DRAFTED, i] * factor, heavy[WANTED, i] * factor
            over = (min(end * mass, wanted) - min(start * mass, wanted)) / (end - start)
            over = min(max(over, 0.0), mass)
            above += over
            below[j - 1, i] = (mass - over) / total
        below[j - 1, number] = (all_light - light_over) / total
        pools[GRADE, j], pools[ABOVE, j] = end, (above + light_over) / total
        start, at_start = end, at_end


@inner_code
def write_heights(pools, below, count: float, moments, weights) -> None:
    """Write G at the knots, and put in order what rounding has not."""
    last = pools.shape[1] - 1
    _write_inside(pools, below, int(max(count, 1.0)), moments, weights)
    pools[INSIDE, 0], pools[INSIDE, last] = 0.0, 1.0
    for j in range(1, last):
        pools[INSIDE, j] = max(pools[INSIDE, j - 1], clipped(1 - pools[INSIDE, j]))
        pools[ABOVE, j] = min(pools[ABOVE, j - 1], pools[ABOVE, j])


@inner_code
def _write_inside(own, below, many: int, moments, weights) -> None:
    """Write what is missing of G to 1 at each knot, of what is below it and above."""
    # At each node of the integral `numbers` are the chances that 0, …, k − 1 arrivals are below,
    # for one knot after the other, whose nodes end at `ends`. They are 1 in all at early nodes.
    knots, ends = below.shape[0], np.empty(below.shape[0], np.int64)
    room = knots * (moments.size + _WIDE)
    times, shares, used = np.zeros(room), np.zeros(room), 0
    for j in range(knots):
        above, missing = own[ABOVE, j + 1], 0.0
        early, late = _span(below[j], above, many, moments)
        for t in range(early):
            missing += weights[t]
        for t in range(early, late):
            times[used], shares[used] = min(moments[t] / above, _LONGEST), weights[t]
            used += 1
        used = (used + _WIDE - 1) // _WIDE * _WIDE  # those after the last weigh nothing
        own[INSIDE, j + 1], ends[j] = missing, used
    powers, missed, shifted = np.empty(used), np.empty(used), np.empty(used)
    numbers = np.empty((many, used))
    _write_powers(powers, below[:, -1], times, ends)
    exponentials(powers, numbers[0], shifted)
    for c in range(1, many):
        _write_term(numbers[c], numbers[c - 1], powers, c)
    for i in range(below.shape[1] - 1):
        if below[:, i].any():
            _write_powers(powers, below[:, i], times, ends)
            exponentials(powers, missed, shifted)
            for c in range(many - 1, 0, -1):
                _mix(numbers[c], numbers[c - 1], missed)
            for t in range(used):
                numbers[0, t] *= missed[t]
    start = 0
    for j in range(knots):
        for t in range(start, ends[j]):
            fewer = 0.0
            for c in range(many):
                fewer += numbers[c, t]
            own[INSIDE, j + 1] += shares[t] * fewer
        start = ends[j]


@inner_code
def _write_term(own, lower, powers, c: int) -> None:
    """Write how likely a Poisson number is c, from how likely it is c − 1."""
    share = 1 / c
    for t in range(own.size):  # a loop by itself, which compilers make wide
        own[t] = lower[t] * -greater(powers[t], LEAST) * share


@inner_code
def _mix(own, lower, share) -> None:
    """Write share · own + (1 − share) · lower."""
    for t in range(own.size):
        own[t] = own[t] * share[t] + lower[t] * (1 - share[t])


@inner_code
def _write_powers(powers, masses, times, ends) -> None:
    """Write the negative products of the mass of each knot and the times of its nodes."""
    start = 0
    for j in range(ends.size):
        own, moments, mass = powers[start : ends[j]], times[start : ends[j]], -masses[j]
        for t in range(own.size):  # from 0 on, which compilers make wide
            own[t] = mass * moments[t]
        start = ends[j]


@inner_code
def _span(below, above: float, many: int, moments) -> tuple[int, int]:
    """Return from which node on enough arrivals may be below, and until where too few may be."""
    # Until a time x of the clock of what is below, k have counted with a chance of at most x^k/k!;
    # by the clock of the light tokens alone, a Poisson number at least. Chances below the first of
    # the nodes are left out, as what is before it is.
    low, high, total, nothing = 0, moments.size, 0.0, moments[0]
    if not above > 0:
        return 0, 0
    for mass in below:
        total += mass
    while low < high:
        middle = (low + high) // 2
        if _last_term(moments[middle] / above * total, many) <= nothing:
            low = middle + 1
        else:
            high = middle
    early, high = low, moments.size
    while low < high:
        middle = (low + high) // 2
        if _fewer(moments[middle] / above * below[-1], many) > nothing:
            low = middle + 1
        else:
            high = middle
    return early, low


@inner_code
def _last_term(mean: float, many: int) -> float:
    """Return x^k/k!."""
    term = 1.0
    for c in range(1, many + 1):
        term *= mean / c
    return term


@inner_code
def _fewer(mean: float, many: int) -> float:
    """Return how likely a Poisson number is below k."""
    term = math.exp(-min(mean, -LEAST))
    total = term
    for c in range(1, many):
        term *= mean / c
        total += term
    return total
