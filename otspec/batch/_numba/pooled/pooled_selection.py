"""Pooled selection row by row: a draft is selected, then coupled maximally (Pooled, prop. 7)."""

import numpy as np

from otspec.batch._array_api.library import Array
from otspec.batch._numba.compiled import inner_code, machine_code
from otspec.batch._numba.outcome import DRAWN, ZERO, accepts, split, write_counts
from otspec.batch._numba.pooled import graded_pools
from otspec.batch._numba.pooled.barriers import group_of
from otspec.batch._numba.reading import draw_rest, read_drafts, read_overlaps


def verify(draft, target, drafts, uniforms, valid, token, accepted, index, grades: int) -> None:
    """Select one of the drafts of a row by graded pools, then couple it with the target."""
    rows, k = drafts.shape
    pairs, weights, counts = np.empty((rows, k, 2)), np.empty((rows, 4)), np.empty(rows)
    write_counts(valid, counts)
    scales, kept = _overlaps_at(draft, target, counts, grades)
    read_drafts(draft, target, drafts, valid, pairs)
    _select(scales, kept, pairs, uniforms, valid, index, counts, weights)
    draw_rest(draft, target, drafts, uniforms, valid, token, accepted, index, weights)


def _overlaps_at(draft, target, counts, grades: int) -> tuple[Array, Array]:
    """Return the grades t of each row, and Σ min(q, t p) there."""
    scales, kept = np.empty((2, counts.size, grades))
    _write_grades(scales, counts, draft.itemsize == 4)
    read_overlaps(draft, target, scales, kept, 0, grades)
    return scales, kept


@machine_code
def _write_grades(scales, counts, single: bool) -> None:
    """Write the positive grades of each row."""
    for row in range(counts.size):
        graded_pools.even_grades(scales[row], max(counts[row], 1.0), single)


def weights_of(draft, target, counts, grades: int) -> Array:
    """Return what is drawn from in each row if so many drafts are rejected, (rows, 4)."""
    weights = np.empty((counts.size, 4))
    _write_weights(*_overlaps_at(draft, target, counts, grades), counts, weights)
    return weights


@machine_code
def _write_weights(scales, kept, counts, weights) -> None:
    """Write what is drawn from in each row after a rejection."""
    pools = np.empty((graded_pools.KINDS, scales.shape[1] + 2))
    for row in range(counts.size):
        graded_pools.take_overlaps(pools, scales[row], kept[row], max(counts[row], 1.0))
        graded_pools.best_law(pools, 1.0)
        graded_pools.write_rest(pools, counts[row], weights[row])


@machine_code
def _select(scales, kept, pairs, uniforms, valid, index, counts, weights) -> None:
    """Write which draft of each row is selected and accepted, and what is drawn from if none is."""
    pools, pool = (
        np.empty((graded_pools.KINDS, scales.shape[1] + 2)),
        np.empty(valid.shape[1], np.int64),
    )
    for row in range(valid.shape[0]):
        count, own, top, moment, left = counts[row], pairs[row], ZERO, 0.0, 0.0
        graded_pools.take_overlaps(pools, scales[row], kept[row], max(count, 1.0))
        tight = graded_pools.best_law(pools, 1.0)
        graded_pools.write_rest(pools, count, weights[row])
        for i in range(pool.size):
            below, part, _ = graded_pools.level(pools, own[i, 0], own[i, 1])
            up, left = split(uniforms[row, i], part)
            moment = left if i == 0 else moment
            pool[i] = below + up if valid[row, i] else -1
            top = max(top, pool[i])
        lowest, _ = group_of(pools, tight, top, 1.0, moment)
        took, accepting = _chosen(pool, lowest, left)
        index[row] = DRAWN
        if took >= 0:
            _, _, law = graded_pools.level(pools, own[took, 0], own[took, 1])
            index[row] = took if accepts(accepting, own[took, 1], law) else DRAWN


@inner_code
def _chosen(pool, lowest: int, uniform: float) -> tuple[int, float]:
    """Return one of the drafts in pools from the lowest, −1 if there is none, and what is left."""
    size = 0
    for i in range(pool.size):
        size += pool[i] >= lowest
    place = min(int(uniform * size), size - 1)
    left = uniform * size - place
    for i in range(pool.size):
        if pool[i] >= lowest:
            if place == 0:
                return i, left
            place -= 1
    return DRAWN, left
