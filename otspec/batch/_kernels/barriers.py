"""Lifetimes of the knots between pools, all rows at once (Pooled, prop. 4).

The barriers' process runs over a handful of pools, so that every step looks at all of them.
"""

from __future__ import annotations

from otspec.batch._kernels.library import Array, Library, geometric

FOR_EVER = 2.0
"""The lifetime of a knot that is always a barrier."""


def barrier_lifetimes(
    library: Library, knots: Array, slopes: Array, tight: Array, count: Array
) -> Array:
    """Return below which uniform number each knot is a barrier.

    Parameters
    ----------
    library : Library
    knots : array, shape (..., m + 1)
        Draft mass below each boundary of the m pools, from 0 to 1.
    slopes : array, shape (..., m)
        Per pool, the wanted probability of being selected over the draft mass; not descending.
    tight : array of int, shape (...)
        The knot where the law is as low as it can be.
    count : array, shape (...)
        The number of drafts.

    Returns
    -------
    array, shape (..., m + 1)
        From 0 to 1; 2 at both ends and at the tight knot.
    """
    xp = library.xp
    ids = library.arange(knots.shape[-1])
    last = knots.shape[-1] - 1
    permanent = (ids == 0) | (ids == last) | (ids == tight[..., None])
    one = xp.ones_like(knots)
    lifetimes = xp.where(permanent, FOR_EVER * one, one)
    alive = lifetimes > 0
    nothing = xp.zeros_like(knots[..., :1])
    kinks = xp.concat([nothing, slopes[..., 1:] - slopes[..., :-1], nothing], axis=-1)
    now = xp.zeros_like(knots[..., 0])
    for _ in range(last - 1):  # each time at least one knot dies
        chords = _chords(library, knots, alive, count)
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
