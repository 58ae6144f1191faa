"""Independent drafts in turn, row by row (SpecTr, alg. 1; MCSD, alg. 1; SpecHub, alg. 1)."""

import numpy as np

from otspec.batch._numba.compiled import DRAWN, accepts, holds, inner_code, machine_code
from otspec.batch._numba.models import row_of
from otspec.batch._numba.passes import Units, blocks_of, both_of, draw, excess, rest_in_blocks


@machine_code
def verify(draft, target, drafts, uniforms, valid, token, accepted, index) -> None:
    """Try the drafts of each row: if c·draft was offered, the target lacks (target − c·draft)₊."""
    for row in range(drafts.shape[0]):
        (own, unit), (its, other) = row_of(draft, row), row_of(target, row)
        index[row], token[row] = _one(
            own, its, (unit, other), drafts[row], uniforms[row], valid[row]
        )
        accepted[row] = holds(drafts[row], valid[row], token[row])


@inner_code
def _one(draft, target, units: Units, drafts, uniforms, valid) -> tuple[int, int]:
    """Return the index of the accepted draft, and the token."""
    real, sums = draft.dtype.type, blocks_of(draft)
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
