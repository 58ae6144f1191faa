"""Drafts without replacement drawn given that they are rejected, in loops (MCSD, alg. 2).

Compiled where Numba is installed, which importing this module imports, so that it is imported where
it is used. They do what :mod:`otspec.rules.distinct_draws` does path by path, and in its order.
"""

from __future__ import annotations

import numpy as np

from otspec.arithmetic import Array, IntArray
from otspec.compiling import compiled, jitable
from otspec.rules.distinct_draws import Heaviest


@jitable
def _at_most(values: Array, key: float) -> int:
    """Return how many of these values, ascending, are at most a key."""
    before, left = 0, len(values)
    while left > 1:
        half = left // 2
        before += half if values[before + half - 1] <= key else 0
        left -= half
    return before + (1 if left == 1 and values[before] <= key else 0)


def draw(
    heaviest: Heaviest,
    known: tuple[Array, Array, Array, Array],
    uniforms: Array,
    levels: Array,
    rejected: Array,
    places: IntArray,
) -> None:
    """Draw all drafts of all paths.

    Parameters
    ----------
    heaviest : Heaviest
    known : tuple of ndarray
        The ratios, ascending, (n,); the target mass before each place, and the draft and the target
        mass from each on, (n + 1,).
    uniforms : ndarray, shape (k, size)
    levels, rejected : ndarray, shape (k + 1, size)
        Level and weight after each draft; set but for the first of each, which is given.
    places : ndarray of int, shape (k, size)
        Where the drafts are; set.
    """
    masses, ranks, light, apart, counts, steps, largest = heaviest
    ratios, wanted_below, draft_above, target_above = known
    n, m, (k, size) = len(masses), len(apart), uniforms.shape
    borders = light[apart] + steps[:, :m]
    heads, lows = np.zeros(size, np.intp), np.empty(size, np.intp)
    gone, drafted = np.zeros((size, k + 1), np.bool_), np.empty((size, k), np.intp)
    taken = np.empty(k)
    for path in range(size):
        lows[path] = _at_most(ratios, levels[0, path])
    for i in range(k):
        for path in range(size):
            head, low, before = heads[path], lows[path], levels[i, path]
            # What is left, as in Left.of.
            drafted_mass = 0.0
            for j in range(i):
                token = drafted[path, j]
                taken[j] = masses[token] if ranks[token] >= head else 0.0
                drafted_mass += taken[j]
            left = max(light[n] + steps[head, m] - drafted_mass, largest[head])
            after = before + (rejected[i, path] / left if left > 0 else 0.0)
            high = _at_most(ratios, after)
            weight = target_above[high] - after * draft_above[high]
            levels[i + 1, path], rejected[i + 1, path] = after, max(weight, 0.0)
            # The draft that is rejected, as in Levels.rejected.
            grown, flat = after - before, light[low] + steps[head, counts[low]]
            more = light[high] + steps[head, counts[high]] - flat
            lost = after * more - (wanted_below[high] - wanted_below[low])
            drafted_mass = 0.0
            for j in range(i):
                taken[j] *= grown
                drafted_mass += taken[j]
            wanted = uniforms[i, path] * (grown * flat + lost - drafted_mass)
            for j in range(i):
                token = drafted[path, j]
                if wanted >= grown * (light[token] + steps[head, counts[token]]):
                    wanted += taken[j]
            over = wanted - grown * flat
            if over < 0:  # as in Heaviest.reached
                mass = wanted / grown
                passed = _at_most(borders[head], mass)
                step = steps[head, passed]
                found = apart[passed - 1] if passed > 0 else -1
                if passed == 0 or mass >= light[found] + step:
                    last = apart[passed] - 1 if passed < m else n
                    found = min(max(_at_most(light, mass - step) - 1, found + 1), last)
            else:
                found, last = low, high - 1
                while found < last:
                    middle = (found + last + 1) // 2
                    more = light[middle] + steps[head, counts[middle]] - flat
                    lost = after * more - (wanted_below[middle] - wanted_below[low])
                    if lost <= over:
                        found = middle
                    else:
                        last = middle - 1
            found = min(found, max(high - 1, 0))
            places[i, path], lows[path] = found, high
            j = i
            while j > 0 and drafted[path, j - 1] > found:
                drafted[path, j] = drafted[path, j - 1]
                j -= 1
            drafted[path, j] = found
            gone[path, ranks[found]] = True
            gone[path, k] = False
            while gone[path, head]:
                head += 1
            heads[path] = head


fast_draw = compiled(draw)
