"""Rows of logits turned into probabilities (:func:`otspec.batch.warp`)."""

import math

import numpy as np

from otspec.batch._array_api.library import BLOCK
from otspec.batch._numba.compiled import Real, inner_code, machine_code, real_of
from otspec.batch._numba.from_logits.softmax import fill, is_wrong, largest_of, multiply, unit_of
from otspec.batch._numba.from_logits.truncation import AT_ONCE, kept_tokens

GIVEN = -1.0  # the temperature of rows that are probabilities already


@inner_code
def _write_greedy(logits, out) -> None:
    """Write 1 at the first of the largest logits, 0 elsewhere."""
    most, found = real_of(logits[0]), 0
    for start in range(0, logits.size, BLOCK):
        block = logits[start : start + BLOCK]
        here = largest_of(block)
        most, found = (here, start) if here > most else (most, found)
        if is_wrong(block) or here == np.float32(np.inf):
            most = np.float32(-np.inf)
            break
    else:
        while real_of(logits[found]) != most:
            found += 1
    out[:] = 0.0 if most > np.float32(-np.inf) else np.nan
    out[found] += 1


@inner_code
def _fill_tops(logits, tops) -> Real:
    """Fill in the largest logit of each few tokens, and return the largest; NaN if one is none."""
    largest = np.float32(-np.inf)
    for few in range(tops.size):
        here = logits[few * AT_ONCE : (few + 1) * AT_ONCE]
        tops[few] = largest_of(here)
        largest = max(largest, tops[few])
        if is_wrong(here):
            return np.float32(np.nan)
    return largest if abs(largest) < np.float32(np.inf) else np.float32(np.nan)


@inner_code
def _counts_all(temperature: Real, limits, size: int) -> bool:
    """Return whether the probabilities are a softmax of all logits."""
    return bool(temperature > 0 and limits[0] >= size and limits[1] >= 1 and limits[2] <= 0)


@inner_code
def fill_row(logits, temperature: Real, limits, steps, tops, out) -> Real:
    """Write what a row's probabilities are proportional to; return the factor. ``tops`` is room."""
    if _counts_all(temperature, limits, logits.size):
        _, total = fill(logits, unit_of(temperature), out)
        return np.float32(1 / total)
    if temperature == GIVEN:
        for i in range(logits.size):
            out[i] = real_of(logits[i])
    elif temperature == 0:
        _write_greedy(logits, out)
    else:
        largest = _fill_tops(logits, tops)
        if math.isnan(largest):
            out[:] = np.nan
        else:
            tokens, weights = kept_tokens(logits, largest, tops, temperature, limits, steps, out)
            out[:] = 0.0
            for i in range(tokens.size):
                out[tokens[i]] = weights[i]
    return np.float32(1)


@inner_code
def finish(out, factor: Real) -> None:
    """Turn what :func:`fill_row` wrote into probabilities."""
    if factor != np.float32(1):
        multiply(out, factor)


@machine_code
def warp_rows(flat, starts, temperatures, limits, steps, out) -> None:
    """Write the probabilities of rows, which begin at ``starts`` of ``flat``."""
    size = out.shape[1]
    tops = np.empty((size + AT_ONCE - 1) // AT_ONCE, np.float32)
    for row in range(starts.size):
        logits = flat[starts[row] : starts[row] + size]
        finish(out[row], fill_row(logits, temperatures[row], limits[row], steps, tops, out[row]))
