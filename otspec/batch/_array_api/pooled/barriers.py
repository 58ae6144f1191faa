"""Which knots between pools are barriers at a uniform number, all rows at once (Pooled, prop. 4).

Let B be the law that is wanted below each knot, and G the probability that all drafts are below.
At the uniform number u the barriers are the corners of the lower convex hull of B − u G: so every
chord that ends at a barrier is less steep than every chord that begins there.
"""

import math

from otspec.batch._array_api.library import Array, Library


def barriers(library: Library, widths: Array, rises: Array, tight: Array) -> Array:
    """Return which of the inner knots, of number 1 to m, are barriers: (..., m).

    ``widths``, shape (..., m + 1): the draft mass of each pool, in any unit; none is negative.
    ``rises``, shape (..., m + 1): by how much B − u G rises over each pool. ``tight``, shape (...,
    1): the knot where B is as low as it can be, which is always a barrier, as are both ends.
    """
    xp = library.xp
    ids = library.arange(widths.shape[-1])
    behind = ids[:, None] <= ids
    width, rise = (
        xp.cumulative_sum(xp.where(behind, part[..., None, :], 0.0), axis=-1)
        for part in (widths, rises)
    )
    # From each knot to each later one; of two knots in one place either may be the barrier.
    chords, apart = rise / width, width > 0
    ending = xp.max(xp.where(apart, chords, -math.inf), axis=-2)
    beginning = xp.min(xp.where(apart, chords, math.inf), axis=-1)
    # Slopes that are equal up to rounding make no corner.
    ending = ending * (1 + 16 * float(xp.finfo(library.wide).eps))
    return (beginning[..., 1:] > ending[..., :-1]) | (ids[1:] == tight)


def group_start(library: Library, barrier: Array, top: Array) -> Array:
    """Return the lowest pool of the group that holds pool ``top``, shape (..., 1)."""
    ids = library.arange(barrier.shape[-1]) + 1
    below = library.xp.where(barrier & (ids <= top), ids, 0)
    return library.xp.max(below, axis=-1, keepdims=True)


def group_end(library: Library, barrier: Array, top: Array) -> Array:
    """Return the knot above the group that holds pool ``top``, shape (..., 1)."""
    last = barrier.shape[-1] + 1
    ids = library.arange(last - 1) + 1
    above = library.xp.where(barrier & (ids > top), ids, last)
    return library.xp.min(above, axis=-1, keepdims=True)


def ascending(library: Library, values: Array) -> Array:
    """Return running maxima, at least 0."""
    xp = library.xp
    ids = library.arange(values.shape[-1])
    earlier = ids[:, None] >= ids
    return xp.max(xp.where(earlier, values[..., None, :], 0.0), axis=-1)


def descending(library: Library, values: Array) -> Array:
    """Return running minima."""
    xp = library.xp
    ids = library.arange(values.shape[-1])
    earlier = ids[:, None] >= ids
    return xp.min(xp.where(earlier, values[..., None, :], math.inf), axis=-1)
