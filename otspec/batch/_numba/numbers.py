"""Arithmetic of a few numbers per row; :mod:`otspec.batch._array_api.library` has it of arrays."""

import math

import numpy as np

from otspec.batch._array_api.library import Array
from otspec.batch._numba.compiled import inner_code, machine_code
from otspec.batch._numba.outcome import quotient

ZERO: int = np.int64(0)  # type: ignore[assignment]
"""Where an index begins: what is called with a number as it is written is compiled once more."""


@inner_code
def rounded(value: float, single: bool) -> float:
    """Return a number rounded to float32, if rows are ``single``."""
    return np.float64(np.float32(value)) if single else value


@inner_code
def clipped(value: float) -> float:
    """Return a number kept between 0 and 1."""
    return min(max(value, 0.0), 1.0)


@inner_code
def geometric(chance: float, count: float) -> float:
    """Return 1 + r + … + r^(count−1) for r = 1 − chance, without cancellation."""
    if not chance > 0:
        return max(count, 1.0)
    return max(-math.expm1(count * math.log1p(-chance)) / chance, 1.0)


@inner_code
def split(uniform: float, chance: float) -> tuple[bool, float]:
    """Return whether a uniform number is below a chance, and a number that is uniform again."""
    if uniform < chance:
        return True, uniform / chance
    return False, quotient(uniform - chance, 1 - chance, 0.0)


@machine_code
def write_counts(valid: Array, counts: Array) -> None:
    """Write how many drafts of each row count."""
    for row in range(valid.shape[0]):
        counts[row] = valid[row].sum()
