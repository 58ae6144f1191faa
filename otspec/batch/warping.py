"""From logits to the distribution that is actually sampled from."""

from __future__ import annotations

import math

from otspec.batch.arrays import Array, Library, library_of
from otspec.batch.checks import check_probabilities


def warp(
    logits: Array,
    /,
    *,
    temperature: float = 1.0,
    top_k: int | None = None,
    top_p: float | None = None,
) -> Array:
    """Turn logits into a distribution: temperature, then top-k, then top-p, then softmax.

    Law: :func:`otspec.traces.warp`, row by row. Verify against the warped distributions, not
    the logits' own softmax: a rule is lossless for the distributions it is given.

    Parameters
    ----------
    logits : array, shape (..., V)
        float32 or float64, or a half-precision type. ``-inf`` masks a token.
    temperature : float
        Divides the logits; positive and finite.
    top_k : int, optional
        Keep the k largest logits, and all that tie with the smallest of them.
    top_p : float, optional
        Keep the fewest likeliest tokens whose probability (after the steps before) reaches
        ``top_p``, in (0, 1]; of tokens that tie, those of lowest id.

    Returns
    -------
    array, shape (..., V)
        float64 for float64, else float32. NaN for a row without a finite logit.

    Raises
    ------
    ValueError
        An option out of range, or a shape or dtype that does not fit.

    Notes
    -----
    ``top_k`` and ``top_p`` sort the vocabulary. Σ of a row is 1 to a few roundings; a rule's
    law is off by as much.
    """
    _check_options(temperature, top_k, top_p)
    library = library_of(logits)
    check_probabilities(library, "logits", logits)
    xp = library.xp
    scaled = library.narrowed(logits)
    scaled = (scaled - xp.max(scaled, axis=-1, keepdims=True)) / temperature
    if top_k is not None and top_k < logits.shape[-1]:
        ascending = xp.sort(scaled, axis=-1)
        smallest = ascending[..., -top_k][..., None]
        scaled = xp.where(scaled < smallest, xp.full_like(scaled, -math.inf), scaled)
    probabilities = _normalised(library, xp.exp(scaled))
    if top_p is None or top_p == 1:
        return probabilities
    return _normalised(library, _likeliest(library, probabilities, top_p))


def _likeliest(library: Library, probabilities: Array, top_p: float) -> Array:
    """Return the probabilities with all zero but the fewest that reach ``top_p``."""
    xp = library.xp
    order = xp.argsort(probabilities, axis=-1, descending=True, stable=True)
    sums = xp.cumulative_sum(library.take(probabilities, order), axis=-1)
    # The first token goes in, and every token while those before it do not reach top_p.
    keep = xp.concat([xp.ones_like(sums[..., :1], dtype=xp.bool), sums[..., :-1] < top_p], axis=-1)
    rank = xp.argsort(order, axis=-1)
    return xp.where(
        xp.take_along_axis(keep, rank, axis=-1), probabilities, xp.zeros_like(probabilities)
    )


def _normalised(library: Library, weights: Array) -> Array:
    total = library.xp.sum(weights, axis=-1, keepdims=True)
    return weights / total


def _check_options(temperature: float, top_k: int | None, top_p: float | None) -> None:
    if not 0 < temperature < math.inf:
        raise ValueError(
            f"temperature is {temperature}: it must be positive and finite (for greedy decoding "
            "use top_k=1)"
        )
    if top_k is not None and top_k < 1:
        raise ValueError(f"top_k is {top_k}: it must be at least 1")
    if top_p is not None and not 0 < top_p <= 1:
        raise ValueError(f"top_p is {top_p}: it must be above 0 and at most 1")
