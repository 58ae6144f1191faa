"""The softmax of a row of logits, in one reading and with one power of each logit.

The reading writes 2^(unit·(logit − shift)) and their sum, which they are divided by in the cache.
The shift is about the largest logit so far, and moves where a later one is far above it. Rows are
float32, or half precision as its bits: uint16 for float16, int16 for bfloat16. All is computed in
float32, and blocks of `AT_ONCE` tokens are added up in float64.
"""

import math
from typing import Any

import numpy as np

from otspec.batch._numba.compiled import Real, greater, inner_code, plus, power, real_of
from otspec.batch._numba.passes import AT_ONCE

_FAR = 64.0  # how many powers of two a logit may be above the shift before that is moved


@inner_code
def unit_of(temperature: Real) -> Any:
    """Return 1/T in powers of two."""
    return np.float32(1 / (math.log(2) * temperature))


@inner_code
def largest_of(logits) -> Real:
    """Return the largest logit of a few; any of them if one is no number."""
    most = real_of(logits[0])
    for i in range(1, logits.size):
        most = greater(most, real_of(logits[i]))
    return most


@inner_code
def is_wrong(logits) -> bool:
    """Return whether one of a few logits is no number."""
    wrong = np.int32(0)
    for i in range(logits.size):
        value = real_of(logits[i])
        wrong += np.int32(value != value)  # true of NaN alone
    return bool(wrong > 0)


@inner_code
def _fill_block(logits, unit: Real, shift: Real, out) -> tuple[Real, Real]:
    """Write 2^(unit·(logit − shift)) of a block; return its sum and the largest exponent."""
    total, most = np.float32(0), np.float32(-np.inf)
    for i in range(logits.size):
        exponent = (real_of(logits[i]) - shift) * unit
        most = greater(most, exponent)
        out[i] = power(exponent)
        total = plus(total, out[i])
    return np.float64(total), most


@inner_code
def multiply(values, factor: Real) -> None:
    """Multiply float32 numbers by one of them."""
    for i in range(values.size):
        values[i] *= factor


@inner_code
def fill(logits, unit: Real, out) -> tuple[Real, Real]:
    """Write 2^(unit·(logit − shift)) of a row; return shift and sum, NaN if no logit is finite."""
    shift, total = largest_of(logits[:AT_ONCE]), 0.0
    for start in range(0, logits.size, AT_ONCE):
        here = slice(start, min(start + AT_ONCE, logits.size))
        mass, most = _fill_block(logits[here], unit, shift, out[here])
        if shift == np.float32(-np.inf) or most > _FAR:
            above = largest_of(logits[here])
            if above == np.float32(-np.inf) and not is_wrong(logits[here]):
                out[here] = 0.0  # all are masked so far
                continue
            factor = 2.0 ** (np.float64(shift - above) * unit)
            multiply(out[:start], np.float32(factor))
            shift, total = above, total * factor
            mass, _ = _fill_block(logits[here], unit, shift, out[here])
        total += mass
    return shift, total if 0 < total < np.inf and shift < np.float32(np.inf) else np.nan
