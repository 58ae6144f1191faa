"""Barriers around one pool of a row (Pooled, prop. 4), as ``_array_api.pooled.barriers``."""

import math

from otspec.batch._numba.compiled import inner_code
from otspec.batch._numba.pooled.graded_pools import ABOVE, INSIDE, SLOPE


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
