"""One row of logits, checked, and warped by :mod:`otspec.warping`."""

import math
from collections.abc import Iterable

import numpy as np

from otspec._base.arithmetic import Array
from otspec._base.coerce import as_array
from otspec.distributions import Distribution
from otspec.models.warped import as_floats, checked_warp
from otspec.warping import STEPS, warped


def warp(
    logits: Array,
    *,
    temperature: float = 1.0,
    top_k: int | None = None,
    top_p: float | None = None,
    min_p: float | None = None,
    order: str | Iterable[str] = STEPS,
    name: str = "logits",
) -> Distribution:
    """Turn logits into a distribution: by temperature, top-k, top-p, min-p and a softmax.

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
        ``top_p``, in (0, 1]; of tokens that tie, those of lowest id. If top-k came before, these
        are the probabilities among the tokens that it has kept.
    min_p : float, optional
        Keep the tokens whose probability is at least ``min_p`` times the largest one's, in [0, 1].
    order : str or iterable of str
        The order of the steps: ``"temperature-first"`` (then top-k, top-p, min-p), another name of
        :data:`otspec.warping.ORDERS` such as ``"temperature-last"``, or each of
        ``"temperature"``, ``"top_k"``, ``"top_p"`` and ``"min_p"`` once.
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
    options = as_floats(checked_warp(temperature, top_k, top_p, min_p, order))
    given = as_array(logits, name)
    if given.dtype.kind not in "fiu" or given.ndim != 1 or given.size == 0:
        raise ValueError(
            f"{name} has type {given.dtype} and shape {given.shape}: logits are one row of floats"
        )
    with np.errstate(over="ignore", invalid="ignore"):  # refused below, by name
        scaled = given.astype(np.float64)
    _check_largest(scaled, name)
    with np.errstate(over="ignore"):  # far below the largest at a tiny temperature: probability 0
        return np.asarray(warped(np, scaled, **options))


def _check_largest(logits: Array, name: str) -> None:
    """Refuse what no softmax exists of."""
    highest = float(logits.max())
    if highest == -math.inf:
        raise ValueError(f"{name} is -inf everywhere: there is no token to draw")
    if not math.isfinite(highest):
        at = int(np.argmax(np.isnan(logits) | (logits == np.inf)))
        raise ValueError(f"{name}[{at}] is {logits[at]}: logits must be numbers or -inf")
