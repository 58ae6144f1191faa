"""One step of the search for the fewest pools, for Numba if it is there (Pooled, prop. 6)."""

from otspec._base.arithmetic import Array
from otspec._base.compiling import compiled


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
