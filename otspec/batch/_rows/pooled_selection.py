"""Pooled selection row by row: a draft is selected, then coupled maximally (Pooled, prop. 7)."""

from __future__ import annotations

import numpy as np

from otspec.batch._kernels.library import Array
from otspec.batch._rows.barriers import group_of, raise_barriers
from otspec.batch._rows.graded_pools import (
    best_law,
    even_grades,
    law_at,
    new_pools,
    position,
    take_overlaps,
    write_rest,
)
from otspec.batch._rows.machine import inner_code, machine_code
from otspec.batch._rows.numbers import number_of, split
from otspec.batch._rows.outcome import DRAWN, accepts
from otspec.batch._rows.reading import draw_rest, read_drafts, read_overlaps


def verify(
    draft: Array,
    target: Array,
    drafts: Array,
    uniforms: Array,
    valid: Array,
    token: Array,
    accepted: Array,
    index: Array,
    grades: int,
) -> None:
    """Select one of the drafts of a row by graded pools, then couple it with the target."""
    rows, k = drafts.shape
    scales, kept = np.empty((2, rows, grades))
    pairs, weights = np.empty((rows, k, 2)), np.empty((rows, 4))
    _write_grades(scales, valid, draft.itemsize == 4)
    read_overlaps(draft, target, scales, kept)
    read_drafts(draft, target, drafts, valid, pairs)
    _select(scales, kept, pairs, uniforms, valid, index, weights)
    draw_rest(draft, target, drafts, uniforms, valid, token, accepted, index, weights)


@machine_code
def _write_grades(scales: Array, valid: Array, single: bool) -> None:
    """Write the positive grades of each row."""
    for row in range(valid.shape[0]):
        even_grades(scales[row], max(number_of(valid[row]), 1.0), single)


@machine_code
def _select(
    scales: Array,
    kept: Array,
    pairs: Array,
    uniforms: Array,
    valid: Array,
    index: Array,
    weights: Array,
) -> None:
    """Write which draft of each row is selected and accepted, and what is drawn from if none is."""
    pools = new_pools(scales.shape[1])
    for row in range(valid.shape[0]):
        count = number_of(valid[row])
        take_overlaps(pools, scales[row], kept[row], max(count, 1.0))
        tight = best_law(pools, 1.0)
        write_rest(pools, count, weights[row])
        index[row] = _selected(pools, tight, pairs[row], uniforms[row], valid[row])


@inner_code
def _selected(pools: Array, tight: int, pairs: Array, uniforms: Array, valid: Array) -> int:
    """Return which draft of a row is selected and accepted, or −1."""
    top, moment, left, size = 0, 0.0, 0.0, 0.0
    pool = np.empty(valid.size, np.int64)
    for i in range(valid.size):
        below, part = position(pools, pairs[i, 0], pairs[i, 1])
        up, left = split(uniforms[i], part)
        moment = left if i == 0 else moment
        pool[i] = below + up if valid[i] else -1
        top = max(top, pool[i])
    raise_barriers(pools, tight, moment, 1.0, max(number_of(valid), 1.0))
    lowest, _ = group_of(pools, top)
    for i in range(valid.size):
        size += pool[i] >= lowest
    place = min(np.floor(left * size), size - 1)
    accepting = left * size - place
    for i in range(valid.size):
        if pool[i] >= lowest:
            if place == 0:
                below, part = position(pools, pairs[i, 0], pairs[i, 1])
                law = law_at(pools, pairs[i, 0], below, part)
                return i if accepts(accepting, pairs[i, 1], law) else DRAWN
            place -= 1
    return DRAWN
