"""The loops that cannot be array operations: plain Python, and compiled for floats.

Importing this module imports Numba if it is there, so that it is imported where it is used.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from otspec.arithmetic import Array, IntArray, Number
from otspec.selection import compiling
from otspec.selection.compiling import compiled, jitable
from otspec.selection.rising import rising

HAS_NUMBA = compiling.HAS_NUMBA
CELL_SHIFT = 46
"""How many of a float's bits a cell leaves out: 64 cells an octave are left."""


def power_slope(low: Any, high: Any, power: int) -> Any:
    """Return (high^power − low^power)/(high − low), of numbers or of arrays.

    It is added up as Σ low^a high^(power−1−a), by doubling: all terms are positive, so that it
    keeps its digits for numbers however close to each other, to 0 or to 1.
    """
    low_power, high_power = low, high
    total = high - high + 1
    bit = 1
    while 2 * bit <= power:
        bit *= 2
    bit //= 2
    while bit > 0:
        total = total * (low_power + high_power)
        low_power = low_power * low_power
        high_power = high_power * high_power
        if power & bit:
            total = total * high + low_power
            low_power = low_power * low
            high_power = high_power * high
        bit //= 2
    return total


def burn(
    widths: Array,
    masses: Array,
    slopes: Array,
    tight: Array,
    ids: Array,
    one: Number,
) -> tuple[Array, Array, Array, Array, Array, Array]:
    """Run the barriers' process from time 0 to 1.

    Every knot starts alive. A knot that is not tight has a kink, the rise of slope there, and
    burns it at the rate of the kink that the chords of the alive knots make there; when it is
    used up, the knot dies and its two chords become one.

    Parameters
    ----------
    widths, masses : ndarray, shape (m,)
        Per pool, the differences of the knots, and of the curve that the chords span. Their type
        is that of all numbers here: float64, or object.
    slopes : ndarray, shape (m,)
        Of the law that is wanted, non-decreasing between tight knots.
    tight : ndarray of bool, shape (m + 1,)
        Knots that never die; the first and the last are.
    ids : ndarray, shape (m + 1,)
        0 to m, in the type that counts are kept in: integer, or object.
    one : number
        1 in the arithmetic of the masses.

    Returns
    -------
    lifetimes : ndarray, shape (m + 1,)
        When each knot dies; 1 for one that does not.
    starts, ends, spans, rises : ndarray, shape (c,)
        Per chord, its two knots, for how long it was there, and its slope. The first m chords are
        those between neighbouring knots.
    heirs : ndarray, shape (c,)
        The chord that each became a part of; −1 for those that were there at the end.
    """
    m = len(slopes)
    zero = one - one
    before, after, right = ids - 1, ids + 1, ids.copy()
    lifetimes = np.full(m + 1, one, masses.dtype)
    # Chord c: its knots, slope, when it began, how long it lasted, and the one that it became.
    starts = np.full(2 * m, -1, ids.dtype)
    ends, heirs = starts.copy(), starts.copy()
    rises = np.full(2 * m, zero, masses.dtype)
    births = rises.copy()
    spans = np.full(2 * m, one, masses.dtype)
    width, mass = rises.copy(), rises.copy()
    for j in range(m):
        starts[j], ends[j] = j, j + 1
        width[j], mass[j] = widths[j], masses[j]
        rises[j] = mass[j] / width[j]

    slopes = rising(slopes, widths, tight, ids)
    kinks = np.full(m + 1, zero, masses.dtype)
    since, rates, deaths = kinks.copy(), kinks.copy(), kinks + one
    queue, place = ids.copy(), ids.copy()
    size = 0
    for j in range(1, m):
        if not tight[j]:
            kinks[j] = max(slopes[j] - slopes[j - 1], zero)
            rates[j] = rises[j] - rises[j - 1]
            if kinks[j] < rates[j]:
                deaths[j] = kinks[j] / rates[j]
            queue[size], place[j] = j, size
            size += 1
    for at in range(size // 2 - 1, -1, -1):
        sift_down(queue, place, deaths, at, size)

    new = m
    while size > 0 and deaths[queue[0]] < one:
        j = queue[0]
        now = deaths[j]
        lifetimes[j] = now
        size -= 1
        if size > 0:
            queue[0] = queue[size]
            sift_down(queue, place, deaths, 0, size)
        low, high = before[j], after[j]
        after[low], before[high] = high, low
        for c in (right[low], right[j]):
            spans[c] = now - births[c]
            heirs[c] = new
            width[new] += width[c]
            mass[new] += mass[c]
        right[low] = new
        starts[new], ends[new] = low, high
        rises[new] = mass[new] / width[new]
        births[new], spans[new] = now, one - now
        new += 1
        for i in (low, high):
            if tight[i]:
                continue
            kinks[i] = max(kinks[i] - rates[i] * (now - since[i]), zero)
            since[i] = now
            rates[i] = rises[right[i]] - rises[right[before[i]]]
            death = one
            if kinks[i] < rates[i] * (one - now):
                death = now + kinks[i] / rates[i]
            sooner = death < deaths[i]
            deaths[i] = death
            if sooner:
                sift_up(queue, place, deaths, place[i])
            else:
                sift_down(queue, place, deaths, place[i], size)

    return lifetimes, starts[:new], ends[:new], spans[:new], rises[:new], heirs[:new]


@jitable
def sift_up(queue: Array, place: Array, deaths: Array, at: int) -> None:
    """Move an entry of the heap of knots, ordered by death, towards its root."""
    knot = queue[at]
    death = deaths[knot]
    while at > 0 and death < deaths[queue[(at - 1) // 2]]:
        parent = (at - 1) // 2
        queue[at] = queue[parent]
        place[queue[at]] = at
        at = parent
    queue[at], place[knot] = knot, at


@jitable
def sift_down(queue: Array, place: Array, deaths: Array, at: int, size: int) -> None:
    """Move an entry of the heap of knots, ordered by death, towards its leaves."""
    knot = queue[at]
    death = deaths[knot]
    while 2 * at + 1 < size:
        child = 2 * at + 1
        if child + 1 < size and deaths[queue[child + 1]] < deaths[queue[child]]:
            child += 1
        if death <= deaths[queue[child]]:
            break
        queue[at] = queue[child]
        place[queue[at]] = at
        at = child
    queue[at], place[knot] = knot, at


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


def best_steps(
    knots: Array, heights: Array, slopes: Array, best: Array, source: Array
) -> tuple[Array, Array]:
    """Take one more step down from each knot, by the step that leaves the law highest.

    A step from knot j to knot i < j follows the slope of j.

    Parameters
    ----------
    knots, heights, slopes : ndarray, shape (m + 1,)
        Slopes do not descend.
    best : ndarray, shape (m + 1,)
        How high the law can be at each knot after the steps so far; below ``heights`` where the
        knot cannot be reached.
    source : ndarray of int, shape (m + 1,)
        Of the type that the second result has.

    Returns
    -------
    following : ndarray, shape (m + 1,)
        The same after one more step; −1 at the last knot.
    source : ndarray, shape (m + 1,)
        Where that step began.

    Notes
    -----
    The upper envelope of lines whose slopes descend while the queries move left: O(m).
    """
    m = len(knots) - 1
    following = best - best - 1
    source = source.copy()
    lines = source.copy()
    first, end = 0, 0
    for i in range(m - 1, -1, -1):
        j = i + 1
        if best[j] >= heights[j]:
            # Line j is above the last one only left of their crossing.
            while end - first >= 2:
                a, b = lines[end - 2], lines[end - 1]
                at_b = best[b] - slopes[b] * knots[b]
                at_j = best[j] - slopes[j] * knots[j]
                at_a = best[a] - slopes[a] * knots[a]
                if (at_j - at_b) * (slopes[a] - slopes[b]) < (at_b - at_a) * (
                    slopes[b] - slopes[j]
                ):
                    break
                end -= 1
            lines[end] = j
            end += 1
        while end - first >= 2:
            a, b = lines[first], lines[first + 1]
            if best[a] - slopes[a] * (knots[a] - knots[i]) > best[b] - slopes[b] * (
                knots[b] - knots[i]
            ):
                break
            first += 1
        if end > first:
            a = lines[first]
            following[i] = best[a] - slopes[a] * (knots[a] - knots[i])
            source[i] = a
    return following, source


fast_burn = compiled(burn)
fast_best_steps = compiled(best_steps)
fast_bin_masses = compiled(bin_masses)
