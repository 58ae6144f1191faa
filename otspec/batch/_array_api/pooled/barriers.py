"""Barriers between pools at a uniform number, all rows at once (Pooled, prop. 4)."""

import math

from otspec.batch._array_api.library import Array, Library


def barriers(library: Library, widths, rises, tight) -> Array:
    """Return which of the inner knots, of number 1 to m, are barriers: (..., m)."""
    # B is the law that is wanted below each knot, and G the probability that all drafts are below.
    # Given the draft mass of each pool and by how much B − u G rises over it, the barriers at u are
    # the corners of the lower convex hull of B − u G: each chord that ends at one is less steep
    # than each that begins there. `tight`, where B is as low as it can be, is always one.
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


def group_start(library: Library, barrier, top) -> Array:
    """Return the lowest pool of the group that holds pool ``top``, shape (..., 1)."""
    ids = library.arange(barrier.shape[-1]) + 1
    below = library.xp.where(barrier & (ids <= top), ids, 0)
    return library.xp.max(below, axis=-1, keepdims=True)


def group_end(library: Library, barrier, top) -> Array:
    """Return the knot above the group that holds pool ``top``, shape (..., 1)."""
    last = barrier.shape[-1] + 1
    ids = library.arange(last - 1) + 1
    above = library.xp.where(barrier & (ids > top), ids, last)
    return library.xp.min(above, axis=-1, keepdims=True)


def ascending(library: Library, values) -> Array:
    """Return running maxima, at least 0."""
    xp = library.xp
    ids = library.arange(values.shape[-1])
    earlier = ids[:, None] >= ids
    return xp.max(xp.where(earlier, values[..., None, :], 0.0), axis=-1)


def descending(library: Library, values) -> Array:
    """Return running minima."""
    xp = library.xp
    ids = library.arange(values.shape[-1])
    earlier = ids[:, None] >= ids
    return xp.min(xp.where(earlier, values[..., None, :], math.inf), axis=-1)
