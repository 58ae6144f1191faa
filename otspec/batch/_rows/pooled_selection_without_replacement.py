"""Pooled selection of distinct drafts row by row, by their rings (Beyond, prop. 6)."""

from __future__ import annotations

from functools import cache

import numpy as np

from otspec.batch._kernels.library import BLOCK, Array, Library, library_of
from otspec.batch._kernels.ring_heights import nodes
from otspec.batch._kernels.ring_pools import HEAVY
from otspec.batch._rows.graded_pools import best_law, even_grades, new_pools, write_rest
from otspec.batch._rows.heaviest import BORDER, read_heavy, read_lefts, read_light
from otspec.batch._rows.machine import machine_code
from otspec.batch._rows.numbers import number_of
from otspec.batch._rows.reading import draw_rest, read_drafts
from otspec.batch._rows.ring_pools import highest_grade, take_knots
from otspec.batch._rows.rings import selected


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
    """Select one of the drafts of a row by the pools of its rings, then couple it."""
    rows, k = drafts.shape
    library, rung, shares = _integral(draft.dtype, k)
    sums, lefts = np.empty((rows, -(-draft.shape[1] // BLOCK))), np.empty((rows, k + 1))
    heavy, light = np.empty((rows, 2, HEAVY)), np.empty((rows, 2))
    scales, kept = np.empty((2, rows, grades))
    pairs, weights = np.empty((rows, k, 2)), np.empty((rows, 4))
    bits = draft.view(f"i{draft.itemsize}")
    read_heavy(draft, bits, target, sums, heavy, light)
    read_lefts(draft, drafts, valid, sums, lefts)
    read_drafts(draft, target, drafts, valid, pairs)
    highest, lift, single = library.highest, library.lift, draft.itemsize == 4
    _write_grades(scales, heavy, light, valid, lift, highest, single)
    read_light(draft, target, light, lift, scales, kept)
    known = scales, kept, heavy, light, pairs, lefts
    _select(*known, uniforms, valid, lift, rung, shares, index, weights)
    draw_rest(draft, target, drafts, uniforms, valid, token, accepted, index, weights)


@cache
def _integral(dtype: np.dtype, k: int) -> tuple[Library, Array, Array]:
    """Return how to compute with a dtype, and the nodes and the weights of the integral."""
    library = library_of(np.empty(0, dtype))
    return library, *nodes(library, k)


@machine_code
def _write_grades(
    scales: Array,
    heavy: Array,
    light: Array,
    valid: Array,
    lift: float,
    highest: float,
    single: bool,
) -> None:
    """Write the positive grades of each row."""
    for row in range(valid.shape[0]):
        count = number_of(valid[row])
        most = highest_grade(heavy[row], light[row], count, lift, highest)
        even_grades(scales[row], most, single)


@machine_code
def _select(
    scales: Array,
    kept: Array,
    heavy: Array,
    light: Array,
    pairs: Array,
    lefts: Array,
    uniforms: Array,
    valid: Array,
    lift: float,
    rung: Array,
    shares: Array,
    index: Array,
    weights: Array,
) -> None:
    """Write which draft of each row is selected and accepted, and what is drawn from if none is."""
    pools = new_pools(scales.shape[1])
    for row in range(valid.shape[0]):
        count = number_of(valid[row])
        take_knots(
            pools,
            scales[row],
            kept[row],
            heavy[row],
            light[row],
            max(count, 1.0),
            lift,
            rung,
            shares,
        )
        tight = best_law(pools, lift)
        write_rest(pools, count, weights[row])
        index[row] = selected(
            pools,
            tight,
            pairs[row],
            light[row, BORDER],
            lefts[row],
            uniforms[row],
            valid[row],
            lift,
        )
