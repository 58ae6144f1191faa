"""Distinct drafts in turn, row by row (MCSD, alg. 2)."""

import numpy as np

from otspec.batch._array_api.library import BLOCK
from otspec.batch._numba import passes
from otspec.batch._numba.compiled import DRAWN, accepts, holds, inner_code, machine_code, quotient
from otspec.batch._numba.models import row_of


@machine_code
def verify(draft, target, drafts, uniforms, valid, token, accepted, index) -> None:
    """Try the drafts of each row as if each were the first, off those before."""
    for row in range(drafts.shape[0]):
        (own, unit), (its, other) = row_of(draft, row), row_of(target, row)
        index[row], token[row] = _one(
            own, its, (unit, other), drafts[row], uniforms[row], valid[row]
        )
        accepted[row] = holds(drafts[row], valid[row], token[row])


@inner_code
def _one(draft, target, units: passes.Units, drafts, uniforms, valid) -> tuple[int, int]:
    """Return the index of the accepted draft, and the token."""
    # The target lacks (target − scale·factor·draft)₊ of mass `rejected`, and the next draft is
    # drawn from `share`·factor·draft off the rejected ones.
    real, factor = draft.dtype.type, passes.factor_of(draft)
    sums, undrafted = passes.blocks_of(draft), passes.blocks_of(draft)
    own, scaled = units[0], (units[0] * factor, units[1])
    scale, rejected, share = 0.0, 1.0, 1 / factor
    out, tried = np.empty(drafts.size, np.int64), 0
    for i in range(drafts.size):
        if valid[i]:
            if tried > 0:
                share = quotient(1.0, factor * left_of(draft, own, out[:tried], undrafted), 0.0)
            drafted, wanted = passes.both_of(draft, target, scaled, drafts[i])
            lacking = wanted - min(wanted, scale * drafted)
            if accepts(uniforms[i], lacking, rejected * (share * drafted)):
                return i, drafts[i]
            out[tried] = drafts[i]
            tried += 1
            scale = np.float64(real(scale + rejected * share))
            rejected = passes.rest_in_blocks(draft, target, passes.excess(scaled, scale), sums)
    if tried == 0:
        passes.rest_in_blocks(draft, target, passes.excess(scaled, scale), sums)
    return DRAWN, passes.draw(
        draft, target, passes.excess(scaled, scale), 0.0, sums, out[:0], uniforms[-1]
    )


@inner_code
def left_of(draft, unit: float, out, undrafted) -> float:
    """Return the mass of the draft off some tokens, the last of which ``undrafted`` still has."""
    if out.size == 1:
        passes.sum_in_blocks(draft, unit, undrafted)
    block = out[-1] // BLOCK
    undrafted[block] = passes.sum_without(draft, unit, out, block)
    return passes.added(undrafted)
