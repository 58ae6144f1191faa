"""What is done to logits before they are probabilities: settings, checked."""

import sys
from functools import lru_cache
from typing import Any

import numpy as np

from otspec._base import shown
from otspec.batch._arguments import LOGITS, check_probabilities, refuse_two_dtypes
from otspec.batch._array_api.library import Array, Library, is_compiled, library_of
from otspec.batch._array_api.warping import Settings
from otspec.batch._arrays import INTEGERS, as_count, as_number, dtype_name, one_library
from otspec.warping import STEPS, as_order


def settings_of_both(given: dict[str, Array], known: bool, *settings: Any) -> list[Settings | None]:
    """Check the logits of both models, and what is done to them; None of a known draft."""
    if known:
        check_probabilities("draft_logits", given["draft_logits"])
    sides: tuple[tuple[Any, ...], ...] = settings, settings
    if tuple in map(type, settings[:-1]) or settings[-1] is not STEPS:
        # A tuple of two is a setting of the draft and one of the target.
        pairs = [
            each if type(each) is tuple and len(each) == 2 else (each, each) for each in settings
        ]
        sides = tuple(zip(*pairs, strict=True))
    found = [
        None if known and name == "draft_logits" else settings_of(name, logits, *side)
        for (name, logits), side in zip(given.items(), sides, strict=True)
    ]
    if len({dtype_name(logits) == "float64" for logits in given.values()}) > 1:
        refuse_two_dtypes(given.values(), LOGITS)  # as they were given: half precision is cast
    return found


def settings_of(
    name: str,
    logits: Array,
    temperature: Any,
    top_k: Any,
    top_p: Any,
    min_p: Any,
    order: Any,
) -> Settings:
    """Check logits, and what is done to them."""
    check_probabilities(name, logits)
    double = dtype_name(logits) == "float64"
    if (order is STEPS or type(order) is str) and (
        {type(temperature), type(top_k), type(top_p), type(min_p)} <= _PLAIN
        and not is_compiled(logits)  # a graph has no cache
    ):
        return _kept(double, order, temperature, top_k, top_p, min_p)
    library = library_of(logits)
    given = {"temperature": temperature, "top_k": top_k, "top_p": top_p, "min_p": min_p}
    of_rows = {
        name: _of_rows(library, logits, name, value)
        for name, value in given.items()
        if _is_of_rows(value)
    }
    return _plain(double, order, **given | of_rows)


def _plain(
    double: bool, order: Any, temperature: Any, top_k: Any, top_p: Any, min_p: Any
) -> Settings:
    """Check settings; plain numbers do not change the dtype."""
    low, high = _RANGES[int(double)]  # a graph has no index that is a truth value
    heat = _number("temperature", temperature)
    wrong = _outside(temperature, heat, low, high, or_zero=True)
    if wrong is not None:
        raise ValueError(
            f"temperature is {shown(wrong)}: it must be positive and finite, from {low:.3g} to "
            f"{high:.3g}, or 0 for greedy decoding"
        )
    most = _number("top_k", top_k)
    wrong = _outside(top_k, most, 1, np.inf)
    if wrong is not None:
        raise ValueError(f"top_k is {shown(wrong)}: it must be at least 1")
    share = _number("top_p", top_p)
    wrong = _outside(top_p, share, 5e-324, 1)
    if wrong is not None:
        raise ValueError(f"top_p is {shown(wrong)}: it must be above 0 and at most 1")
    least = _number("min_p", min_p)
    wrong = _outside(min_p, least, 0, 1)
    if wrong is not None:
        raise ValueError(f"min_p is {shown(wrong)}: it must be at least 0 and at most 1")
    return Settings(heat, most, share, least, as_order(order))


def _number(name: str, value: Any) -> Any:
    """Return a setting as a plain number, or one of each row as it is; None if it is none."""
    if _is_of_rows(value) or (value is None and name != "temperature"):
        return value
    if isinstance(value, list | tuple):
        raise ValueError(
            f"{name} is {shown(value)}: pass one number, an array with one for each row, or to "
            "from_logits a tuple (the draft's, the target's)"
        )
    return as_count(name, value, 1) if name == "top_k" else as_number(name, value)


def _is_of_rows(value: Any) -> bool:
    return getattr(value, "ndim", 0) > 0


def _outside(given: Any, value: Any, low: float, high: float, *, or_zero: bool = False) -> Any:
    """Return a value out of range; None if there is none, or it would have to be waited for."""
    if value is None or (_is_of_rows(value) and not isinstance(value, np.ndarray)):
        return None
    if not isinstance(value, np.ndarray):
        return None if low <= value <= high or (or_zero and given == 0) else given
    wrong = ~((value >= low) & (value <= high)) & ~(or_zero & (value == 0))
    return value[wrong].ravel()[0].item() if wrong.any() else None


_RANGES = [(2.0**-126, 2.0**128 - 2.0**104), (2.0**-1022, sys.float_info.max)]
"""Positive numbers with all their digits, the least and the largest: of float32, of float64."""
_PLAIN = {int, float, type(None)}
_kept = lru_cache(maxsize=64, typed=True)(_plain)
"""The same for plain numbers, which are checked once."""


def _of_rows(library: Library, logits: Array, name: str, value: Array) -> Array:
    """Return a setting of each row as an array with the axes of the logits, in a dtype for it."""
    kinds = INTEGERS if name == "top_k" else ("float32", "float64")
    one_library(logits=logits, **{name: value})
    axes, shape = value.ndim, logits.shape[:-1]
    if value.shape != shape[:axes] or dtype_name(value) not in kinds:
        raise ValueError(
            f"{name} is {value.dtype} of shape {tuple(value.shape)}: it must be one number, or one "
            f"{'integer' if name == 'top_k' else 'float'} for each row, of the first axes of "
            f"{tuple(shape)}"
        )
    value = library.ids(value) if name == "top_k" else library.narrowed(value)
    return library.xp.reshape(value, (*value.shape, *(1,) * (logits.ndim - axes)))
