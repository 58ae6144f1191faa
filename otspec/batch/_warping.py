"""The front of warping: options are checked, and go to the kernel of :mod:`otspec.warping`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from otspec._base.coerce import shown
from otspec.batch._arguments import check_probabilities
from otspec.batch._array_api.library import Array, Library, quietly
from otspec.batch._arrays import as_count, as_number, one_library
from otspec.warping import STEPS, as_order, warped


def warp(
    logits: Array,
    /,
    *,
    temperature: float = 1.0,
    top_k: int | None = None,
    top_p: float | None = None,
    min_p: float | None = None,
    order: str | Iterable[str] = STEPS,
) -> Array:
    """Turn logits into a distribution: by temperature, top-k, top-p, min-p and a softmax.

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
    min_p : float, optional
        Keep the tokens whose probability is at least ``min_p`` times the largest one's, in [0, 1].
    order : str or iterable of str
        The order of the steps, as for :func:`otspec.traces.warp`.

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
    with quietly(logits):
        library = one_library(logits=logits)
        check_probabilities("logits", logits)
        options = _options(library, temperature, top_k, top_p, min_p)
        return warped(library.xp, library.narrowed(logits), **options, order=as_order(order))


def _options(
    library: Library, temperature: Any, top_k: Any, top_p: Any, min_p: Any
) -> dict[str, Any]:
    """Check the options, and return them as plain numbers, which do not change the dtype."""
    range_ = library.xp.finfo(library.dtype)
    low, high = float(range_.smallest_normal), float(range_.max)
    heat = as_number("temperature", temperature)
    if not low <= heat <= high:
        raise ValueError(
            f"temperature is {shown(temperature)}: it must be positive and finite, from {low:.3g} "
            f"to {high:.3g} (for greedy decoding use top_k=1)"
        )
    share = None if top_p is None else as_number("top_p", top_p)
    if share is not None and not 0 < share <= 1:
        raise ValueError(f"top_p is {shown(top_p)}: it must be above 0 and at most 1")
    least = None if min_p is None else as_number("min_p", min_p)
    if least is not None and not 0 <= least <= 1:
        raise ValueError(f"min_p is {shown(min_p)}: it must be at least 0 and at most 1")
    most = None if top_k is None else as_count("top_k", top_k, 1)
    return {"temperature": heat, "top_k": most, "top_p": share, "min_p": least}
