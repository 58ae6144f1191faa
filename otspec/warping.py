"""From logits to the distribution that is sampled from: temperature, then top-k, then top-p.

One kernel for a row or a batch of rows, in any library of the Python array API standard. Options
are checked by those who call it, :func:`otspec.traces.warp` and :func:`otspec.batch.warp`.
"""

from __future__ import annotations

import math
from typing import Any

from array_api_compat import is_numpy_namespace


def warped(xp: Any, logits: Any, temperature: float, top_k: int | None, top_p: float | None) -> Any:
    """Return the distributions of rows of logits.

    1. The logits less the largest of them are divided by the temperature.
    2. Of these, the ``top_k`` largest are kept, and all that tie with the smallest of them.
    3. The softmax of what is kept gives probabilities.
    4. The fewest likeliest tokens are kept whose probabilities, added up from the largest on,
       reach ``top_p``: of tokens that tie those of lowest id, and all if rounding leaves the sum
       of all below ``top_p``. They are scaled to sum 1.

    Parameters
    ----------
    xp : module
        The functions of the standard, as of its version of 2023.
    logits : array, shape (..., V)
        float32 or float64, in which is computed. ``-inf`` masks a token.
    temperature : float
        Positive.
    top_k : int, optional
        At least 1.
    top_p : float, optional
        Above 0 and at most 1.

    Returns
    -------
    array, shape (..., V)
        Of the same dtype. NaN for a row without a finite logit, or with NaN or infinity.
    """
    scaled = (logits - xp.max(logits, axis=-1, keepdims=True)) / temperature
    if top_k is not None and top_k < logits.shape[-1]:
        smallest = _ascending(xp, scaled, top_k)[..., -top_k][..., None]
        scaled = xp.where(scaled < smallest, xp.full_like(scaled, -math.inf), scaled)
    probabilities = _normalised(xp, xp.exp(scaled))
    if top_p is None or top_p == 1:
        return probabilities
    kept = _likeliest(xp, probabilities, top_p)
    return _normalised(xp, xp.where(kept, probabilities, xp.zeros_like(probabilities)))


def _likeliest(xp: Any, probabilities: Any, top_p: float) -> Any:
    """Return which tokens are the fewest likeliest that reach ``top_p``: (..., V) of bool."""
    ordered = xp.flip(xp.sort(probabilities, axis=-1, stable=False), axis=-1)
    sums = xp.cumulative_sum(ordered, axis=-1)
    # The first token goes in, and every token while those before it do not reach top_p.
    number = 1 + _count(xp, sums[..., :-1] < top_p)
    least = xp.take_along_axis(ordered, number - 1, axis=-1)
    above, tied = probabilities > least, probabilities == least
    place = xp.cumulative_sum(xp.astype(tied, xp.int32), axis=-1)
    return above | (tied & (place <= number - _count(xp, above)))


def _ascending(xp: Any, values: Any, k: int) -> Any:
    """Return the values with the k-th largest in its place of the ascending order."""
    # The standard has no partition, which takes a tenth of the time.
    return xp.partition(values, -k) if is_numpy_namespace(xp) else xp.sort(values, axis=-1)


def _count(xp: Any, flags: Any) -> Any:
    """Return how many flags of each row are true: (..., m) -> (..., 1)."""
    return xp.sum(xp.astype(flags, xp.int32), axis=-1, keepdims=True)


def _normalised(xp: Any, weights: Any) -> Any:
    return weights / xp.sum(weights, axis=-1, keepdims=True)
