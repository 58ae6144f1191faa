"""Passes over tokens as loops, for Numba if it is there (Theory, 33)."""

import numpy as np

from otspec._base import Array, IntArray, compiling
from otspec._base.compiling import compiled


def arrive(counts: Array, starts: IntArray, arrived: Array) -> None:
    """Count independent events in: ``counts`` has Pr(N = i), (most, e, times), and is changed."""
    # Event j, of probability `arrived[j]`, counts at the nodes from `starts[j]` on. These ascend,
    # and `arrived` has the nodes from `starts[0]` on.
    most, nodes, times = counts.shape
    for node in range(starts[0], nodes):
        for j in range(len(starts)):
            if starts[j] > node:
                break
            chances = arrived[j, node - starts[0]]
            for i in range(most - 1, 0, -1):
                for t in range(times):
                    stays = counts[i, node, t] * (1 - chances[t])
                    counts[i, node, t] = stays + chances[t] * counts[i - 1, node, t]
            for t in range(times):
                counts[0, node, t] *= 1 - chances[t]


def sums_from_last(chances: Array, draft: Array, mass: Array, later: Array) -> Array:
    """Return min(1, p(y) Σ_{z ≥ y} (e^{−tΛ(z)} − e^{−tΛ(z+1)})/P(z)) of the tokens y of a block."""
    # chances, (b + 1, m): e^{−tΛ}, also of the token after the block. draft, mass, (b,): p and P.
    # later, (m,): the sum over the tokens after the block, to which those of the block are added.
    found = np.empty((len(draft), len(later)))
    for y in range(len(draft) - 1, -1, -1):
        for t in range(len(later)):
            later[t] += (chances[y, t] - chances[y + 1, t]) / mass[y]
            found[y, t] = min(draft[y] * later[t], 1.0)
    return found


def arrive_by_arrays(counts: Array, starts: IntArray, arrived: Array) -> None:
    """Do the same by array operations, to the last bit."""
    for start, each in zip(starts.tolist(), arrived, strict=True):
        part, chances = counts[:, start:], each[start - starts[0] :]
        more = chances * part[:-1]
        part *= 1 - chances
        part[1:] += more


def sums_by_arrays(chances: Array, draft: Array, mass: Array, later: Array) -> Array:
    """Return the same by array operations, to the last bit."""
    steps = (chances[:-1] - chances[1:]) / mass[:, None]
    steps[-1] += later
    sums = np.cumsum(steps[::-1], axis=0)[::-1]
    later[:] = sums[0]
    return np.minimum(draft[:, None] * sums, 1)


fast_arrive = compiled(arrive)
fast_sums_from_last = compiled(sums_from_last)


def arrived(counts: Array, starts: IntArray, arrived: Array) -> None:
    """Do what :func:`arrive` does, in the fastest way."""
    (fast_arrive if compiling.HAS_NUMBA else arrive_by_arrays)(counts, starts, arrived)


def summed(chances: Array, draft: Array, mass: Array, later: Array) -> Array:
    """Return what :func:`sums_from_last` does, in the fastest way."""
    sums = fast_sums_from_last if compiling.HAS_NUMBA else sums_by_arrays
    return sums(chances, draft, mass, later)
