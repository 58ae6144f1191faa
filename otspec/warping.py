"""From logits to the distribution that is sampled from: temperature, top-k, top-p and min-p.

One kernel for rows in any library of the Python array API standard; callers check the numbers.
"""

import math
from collections.abc import Iterable
from typing import Any

from otspec._base import as_list, shown

Order = tuple[str, ...]
"""Each of the four steps once."""
ORDERS: dict[str, Order] = {
    "temperature-first": ("temperature", "top_k", "top_p", "min_p"),
    "early-min-p": ("temperature", "min_p", "top_k", "top_p"),
    "joint": ("temperature", "top_p", "top_k", "min_p"),
    "temperature-last": ("top_k", "top_p", "min_p", "temperature"),
}
"""Orders of the steps that have a name; which engine has which is said in the docs."""
STEPS = ORDERS["temperature-first"]  # the steps, in their default order


def as_order(order: Any, name: str = "order") -> Order:
    """Return the steps of an order: a name of :data:`ORDERS`, or each of :data:`STEPS` once."""
    wanted = f"one of {', '.join(ORDERS)}, or each of {', '.join(STEPS)} once"
    if isinstance(order, str) and order in ORDERS:
        return ORDERS[order]
    steps = as_list(order, name, wanted, most=len(STEPS))
    if not all(isinstance(step, str) for step in steps) or sorted(steps) != sorted(STEPS):
        raise ValueError(f"{name} is {shown(order)}: it must be {wanted}")
    return tuple(str(step) for step in steps)


def name_of_order(order: Iterable[str]) -> str:
    """Return the name of an order, or its steps if it has none."""
    steps = tuple(order)
    return next((name for name, known in ORDERS.items() if known == steps), ", ".join(steps))


def warped(
    xp: Any,
    logits: Any,
    temperature: Any,
    top_k: Any,
    top_p: Any,
    min_p: Any = None,
    order: Order = STEPS,
) -> Any:
    """Return the distributions of rows of logits.

    The largest logit is taken off all of them. Then, in the order that is given:

    - temperature: they are divided by it.
    - top-k: the ``top_k`` largest are kept, and all that tie with the smallest of them.
    - top-p: the softmax of what is kept so far gives probabilities. The fewest likeliest tokens are
      kept whose probabilities, added up from the largest on, reach ``top_p``: of tokens that tie
      those of lowest id, and all if rounding leaves the sum of all below ``top_p``.
    - min-p: the tokens are kept whose probability is at least ``min_p`` times the largest one's.

    The softmax of what is kept in the end is the distribution. Result, shape (..., V): of the same
    dtype. NaN for a row without a finite logit, or with NaN or infinity.

    Parameters
    ----------
    xp : module
        The functions of the standard, as of its version of 2023.
    logits : array, shape (..., V)
        float32 or float64, in which is computed. ``-inf`` masks a token.
    temperature, top_k, top_p, min_p : number or array, shape (..., 1)
        One for all rows, or an array that fits the logits: positive; at least 1; above 0 and at
        most 1; from 0 to 1.
    order : tuple of str
        Each of :data:`STEPS` once.
    """
    scaled = logits - xp.max(logits, axis=-1, keepdims=True)
    chances = None  # what top-p has looked at, as long as no temperature changes it
    for step in order:
        if step == "temperature":
            scaled, chances = scaled / temperature, None
        elif step == "top_k" and _takes_away(top_k, below=logits.shape[-1]):
            scaled = _masked(xp, scaled, scaled < _smallest(xp, scaled, top_k))
        elif step == "top_p" and _takes_away(top_p, below=1):
            chances = _normalized(xp, xp.exp(scaled))
            scaled = _masked(xp, scaled, ~_likeliest(xp, chances, top_p))
        elif step == "min_p" and (_is_array(min_p) or min_p):
            # The largest is 0, so that this compares with the logarithm of the ratio.
            least = xp.log(min_p) if _is_array(min_p) else math.log(min_p)
            scaled = _masked(xp, scaled, scaled < least)
    if chances is None:
        return _normalized(xp, xp.exp(scaled))
    return _normalized(xp, xp.where(scaled > -math.inf, chances, xp.zeros_like(chances)))


def _is_array(value: Any) -> bool:
    return getattr(value, "ndim", 0) > 0


def _takes_away(value: Any, below: float) -> bool:
    """Return whether a step may take tokens away."""
    return _is_array(value) or (value is not None and value < below)


def _masked(xp: Any, scaled: Any, gone: Any) -> Any:
    return xp.where(gone, xp.full_like(scaled, -math.inf), scaled)


def _likeliest(xp: Any, probabilities: Any, top_p: Any) -> Any:
    """Return which tokens are the fewest likeliest that reach ``top_p``: (..., V) of bool."""
    ordered = xp.flip(xp.sort(probabilities, axis=-1, stable=False), axis=-1)
    sums = xp.cumulative_sum(ordered, axis=-1)
    # The first token goes in, and every token while those before it do not reach top_p.
    number = 1 + _count(xp, sums[..., :-1] < top_p)
    least = xp.take_along_axis(ordered, number - 1, axis=-1)
    above, tied = probabilities > least, probabilities == least
    place = xp.cumulative_sum(xp.astype(tied, xp.int32), axis=-1)
    kept = above | (tied & (place <= number - _count(xp, above)))
    return kept | (top_p >= 1) if _is_array(top_p) else kept


def _smallest(xp: Any, values: Any, k: Any) -> Any:
    """Return the k-th largest value of each row; the smallest if there are fewer: (..., 1)."""
    if _is_array(k):
        place = xp.clip(values.shape[-1] - k, min=0)
        place = xp.broadcast_to(place, (*values.shape[:-1], 1))
        return xp.take_along_axis(xp.sort(values, axis=-1), place, axis=-1)
    # The standard has no partition, which takes a tenth of the time.
    ordered = xp.partition(values, -k) if hasattr(xp, "partition") else xp.sort(values, axis=-1)
    return ordered[..., -k][..., None]


def _count(xp: Any, flags: Any) -> Any:
    """Return how many flags of each row are true: (..., m) -> (..., 1)."""
    return xp.sum(xp.astype(flags, xp.int32), axis=-1, keepdims=True)


def _normalized(xp: Any, weights: Any) -> Any:
    return weights / xp.sum(weights, axis=-1, keepdims=True)
