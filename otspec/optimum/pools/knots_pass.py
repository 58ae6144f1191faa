"""Sums of masses in two parts in one pass, compiled where Numba is installed.

The parts are those of :func:`otspec.optimum.pools.knots.in_parts`. Importing this module imports
Numba if it is there, so that it is imported where it is used.
"""

from __future__ import annotations

import numpy as np

from otspec._base.arithmetic import Array, IntArray
from otspec._base.compiling import compiled


def masses_in_parts(masses: Array, index: IntArray, count: int) -> tuple[Array, Array]:
    """Return the mass of each pool of tokens in two parts: (n,), (n,) -> (count,), (count,)."""
    whole, rest = np.zeros(count), np.zeros(count)
    for i in range(len(masses)):
        part = (masses[i] + 1) - 1
        whole[index[i]] += part
        rest[index[i]] += masses[i] - part
    return whole, rest


def sums_in_parts(masses: Array) -> tuple[Array, Array]:
    """Return the sums of the masses before each knot in two parts: (m,) -> (m + 1,), (m + 1,)."""
    whole, rest = np.zeros(len(masses) + 1), np.zeros(len(masses) + 1)
    for j in range(len(masses)):
        part = (masses[j] + 1) - 1
        whole[j + 1] = whole[j] + part
        rest[j + 1] = rest[j] + (masses[j] - part)
    return whole, rest


fast_masses_in_parts = compiled(masses_in_parts)
fast_sums_in_parts = compiled(sums_in_parts)
