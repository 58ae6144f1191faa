"""Pooled selection of distinct drafts row by row, by their arrivals (Beyond, prop. 6)."""

from functools import cache
from typing import NamedTuple

import numpy as np

from otspec.batch._array_api.library import BLOCK, Array, Library, library_of
from otspec.batch._array_api.pooled.clock_pools import HEAVY, nodes
from otspec.batch._numba.compiled import machine_code
from otspec.batch._numba.outcome import write_counts
from otspec.batch._numba.pooled.clock_pools import highest_grade, write_heights, write_knots
from otspec.batch._numba.pooled.clocks import select
from otspec.batch._numba.pooled.graded_pools import KINDS, best_law, even_grades, write_rest
from otspec.batch._numba.pooled.heaviest import read_heavy, read_lefts, read_light
from otspec.batch._numba.reading import draw_rest, read_drafts


def verify(draft, target, drafts, uniforms, valid, token, accepted, index, grades: int) -> None:
    """Select one of the drafts of a row by the pools of its arrivals, then couple it."""
    rows, k = drafts.shape
    pairs, lefts, counts = np.empty((rows, k, 2)), np.empty((rows, k + 1)), np.empty(rows)
    write_counts(valid, counts)
    law = law_of(draft, target, counts, k, grades)
    read_lefts(draft, drafts, valid, law.sums, lefts)
    read_drafts(draft, target, drafts, valid, pairs)
    select(law.pools, law.tight, pairs, law.borders, lefts, uniforms, valid, law.factor, index)
    draw_rest(draft, target, drafts, uniforms, valid, token, accepted, index, law.weights)


class Law(NamedTuple):
    """The pools of each row and the law of the selected draft."""

    pools: Array  # (rows, 5, m + 2)
    tight: Array  # (rows,): the knot at the cut
    weights: Array  # (rows, 4): what is drawn from after a rejection
    sums: Array  # (rows, ceil(V / 256)): of blocks of the draft
    borders: Array  # (rows,): what heavy tokens are above
    factor: float


def law_of(draft, target, counts, k: int, grades: int) -> Law:
    """Return the law of each row for so many drafts, k at most."""
    rows, size = draft.shape
    library, moments, shares = _integral(draft.dtype, k)
    sums, heavy = np.empty((rows, -(-size // BLOCK))), np.empty((rows, 2, HEAVY))
    (borders, light), (scales, kept) = np.empty((2, rows)), np.empty((2, rows, grades))
    read_heavy(draft, target, sums, heavy, borders, light)
    highest, factor, single = library.highest, library.factor, draft.itemsize == 4
    _write_grades(scales, heavy, light, counts, factor, highest, single)
    read_light(draft, target, borders, factor, scales, kept)
    pools, tight = np.empty((rows, KINDS, grades + 2)), np.empty(rows, np.int64)
    below, weights = np.empty((rows, grades, HEAVY + 1)), np.empty((rows, 4))
    write_knots(scales, kept, heavy, light, factor, pools, below)
    write_heights(pools, below, counts, moments, shares)
    _settle(pools, counts, factor, tight, weights)
    return Law(pools, tight, weights, sums, borders, factor)


@cache
def _integral(dtype: np.dtype, k: int) -> tuple[Library, Array, Array]:
    """Return how to compute with a dtype, and the nodes and the weights of the integral."""
    library = library_of(np.empty(0, dtype))
    return library, *nodes(library, k)


@machine_code
def _write_grades(
    scales, heavy, light, counts, factor: float, highest: float, single: bool
) -> None:
    """Write the positive grades of each row."""
    for row in range(counts.size):
        most = highest_grade(heavy[row], light[row], counts[row], factor, highest)
        even_grades(scales[row], most, single)


@machine_code
def _settle(pools, counts, factor: float, tight, weights) -> None:
    """Write the law of each row, the knot at its cut, and what is drawn from after rejection."""
    for row in range(counts.size):
        tight[row] = best_law(pools[row], factor)
        write_rest(pools[row], counts[row], weights[row])
