"""Independent drafts in turn, row by row (SpecTr, alg. 1; MCSD, alg. 1; SpecHub, alg. 1)."""

import numpy as np

from otspec.batch._numba.compiled import DRAWN, accepts, holds, inner_code, machine_code
from otspec.batch._numba.passes import Units, blocks_of, both_of, draw, excess, rest_in_blocks


@machine_code
def verify(draft, target, drafts, uniforms, valid, token, accepted, index, units) -> None:
    """Try the drafts of each row: if c·draft was offered, the target lacks (target − c·draft)₊."""
    sums = blocks_of(draft[0])
    for row in range(draft.shape[0]):
        unit = units[0, row], units[1, row]
        index[row], token[row] = _one(
            draft[row], target[row], unit, drafts[row], uniforms[row], valid[row], sums
        )
        accepted[row] = holds(drafts[row], valid[row], token[row])


@inner_code
def _one(draft, target, units: Units, drafts, uniforms, valid, sums) -> tuple[int, int]:
    """Return the index of the accepted draft, and the token."""
    real = draft.dtype.type
    scale, rejected, fresh = 0.0, 1.0, True
    for i in range(drafts.size):
        if valid[i]:
            drafted, wanted = both_of(draft, target, units, drafts[i])
            lacking = wanted - min(wanted, scale * drafted)
            if accepts(uniforms[i], lacking, rejected * drafted):
                return i, drafts[i]
            scale = np.float64(real(scale + rejected))
            rejected, fresh = rest_in_blocks(draft, target, excess(units, scale), sums), False
    if fresh:
        rest_in_blocks(draft, target, excess(units, scale), sums)
    weight, none = excess(units, scale), np.empty(0, np.int64)
    return DRAWN, draw(draft, target, weight, 0.0, sums, none, uniforms[-1])
