"""What is done to logits before they are probabilities: settings, checked."""

import sys
from functools import lru_cache
from typing import Any

import numpy as np

from otspec._base import shown
from otspec.batch._arguments import LOGITS, check_probabilities, refuse_two_dtypes
from otspec.batch._array_api.library import Array, Library, is_compiled, library_of
from otspec.batch._array_api.warping import Settings
from otspec.batch._arrays import INTEGERS, as_count, as_number, check_library, dtype_name
from otspec.warping import STEPS, as_order


def settings_of_both(given: dict[str, Array], known: bool, *settings: Any) -> list[Settings | None]:
    """Check the logits of both models, and what is done to them; None of a known draft."""
    own, its = [check_probabilities(name, rows) == "float64" for name, rows in given.items()]
    if own != its:
        refuse_two_dtypes(given.values(), LOGITS)  # as they were given: half precision is cast
    draft, target = given.values()
    if _are_kept(target, *settings):
        both = _kept(its, *settings)
        return [None if known else both, both]
    # A tuple of two is a setting of the draft and one of the target.
    pairs = [each if type(each) is tuple and len(each) == 2 else (each, each) for each in settings]
    first, second = zip(*pairs, strict=True)
    return [
        None if known else _settings_of(own, draft, *first),
        _settings_of(its, target, *second),
    ]


def settings_of(name: str, logits: Array, *settings: Any) -> Settings:
    """Check logits, and what is done to them: as :func:`warp` takes it, in that order."""
    return _settings_of(check_probabilities(name, logits) == "float64", logits, *settings)


def _settings_of(double: bool, logits: Array, *settings: Any) -> Settings:
    """Check the same where the logits are checked."""
    if _are_kept(logits, *settings):
        return _kept(double, *settings)
    library, (*others, order) = library_of(logits), settings
    given = [
        _of_rows(library, logits, name, value) if _is_of_rows(value) else value
        for name, value in zip(_NAMES, others, strict=True)
    ]
    return _plain(double, *(*given, order))


def _are_kept(logits: Array, *settings: Any) -> bool:
    """Return whether settings are plain numbers and an order, which are checked once."""
    *others, order = settings
    return (
        (order is STEPS or type(order) is str)
        and _PLAIN.issuperset(map(type, others))
        and not is_compiled(logits)  # a graph has no cache
    )


def _plain(
    double: bool, temperature: Any, top_k: Any, top_p: Any, min_p: Any, order: Any
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
_NAMES = "temperature", "top_k", "top_p", "min_p"
_PLAIN = {int, float, type(None)}
_kept = lru_cache(maxsize=64, typed=True)(_plain)
"""The same for plain numbers, which are checked once."""


def _of_rows(library: Library, logits: Array, name: str, value: Array) -> Array:
    """Return a setting of each row as an array with the axes of the logits, in a dtype for it."""
    kinds = INTEGERS if name == "top_k" else ("float32", "float64")
    check_library(logits=logits, **{name: value})
    axes, shape = value.ndim, logits.shape[:-1]
    if value.shape != shape[:axes] or dtype_name(value) not in kinds:
        raise ValueError(
            f"{name} is {value.dtype} of shape {tuple(value.shape)}: it must be one number, or one "
            f"{'integer' if name == 'top_k' else 'float'} for each row, of the first axes of "
            f"{tuple(shape)}"
        )
    value = library.ids(value) if name == "top_k" else library.narrowed(value)
    return library.xp.reshape(value, (*value.shape, *(1,) * (logits.ndim - axes)))
