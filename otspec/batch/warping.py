"""From logits to the distribution that is actually sampled from."""

from __future__ import annotations

import math
from typing import Any

from otspec.batch.arguments import as_arrays, as_count, as_number, check_probabilities
from otspec.batch.arrays import Array, Library, quiet
from otspec.raw import shown


@quiet
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
        Divides the logits; positive, and in the range of the dtype that is computed in.
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
    library = as_arrays(logits=logits)
    check_probabilities("logits", logits)
    temperature, top_k, top_p = _options(library, temperature, top_k, top_p)
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


def _options(
    library: Library, temperature: Any, top_k: Any, top_p: Any
) -> tuple[float, int | None, float | None]:
    """Check the options, and return them as plain numbers, which do not change the dtype."""
    range_ = library.xp.finfo(library.dtype)
    low, high = float(range_.smallest_normal), float(range_.max)
    heat = as_number("temperature", temperature)
    if not low <= heat <= high:
        raise ValueError(
            f"temperature is {shown(temperature)}: it must be positive and finite, from {low:.3g} "
            f"to {high:.3g} (for greedy decoding use top_k=1)"
        )
    if top_k is not None:
        top_k = as_count("top_k", top_k, 1)
    if top_p is not None:
        share = as_number("top_p", top_p)
        if not 0 < share <= 1:
            raise ValueError(f"top_p is {shown(top_p)}: it must be above 0 and at most 1")
        top_p = share
    return heat, top_k, top_p
