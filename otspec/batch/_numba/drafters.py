"""Drafts by inversion, row by row, as ``_array_api.drafters`` draws them; the likeliest tokens."""

import numpy as np

from otspec.batch._array_api.library import BLOCK
from otspec.batch._numba.compiled import greater, inner_code, machine_code
from otspec.batch._numba.passes import (
    PLAIN,
    blocks_of,
    draw,
    excess,
    locate,
    sum_in_blocks,
    sum_without,
)
from otspec.batch._numba.spechub import likeliest, others_of


@inner_code
def _drawn(row, sums, excluded, uniform: float) -> int:
    """Return a token of a row by its block sums without the excluded tokens; −1 if it is zero."""
    return draw(row, row, excess(PLAIN, 0.0), 1.0, sums, excluded, uniform)


@machine_code
def iid(draft, uniforms, found) -> None:
    """Draw independent drafts."""
    sums, none = blocks_of(draft[0]), np.empty(0, np.int64)
    for row in range(draft.shape[0]):
        sum_in_blocks(draft[row], 1.0, sums)
        for i in range(uniforms.shape[1]):
            found[row, i] = _drawn(draft[row], sums, none, uniforms[row, i])


@machine_code
def without_replacement(draft, uniforms, found) -> None:
    """Draw distinct drafts in turn."""
    sums, out = blocks_of(draft[0]), np.empty(uniforms.shape[1], np.int64)
    for row in range(draft.shape[0]):
        sum_in_blocks(draft[row], 1.0, sums)
        for i in range(out.size):
            out[i] = _drawn(draft[row], sums, out[:i], uniforms[row, i])
            if out[i] >= 0:
                block = out[i] // BLOCK
                sums[block] = sum_without(draft[row], 1.0, out[: i + 1], block)
            found[row, i] = out[i]


@machine_code
def spechub(draft, uniforms, found) -> None:
    """Draw a token off the hub, and put it before or after the hub."""
    sums = blocks_of(draft[0])
    for row in range(draft.shape[0]):
        hub = likeliest(draft[row], 1.0)
        mass, others = np.float64(draft[row, hub]), others_of(draft[row], 1.0, hub, sums)
        other = hub
        if others > 0:
            other = _drawn(draft[row], sums, np.array([hub]), uniforms[row, 1])
        entry, _ = locate(np.array([others, mass]), uniforms[row, 0])
        found[row, 0], found[row, 1] = (hub, other) if entry == 1 else (other, hub)


@machine_code
def top(values, found) -> None:
    """Write the tokens of the k largest values in descending order, of equal ones the first."""
    k = found.shape[1]
    for row in range(values.shape[0]):
        own, tokens, number = values[row], found[row], 0
        for start in range(0, own.size, BLOCK):
            here = own[start : start + BLOCK]
            largest = here[0]
            for i in range(here.size):
                largest = greater(largest, here[i])
            if number == k and not largest > own[tokens[k - 1]]:
                continue
            for token in range(start, start + here.size):
                number = _inserted(own, tokens, number, token)


@inner_code
def _inserted(values, tokens, number: int, token: int) -> int:
    """Insert a token among the largest so far, if it is one of them; return how many there are."""
    if number == tokens.size:
        if not values[token] > values[tokens[number - 1]]:
            return number
        number -= 1
    i = number
    while i > 0 and values[token] > values[tokens[i - 1]]:
        tokens[i] = tokens[i - 1]
        i -= 1
    tokens[i] = token
    return number + 1
