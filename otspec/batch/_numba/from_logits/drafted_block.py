"""Verification of one drafted block token by token, straight from logits (Block, alg. 2)."""

import numpy as np

from otspec.batch._numba.compiled import accepts, machine_code
from otspec.batch._numba.from_logits.warping import FEW, fill_row
from otspec.batch._numba.passes import blocks_of
from otspec.batch._numba.sequences.drafted_block import following


@machine_code
def token(
    draft,
    draft_starts,
    draft_temperatures,
    draft_limits,
    draft_steps,
    target,
    target_starts,
    target_temperatures,
    target_limits,
    target_steps,
    width: int,
    drafts,
    uniforms,
    valid,
    length,
    drawn,
) -> None:
    """Keep tokens until one is rejected, and correct that one; read no place after it."""
    tops = np.empty((width + FEW - 1) // FEW, np.float32)
    drafted, wanted = np.empty(width, np.float32), np.empty(width, np.float32)
    sums = blocks_of(wanted)
    for row in range(drafts.shape[0]):
        end, kept, passes = valid[row].sum(), 0, True
        while True:
            its = target[target_starts[row, kept] : target_starts[row, kept] + width]
            temperature, limits = target_temperatures[row, kept], target_limits[row, kept]
            factor = fill_row(its, temperature, limits, target_steps, tops, wanted)
            if kept == end:
                break
            its = draft[draft_starts[row, kept] : draft_starts[row, kept] + width]
            temperature, limits = draft_temperatures[row, kept], draft_limits[row, kept]
            other = fill_row(its, temperature, limits, draft_steps, tops, drafted)
            token = drafts[row, kept]
            chance, offered = wanted[token] * factor, drafted[token] * other
            if not accepts(uniforms[row, kept], np.float64(chance), np.float64(offered)):
                passes = False
                break
            kept += 1
        # After a whole block the token is the target's own.
        offered_row, unit, share = (wanted, factor, 0.0) if passes else (drafted, other, 1.0)
        length[row] = kept
        units = np.float64(unit), np.float64(factor)
        drawn[row] = following(offered_row, wanted, units, share, sums, uniforms[row, -1])
