"""Rows of float32 logits: their softmax, and what losses make of it, a row at a time in the cache.

The softmax of PyTorch is off by 1e-5 in the sum of a long row, and is not needed as a whole.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from otspec._base.compiling import HAS_NUMBA, unwriteable
from otspec.batch._array_api.library import BLOCK, Array
from otspec.batch._numba import optimum
from otspec.batch._numba.compiled import greater, inner_code, machine_code, plus

HELD = 1 << 19
"""Logits whose softmax is made at once, if a row is not longer."""

_NARROW = np.float32
# e^v = 2^n e^r with n the integer nearest to v / log 2. Adding 1.5·2^23 rounds to n; log 2 is split
# so that n times its first part is exact.
_INTEGERS = _NARROW(1.5 * 2**23)
_PER_LOG2 = _NARROW(1 / np.log(2))
_LOG2, _LOG2_REST = _NARROW(0.693359375), _NARROW(np.log(2) - 0.693359375)
# The series of e^r for |r| ≤ log(2) / 2: what is left out is below 1e-8.
_E7, _E6, _E5, _E4 = (_NARROW(1 / part) for part in (5040, 720, 120, 24))
_E3, _E2, _ONE, _ZERO = (_NARROW(part) for part in (1 / 6, 1 / 2, 1, 0))
_LOWEST = _NARROW(-87.3)
"""Below it e^v is less than the smallest normal number, and is 0 here."""


def _power(value: Any) -> Any:
    """Return 2^n for the float32 1.5·2^23 + n: n, the last bits, becomes the exponent."""
    return _NARROW(2.0) ** (value - _INTEGERS)


def _shifting(context: Any, value: Any) -> Any:  # noqa: ARG001 # of every intrinsic
    from numba import types

    def shift(context: Any, builder: Any, signature: Any, values: Any) -> Any:  # noqa: ARG001
        word, number = map(context.get_value_type, (types.int32, value))
        size, one = (context.get_constant(types.int32, part) for part in (23, 127 << 23))
        bits = builder.shl(builder.bitcast(values[0], word), size)
        return builder.bitcast(builder.add(bits, one), number)

    return value(value), shift


if HAS_NUMBA:
    from numba.extending import intrinsic

    _power = intrinsic(_shifting)


@partial(inner_code, fastmath={"contract"})  # a product and a sum may be one operation
def _exponential(value: Any) -> Any:
    """Return e^v in float32 for v ≤ 0."""
    bounded = value if value > _LOWEST else _LOWEST
    shifted = bounded * _PER_LOG2 + _INTEGERS
    whole = shifted - _INTEGERS
    r = (bounded - whole * _LOG2) - whole * _LOG2_REST
    series = ((((_E7 * r + _E6) * r + _E5) * r + _E4) * r + _E3) * r + _E2
    found = (series * (r * r) + r + _ONE) * _power(shifted)
    # Of no number it is none, as of the lowest value.
    return _ZERO if value <= _LOWEST else found + (value - value)


@inner_code
def _fill(logits: Array, found: Array) -> None:
    """Write the softmax of a row."""
    highest: Any = _NARROW(-np.inf)
    total = 0.0
    for i in range(logits.size):
        highest = greater(highest, logits[i])
    for start in range(0, logits.size, BLOCK):
        part, written = logits[start : start + BLOCK], found[start : start + BLOCK]
        mass: Any = _ZERO
        for i in range(part.size):
            weight = _exponential(part[i] - highest)
            written[i] = weight
            mass = plus(mass, weight)
        total += mass
    scale = _NARROW(1 / total)
    for i in range(found.size):
        found[i] *= scale


@machine_code
def softmax(logits: Array, found: Array) -> None:
    """Write the softmax of each row, (rows, V)."""
    for row in range(logits.shape[0]):
        _fill(logits[row], found[row])


def best_cut(
    logits: Array, target: Array, scale: Array, outside: Array, cost: Array, k: int
) -> None:
    """Write :func:`otspec.batch._numba.optimum.best_cut` of the softmax of each row."""
    rows, size = logits.shape
    step = min(max(1, HELD // size), rows)
    draft = np.empty((step, size), logits.dtype)
    for start in range(0, rows, step):
        here = slice(start, min(start + step, rows))
        part = draft[: here.stop - start]
        softmax(logits[here], part)
        optimum.best_cut(unwriteable(part), target[here], scale[here], outside[here], cost[here], k)


@machine_code
def gradient(
    logits: Array, target: Array, scales: Array, weights: Array, mean: Array, found: Array
) -> None:
    """Write p (mean − Σ_j w_j 1[q > c_j p]) of the softmax p of each row, (rows, V).

    The scales c and the weights w are (rows, m), the mean (rows, 1).
    """
    slope = np.empty(BLOCK, logits.dtype)
    for row in range(logits.shape[0]):
        draft, wanted = found[row], target[row]
        _fill(logits[row], draft)
        for start in range(0, draft.size, BLOCK):
            p, q = draft[start : start + BLOCK], wanted[start : start + BLOCK]
            slope[:] = mean[row, 0]
            for j in range(scales.shape[1]):
                c, w = scales[row, j], weights[row, j]
                for i in range(p.size):
                    slope[i] -= w if q[i] > c * p[i] else _ZERO
            for i in range(p.size):
                p[i] *= slope[i]
