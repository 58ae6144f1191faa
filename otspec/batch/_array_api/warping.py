"""Logits turned into probabilities by operations on arrays, with settings of each row."""

import math
from typing import Any, NamedTuple

from otspec.batch._array_api.library import Array, Library
from otspec.warping import STEPS, Order, warped


class Settings(NamedTuple):
    """What is done to logits: numbers, or arrays of one for each row (with the logits' axes)."""

    temperature: Any = 1.0  # 0: the first of the largest logits
    top_k: Any = None
    top_p: Any = None
    min_p: Any = None
    order: Order = STEPS


def probabilities(library: Library, logits, settings: Settings) -> Array:
    """Return the distributions of rows of logits, (..., V): narrow."""
    temperature, size = settings.temperature, logits.shape[-1]
    if (
        library.fused is not None
        and _counts_all(settings, size)
        and library.fused.takes_rows(library, logits)
    ):
        return library.fused.softmax(library, logits, temperature)
    xp, logits = library.xp, library.narrowed(logits)
    if isinstance(temperature, float):
        return warped(xp, logits, *settings) if temperature else _greedy(library, logits)
    zero = temperature == 0
    settings = settings._replace(temperature=xp.where(zero, xp.ones_like(temperature), temperature))
    return xp.where(zero, _greedy(library, logits), warped(xp, logits, *settings))


def _counts_all(settings: Settings, size: int) -> bool:
    """Return whether no step leaves tokens out; of settings of rows it is not known."""
    _, most, share, least, _ = settings
    if any(getattr(limit, "ndim", 0) for limit in (most, share, least)):
        return False
    return (most is None or most >= size) and (share is None or share >= 1) and not least


def _greedy(library: Library, logits) -> Array:
    """Return 1 at the first of the largest logits; NaN for a row without a finite one."""
    xp, most = library.xp, library.xp.max(logits, axis=-1, keepdims=True)
    here = library.arange(logits.shape[-1]) == library.largest(logits)[..., None]
    return xp.where(xp.abs(most) < math.inf, library.narrowed(here), math.nan * most)
