"""Lifetimes of the knots between pools, all rows at once (Pooled, prop. 4).

The barriers' process runs over a handful of pools, so that every step looks at all of them.
"""

from __future__ import annotations

from collections.abc import Callable

from otspec.batch._kernels.library import Array, Library, geometric

FOR_EVER = 2.0
"""The lifetime of a knot that is always a barrier."""


def barrier_lifetimes(
    library: Library, knots: Array, slopes: Array, tight: Array, count: Array
) -> Array:
    """Return below which uniform number each knot is a barrier, for independent drafts.

    Parameters
    ----------
    library : Library
    knots : array, shape (..., m + 1)
        Draft mass below each boundary of the m pools, from 0 to 1.
    slopes, tight
        As for :func:`lifetimes_of`.
    count : array, shape (...)
        The number of drafts.
    """
    return lifetimes_of(library, slopes, tight, lambda alive: _chords(library, knots, alive, count))


def lifetimes_of(
    library: Library, slopes: Array, tight: Array, chords_of: Callable[[Array], Array]
) -> Array:
    """Return below which uniform number each knot is a barrier.

    Parameters
    ----------
    library : Library
    slopes : array, shape (..., m)
        Per pool, the wanted probability of being selected over the draft mass; not descending.
    tight : array of int, shape (...)
        The knot where the law is as low as it can be.
    chords_of : callable
        Which knots are barriers, (..., m + 1), -> the slope of G between the barriers around each
        pool, (..., m).

    Returns
    -------
    array, shape (..., m + 1)
        From 0 to 1; 2 at both ends and at the tight knot.
    """
    xp = library.xp
    last = slopes.shape[-1]
    ids = library.arange(last + 1)
    permanent = (ids == 0) | (ids == last) | (ids == tight[..., None])
    one = xp.ones_like(slopes[..., :1]) + library.widened(0 * ids)
    lifetimes = xp.where(permanent, FOR_EVER * one, one)
    alive = lifetimes > 0
    nothing = xp.zeros_like(slopes[..., :1])
    kinks = xp.concat([nothing, slopes[..., 1:] - slopes[..., :-1], nothing], axis=-1)
    now = nothing[..., 0]
    for _ in range(last - 1):  # each time at least one knot dies
        chords = chords_of(alive)
        rates = xp.concat([nothing, chords[..., 1:] - chords[..., :-1], nothing], axis=-1)
        mortal = alive & ~permanent
        waits = xp.where(kinks > 0, library.quotient(kinks, rates, otherwise=FOR_EVER), 0 * one)
        waits = xp.where(mortal, waits, FOR_EVER * one)
        wait = xp.minimum(xp.min(waits, axis=-1), 1 - now)
        dying = mortal & (waits <= wait[..., None])
        now = now + wait
        lifetimes = xp.where(dying, now[..., None], lifetimes)
        kinks = kinks - rates * wait[..., None]
        alive = alive & ~dying
    return lifetimes


def group_start(library: Library, lifetimes: Array, top: Array, uniforms: Array) -> Array:
    """Return the lowest pool of the group that holds pool ``top``, shape (...)."""
    ids = library.arange(lifetimes.shape[-1])
    barrier = (lifetimes > uniforms[..., None]) & (ids <= top[..., None])
    return library.xp.max(library.xp.where(barrier, ids, library.xp.zeros_like(ids)), axis=-1)


def _chords(library: Library, knots: Array, alive: Array, count: Array) -> Array:
    """Return the slope of u^count over the barriers around each pool: (..., m + 1) -> (..., m).

    It is high^(count−1) (1 + r + … + r^(count−1)), r = low/high: nothing cancels.
    """
    xp = library.xp
    ids = library.arange(knots.shape[-1])
    pools = ids[:-1][:, None]
    every, living = knots[..., None, :], alive[..., None, :]
    low = xp.max(xp.where(living & (ids <= pools), every, xp.zeros_like(every)), axis=-1)
    high = xp.min(xp.where(living & (ids > pools), every, xp.ones_like(every)), axis=-1)
    count = count[..., None]
    apart = library.quotient(high - low, high)
    return high ** (count - 1) * geometric(library, apart, count)


def group_end(library: Library, lifetimes: Array, top: Array, uniforms: Array) -> Array:
    """Return the knot above the group that holds pool ``top``, shape (...)."""
    xp = library.xp
    last = lifetimes.shape[-1] - 1
    ids = library.arange(last + 1)
    barrier = (lifetimes > uniforms[..., None]) & (ids > top[..., None])
    return xp.min(xp.where(barrier, ids, xp.full_like(ids, last)), axis=-1)


def chords_between(library: Library, inside: Array, above: Array, alive: Array) -> Array:
    """Return the slope of G over the barriers around each pool: (..., m + 1) -> (..., m).

    It is in units of 1 over what masses are lifted by.

    Parameters
    ----------
    library : Library
    inside, above : array, shape (..., m + 1)
        At each knot G, and the draft mass above it, lifted.
    alive : array of bool, shape (..., m + 1)
    """
    xp = library.xp
    ids = library.arange(inside.shape[-1])
    pools = ids[:-1][:, None]
    living = alive[..., None, :]
    under, over = living & (ids <= pools), living & (ids > pools)
    every, none = inside[..., None, :], xp.zeros_like(inside)[..., None, :]
    low = xp.max(xp.where(under, every, none), axis=-1)
    high = xp.min(xp.where(over, every, none + 1), axis=-1)
    every = above[..., None, :]
    start = xp.min(xp.where(under, every, every[..., :1]), axis=-1)
    width = start - xp.max(xp.where(over, every, none), axis=-1)
    # What is as narrow as rounding has no slope of its own.
    least = 64 * float(xp.finfo(library.wide).eps)
    width = xp.where(width > least * start, width, xp.zeros_like(width))
    return ascending(library, library.quotient(high - low, width))


def ascending(library: Library, values: Array) -> Array:
    """Return running maxima, at least 0."""
    xp = library.xp
    ids = library.arange(values.shape[-1])
    earlier = ids[:, None] >= ids
    candidates = xp.where(earlier, values[..., None, :], xp.zeros_like(values)[..., None, :])
    return xp.max(candidates, axis=-1)


def descending(library: Library, values: Array) -> Array:
    """Return running minima."""
    xp = library.xp
    ids = library.arange(values.shape[-1])
    earlier = ids[:, None] >= ids
    candidates = xp.where(earlier, values[..., None, :], values[..., None, :1])
    return xp.min(candidates, axis=-1)
