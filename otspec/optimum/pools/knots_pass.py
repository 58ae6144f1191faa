"""Sums of masses in two parts in one pass, as ``knots.in_parts`` has them; it imports Numba."""

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


BLOCK = 1024  # tokens whose ratios stay in the nearest cache
CELL_SHIFT = 46  # how many of a float's bits a cell leaves out: 64 cells an octave are left


def binned(
    draft: Array, target: Array, edges: Array, first: IntArray, lowest: int, crowded: bool
) -> tuple[IntArray, IntArray, Array, Array]:
    """Return what :meth:`otspec.optimum.pools.knots.Histogram.binned` does."""
    n, last = len(draft), len(first) - 1
    index, ratios = np.empty(n, dtype=np.intp), np.empty(BLOCK)
    drafted, wanted = np.zeros(len(edges)), np.zeros(len(edges))
    bits = ratios.view(np.int64)
    for start in range(0, n, BLOCK):
        masses, others = draft[start : start + BLOCK], target[start : start + BLOCK]
        bins = index[start : start + BLOCK]
        for i in range(len(masses)):
            ratios[i] = others[i] / masses[i] if masses[i] > 0 else np.inf
        for i in range(len(masses)):
            # Places have no sign, so that none is counted from the end.
            below = first[np.uint64(max(0, min(last, (bits[i] >> CELL_SHIFT) - lowest)))]
            bins[i] = below + np.uint64(ratios[i] >= edges[below])
        if crowded:
            for i in range(len(masses)):
                while ratios[i] >= edges[bins[i]]:
                    bins[i] += 1
        for i in range(len(masses)):
            at = np.uint64(bins[i])
            drafted[at] += masses[i]
            wanted[at] += others[i] if masses[i] > 0 else 0.0
    filled, numbers, count = np.empty(len(edges), dtype=np.intp), np.empty(len(edges), np.intp), 0
    for j in range(len(edges)):
        if drafted[j] > 0:
            filled[count], drafted[count], wanted[count] = j, drafted[j], wanted[j]
            count += 1
        numbers[j] = max(count - 1, 0)
    if count < len(edges):
        for i in range(n):
            index[i] = numbers[np.uint64(index[i])]
    return index, filled[:count], drafted[:count], wanted[:count]


fast_binned = compiled(binned)
