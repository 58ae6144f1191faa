"""What ``rejected_draws`` does, in loops, for Numba if it is there (MCSD, alg. 2)."""

import numpy as np

from otspec._base import Array, IntArray
from otspec._base.compiling import compiled, jitable
from otspec.rules.rejection.rejected_draws import UNIT, Heaviest

_CELLS = 1 << 14  # cells that numbers are looked up by: 1,024 to a power of two, 16 of these


@jitable
def _cell(bits: IntArray, first: int) -> int:
    """Return the cell of a number, given its bits, (1,), and the cell that is the first."""
    cell: int = (bits[0] >> 42) - first
    return min(max(cell, 0), _CELLS - 1)


@jitable
def _guide(values: Array, first: int) -> IntArray:
    """Return where each cell begins among these values, ascending, and the end."""
    guide, cell, bits = np.full(_CELLS + 1, len(values)), 0, values.view(np.int64)
    for place in range(len(values)):
        while cell <= _cell(bits[place : place + 1], first):
            guide[cell] = place
            cell += 1
    return guide


@jitable
def _at_most(values: Array, guide: IntArray, cell: int, key: float) -> int:
    """Return how many of these values, ascending, are at most a key of some cell."""
    before: int = guide[cell]
    end: int = guide[cell + 1]
    while before < end:
        middle = (before + end) // 2
        if values[middle] <= key:
            before = middle + 1
        else:
            end = middle
    return before


def draw(
    heaviest: Heaviest,
    known: tuple[Array, Array, Array, Array],
    uniforms: Array,
    levels: Array,
    rejected: Array,
    places: IntArray,
) -> None:
    """Draw all drafts of all paths, with uniforms (k, size); sets levels, rejected and places."""
    # known: the ratios, ascending, (n,); the target mass before each place, and the draft and the
    # target mass from each on, (n + 1,). levels, rejected, (k + 1, size): level and weight after
    # each draft; the first is given. places, (k, size): where the drafts are.
    masses, ranks, light, apart, counts, steps, largest = heaviest
    ratios, wanted_below, draft_above, target_above = known
    n, m, (k, size) = len(masses), len(apart), uniforms.shape
    borders = light[apart] + steps[:, :m]
    heads, lows = np.zeros(size, np.intp), np.empty(size, np.intp)
    gone, drafted = np.zeros((size, k + 1), np.bool_), np.empty((size, k), np.intp)
    # The masses of what is drafted, 0 for the heads; and what was lost of these.
    weights, taken = np.empty((size, k)), np.empty(k)
    # The bits of this number are its cell and what is below.
    number = np.empty(1)
    bits = number.view(np.int64)
    number[0] = 0.5**UNIT
    from_one = (bits[0] >> 42) - 1
    number[0] = light[n]
    up_to_all = (bits[0] >> 42) - _CELLS + 1
    by_ratio, by_mass = _guide(ratios, from_one), _guide(light, up_to_all)
    for path in range(size):
        number[0] = levels[0, path]
        lows[path] = _at_most(ratios, by_ratio, _cell(bits, from_one), number[0])
    for i in range(k):
        for path in range(size):
            head, low, before = heads[path], lows[path], levels[i, path]
            # What is left, as in Left.of.
            drafted_mass = 0.0
            for j in range(i):
                drafted_mass += weights[path, j]
            left = max(light[n] + steps[head, m] - drafted_mass, largest[head])
            after = before + (rejected[i, path] / left if left > 0 else 0.0)
            number[0] = after
            high = _at_most(ratios, by_ratio, _cell(bits, from_one), after)
            weight = target_above[high] - after * draft_above[high]
            levels[i + 1, path], rejected[i + 1, path] = after, max(weight, 0.0)
            # The draft that is rejected, as in Levels.rejected.
            grown, flat = after - before, light[low] + steps[head, counts[low]]
            more = light[high] + steps[head, counts[high]] - flat
            lost = after * more - (wanted_below[high] - wanted_below[low])
            drafted_mass = 0.0
            for j in range(i):
                taken[j] = grown * weights[path, j]
                drafted_mass += taken[j]
            wanted = uniforms[i, path] * (grown * flat + lost - drafted_mass)
            for j in range(i):
                token = drafted[path, j]
                if wanted >= grown * (light[token] + steps[head, counts[token]]):
                    wanted += taken[j]
            over = wanted - grown * flat
            if over < 0:  # as in Heaviest.reached
                mass = wanted / grown
                passed = 0
                for j in range(m):
                    passed += borders[head, j] <= mass
                step = steps[head, passed]
                found = apart[passed - 1] if passed > 0 else -1
                if passed == 0 or mass >= light[found] + step:
                    last = apart[passed] - 1 if passed < m else n
                    number[0] = mass - step
                    place = _at_most(light, by_mass, _cell(bits, up_to_all), mass - step) - 1
                    found = min(max(place, found + 1), last)
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
                drafted[path, j], weights[path, j] = drafted[path, j - 1], weights[path, j - 1]
                j -= 1
            drafted[path, j], weights[path, j] = found, masses[found]
            gone[path, ranks[found]] = True
            gone[path, k] = False
            while gone[path, head]:
                head += 1
            heads[path] = head
            if ranks[found] < head:
                for j in range(i + 1):
                    if ranks[drafted[path, j]] < head:
                        weights[path, j] = 0.0


fast_draw = compiled(draw)
