"""Which knots between the pools of a row are barriers at a moment (Pooled, prop. 4).

Every knot is a barrier for a while; how long, :mod:`otspec.batch._kernels.barriers` finds for all
knots. Here the process stops at the moment that matters.
"""

from __future__ import annotations

import numpy as np

from otspec.batch._kernels.barriers import FOR_EVER
from otspec.batch._kernels.library import Array
from otspec.batch._rows.graded_pools import ABOVE, ALIVE, INSIDE, KINK, RATE, SLOPE
from otspec.batch._rows.machine import inner_code
from otspec.batch._rows.numbers import geometric
from otspec.batch._rows.outcome import quotient

_NARROW = 64 * float(np.finfo(np.float64).eps)
"""What is as narrow as rounding has no slope of its own."""


@inner_code
def raise_barriers(pools: Array, tight: int, moment: float, lift: float, count: float) -> None:
    """Write which knots are barriers at a moment from 0 to 1.

    Parameters
    ----------
    pools : array
    tight : int
        The knot at the cut, which is one for ever.
    moment, lift : float
    count : float
        The number of independent drafts; 0 for others, where G is what the pools say.
    """
    last, now = pools.shape[1] - 1, 0.0
    for i in range(last + 1):
        pools[ALIVE, i] = 1.0
    for i in range(1, last):
        pools[KINK, i] = pools[SLOPE, i] / lift - pools[SLOPE, i - 1] / lift
    for _ in range(last - 1):  # each time at least one knot dies
        _write_rates(pools, count)
        wait = 1.0 - now
        for i in range(1, last):
            if i != tight:
                wait = min(wait, _left(pools, i))
        now += wait
        if now > moment:
            return
        for i in range(1, last):
            if i != tight and _left(pools, i) <= wait:
                pools[ALIVE, i] = 0.0
            pools[KINK, i] -= pools[RATE, i] * wait


@inner_code
def group_of(pools: Array, top: int) -> tuple[int, int]:
    """Return the knots around the group of pools that holds pool ``top``."""
    low, high = top, top + 1
    while low > 0 and pools[ALIVE, low] == 0:
        low -= 1
    while high < pools.shape[1] - 1 and pools[ALIVE, high] == 0:
        high += 1
    return low, high


@inner_code
def _left(pools: Array, i: int) -> float:
    """Return how long a knot still lives: as if for ever, if it does not."""
    if pools[ALIVE, i] == 0:
        return FOR_EVER
    return quotient(pools[KINK, i], pools[RATE, i], FOR_EVER) if pools[KINK, i] > 0 else 0.0


@inner_code
def _write_rates(pools: Array, count: float) -> None:
    """Write by how much the chords of G before and after each barrier differ; else 0."""
    before, low = 0.0, 0
    for high in range(1, pools.shape[1]):
        pools[RATE, high] = 0.0
        if pools[ALIVE, high] > 0:
            chord = _chord(pools, low, high, count)
            if low > 0:
                chord = max(chord, before) if count == 0 else chord
                pools[RATE, low] = chord - before
            before, low = chord, high


@inner_code
def _chord(pools: Array, low: int, high: int, count: float) -> float:
    """Return the slope of G between two knots, in units of 1 over the lift.

    For independent drafts it is end^(count−1) (1 + r + … + r^(count−1)), r = start/end: nothing
    cancels.
    """
    if count > 0:
        start, end = 1 - pools[ABOVE, low], 1 - pools[ABOVE, high]
        return end ** (count - 1) * geometric(quotient(end - start, end, 0.0), count)
    width = pools[ABOVE, low] - pools[ABOVE, high]
    width = width if width > _NARROW * pools[ABOVE, low] else 0.0
    return max(quotient(pools[INSIDE, high] - pools[INSIDE, low], width, 0.0), 0.0)
