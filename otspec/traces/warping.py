"""One row of logits, checked, and warped by :mod:`otspec.warping`."""

from __future__ import annotations

import math

import numpy as np

from otspec.arithmetic import Array, as_scalar
from otspec.distributions import Distribution, as_k
from otspec.models.warped import check_warping
from otspec.raw import as_array
from otspec.warping import warped


def warp(
    logits: Array,
    *,
    temperature: float = 1.0,
    top_k: int | None = None,
    top_p: float | None = None,
    name: str = "logits",
) -> Distribution:
    """Turn logits into a distribution: temperature, then top-k, then top-p, then softmax.

    Parameters
    ----------
    logits : ndarray, shape (n,)
        Of any float type; computed in float64. ``-inf`` masks a token.
    temperature : float
        Divides the logits; positive and finite.
    top_k : int, optional
        Keep the k largest logits, and all that tie with the smallest of them.
    top_p : float, optional
        Keep the fewest likeliest tokens whose probability (after the steps before) reaches
        ``top_p``, in (0, 1]; of tokens that tie, those of lowest id.
    name : str
        What error messages call the logits.

    Returns
    -------
    ndarray of float64, shape (n,)
        Sums to 1 up to rounding.

    Raises
    ------
    ValueError
        NaN or +inf among the logits, all of them -inf, or an option out of range.

    Examples
    --------
    >>> warp(np.log([0.5, 0.3, 0.2]), top_k=2).round(3).tolist()
    [0.625, 0.375, 0.0]
    """
    check_warping(temperature, top_k, top_p)
    temperature = float(as_scalar(temperature, "temperature"))
    given = as_array(logits, name)
    if given.dtype.kind not in "fiu" or given.ndim != 1 or given.size == 0:
        raise ValueError(
            f"{name} has type {given.dtype} and shape {given.shape}: logits are one row of floats"
        )
    with np.errstate(over="ignore", invalid="ignore"):  # refused below, by name
        scaled = given.astype(np.float64)
    _check_largest(scaled, name)
    most = None if top_k is None else as_k(top_k, "top_k")
    share = None if top_p is None else float(as_scalar(top_p, "top_p"))
    with np.errstate(over="ignore"):  # far below the largest at a tiny temperature: probability 0
        return np.asarray(warped(np, scaled, temperature, most, share))


def _check_largest(logits: Array, name: str) -> None:
    """Refuse what no softmax exists of."""
    highest = float(logits.max())
    if highest == -math.inf:
        raise ValueError(f"{name} is -inf everywhere: there is no token to draw")
    if not math.isfinite(highest):
        at = int(np.argmax(np.isnan(logits) | (logits == np.inf)))
        raise ValueError(f"{name}[{at}] is {logits[at]}: logits must be numbers or -inf")
