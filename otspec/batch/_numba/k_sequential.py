"""K-Seq row by row: the drafts are tried against ρ times the draft (SpecTr, alg. 2; Theory, 6).

As :mod:`otspec.batch._array_api.k_sequential`; ``tried`` and ``found``, (4,), are ρ and M there.
"""

import math

import numpy as np

from otspec.batch._array_api.k_sequential import FIRST, SECOND, STEPS
from otspec.batch._array_api.library import BLOCK
from otspec.batch._numba import compiled
from otspec.batch._numba.compiled import inner_code, machine_code, plus
from otspec.batch._numba.models import row_of
from otspec.batch._numba.passes import (
    PLAIN,
    Units,
    added,
    blocks_of,
    both_of,
    draw,
    excess,
    mix,
    overlaps,
)

_UP = 1 + 2 * float(np.finfo(np.float64).eps)
"""Lest equal rows be taken for a little different ones."""


@inner_code
def begin(tried, count: float, single: bool) -> None:
    """Write which ρ to try first."""
    tried[0], tried[1] = 1.0, compiled.rounded(1 + FIRST * (count - 1), single)


@inner_code
def go_on(tried, found, count: float, single: bool) -> None:
    """Write which ρ to try next, once M is found at the first ones."""
    for i in range(2):
        found[i] = min(found[i] * _UP, 1.0)
    first, second = _needed(found[0], count), _needed(found[1], count)
    guess = min(_secant(tried[0], tried[0] - first, tried[1], tried[1] - second), count)
    # ρ* is at least what it would be if β were the same as at 1, or M as at the other place, if
    # that is above ρ*.
    bound = max(compiled.geometric(found[0], count), second)
    low, apart = min(guess, bound), abs(guess - bound)
    tried[2], tried[3] = (
        compiled.rounded(low, single),
        compiled.rounded(low + SECOND * apart, single),
    )


@inner_code
def safe_rho(tried, found, count: float, single: bool) -> float:
    """Return a ρ that is valid at the chord of M around ρ*, which is below M."""
    start, overlap, less, most = 0.0, 0.0, -_needed(0.0, count), 0.0
    end, at_end, more = count, 1.0, 0.0
    for i in range(4):
        found[i] = found[i] if i < 2 else min(found[i] * _UP, 1.0)
        most = max(most, found[i])
    # M is 0 at 0, and does not fall up to k, where every rule is valid.
    at_end, more = most, count - _needed(most, count)
    for i in range(4):
        slack = tried[i] - _needed(found[i], count)
        if slack >= 0 or tried[i] >= count:
            end, at_end, more = min(end, tried[i]), min(at_end, found[i]), min(more, slack)
        else:
            start, overlap, less = max(start, tried[i]), max(overlap, found[i]), max(less, slack)
    slope, rho, needed = compiled.quotient(at_end - overlap, end - start, 0.0), start, 0.0
    # As a function of ρ the slack at the chord is convex: the secants' guesses come from below.
    for _ in range(STEPS):
        rho = _secant(rho, less, end, more)
        needed = _needed(overlap + slope * (rho - start), count)
        less = rho - needed
    rho = max(rho, needed)
    if single:  # rounded up rather than down
        rho = compiled.rounded(rho * (1 + 2.0**-24), single)
    return rho if rho > 1 else 1.0


@inner_code
def _needed(overlap: float, count: float) -> float:
    """Return the least ρ at which an overlap is enough: M/(1 − (1 − M)^(1/k)), at most k."""
    if not overlap > 0:
        return count
    return min(-overlap / math.expm1(math.log1p(-overlap) / count), count)


@inner_code
def _secant(start: float, low: float, end: float, high: float) -> float:
    """Return where a line through two points is 0."""
    return end - compiled.quotient(high * (end - start), high - low, 0.0)


@machine_code
def verify(draft, target, drafts, uniforms, valid, token, accepted, index) -> None:
    """Accept each draft x of a row in turn with probability min(1, q(x) / (ρ p(x)))."""
    none = np.empty(0, np.int64)
    for row in range(drafts.shape[0]):
        (its, unit), (wanted, other) = row_of(draft, row), row_of(target, row)
        units, tokens, count = (unit, other), drafts[row], float(valid[row].sum())
        rho = _rho_of(its, wanted, units, max(count, 1.0))
        index[row] = compiled.DRAWN
        for i in range(tokens.size - 1, -1, -1):
            if valid[row, i]:
                offered, lacking = both_of(its, wanted, units, tokens[i])
                if compiled.accepts(uniforms[row, i], lacking, rho * offered):
                    index[row], token[row] = i, tokens[i]
        if index[row] < 0:
            whole, sums = blocks_of(its), blocks_of(its)
            total, rest = _sum_both(its, wanted, units, rho, whole, sums)
            # ρβ = Σ min(q, ρp) is what remains of q without its excess over ρp.
            gain = compiled.geometric(compiled.clipped((total - rest) / rho), max(count, 1.0))
            # q − min(p, q/ρ) g = (1 − g/ρ) q + (g/ρ) (q − ρp)₊
            keep = compiled.clipped(1 - gain / rho) if count > 0 else 1.0
            mix(keep, whole, sums)
            weight, last = excess(units, rho), uniforms[row, -1]
            token[row] = draw(its, wanted, weight, keep, sums, none, last)
        accepted[row] = compiled.holds(tokens, valid[row], token[row])


@machine_code
def find_rho(draft, target, counts, rho) -> None:
    """Write the ρ of each row, whose drafts are so many."""
    for row in range(counts.size):
        rho[row] = _rho_of(draft[row], target[row], PLAIN, max(counts[row], 1.0))


@inner_code
def _rho_of(draft, target, units: Units, count: float) -> float:
    """Return a valid ρ of a row."""
    tried, found, single = np.empty(4), np.empty(4), draft.itemsize == 4
    begin(tried, count, single)
    overlaps(draft, target, units, tried[:2], found[:2])
    go_on(tried, found, count, single)
    overlaps(draft, target, units, tried[2:], found[2:])
    return safe_rho(tried, found, count, single)


@inner_code
def _sum_both(draft, target, units: Units, rho: float, whole, rest) -> tuple[float, float]:
    """Fill in block sums of the target and of its excess over ρ·draft; return both totals."""
    real = draft.dtype.type
    own, its, scale = real(units[0]), real(units[1]), real(rho)
    for block in range(whole.size):
        here = slice(block * BLOCK, (block + 1) * BLOCK)
        drafts, targets, total, left = draft[here], target[here], real(0), real(0)
        for i in range(drafts.size):
            offered, wanted = scale * (own * drafts[i]), its * targets[i]
            total = plus(total, wanted)
            left = plus(left, wanted - (offered if offered < wanted else wanted))
        whole[block], rest[block] = total, left
    return added(whole), added(rest)
