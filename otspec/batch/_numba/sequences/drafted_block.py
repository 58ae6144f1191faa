"""Verification of one drafted block, row by row: token by token, and jointly (Theory, 7 and 9)."""

import numpy as np

from otspec.batch._array_api.library import Array
from otspec.batch._numba.compiled import accepts, inner_code, machine_code, quotient
from otspec.batch._numba.passes import PLAIN, Units, blocks_of, draw, excess, rest_in_blocks


@machine_code
def token(draft, target, drafts, uniforms, valid, length, drawn) -> None:
    """Keep tokens until one is rejected, and correct that one (Block, alg. 2; Theory, 7)."""
    sums = blocks_of(draft[0, 0])
    for row in range(draft.shape[0]):
        end, kept = valid[row].sum(), 0
        while kept < end and _passes(
            draft[row, kept], target[row, kept], drafts[row, kept], uniforms[row, kept]
        ):
            kept += 1
        share = 1.0 if kept < end else 0.0
        length[row] = kept
        wanted = target[row, kept]
        # Behind the end there is no draft, and whatever its row holds does not count.
        drafted = draft[row, kept] if share > 0 else wanted
        drawn[row] = following(drafted, wanted, PLAIN, share, sums, uniforms[row, -1])


@inner_code
def _passes(draft, target, token: int, uniform: float) -> bool:
    """Return whether a token passes by itself."""
    return accepts(uniform, np.float64(target[token]), np.float64(draft[token]))


@inner_code
def following(draft, target, units: Units, share: float, sums, uniform: float) -> int:
    """Draw the token after those that are kept from (target − share·draft)₊ there."""
    rest_in_blocks(draft, target, excess(units, share), sums)
    none = np.empty(0, np.int64)
    return draw(draft, target, excess(units, share), 0.0, sums, none, uniform)


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
        # Behind the end there is no draft, and whatever its row holds does not count.
        drafted = draft[row, kept] if share > 0 else wanted
        drawn[row] = following(drafted, wanted, PLAIN, share, sums, uniforms[row, -1])


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
