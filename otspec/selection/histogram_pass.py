"""Masses between thresholds in one pass over the tokens, compiled where Numba is installed.

Importing this module imports Numba if it is there, so that it is imported where it is used.
"""

from __future__ import annotations

import numpy as np

from otspec.arithmetic import Array, IntArray
from otspec.compiling import compiled, jitable

CELL_SHIFT = 46
"""How many of a float's bits a cell leaves out: 64 cells an octave are left."""


@jitable
def bin_of(ratio: float, bits: int, edges: Array, first: IntArray, lowest: int) -> int:
    """Return how many thresholds are at most a ratio, given its bits as an integer.

    ``edges`` are the thresholds and NaN, which no ratio reaches. The leading bits name a cell of
    ratios; ``first[cell]`` thresholds lie below all of it.
    """
    found: int = first[max(0, min(len(first) - 1, (bits >> CELL_SHIFT) - lowest))]
    while ratio >= edges[found]:
        found += 1
    return found


def bin_masses(
    draft: Array, target: Array, edges: Array, first: IntArray, lowest: int
) -> tuple[Array, Array]:
    """Return the draft and the target mass between thresholds, of the drafted tokens.

    (n,), (n,), and what :func:`bin_of` takes -> (bins,), (bins,)
    """
    masses = np.zeros((len(edges), 2))
    bits = np.empty(1, dtype=np.int64)
    ratio = bits.view(np.float64)
    for i in range(len(draft)):
        if draft[i] > 0:
            ratio[0] = target[i] / draft[i]
            bin_ = bin_of(ratio[0], bits[0], edges, first, lowest)
            masses[bin_, 0] += draft[i]
            masses[bin_, 1] += target[i]
    return masses[:, 0].copy(), masses[:, 1].copy()


fast_bin_masses = compiled(bin_masses)
