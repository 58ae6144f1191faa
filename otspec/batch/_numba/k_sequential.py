"""K-Seq row by row: the drafts are tried against ρ times the draft (SpecTr, alg. 2)."""

from __future__ import annotations

import numpy as np

from otspec.batch._array_api.library import Array
from otspec.batch._numba.chords import begin, go_on, safe_rho
from otspec.batch._numba.compiled import machine_code
from otspec.batch._numba.numbers import clipped, geometric, number_of
from otspec.batch._numba.outcome import DRAWN, accepts, holds
from otspec.batch._numba.passes import blocks_of, draw, excess, mix, rest_in_blocks, sum_in_blocks
from otspec.batch._numba.reading import read_drafts, read_overlaps


def verify(
    draft: Array,
    target: Array,
    drafts: Array,
    uniforms: Array,
    valid: Array,
    token: Array,
    accepted: Array,
    index: Array,
) -> None:
    """Accept each draft x of a row in turn with probability min(1, q(x) / (ρ p(x)))."""
    rows, k = drafts.shape
    tried, found = np.empty((2, rows, 4))
    pairs, rho, single = np.empty((rows, k, 2)), np.empty(rows), draft.itemsize == 4
    _begin(tried, valid, single)
    read_overlaps(draft, target, tried, found, 0, 2)
    _go_on(tried, found, valid, single)
    read_overlaps(draft, target, tried, found, 2, 4)
    read_drafts(draft, target, drafts, valid, pairs)
    _accept(tried, found, pairs, uniforms, valid, index, rho, single)
    _draw(draft, target, drafts, uniforms, valid, token, accepted, index, rho)


@machine_code
def _begin(tried: Array, valid: Array, single: bool) -> None:
    """Write which ρ of each row to try first."""
    for row in range(valid.shape[0]):
        begin(tried[row], max(number_of(valid[row]), 1.0), single)


@machine_code
def _go_on(tried: Array, found: Array, valid: Array, single: bool) -> None:
    """Write which ρ of each row to try next."""
    for row in range(valid.shape[0]):
        go_on(tried[row], found[row], max(number_of(valid[row]), 1.0), single)


@machine_code
def _accept(
    tried: Array,
    found: Array,
    pairs: Array,
    uniforms: Array,
    valid: Array,
    index: Array,
    rho: Array,
    single: bool,
) -> None:
    """Write ρ of each row, and the first draft that is accepted."""
    for row in range(valid.shape[0]):
        count = max(number_of(valid[row]), 1.0)
        rho[row] = safe_rho(tried[row], found[row], count, single)
        index[row] = DRAWN
        for i in range(valid.shape[1] - 1, -1, -1):
            offered = rho[row] * pairs[row, i, 0]
            if valid[row, i] and accepts(uniforms[row, i], pairs[row, i, 1], offered):
                index[row] = i


@machine_code
def _draw(
    draft: Array,
    target: Array,
    drafts: Array,
    uniforms: Array,
    valid: Array,
    token: Array,
    accepted: Array,
    index: Array,
    rho: Array,
) -> None:
    """Write the accepted draft of each row, or a token of what is left after all are rejected."""
    whole, sums = blocks_of(draft[0]), blocks_of(draft[0])
    none = np.empty(0, np.int64)
    for row in range(drafts.shape[0]):
        if index[row] >= 0:
            token[row] = drafts[row, index[row]]
        else:
            count, weight = number_of(valid[row]), excess(1.0, rho[row])
            total = sum_in_blocks(target[row], whole)
            # ρβ = Σ min(q, ρp) is what remains of q without its excess over ρp.
            kept = total - rest_in_blocks(draft[row], target[row], weight, sums)
            gain = geometric(clipped(kept / rho[row]), max(count, 1.0))
            # q − min(p, q/ρ) g = (1 − g/ρ) q + (g/ρ) (q − ρp)₊
            keep = clipped(1 - gain / rho[row]) if count > 0 else 1.0
            mix(keep, whole, sums)
            last = uniforms[row, -1]
            token[row] = draw(draft[row], target[row], weight, keep, sums, none, last)
        accepted[row] = holds(drafts[row], valid[row], token[row])
