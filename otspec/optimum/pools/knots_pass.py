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


CELL_SHIFT = 46  # how many of a float's bits a cell leaves out: 64 cells an octave are left


def binned(
    draft: Array, target: Array, edges: Array, first: IntArray, lowest: int
) -> tuple[IntArray, Array, Array]:
    """Return the bin of each token, and the draft and target mass of the drafted ones in each."""
    n, last = len(draft), len(first) - 1
    ratios = np.empty(n)
    for i in range(n):
        ratios[i] = target[i] / draft[i] if draft[i] > 0 else np.inf
    bits, index = ratios.view(np.int64), np.empty(n, dtype=np.intp)
    for i in range(n):
        below = first[max(0, min(last, (bits[i] >> CELL_SHIFT) - lowest))]
        index[i] = below + (ratios[i] >= edges[below])
    drafted, wanted = np.zeros(len(edges)), np.zeros(len(edges))
    for i in range(n):
        bin_ = index[i]
        while ratios[i] >= edges[bin_]:  # several thresholds in one cell
            bin_ += 1
        index[i] = bin_
        if draft[i] > 0:
            drafted[bin_] += draft[i]
            wanted[bin_] += target[i]
    return index, drafted, wanted


fast_binned = compiled(binned)
