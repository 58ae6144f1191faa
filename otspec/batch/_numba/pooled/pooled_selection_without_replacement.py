"""Pooled selection of distinct drafts row by row, by their rings (Beyond, prop. 6)."""

from __future__ import annotations

from functools import cache

import numpy as np

from otspec.batch._array_api.library import BLOCK, Array, Library, library_of
from otspec.batch._array_api.pooled.clock_masses import nodes
from otspec.batch._array_api.pooled.clock_pools import HEAVY
from otspec.batch._numba.compiled import machine_code
from otspec.batch._numba.numbers import number_of
from otspec.batch._numba.pooled.clock_pools import highest_grade, write_heights, write_knots
from otspec.batch._numba.pooled.clocks import select
from otspec.batch._numba.pooled.graded_pools import KINDS, best_law, even_grades, write_rest
from otspec.batch._numba.pooled.heaviest import read_heavy, read_lefts, read_light
from otspec.batch._numba.reading import draw_rest, read_drafts


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
    heavy, borders, light = np.empty((rows, 2, HEAVY)), np.empty(rows), np.empty(rows)
    scales, kept = np.empty((2, rows, grades))
    pairs, weights = np.empty((rows, k, 2)), np.empty((rows, 4))
    read_heavy(draft, target, sums, heavy, borders, light)
    read_lefts(draft, drafts, valid, sums, lefts)
    read_drafts(draft, target, drafts, valid, pairs)
    highest, lift, single = library.highest, library.lift, draft.itemsize == 4
    _write_grades(scales, heavy, light, valid, lift, highest, single)
    read_light(draft, target, borders, lift, scales, kept)
    pools, tight = np.empty((rows, KINDS, grades + 2)), np.empty(rows, np.int64)
    below = np.empty((rows, grades, HEAVY + 1))
    write_knots(scales, kept, heavy, light, lift, pools, below)
    write_heights(pools, below, valid, rung, shares)
    _settle(pools, valid, lift, tight, weights)
    select(pools, tight, pairs, borders, lefts, uniforms, valid, lift, index)
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
def _settle(pools: Array, valid: Array, lift: float, tight: Array, weights: Array) -> None:
    """Write the law of each row, the knot at its cut, and what is drawn from after rejection."""
    for row in range(valid.shape[0]):
        tight[row] = best_law(pools[row], lift)
        write_rest(pools[row], number_of(valid[row]), weights[row])
