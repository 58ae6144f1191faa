"""Isotonic regression of slopes: rounding in light pools must not bend the law of heavier ones."""

from __future__ import annotations

from otspec._base.arithmetic import Array
from otspec._base.compiling import compiled


def rising(slopes: Array, widths: Array, tight: Array, ids: Array) -> Array:
    """Return slopes that do not fall between tight knots: stretches that fall get their mean.

    A law that is convex between its tight knots comes back as it is. In floats the slope of a
    light pool is uncertain, and one that is off would make a kink that much heavier pools feel;
    means weighted by draft mass hardly notice it (isotonic regression, by pooling neighbours).

    Shapes: ``tight`` (m + 1,). ``slopes`` and ``widths``, shape (m,): slope and draft mass of each
    pool. ``ids``, shape (m + 1,): 0 to m. The result has shape (m,).
    """
    level, weight, first = slopes.copy(), widths.copy(), ids[1:] - 1
    size = 0
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


fast_rising = compiled(rising)
