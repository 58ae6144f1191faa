"""e^x of many numbers at once, in steps that vector instructions take, unlike a call for each."""

from __future__ import annotations

import math

import numpy as np

from otspec.batch._array_api.library import Array
from otspec.batch._numba.compiled import inner_code

LEAST = -700.0
"""Below, e^x is nothing beside 1, and next to what a float64 holds."""
_FOLDS = 1 / math.log(2)
_HIGH = float.fromhex("0x1.62E42FEEp-1")
"""The first 32 bits of log 2, whose products with small integers are exact."""
_LOW = float.fromhex("0x1.A39EF35793C76p-33")
"""The others."""
_SHIFT = 1.5 * 2.0**52
"""Added to a number, leaves its nearest integer in the last bits."""
_TERMS = tuple(1 / math.factorial(i) for i in range(14))


@inner_code
def exponentials(powers: Array, values: Array, shifted: Array) -> None:
    """Write e^x of numbers that are at most 0, to within a few last digits.

    e^x = 2^n e^r, n the integer nearest to x/log 2, by the series of e^r, where 14 terms are more
    than a float64 holds. Of ``shifted``, as large, nothing is kept.
    """
    for i in range(powers.size):
        x = max(powers[i], LEAST)
        shifted[i] = x * _FOLDS + _SHIFT
        n = shifted[i] - _SHIFT
        r = (x - n * _HIGH) - n * _LOW
        value = _TERMS[13]
        value = value * r + _TERMS[12]
        value = value * r + _TERMS[11]
        value = value * r + _TERMS[10]
        value = value * r + _TERMS[9]
        value = value * r + _TERMS[8]
        value = value * r + _TERMS[7]
        value = value * r + _TERMS[6]
        value = value * r + _TERMS[5]
        value = value * r + _TERMS[4]
        value = value * r + _TERMS[3]
        value = value * r + _TERMS[2]
        value = value * r + 1
        values[i] = value * r + 1
    _times_powers_of_two(values.view(np.int64), shifted.view(np.int64))


@inner_code
def _times_powers_of_two(values: Array, shifted: Array) -> None:
    """Add to the exponents of floats, given by their bits, the integers in the last bits."""
    for i in range(values.size):
        values[i] += shifted[i] << 52
