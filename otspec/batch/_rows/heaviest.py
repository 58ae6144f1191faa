"""The heaviest tokens of a row, and the masses of the others, without a sort of the vocabulary."""

from __future__ import annotations

import numpy as np

from otspec.batch._kernels.library import BLOCK, Array
from otspec.batch._rows.machine import inner_code, machine_code, plus
from otspec.batch._rows.passes import sum_in_blocks, sum_of, weights_of

DRAFTED, WANTED = 0, 1
"""The rows of ``heavy``: the draft's and the target's probability of each heavy token."""
BORDER, LIGHT = 0, 1
"""The columns of ``light``: up to which draft mass tokens are light, and their mass together."""


@machine_code
def read_heavy(
    draft: Array, bits: Array, target: Array, sums: Array, heavy: Array, light: Array
) -> None:
    """Write the tokens that are heavier than the one after the heaviest of a given number.

    Parameters
    ----------
    draft, target : array, shape (rows, V)
    bits : array of int, shape (rows, V)
        The memory of the draft as integers, which are in the same order.
    sums : array, shape (rows, ceil(V / 256))
        Filled in with the block sums of the draft.
    heavy : array, shape (rows, 2, h)
        0 for places of light tokens.
    light : array, shape (rows, 2)
    """
    highest = np.empty(sums.shape[1], np.int64)
    number = heavy.shape[2]
    for row in range(draft.shape[0]):
        sum_in_blocks(draft[row], sums[row])
        for block in range(highest.size):
            highest[block] = _largest(bits[row, block * BLOCK : (block + 1) * BLOCK])
        tokens = _heaviest(bits[row], highest, number + 1)
        last = tokens[number]
        light[row, BORDER] = draft[row, last] if last >= 0 else 0.0
        _write_heavy(draft[row], target[row], tokens, light[row, BORDER], heavy[row])
        light[row, LIGHT] = 0.0
        for block in range(highest.size):
            if last >= 0 and highest[block] <= bits[row, last]:
                light[row, LIGHT] += sums[row, block]
            else:
                here = draft[row, block * BLOCK : (block + 1) * BLOCK]
                light[row, LIGHT] += _sum_up_to(here, light[row, BORDER])


@machine_code
def read_lefts(draft: Array, drafts: Array, valid: Array, sums: Array, lefts: Array) -> None:
    """Write the draft mass off the first drafts, for each number of them, (rows, k + 1).

    The block of a draft is added up anew, without all of them; ``sums``, the block sums of the
    draft, are changed.
    """
    for row in range(drafts.shape[0]):
        lefts[row, 0] = sum_of(sums[row])
        for i in range(drafts.shape[1]):
            if valid[row, i]:
                block = drafts[row, i] // BLOCK
                itself, excluded = (1.0, 0.0, 0.0, 0.0), drafts[row, : i + 1]
                masses = weights_of(draft[row], draft[row], itself, 1.0, excluded, block)
                sums[row, block] = sum_of(masses)
            lefts[row, i + 1] = sum_of(sums[row])


@machine_code
def read_light(
    draft: Array, target: Array, light: Array, lift: float, scales: Array, kept: Array
) -> None:
    """Write Σ min(target, scale·draft) over light tokens for the scales of each row, lifted."""
    for row in range(draft.shape[0]):
        kept[row] = 0.0
        for start in range(0, draft.shape[1], BLOCK):
            here = slice(start, start + BLOCK)
            for j in range(scales.shape[1]):
                kept[row, j] += _light_overlap(
                    draft[row, here], target[row, here], light[row, BORDER], lift, scales[row, j]
                )


@inner_code
def _light_overlap(draft: Array, target: Array, border: float, lift: float, scale: float) -> float:
    """Return lift · Σ min(target, scale·draft) over the light tokens of a block."""
    real = draft.dtype.type
    border_, lift_, scale_, total = real(border), real(lift), real(scale), real(0)
    for i in range(draft.size):
        mass = draft[i] if draft[i] <= border_ else real(0)
        offered, wanted = scale_ * (lift_ * mass), lift_ * target[i]
        total = plus(total, wanted if wanted < offered else offered)
    return np.float64(total)


@inner_code
def _sum_up_to(draft: Array, border: float) -> float:
    """Return the mass of the tokens of a block that are not above a border, summed in float64."""
    total = 0.0
    for i in range(draft.size):
        if draft[i] <= border:
            total += draft[i]
    return total


@inner_code
def _largest(bits: Array) -> int:
    """Return the largest of a few numbers that are not negative."""
    most = bits.dtype.type(0)
    for i in range(bits.size):
        most = max(most, bits[i])
    return np.int64(most)


@inner_code
def _heaviest(bits: Array, highest: Array, number: int) -> Array:
    """Return the tokens of the largest numbers, in descending order; −1 if there are fewer.

    They are at least the ``number``-th of the blocks' largest.
    """
    values, tokens = np.full(number, -1), np.full(number, -1)
    for block in range(highest.size):
        _insert(values, tokens, highest[block], block)
    least = values[number - 1]
    values[:], tokens[:] = -1, -1
    for block in range(highest.size):
        if highest[block] >= least:
            for token in range(block * BLOCK, min((block + 1) * BLOCK, bits.size)):
                if bits[token] >= least:
                    _insert(values, tokens, np.int64(bits[token]), token)
    return tokens


@inner_code
def _insert(values: Array, tokens: Array, value: int, token: int) -> None:
    """Put a value and its token among the largest ones, in descending order."""
    place = values.size
    while place > 0 and values[place - 1] < value:
        place -= 1
        if place + 1 < values.size:
            values[place + 1], tokens[place + 1] = values[place], tokens[place]
    if place < values.size:
        values[place], tokens[place] = value, token


@inner_code
def _write_heavy(draft: Array, target: Array, tokens: Array, border: float, heavy: Array) -> None:
    """Write the masses of the tokens that are heavier than a border."""
    for i in range(heavy.shape[1]):
        heavy[DRAFTED, i], heavy[WANTED, i] = 0.0, 0.0
        if tokens[i] >= 0 and draft[tokens[i]] > border:
            heavy[DRAFTED, i], heavy[WANTED, i] = draft[tokens[i]], target[tokens[i]]
