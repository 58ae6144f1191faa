"""Maxima, sums and probabilities of a row of logits, in two readings.

The first reading finds Σ 2^(unit·(logit − shift)), the second writes the probabilities. The shift
is about the largest logit so far, and is moved where a later one is far above it, so that the
largest need not be known before. Rows are float32, or half precision as its bits: uint16 for
float16, int16 for bfloat16. All is
computed in float32, and blocks of 1,024 tokens are added up in float64.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from otspec.batch._array_api.library import Array
from otspec.batch._numba.compiled import Real, greater, inner_code, plus, power, real_of

_AT_ONCE = 1024
"""Tokens whose powers are added up in float32: in many numbers at once, of a few powers each."""
_FAR = 64.0
"""How many powers of two a logit may be above the shift before that is moved."""


@inner_code
def unit_of(heat: Real) -> Any:
    """Return 1/T in powers of two."""
    return np.float32(1 / (math.log(2) * heat))


@inner_code
def largest_of(logits: Array) -> Real:
    """Return the largest logit of a few; any of them if one is no number."""
    most = real_of(logits[0])
    for i in range(1, logits.size):
        most = greater(most, real_of(logits[i]))
    return most


@inner_code
def is_wrong(logits: Array) -> bool:
    """Return whether one of a few logits is no number."""
    wrong = np.int32(0)
    for i in range(logits.size):
        value = real_of(logits[i])
        wrong += np.int32(value != value)  # true of NaN alone
    return bool(wrong > 0)


@inner_code
def _power_sum(logits: Array, unit: Real, shift: Real) -> Real:
    """Return Σ 2^(unit·(logit − shift)) of a block."""
    total = np.float32(0)
    for i in range(logits.size):
        total = plus(total, power((real_of(logits[i]) - shift) * unit))
    return np.float64(total)


@inner_code
def read(logits: Array, unit: Real) -> tuple[Real, Real]:
    """Return the shift of a row and its sum; NaN where no logit is finite, or one is no number."""
    shift, total = largest_of(logits[:_AT_ONCE]), 0.0
    for start in range(0, logits.size, _AT_ONCE):
        block = logits[start : start + _AT_ONCE]
        most = largest_of(block)
        if most == np.float32(-np.inf) and not is_wrong(block):
            continue  # all are masked
        if (most - shift) * unit > _FAR:
            total *= 2.0 ** (np.float64(shift - most) * unit)
            shift = most
        total += _power_sum(block, unit, shift)
    return shift, total if 0 < total < np.inf and shift < np.float32(np.inf) else np.nan


@inner_code
def write(logits: Array, unit: Real, shift: Real, scale: Real, out: Array) -> None:
    """Write scale · 2^(unit·(logit − shift))."""
    for i in range(logits.size):
        out[i] = power((real_of(logits[i]) - shift) * unit) * scale
