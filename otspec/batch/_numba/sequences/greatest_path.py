"""Greedy multi-path block verification row by row: the greatest of K drafted paths (Theory, 26).

The chosen path's law needs the order of all ratios, but of one token only the mass up to it: a
place is sorted only where its residual is asked for.
"""

from typing import Any

import numpy as np

from otspec.batch._array_api.library import BLOCK
from otspec.batch._numba.compiled import geometric, inner_code, machine_code, plus, quotient
from otspec.batch._numba.passes import PLAIN, blocks_of, draw_rest, excess, sum_in_blocks
from otspec.batch._numba.sequences.drafted_block import inverse_of, stays

_DIGIT = 11  # bits of a ratio by which tokens are put in order at a time


@machine_code
def verify(
    draft,
    target,
    drafts,
    uniforms,
    valid,  # noqa: ARG001 # all count
    path,
    length,
    token,
) -> None:
    """Choose a path of each row, and verify it as a block in which each place is in order."""
    paths, end, size = draft.shape[1], draft.shape[2], draft.shape[3]
    real, sums, alike = draft.dtype.type, blocks_of(draft[0, 0, 0]), np.empty(paths, np.bool_)
    law, wanted = np.empty(size, real), np.empty(size, real)
    keys, orders = np.empty((2, size), np.uint64), np.empty((2, size), np.int32)
    leads, totals, shares = np.empty(end, np.int64), np.empty(end), np.empty(end)
    drafted, its, one = np.empty(end, real), np.empty(end, real), np.empty((2, 1))
    for row in range(draft.shape[0]):
        alike[:] = True
        share = 0.0
        for i in range(end):
            lead = _first(alike)
            p, q = draft[row, lead, i], target[row, lead, i]
            chosen = _greatest(p, q, drafts[row, :, i], alike)
            totals[i] = sum_in_blocks(p, 1.0, sums)
            one[0, 0] = quotient(np.float64(p[chosen]), totals[i], 0.0)
            one[1, 0] = quotient(_mass_up_to(p, q, chosen), totals[i], 0.0)
            _skew(one[0], one[1], share, paths)
            leads[i], shares[i], drafted[i], its[i] = lead, share, one[0, 0], q[chosen]
            share = 1 - one[1, 0]
        path[row] = _first(alike)
        inverse, kept = inverse_of(drafted, its), end
        while True:
            if kept < end:
                p, q = draft[row, leads[kept], kept], target[row, leads[kept], kept]
                _set_out(p, q, totals[kept], shares[kept], paths, keys, orders, law, wanted)
            if kept == 0 or stays(
                law, wanted, inverse, kept, end, sums, uniforms[row, 0, kept - 1]
            ):
                break
            kept -= 1
        length[row], last = kept, target[row, path[row], end]
        if kept == end:
            token[row] = draw_rest(last, last, excess(PLAIN, 0.0), uniforms[row, 0, end])
        else:
            weight = excess(PLAIN, inverse[kept])
            rank = draw_rest(law, wanted, weight, uniforms[row, 0, end])
            token[row] = orders[0, rank] if rank >= 0 else rank


@inner_code
def _first(alike) -> int:
    """Return the first path that is true; 0 if none is."""
    for j in range(alike.size):
        if alike[j]:
            return j
    return 0


@inner_code
def _greatest(draft, target, tokens, alike) -> int:
    """Return the token of the highest ratio, of equal ones the largest; keep paths that have it."""
    best, token = draft.dtype.type(-2), -1
    for j in range(tokens.size):
        if alike[j]:
            ratio = _ratio(draft[tokens[j]], target[tokens[j]])
            if ratio > best or (ratio == best and tokens[j] > token):
                best, token = ratio, tokens[j]
    for j in range(tokens.size):
        alike[j] = alike[j] and tokens[j] == token
    return token


@inner_code
def _ratio(drafted: Any, wanted: Any) -> Any:
    """Return target/draft, and −1 of a token that is never drafted."""
    return wanted / drafted if drafted > 0 else type(drafted)(-1)


@inner_code
def _mass_up_to(draft, target, token: int) -> float:
    """Return the draft's mass of a token and of all that come before it in the order of ratios."""
    ratio, total = _ratio(draft[token], target[token]), 0.0
    for start in range(0, draft.size, BLOCK):
        p, q, mass = draft[start : start + BLOCK], target[start : start + BLOCK], 0.0
        for i in range(p.size):
            own = _ratio(p[i], q[i])
            before = own < ratio or (own == ratio and start + i <= token)
            mass = plus(mass, np.float64(p[i]) if before else 0.0)
        total += mass
    return total


@inner_code
def _skew(law, up_to, share: float, paths: int) -> None:
    """Turn the draft's law of some tokens into the chosen path's, and its sums into b/(b + c)."""
    power, tries, top = np.empty(law.size), np.empty(law.size), np.empty(law.size)
    for i in range(law.size):
        top[i] = share + (1 - share) * up_to[i]
        up_to[i] = quotient((1 - share) * law[i], top[i], 0.0)
        power[i] = 1.0
    _raise(top, paths - 1, power, tries)
    for i in range(law.size):
        law[i] *= power[i]
        power[i], top[i] = 1.0, 1 - up_to[i]
    _raise(top, paths, power, tries)
    all_tries = geometric(1 - share, float(paths))
    for i in range(law.size):
        law[i] *= tries[i] / all_tries


@inner_code
def _raise(values, exponent: int, powers, sums) -> None:
    """Write values^exponent, and the sums of all lower powers; the powers are 1 before."""
    sums[:], digit = 0.0, 1
    while digit <= exponent:
        digit <<= 1
    while digit > 1:
        digit >>= 1
        for i in range(values.size):
            sums[i] += powers[i] * sums[i]
            powers[i] *= powers[i]
        if exponent & digit:
            for i in range(values.size):
                sums[i] = 1 + values[i] * sums[i]
                powers[i] *= values[i]


@inner_code
def _set_out(
    draft, target, total: float, share: float, paths: int, keys, orders, law, wanted
) -> None:
    """Write the order of the tokens, the chosen path's law of them, and the target."""
    _sort(draft, target, keys, orders)
    single, up_to, mass = np.empty(BLOCK), np.empty(BLOCK), 0.0
    for start in range(0, draft.size, BLOCK):
        here = orders[0, start : start + BLOCK]
        for i in range(here.size):
            mass += np.float64(draft[here[i]])
            single[i] = quotient(np.float64(draft[here[i]]), total, 0.0)
            up_to[i] = min(quotient(mass, total, 0.0), 1.0)
            wanted[start + i] = target[here[i]]
        _skew(single[: here.size], up_to[: here.size], share, paths)
        for i in range(here.size):
            law[start + i] = single[i]


@inner_code
def _sort(draft, target, keys, orders) -> None:
    """Write the tokens by ascending ratio, of equal ones by id, to the first of the orders."""
    single = draft.itemsize == 4
    ratio = np.empty(1, draft.dtype)
    for token in range(draft.size):
        own = _ratio(draft[token], target[token])
        ratio[0] = abs(own)  # no −0
        number = np.uint64(ratio.view(np.uint32)[0]) if single else ratio.view(np.uint64)[0]
        # Positive floats are in the order of their bits.
        keys[0, token] = number + np.uint64(1) if own >= 0 else np.uint64(0)
        orders[0, token] = token
    counts = np.empty(1 << _DIGIT, np.int64)
    here, bits = 0, 33 if single else 64
    for shift in range(0, bits, _DIGIT):
        here = _pass(keys, orders, here, np.uint64(shift), counts)
    if here:
        for i in range(orders.shape[1]):  # Numba compiles a copy of slices for a second
            orders[0, i] = orders[1, i]


@inner_code
def _pass(keys, orders, here: int, shift: Any, counts) -> int:
    """Put tokens in the order of a digit of their keys, and return which of the arrays has them."""
    last, there = np.uint64(counts.size - 1), 1 - here
    counts[:] = 0
    for i in range(keys.shape[1]):
        counts[np.int64((keys[here, i] >> shift) & last)] += 1
    start = 0
    for digit in range(counts.size):
        start, counts[digit] = start + counts[digit], start
    for i in range(keys.shape[1]):
        own = np.int64((keys[here, i] >> shift) & last)
        at = counts[own]
        counts[own] += 1
        keys[there, at], orders[there, at] = keys[here, i], orders[here, i]
    return there
