"""Barriers and the fewest pools in loops, for Numba if it is there (Pooled, prop. 4 and 6)."""

import numpy as np

from otspec._base import Array, Number
from otspec._base.compiling import compiled, jitable


def best_steps(
    knots: Array,
    least: Array,
    slopes: Array,
    best: Array,
    following: Array,
    source: Array,
    lines: Array,
) -> None:
    """Take one more step down from each knot, by the step that leaves the law highest.

    A step from knot j to knot i < j follows the slope of j. ``slopes``, (m,): of the step down from
    each knot but the first; they do not descend. ``best``, (m + 1,): how high the law can be after
    the steps so far; below ``least`` where the knot cannot be reached. ``following``, (m + 1,):
    becomes the same after one more step, −1 where there is none; ``source``: where it began.
    The upper envelope of lines whose slopes descend while the queries move left (``lines``): O(m).
    """
    m = len(slopes)
    following[m], source[m] = -1, m
    first, end = 0, 0
    for i in range(m - 1, -1, -1):
        j = i + 1
        if best[j] >= least[j]:
            # Line j is above the last one only left of their crossing.
            while end - first >= 2:
                a, b = lines[end - 2], lines[end - 1]
                at_b = best[b] - slopes[b - 1] * knots[b]
                at_j = best[j] - slopes[i] * knots[j]
                at_a = best[a] - slopes[a - 1] * knots[a]
                if (at_j - at_b) * (slopes[a - 1] - slopes[b - 1]) < (at_b - at_a) * (
                    slopes[b - 1] - slopes[i]
                ):
                    break
                end -= 1
            lines[end] = j
            end += 1
        while end - first >= 2:
            a, b = lines[first], lines[first + 1]
            if best[a] - slopes[a - 1] * (knots[a] - knots[i]) > best[b] - slopes[b - 1] * (
                knots[b] - knots[i]
            ):
                break
            first += 1
        following[i], source[i] = -1, m
        if end > first:
            a = lines[first]
            following[i] = best[a] - slopes[a - 1] * (knots[a] - knots[i])
            source[i] = a


fast_best_steps = compiled(best_steps)


@jitable
def rising(slopes: Array, widths: Array, tight: Array, ids: Array) -> Array:
    """Return slopes (m,) that rise between tight knots: stretches that fall get their mean."""
    # A law that is convex between its tight knots comes back as it is. In floats the slope of a
    # light pool is uncertain, and a wrong one would make a kink that heavier pools feel; means
    # weighted by draft mass (widths) hardly notice it: isotonic regression, pooling neighbors.
    level, weight, first = slopes.copy(), widths.copy(), ids[1:] - 1
    size = 0
    # Stretches so far: their slope, draft mass and first pool. A stretch that falls joins the last.
    for j in range(len(slopes)):
        level[size], weight[size], first[size] = slopes[j], widths[j], j
        size += 1
        while size > 1 and not tight[first[size - 1]] and level[size - 1] < level[size - 2]:
            size -= 1
            weight[size - 1] += weight[size]
            level[size - 1] += (level[size] - level[size - 1]) * (weight[size] / weight[size - 1])
    result, end = slopes.copy(), len(slopes)
    for block in range(size - 1, -1, -1):
        result[first[block] : end] = level[block]
        end = first[block]
    return result


@jitable
def run(
    widths: Array, masses: Array, kinks: Array, tight: Array, ids: Array, one: Number
) -> tuple[Array, Array, Array, Array, Array, Array]:
    """Run the barriers' process from time 0 to 1.

    Every knot starts alive. A knot that is not tight burns its kink at the rate of the kink of the
    chords of alive knots there; then it dies and its two chords become one.

    ``widths`` and ``masses``, (m,): per pool, the differences of the knots and of the curve that
    the chords span; float64 or object, as all numbers here. ``kinks``, (m + 1,): how much the slope
    of the wanted law rises at each knot. ``tight``, (m + 1,): knots that never die, such as both
    ends. ``ids``, (m + 1,): 0 to m, integer or object. ``one``: 1 in this arithmetic.
    Result: ``spans, rises``, (c,): how long each chord was there, and its slope; the first m
    connect neighboring knots. ``lifetimes``, (m + 1,): when each knot dies, at most 1.
    ``starts, ends``, (c,): the knots of each chord. ``parents``, (c,): the chord that each became
    part of, or −1.
    """
    m = len(widths)
    zero = one - one
    before, after, right = ids - 1, ids + 1, ids.copy()
    lifetimes = np.full(m + 1, one, masses.dtype)
    # Chord c: its knots, slope, when it began, how long it lasted, and the one that it became.
    starts = np.full(2 * m, -1, ids.dtype)
    ends, parents = starts.copy(), starts.copy()
    rises = np.full(2 * m, zero, masses.dtype)
    births = rises.copy()
    spans = np.full(2 * m, one, masses.dtype)
    width, mass = rises.copy(), rises.copy()
    for j in range(m):
        starts[j], ends[j] = j, j + 1
        width[j], mass[j] = widths[j], masses[j]
        rises[j] = mass[j] / width[j]

    kinks = kinks.copy()
    since = np.full(m + 1, zero, masses.dtype)
    rates, deaths = since.copy(), lifetimes.copy()
    queue, place = ids.copy(), ids.copy()
    size = 0
    for j in range(1, m):
        if not tight[j]:
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
            parents[c] = new
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

    return spans[:new], rises[:new], lifetimes, starts[:new], ends[:new], parents[:new]


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


def live(
    slopes: Array, widths: Array, masses: Array, tight: Array, ids: Array, one: Number
) -> tuple[Array, Array, Array, Array, Array, Array, Array]:
    """Return what :class:`otspec.rules.pooled.barriers.Barriers` holds, from ``lifetimes`` on.

    ``slopes``, (m,): of the wanted law; the rest as for :func:`run`.
    """
    m, zero = len(widths), one - one
    slopes = rising(slopes, widths, tight, ids)
    # A knot without a kink is never a barrier: what is around it is one group from the start.
    knots, kinks, firm, count = ids.copy(), np.full(m + 1, zero, masses.dtype), tight.copy(), 0
    wide, heavy = kinks.copy(), kinks.copy()  # of what is from each such knot to the next
    origins = ids[1:].copy()
    for j in range(m + 1):
        kink = zero
        if 0 < j < m:
            kink = max(slopes[j] - slopes[j - 1], zero)
        if tight[j] or kink > zero or masses[j] / widths[j] <= masses[j - 1] / widths[j - 1]:
            knots[count], kinks[count], firm[count] = j, kink, tight[j]
            count += 1
        if j < m:
            wide[count - 1] += widths[j]
            heavy[count - 1] += masses[j]
            origins[j] = count - 1
    found = run(
        wide[: count - 1], heavy[: count - 1], kinks[:count], firm[:count], ids[:count], one
    )
    spans, rises, ends_of_knots, starts, ends, parents = found
    lifetimes = np.full(m + 1, zero, masses.dtype)
    for i in range(count):
        lifetimes[knots[i]] = np.inf if firm[i] else ends_of_knots[i]
    for g in range(len(starts)):
        starts[g], ends[g] = knots[starts[g]], knots[ends[g]]
    return lifetimes, starts, ends, spans, rises, parents, origins


fast_live = compiled(live)
