"""How often each rule accepts, row by row: (rows, V) of draft and target, then what is filled."""

import numpy as np

from otspec.batch._array_api.library import BLOCK
from otspec.batch._numba import k_sequential as inflated
from otspec.batch._numba.compiled import (
    clipped,
    geometric,
    inner_code,
    machine_code,
    plus,
    quotient,
)
from otspec.batch._numba.optimum import acceptance as optimal_acceptance
from otspec.batch._numba.passes import (
    PLAIN,
    blocks_of,
    excess,
    factor_of,
    overlaps,
    rest_in_blocks,
)
from otspec.batch._numba.pooled.clocks import acceptance as pooled_selection_without_replacement
from otspec.batch._numba.pooled.graded_pools import acceptance as pooled_selection
from otspec.batch._numba.recursive_rejection_without_replacement import left_of
from otspec.batch._numba.spechub import likeliest, others_of, shares_of

__all__ = [
    "optimal_acceptance",
    "pooled_selection",
    "pooled_selection_without_replacement",
]


@machine_code
def maximal_coupling(draft, target, found) -> None:
    """Write Σ min(p, q)."""
    one = np.ones(1)
    for row in range(draft.shape[0]):
        overlaps(draft[row], target[row], PLAIN, one, found[row : row + 1])


@machine_code
def recursive_rejection(draft, target, found, k: int) -> None:
    """Write 1 − Π Σ (q_{i−1} − p)₊."""
    sums = blocks_of(draft[0])
    for row in range(draft.shape[0]):
        scale, rejected = 0.0, 1.0
        for _ in range(k):
            more = np.float64(draft.dtype.type(scale + rejected))
            if more == scale:
                break
            scale = more
            rejected = rest_in_blocks(draft[row], target[row], excess(PLAIN, scale), sums)
        found[row] = clipped(1 - rejected)


@machine_code
def recursive_rejection_without_replacement(draft, target, drafts, found) -> None:
    """Write the probability that one of the drafts, (rows, k), is accepted."""
    sums, undrafted, factor = blocks_of(draft[0]), blocks_of(draft[0]), factor_of(draft)
    units = factor, 1.0
    out = np.empty(drafts.shape[1], np.int64)
    for row in range(draft.shape[0]):
        scale, rejected, share, missed = 0.0, 1.0, 1 / factor, 1.0
        for i in range(out.size):
            token = drafts[row, i]
            if i > 0:
                scale = np.float64(draft.dtype.type(scale + rejected * share))
                rejected = rest_in_blocks(draft[row], target[row], excess(units, scale), sums)
                share = quotient(1.0, factor * left_of(draft[row], 1.0, out[:i], undrafted), 0.0)
            drafted, wanted = factor * np.float64(draft[row, token]), np.float64(target[row, token])
            lacking = wanted - min(wanted, scale * drafted)
            if lacking > 0:
                missed *= 1 - clipped(quotient(lacking, rejected * (share * drafted), 1.0))
            out[i] = token
        found[row] = 1 - missed


def k_sequential(draft, target, found, k: int) -> None:
    """Write 1 − (1 − β)^k, and the residual draws that happen to be one of the drafts."""
    rho = np.empty(len(found))
    inflated.find_rho(draft, target, np.full(len(found), float(k)), rho)
    _with_hits(draft, target, rho, found, k)


@machine_code
def _with_hits(draft, target, rho, found, k: int) -> None:
    kept, once = np.ones(1), np.empty(BLOCK, draft.dtype)
    ever = np.empty(BLOCK, draft.dtype)
    for row in range(draft.shape[0]):
        overlaps(draft[row], target[row], PLAIN, rho[row : row + 1], kept)
        beta = clipped(kept[0] / rho[row])
        missed, gain = 1 - beta, geometric(beta, float(k))
        total = beta * gain
        for start in range(0, draft.shape[1], BLOCK):
            here = slice(start, start + BLOCK)
            total += _hits(
                draft[row, here], target[row, here], rho[row], missed, gain, k, once, ever
            )
        found[row] = clipped(total)


@inner_code
def _hits(draft, target, rho: float, missed: float, gain: float, k: int, once, ever) -> float:
    """Return the residual of a block, times 1 − (1 − share)^k, the share of the rejected drafts."""
    real = draft.dtype.type
    scale, gain_, missed_ = real(1 / rho), real(gain), real(missed if missed > 0 else 1.0)
    zero, one, total = real(0), real(1), real(0)
    for i in range(draft.size):
        kept = min(draft[i], scale * target[i])
        once[i] = min(max((draft[i] - kept) / missed_, zero), one)
        ever[i] = zero
    # 1 − (1 − s)^(a + b) = S_a + S_b (1 − S_a), digit by digit of k.
    while k > 0:
        if k & 1:
            for i in range(draft.size):
                ever[i] += once[i] * (one - ever[i])
        for i in range(draft.size):
            once[i] += once[i] * (one - once[i])
        k >>= 1
    for i in range(draft.size):
        taken = gain_ * min(draft[i], scale * target[i])
        total = plus(total, (target[i] - min(target[i], taken)) * ever[i])
    return np.float64(total)


@machine_code
def spechub(draft, target, found) -> None:
    """Write q(a) + Σ_{x ≠ a} min(q, p/(1 − p(a))), at most 1."""
    sums, factor = blocks_of(draft[0]), factor_of(draft)
    for row in range(draft.shape[0]):
        hub = likeliest(draft[row], 1.0)
        mass, others = np.float64(draft[row, hub]), others_of(draft[row], 1.0, hub, sums)
        scale = np.float64(draft.dtype.type(1 / factor + quotient(mass, others * factor, 0.0)))
        _, one, _, other, _, served = shares_of(
            draft[row], target[row], PLAIN, hub, factor, scale, mass, others
        )
        found[row] = min(served + one + other, 1.0)
