"""What every rule does row by row: acceptance of a draft, what comes out, and its arithmetic.

The function ``verify`` of a rule's module takes ``draft`` and ``target``, (rows, V), ``drafts``,
(rows, k) of int64, ``uniforms``, (rows, k + 1) of float64, and ``valid``, (rows, k) of bool, all of
them C-contiguous, then ``token``, ``accepted`` and ``index``, (rows), which it fills, and the
options of the rule. Drafts that do not count may be any numbers, those that count are token ids.
In machine code an argument without annotation is an array.
"""

import math

import numpy as np

from otspec.batch._numba.compiled import inner_code, machine_code

DRAWN = -1  # the index if no draft is accepted
ZERO: int = np.int64(0)  # type: ignore[assignment]
"""Where an index begins: what is called with a number as it is written is compiled once more."""


@machine_code
def are_ids(drafts, valid, size: int) -> bool:
    """Return whether all drafts that count are token ids, from 0 to ``size`` − 1."""
    for row in range(drafts.shape[0]):
        for i in range(drafts.shape[1]):
            if valid[row, i] and not 0 <= drafts[row, i] < size:
                return False
    return True


@inner_code
def accepts(uniform: float, wanted: float, offered: float) -> bool:
    """Return whether a uniform number is below min(1, wanted/offered)."""
    return uniform * offered < wanted or (wanted >= offered and wanted > 0)


@inner_code
def quotient(dividend: float, divisor: float, otherwise: float) -> float:
    """Return dividend/divisor where the divisor is positive."""
    return dividend / divisor if divisor > 0 else otherwise


@inner_code
def holds(drafts, valid, token: int) -> bool:
    """Return whether a token is one of the drafts of a row that count."""
    found = False
    for i in range(drafts.size):
        found = found or (valid[i] and drafts[i] == token)
    return found


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
def write_counts(valid, counts) -> None:
    """Write how many drafts of each row count."""
    for row in range(valid.shape[0]):
        counts[row] = valid[row].sum()
