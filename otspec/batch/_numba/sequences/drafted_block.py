"""Verification of one drafted block, row by row: token by token, and jointly (Theory, 7 and 9)."""

import numpy as np

from otspec.batch._array_api.library import Array
from otspec.batch._numba.compiled import accepts, inner_code, machine_code, quotient
from otspec.batch._numba.models import row_of
from otspec.batch._numba.passes import PLAIN, blocks_of, both_of, draw_rest, excess, rest_in_blocks


@machine_code
def token(draft, target, drafts, uniforms, valid, length, drawn) -> None:
    """Keep tokens until one is rejected, and correct that one (Block, alg. 2; Theory, 7)."""
    # No place after the corrected one is read.
    for row in range(drafts.shape[0]):
        end, kept = valid[row].sum(), 0
        wanted, its = row_of(target, (row, 0))
        # Behind the end there is no draft, and whatever its row holds does not count.
        drafted, own, share = wanted, its, 0.0
        while kept < end:
            drafted, own = row_of(draft, (row, kept))
            offered, asked = both_of(drafted, wanted, (own, its), drafts[row, kept])
            if not accepts(uniforms[row, kept], asked, offered):
                share = 1.0
                break
            kept += 1
            wanted, its = row_of(target, (row, kept))
        length[row] = kept
        weight = excess((own, its), share)
        drawn[row] = draw_rest(drafted if share > 0 else wanted, wanted, weight, uniforms[row, -1])


@machine_code
def published(draft, target, drafts, uniforms, valid, length, drawn) -> None:
    """Decide jointly, and correct one token (Block, published version, alg. 2; Theory, 9)."""
    sums = blocks_of(draft[0, 0])
    for row in range(draft.shape[0]):
        end = valid[row].sum()
        inverse = inverse_of(*_along(draft[row], target[row], drafts[row], end))
        kept = end
        while kept > 0 and not stays(
            draft[row, min(kept, end - 1)], target[row, kept], inverse, kept, end, sums,
            uniforms[row, kept - 1],
        ):  # fmt: skip
            kept -= 1
        share = inverse[kept] if kept < end else 0.0
        length[row] = kept
        wanted = target[row, kept]
        drafted = draft[row, kept] if share > 0 else wanted
        drawn[row] = draw_rest(drafted, wanted, excess(PLAIN, share), uniforms[row, -1])


@inner_code
def highest(row) -> float:
    """Return what quotients of masses are capped at, as :attr:`Library.highest` of a CPU."""
    return 2.0**1020 if row.itemsize == 8 else 2.0**126


@inner_code
def _along(draft, target, drafts, end: int) -> tuple[Array, Array]:
    """Return the probabilities of the tokens of a block."""
    drafted, wanted = np.empty(end, draft.dtype), np.empty(end, draft.dtype)
    for i in range(end):
        drafted[i], wanted[i] = draft[i, drafts[i]], target[i, drafts[i]]
    return drafted, wanted


@inner_code
def inverse_of(drafted, wanted) -> Array:
    """Return M_s/M_b of the first 0 to L tokens, at least 1; the cap where it is never said."""
    most, inverse = highest(drafted), np.ones(drafted.size + 1)
    for i in range(drafted.size):
        longer = quotient(inverse[i] * np.float64(drafted[i]), np.float64(wanted[i]), most)
        inverse[i + 1] = min(max(longer, 1.0), most) if inverse[i] < most else most
    return inverse


@inner_code
def stays(draft, target, inverse, kept: int, end: int, sums, uniform: float) -> bool:
    """Return whether so many tokens are kept, if no more are: the rows are those after them."""
    # With probability Z/(Z + missing), Z = Σ (target − share·draft)₊, or 1/share at the end.
    share = inverse[kept]
    if share <= 1:
        return True
    if share >= highest(draft):
        return False
    if kept == end:
        return accepts(uniform, 1.0, share)
    z = rest_in_blocks(draft, target, excess(PLAIN, share), sums)
    return accepts(uniform, z, z + (share - 1))
