"""The choice among distinct drafts of a row by their arrivals (Beyond, prop. 6).

Each stage is an arrival that counts, after others. ``drafts`` is an array, (8, k + 1), of what is
known of the drafts, or of their first few, in the order in which they arrived first. ``stages`` is
an array of integers, (4, k). Their rows are named below; all masses are scaled.
"""

from functools import cache
from typing import NamedTuple

import numpy as np

from otspec.batch._array_api.library import Array, Library, library_of
from otspec.batch._array_api.pooled.clock_pools import HEAVY as MOST_HEAVY
from otspec.batch._array_api.pooled.clock_pools import nodes
from otspec.batch._numba.compiled import (
    DRAWN,
    ZERO,
    accepts,
    clipped,
    holds,
    inner_code,
    machine_code,
    quotient,
    split,
)
from otspec.batch._numba.models import row_of
from otspec.batch._numba.passes import (
    PLAIN,
    Units,
    Weight,
    blocks_of,
    both_of,
    draw_rest,
    light_overlaps,
    locate,
    served,
)
from otspec.batch._numba.pooled.clock_pools import highest_grade, write_heights, write_knots
from otspec.batch._numba.pooled.graded_pools import ABOVE as ABOVE_KNOT
from otspec.batch._numba.pooled.graded_pools import (
    KINDS,
    best_law,
    even_grades,
    group_of,
    level,
    rest_weight,
)
from otspec.batch._numba.pooled.heaviest import read_heavy, read_lefts

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
def _selected(law: "Law", pairs, lefts, uniforms, valid, factor: float) -> int:
    """Return which draft is selected and accepted, or −1."""
    # `pairs` are the draft's and the target's probability of each draft, `lefts` the draft mass off
    # the first ones.
    k, pools = valid.size, law.pools
    drafts, stages = np.empty((8, k + 1)), np.empty((4, k), np.int64)
    _take_drafts(drafts, pools, pairs, law.border, lefts, valid, factor)
    moment, left = _arrive(drafts, stages, pools.shape[1], uniforms)
    top, arrived = ZERO, ZERO
    for s in range(k):
        if valid[s]:
            top = max(top, stages[POOL, s], stages[AGAIN, s])
            arrived += stages[TOKEN, s] == stages[BEFORE, s]
        else:
            stages[POOL, s], stages[AGAIN, s] = -1, -1
    lowest, end = group_of(pools, law.tight, top, factor, moment)
    above, beyond = pools[ABOVE_KNOT, lowest], pools[ABOVE_KNOT, end]
    _weigh(drafts, stages, lowest, end, arrived, above - beyond, beyond)
    took, accepting = locate(drafts[WEIGHT, :k], left)
    passed = accepts(accepting, pairs[took, 1] * factor, drafts[LAW, took])
    return took if valid[took] and passed else DRAWN


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


def verify(draft, target, drafts, uniforms, valid, token, accepted, index, grades: int) -> None:
    """Select one of the drafts of a row by the pools of its arrivals, then couple it."""
    integral = integral_of(draft.dtype, drafts.shape[1])
    _verify(draft, target, drafts, uniforms, valid, token, accepted, index, grades, integral)


@machine_code
def _verify(
    draft, target, drafts, uniforms, valid, token, accepted, index, grades: int, integral
) -> None:
    k, factor = drafts.shape[1], integral.factor
    pairs, lefts = np.empty((k, 2)), np.empty(k + 1)
    for row in range(drafts.shape[0]):
        (its, unit), (wanted, other) = row_of(draft, row), row_of(target, row)
        units, tokens, counts = (unit, other), drafts[row], valid[row]
        law = law_of(its, wanted, units, float(counts.sum()), grades, integral)
        read_lefts(its, unit, tokens, counts, law.sums, lefts)
        for i in range(k):  # of one that does not count they are those of token 0
            pairs[i] = both_of(its, wanted, units, tokens[i] if counts[i] else 0)
        index[row] = _selected(law, pairs, lefts, uniforms[row], counts, factor)
        if index[row] >= 0:
            token[row] = tokens[index[row]]
        else:
            token[row] = draw_rest(its, wanted, law.rest, uniforms[row, -1])
        accepted[row] = holds(tokens, counts, token[row])


class Law(NamedTuple):
    """The pools of a row and the law of the selected draft."""

    pools: Array  # (5, m + 2)
    tight: int  # the knot at the cut
    rest: Weight  # what is drawn from after a rejection
    sums: Array  # (ceil(V / 256)): of blocks of the draft
    border: float  # what heavy tokens are above


class Integral(NamedTuple):
    """What the heights of pools are found with."""

    moments: Array
    shares: Array
    factor: float  # of masses
    highest: float  # the largest number


def integral_of(dtype: np.dtype, k: int) -> Integral:
    """Return the nodes and the weights of the integral, and the numbers of a dtype."""
    library, moments, shares = _nodes(dtype, k)
    return Integral(moments, shares, library.factor, library.highest)


@cache
def _nodes(dtype: np.dtype, k: int) -> tuple[Library, Array, Array]:
    library = library_of(np.empty(0, dtype))
    return library, *nodes(library, k)


@machine_code
def law_of(draft, target, units: Units, count: float, grades: int, integral: Integral) -> Law:
    """Return the law of a row for so many drafts."""
    factor, sums, heavy = integral.factor, blocks_of(draft), np.empty((2, MOST_HEAVY))
    scales, kept = np.empty(grades), np.empty(grades)
    pools, below = np.empty((KINDS, grades + 2)), np.empty((grades, MOST_HEAVY + 1))
    border, light = read_heavy(draft, target, units, sums, heavy)
    most = highest_grade(heavy, light, count, factor, integral.highest)
    even_grades(scales, most, draft.itemsize == 4)
    light_overlaps(draft, target, units, border, factor, scales, kept)
    write_knots(scales, kept, heavy, light, factor, pools, below)
    write_heights(pools, below, count, integral.moments, integral.shares)
    tight = best_law(pools, factor)
    return Law(pools, tight, rest_weight(pools, units, count), sums, border)


def acceptance(draft, target, found, k: int, grades: int) -> None:
    """Write Σ min(b, q) for each row, b the law of the selected draft."""
    _write_served(draft, target, found, float(k), grades, integral_of(draft.dtype, k))


@machine_code
def _write_served(draft, target, found, count: float, grades: int, integral: Integral) -> None:
    for row in range(found.size):
        law = law_of(draft[row], target[row], PLAIN, count, grades, integral)
        found[row] = served(draft[row], target[row], law.rest)
