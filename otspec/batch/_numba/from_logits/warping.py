"""Rows of logits turned into probabilities (:func:`otspec.batch.warp`), without a sort.

The first step of top-k, top-p and min-p bounds what can be kept, the tokens above it are gathered,
and the steps are done with them. Differences of logits are divided in float32, as in
`otspec.warping.warped`.

The softmax takes one reading and one power of each logit. It writes 2^(unit·(logit − shift)) and
their sum. Rules multiply by its inverse, the unit of the row, as they read. The shift is about the
largest logit so far, and moves where a later one is far above it. Rows are float32, or half
precision as its bits: uint16 for float16, int16 for bfloat16. All is computed in float32, and
blocks of 512 tokens are added up in float64.
"""

import math
from typing import Any

import numpy as np

from otspec.batch._array_api.library import BLOCK, Array
from otspec.batch._numba.compiled import (
    Real,
    fetch,
    greater,
    inner_code,
    machine_code,
    plus,
    power,
    real_of,
)

_AT_ONCE = 512
_AHEAD = 2048  # how far ahead of the block logits are fetched: their reading waits for memory
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
def multiply(values, factor: Real) -> None:
    """Multiply float32 numbers by one of them."""
    for i in range(values.size):
        values[i] *= factor


@inner_code
def fill(logits, unit: Real, out) -> tuple[Real, Real]:
    """Write 2^(unit·(logit − shift)) of a row; return shift and sum, NaN if no logit is finite."""
    shift, total, start = largest_of(logits[:_AT_ONCE]), 0.0, 0
    while start < logits.size:
        for place in range(start + _AHEAD, start + _AHEAD + _AT_ONCE, FEW):
            fetch(logits, place)
        end = min(start + _AT_ONCE, logits.size)
        block, powers = logits[start:end], out[start:end]
        mass, most = np.float32(0), np.float32(-np.inf)
        for i in range(block.size):
            above = real_of(block[i]) - shift
            most = greater(most, above)
            powers[i] = power(unit, above)
            mass = plus(mass, powers[i])
        if shift == np.float32(-np.inf) or unit * most > _FAR:
            largest = largest_of(block)
            if is_wrong(block) or largest == np.float32(np.inf):
                return shift, np.nan
            if largest > np.float32(-np.inf):
                factor = 2.0 ** (np.float64(shift - largest) * unit)
                multiply(out[:start], np.float32(factor))
                shift, total = largest, total * factor
                continue  # the same block again
            out[start:end], mass = 0.0, np.float32(0)  # all are masked so far
        total += np.float64(mass)
        start = end
    return shift, total if 0 < total < np.inf and shift < np.float32(np.inf) else np.nan


TEMPERATURE, TOP_K, TOP_P, MIN_P = 0, 1, 2, 3
"""The steps, as they are numbered; those of the limits come one before."""
FEW = 16  # how many tokens are looked at together, before one after the other


@inner_code
def _is_on(step: int, limits, size: int) -> bool:
    """Return whether a step takes tokens away."""
    return (
        (step == TOP_K and limits[0] < size)
        or (step == TOP_P and limits[1] < 1)
        or (step == MIN_P and limits[2] > 0)
    )


@inner_code
def kept_tokens(
    logits, largest: Real, tops, temperature: Real, limits, steps, room
) -> tuple[Array, Array]:
    """Return the tokens that are kept, ascending, and their probabilities."""
    first, hot = 0, np.float32(1)
    while not _is_on(steps[first], limits, logits.size):
        hot = np.float32(temperature) if steps[first] == TEMPERATURE else hot
        first += 1
    whole, bound = 0.0, np.float32(-np.inf)
    if steps[first] == MIN_P:
        bound = np.float32(math.log(limits[2]))
    elif steps[first] == TOP_K and limits[0] <= tops.size:
        # So many tokens are at least as large.
        ones = np.ones(tops.size)
        bound = (_border(tops, ones, limits[0]) - largest) / hot
    elif steps[first] == TOP_P:
        shift, whole = fill(logits, unit_of(hot), room)
        whole *= math.exp(np.float64(shift - largest) / hot)
        # Fewer than V tokens of less than this have less than 1 − top-p.
        bound = np.float32(math.log((1 - limits[1]) * whole / logits.size) - 1e-3)
    tokens, values = _gathered(logits, largest, hot, bound, tops)
    for step in steps[first:]:
        if step == TEMPERATURE:
            values = values / np.float32(temperature)
        elif _is_on(step, limits, logits.size):
            tokens, values = _after(step, tokens, values, limits, whole)
            whole = 0.0
    weights = np.exp(values.astype(np.float64))
    return tokens, weights / weights.sum()


@inner_code
def _gathered(logits, largest: Real, temperature: Real, bound: Real, tops) -> tuple[Array, Array]:
    """Return the tokens that are not masked and whose (logit − largest)/T reaches a bound; that."""
    number = 0
    for few in range(tops.size):
        number += FEW * ((tops[few] - largest) / temperature >= bound)
    tokens, values = np.empty(number, np.int64), np.empty(number, np.float32)
    number = 0
    for few in range(tops.size):
        if (tops[few] - largest) / temperature >= bound:
            for token in range(few * FEW, min((few + 1) * FEW, logits.size)):
                value = (real_of(logits[token]) - largest) / temperature
                if value >= bound and value > np.float32(-np.inf):
                    tokens[number], values[number] = token, value
                    number += 1
    return tokens[:number].copy(), values[:number].copy()


@inner_code
def _after(step: int, tokens, values, limits, whole: Real) -> tuple[Array, Array]:
    """Return what a step keeps; ``whole`` is what all tokens weigh, if there were more before."""
    weights, wanted, least = np.ones(values.size), limits[0], np.float32(-np.inf)
    if step == MIN_P:
        least = np.float32(math.log(limits[2]))
    else:
        if step == TOP_P:
            weights = np.exp(values.astype(np.float64))
            wanted = limits[1] * (whole if whole > 0 else weights.sum())
        least = _border(values, weights, wanted)
    reached, number = 0.0, 0
    for i in range(values.size):
        reached += weights[i] if values[i] > least else 0.0
    for i in range(values.size):
        if values[i] > least or (values[i] == least and (step != TOP_P or reached < wanted)):
            reached += weights[i] if values[i] == least else 0.0
            tokens[number], values[number] = tokens[i], values[i]
            number += 1
    return tokens[:number].copy(), values[:number].copy()


@inner_code
def _border(values, weights, wanted: Real) -> Real:
    """Return the largest of some values from which on they weigh enough, else the smallest."""
    values, weights, above = values.copy(), weights.copy(), 0.0
    while True:
        low, top = values[0], values[0]
        for i in range(values.size):
            low, top = min(low, values[i]), max(top, values[i])
        if not low < top:
            return low
        middle = low / 2 + top / 2  # half of their difference may be out of range
        middle = middle if middle > low else top
        weight, number = above, 0
        for i in range(values.size):
            weight += weights[i] * (values[i] >= middle)
        for i in range(values.size):
            kept = (values[i] >= middle) == (weight >= wanted)
            values[number], weights[number] = values[i], weights[i]
            number += kept
        values, weights = values[:number], weights[:number]
        above = above if weight >= wanted else weight


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
        here = logits[few * FEW : (few + 1) * FEW]
        tops[few] = largest_of(here)
        largest = max(largest, tops[few])
        if is_wrong(here):
            return np.float32(np.nan)
    return largest if abs(largest) < np.float32(np.inf) else np.float32(np.nan)


@inner_code
def fill_row(logits, temperature: Real, limits, steps, tops, out) -> Real:
    """Write what a row's probabilities are proportional to; return the factor. ``tops`` is room."""
    limited = limits[0] < logits.size or limits[1] < 1 or limits[2] > 0
    if temperature > 0 and not limited:
        _, total = fill(logits, unit_of(temperature), out)
        return np.float32(1 / total)
    if temperature == 0:
        _write_greedy(logits, out)
    else:
        largest = _fill_tops(logits, tops)
        if math.isnan(largest) or not temperature > 0:
            out[:] = np.nan
        else:
            tokens, weights = kept_tokens(logits, largest, tops, temperature, limits, steps, out)
            out[:] = 0.0
            for i in range(tokens.size):
                out[tokens[i]] = weights[i]
    return np.float32(1)


@machine_code
def warp_rows(flat, starts, temperatures, limits, steps, out) -> None:
    """Write the probabilities of rows, which begin at ``starts`` of ``flat``."""
    size = out.shape[1]
    tops = np.empty((size + FEW - 1) // FEW, np.float32)
    for row in range(starts.size):
        logits = flat[starts[row] : starts[row] + size]
        factor = fill_row(logits, temperatures[row], limits[row], steps, tops, out[row])
        if factor != np.float32(1):
            multiply(out[row], factor)
