"""The choice among distinct drafts of a row by their arrivals (Beyond, prop. 6).

Each stage is an arrival that counts, after others. ``drafts`` is an array, (8, k + 1), of what is
known of the drafts, or of their first few, in the order in which they arrived first. ``stages`` is
an array of integers, (4, k). Their rows are named below; all masses are scaled.
"""

from functools import cache
from typing import NamedTuple

import numpy as np

from otspec.batch._array_api.library import BLOCK, Array, Library, library_of
from otspec.batch._array_api.pooled.clock_pools import HEAVY as MOST_HEAVY
from otspec.batch._array_api.pooled.clock_pools import nodes
from otspec.batch._numba.compiled import (
    DRAWN,
    ZERO,
    accepts,
    clipped,
    inner_code,
    machine_code,
    quotient,
    split,
)
from otspec.batch._numba.passes import draw_rest, locate, read_drafts
from otspec.batch._numba.pooled.clock_pools import highest_grade, write_heights, write_knots
from otspec.batch._numba.pooled.graded_pools import ABOVE as ABOVE_KNOT
from otspec.batch._numba.pooled.graded_pools import (
    KINDS,
    best_law,
    even_grades,
    group_of,
    level,
    write_rest,
)
from otspec.batch._numba.pooled.heaviest import read_heavy, read_lefts, read_light

MASS = 0  # the draft's probability, 0 where a draft does not count
HEAVY = 1  # 1 where only the first arrival of the token counts, else 0
BELOW = 2  # the lower of the two pools of a draft
PART = 3  # how likely an arrival is in the upper one
WEIGHT = 4  # a weight of the moment
COUNTED = 5  # after so many drafts: the mass that arrives and counts
NEW = 6  # after so many drafts: how likely the next arrival that counts is of another
LAW = 7  # what of the selected draft's law is each one's

BEFORE = 0  # how many drafts have arrived before the stage
TOKEN = 1  # which draft the arrival that counts is of
POOL = 2  # its pool
AGAIN = 3  # the highest pool of the arrivals before it in the stage, −1 if there are none


@inner_code
def _select(pools, tight, pairs, borders, lefts, uniforms, valid, factor: float, index) -> None:
    """Write which draft of each row is selected and accepted, or −1."""
    # `pairs` are the draft's and the target's probability of each draft, `lefts` the draft mass off
    # the first ones; `borders` are the masses up to which tokens are light.
    k = valid.shape[1]
    drafts, stages = np.empty((8, k + 1)), np.empty((4, k), np.int64)
    for row in range(index.size):
        own = pools[row]
        _take_drafts(drafts, own, pairs[row], borders[row], lefts[row], valid[row], factor)
        moment, left = _arrive(drafts, stages, own.shape[1], uniforms[row])
        top, arrived = ZERO, ZERO
        for s in range(k):
            if valid[row, s]:
                top = max(top, stages[POOL, s], stages[AGAIN, s])
                arrived += stages[TOKEN, s] == stages[BEFORE, s]
            else:
                stages[POOL, s], stages[AGAIN, s] = -1, -1
        lowest, end = group_of(own, tight[row], top, factor, moment)
        above, beyond = own[ABOVE_KNOT, lowest], own[ABOVE_KNOT, end]
        _weigh(drafts, stages, lowest, end, arrived, above - beyond, beyond)
        took, accepting = locate(drafts[WEIGHT, :k], left)
        passed = accepts(accepting, pairs[row, took, 1] * factor, drafts[LAW, took])
        index[row] = took if valid[row, took] and passed else DRAWN


@inner_code
def _take_drafts(drafts, pools, pairs, border: float, lefts, valid, factor: float) -> None:
    """Write what is known of the drafts."""
    light = 0.0
    for i in range(lefts.size):
        drafts[COUNTED, i] = lefts[i] * factor + light
        drafts[NEW, i] = quotient(lefts[i] * factor, drafts[COUNTED, i], 1.0)
        if i < valid.size:
            mass = pairs[i, 0] * factor
            below, part, law = level(pools, mass, pairs[i, 1] * factor)
            drafts[BELOW, i], drafts[PART, i], drafts[LAW, i] = below, part, law
            drafts[MASS, i] = mass if valid[i] else 0.0
            drafts[HEAVY, i] = 1.0 if pairs[i, 0] > border else 0.0
            light += drafts[MASS, i] * (1.0 - drafts[HEAVY, i])


@inner_code
def _arrive(drafts, stages, knots: int, uniforms) -> tuple[float, float]:
    """Write the arrivals of each stage, by one uniform number each."""
    # Return what is left of the first number and of the last.
    k, arrived, moment, left = stages.shape[1], ZERO, 0.0, 0.0
    repeats = np.empty(knots)
    for s in range(k):
        new, left = split(uniforms[s], drafts[NEW, arrived])
        token = arrived
        if not new:  # a light one again
            for i in range(arrived):
                drafts[WEIGHT, i] = drafts[MASS, i] * (1.0 - drafts[HEAVY, i])
            token, left = locate(drafts[WEIGHT, :arrived], left)
        up, left = split(left, drafts[PART, token])
        _write_repeats(drafts, arrived, repeats)
        highest, left = locate(repeats, left)
        stages[BEFORE, s], stages[TOKEN, s] = arrived, token
        stages[POOL, s], stages[AGAIN, s] = int(drafts[BELOW, token]) + up, highest - 1
        arrived += new
        moment = left if s == 0 else moment
    return moment, left


@inner_code
def _above(drafts, i: int, knot: int) -> float:
    """Return what of a draft is above a knot."""
    part = drafts[PART, i] if drafts[BELOW, i] + 1 >= knot else 0.0
    return drafts[MASS, i] * (1.0 if drafts[BELOW, i] >= knot else part)


@inner_code
def _write_repeats(drafts, arrived: int, law) -> None:
    """Write the law of the highest pool of arrivals that do not count, after ``arrived`` drafts."""
    # First that there are none.
    before, counted = 0.0, drafts[COUNTED, arrived]
    for knot in range(law.size):
        above = 0.0
        for i in range(arrived):
            above += drafts[HEAVY, i] * _above(drafts, i, knot)
        none = quotient(counted, counted + above, 0.0) if above > 0 else 1.0
        law[knot] = max(none - before, 0.0)
        before = none


@inner_code
def _weigh(
    drafts, stages, lowest: int, end: int, arrived: int, group: float, beyond: float
) -> None:
    """Write how likely each draft is selected, given the arrivals, from between two knots."""
    # Of the draft mass `group` is in it, and `beyond` is above.
    k, stage, counts = stages.shape[1], 0, False
    for s in range(k - 1, -1, -1):  # where the group has its first arrival
        if stages[AGAIN, s] >= lowest or stages[POOL, s] >= lowest:
            stage, counts = s, stages[AGAIN, s] < lowest
    itself, before = stages[TOKEN, stage], stages[BEFORE, stage]
    inside, over, among = 0.0, drafts[COUNTED, arrived], 0.0
    for i in range(k):
        above = drafts[HEAVY, i] * _above(drafts, i, end)
        mass = drafts[HEAVY, i] * _above(drafts, i, lowest) - above
        drafts[WEIGHT, i] = mass
        inside += mass if i < arrived else 0.0
        over += above if i < arrived else 0.0
        among += mass if i < before else 0.0
    # Both quotients are at most 1 but for rounding, whatever is next to nothing.
    share = clipped(quotient(beyond, over, 0.0) * quotient(inside, group, 0.0))
    for i in range(k):
        mass, first = drafts[WEIGHT, i], 1.0 if i == itself else 0.0
        if among > 0 and not counts:
            first = mass / among if i < before else 0.0
        again = quotient(mass, inside, 0.0) if i < arrived else 0.0
        drafts[WEIGHT, i] = (1 - share) * first + share * again


def verify(
    draft, target, drafts, uniforms, valid, token, accepted, index, grades: int, units
) -> None:
    """Select one of the drafts of a row by the pools of its arrivals, then couple it."""
    integral = integral_of(draft.dtype, drafts.shape[1])
    _verify(
        draft, target, drafts, uniforms, valid, token, accepted, index, grades, units, *integral
    )


@machine_code
def _verify(
    draft, target, drafts, uniforms, valid, token, accepted, index, grades: int, units, moments,
    shares, factor: float, highest: float,
) -> None:  # fmt: skip
    rows, k = drafts.shape
    pairs, lefts, counts = np.empty((rows, k, 2)), np.empty((rows, k + 1)), np.empty(rows)
    for row in range(rows):
        counts[row] = valid[row].sum()
    law = law_of(draft, target, units, counts, grades, moments, shares, factor, highest)
    read_lefts(draft, drafts, valid, law.sums, lefts, units)
    read_drafts(draft, target, drafts, valid, pairs, units)
    _select(law.pools, law.tight, pairs, law.borders, lefts, uniforms, valid, factor, index)
    draw_rest(draft, target, drafts, uniforms, valid, token, accepted, index, law.weights, units)


class Law(NamedTuple):
    """The pools of each row and the law of the selected draft."""

    pools: Array  # (rows, 5, m + 2)
    tight: Array  # (rows,): the knot at the cut
    weights: Array  # (rows, 3): what is drawn from after a rejection
    sums: Array  # (rows, ceil(V / 256)): of blocks of the draft
    borders: Array  # (rows,): what heavy tokens are above


def integral_of(dtype: np.dtype, k: int) -> tuple[Array, Array, float, float]:
    """Return the nodes and the weights of the integral, the scale of masses, the largest number."""
    library, moments, shares = _nodes(dtype, k)
    return moments, shares, library.factor, library.highest


@cache
def _nodes(dtype: np.dtype, k: int) -> tuple[Library, Array, Array]:
    library = library_of(np.empty(0, dtype))
    return library, *nodes(library, k)


@machine_code
def law_of(
    draft, target, units, counts, grades: int, moments, shares, factor: float, highest: float
) -> Law:
    """Return the law of each row for so many drafts."""
    rows, size = draft.shape
    sums, heavy = np.empty((rows, -(-size // BLOCK))), np.empty((rows, 2, MOST_HEAVY))
    borders, light = np.empty(rows), np.empty(rows)
    scales, kept = np.empty((rows, grades)), np.empty((rows, grades))
    read_heavy(draft, target, sums, heavy, borders, light, units)
    for row in range(rows):
        most = highest_grade(heavy[row], light[row], counts[row], factor, highest)
        even_grades(scales[row], most, draft.itemsize == 4)
    read_light(draft, target, borders, factor, scales, kept, units)
    pools, tight = np.empty((rows, KINDS, grades + 2)), np.empty(rows, np.int64)
    below, weights = np.empty((rows, grades, MOST_HEAVY + 1)), np.empty((rows, 3))
    write_knots(scales, kept, heavy, light, factor, pools, below)
    write_heights(pools, below, counts, moments, shares)
    for row in range(rows):
        tight[row] = best_law(pools[row], factor)
        write_rest(pools[row], counts[row], weights[row])
    return Law(pools, tight, weights, sums, borders)
