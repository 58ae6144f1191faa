"""Sums of masses in two parts in one pass, as ``knots.in_parts`` has them; it imports Numba."""

import numpy as np

from otspec._base import Array, IntArray
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


BLOCK = 1024  # tokens whose ratios stay in the nearest cache


def binned(
    draft: Array, target: Array, cells: IntArray, lowest: int, shift: int, bins: int
) -> tuple[IntArray, IntArray, Array, Array]:
    """Return what :meth:`otspec.optimum.pools.knots.Histogram.binned` does, by its cells."""
    n, last = len(draft), len(cells) - 1
    found, ratios, places = np.empty(n, np.uint16), np.empty(BLOCK), np.empty(BLOCK, np.uint64)
    drafted, wanted, rest = np.zeros(bins), np.zeros(bins), (1 << shift) - 1
    bits = ratios.view(np.int64)
    for start in range(0, n, BLOCK):
        masses, others = draft[start : start + BLOCK], target[start : start + BLOCK]
        own = found[start : start + BLOCK]
        for i in range(len(masses)):
            # 0 is added for a target of −0.
            ratios[i] = others[i] / masses[i] + 0.0 if masses[i] > 0 else np.inf
        for i in range(len(masses)):
            # Places have no sign, so that none is counted from the end.
            places[i] = np.uint64(max(0, min(last, (bits[i] >> shift) - lowest)))
        for i in range(len(masses)):
            # The bits that the cell leaves out carry into the number from the threshold on.
            at = np.uint64((cells[places[i]] + (bits[i] & rest)) >> shift)
            own[i] = at
            drafted[at] += masses[i]
            wanted[at] += others[i] if masses[i] > 0 else 0.0
    filled, numbers, count = np.empty(bins, np.intp), np.empty(bins, np.intp), 0
    for j in range(bins):
        if drafted[j] > 0:
            filled[count], drafted[count], wanted[count] = j, drafted[j], wanted[j]
            count += 1
        numbers[j] = max(count - 1, 0)
    index = np.empty(n, np.intp)
    for i in range(n):
        index[i] = numbers[found[i]]
    return index, filled[:count], drafted[:count], wanted[:count]


fast_binned = compiled(binned)
