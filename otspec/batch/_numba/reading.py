"""What rules with a search of their own read of the rows; what is between is compiled once."""

import numpy as np

from otspec.batch._numba.compiled import machine_code
from otspec.batch._numba.outcome import holds
from otspec.batch._numba.passes import blocks_of, draw, overlaps, rest_in_blocks


@machine_code
def read_overlaps(draft, target, scales, sums, first: int, last: int) -> None:
    """Write Σ min(target, scale·draft) for some scales of each row, (rows, m) each."""
    for row in range(draft.shape[0]):
        own = scales[row, first:last]
        overlaps(draft[row], target[row], 1.0, own, sums[row, first:last])


@machine_code
def read_drafts(draft, target, drafts, valid, pairs) -> None:
    """Write the draft's and the target's probability of each draft, (rows, k, 2)."""
    # Of one that does not count they are those of token 0.
    for row in range(drafts.shape[0]):
        for i in range(drafts.shape[1]):
            token = drafts[row, i] if valid[row, i] else 0
            pairs[row, i, 0], pairs[row, i, 1] = draft[row, token], target[row, token]


@machine_code
def draw_rest(draft, target, drafts, uniforms, valid, token, accepted, index, weights) -> None:
    """Write the draft of the index, or else a token that is drawn from a weight, (rows, 4)."""
    sums, none = blocks_of(draft[0]), np.empty(0, np.int64)
    for row in range(drafts.shape[0]):
        if index[row] >= 0:
            token[row] = drafts[row, index[row]]
        else:
            weight = weights[row, 0], weights[row, 1], weights[row, 2], weights[row, 3]
            rest_in_blocks(draft[row], target[row], weight, sums)
            token[row] = draw(draft[row], target[row], weight, 0.0, sums, none, uniforms[row, -1])
        accepted[row] = holds(drafts[row], valid[row], token[row])
