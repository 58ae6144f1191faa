"""Kernels in Triton: block sums of several weights in one reading of the rows, and draws.

Each is the function of the same name in :mod:`otspec.batch._array_api` with the same roundings, but
for the order in a block. Nothing is fused to one rounding: a weight that is 0 in a sum is 0 in a
draw. Rows are found by two steps, so that ``(B, L, V)`` need not be contiguous; places are 64-bit.
"""

from __future__ import annotations

import triton.language as tl
from triton import jit

KINDS = ("draft", "target", "common", "scaled", "light", "line")
"""Kinds of weights. A kernel gets the index of one: Triton 3.6 allows no strings in a tuple."""
DRAFT, TARGET, COMMON, SCALED, LIGHT, LINE = map(tl.constexpr, range(len(KINDS)))


@jit()
def start_of(rows, row, inner, outer_step, inner_step):
    """Return where rows begin, by their number: those of one outer index come together."""
    row = row.to(tl.int64)
    return rows + (row // inner) * outer_step + (row % inner) * inner_step


@jit()
def weigh(
    drafted,
    wanted,
    numbers,
    there,
    kind: tl.constexpr,
    factor: tl.constexpr,
    excess: tl.constexpr,
    mixed: tl.constexpr,
    first: tl.constexpr,
):
    """Return the weights of tokens, (rows, tokens): the numbers begin at a pointer for each row."""
    at = numbers + first
    if mixed:
        at += 1
    if kind == DRAFT:
        weight = drafted
    elif kind == TARGET:
        weight = wanted
    elif kind == COMMON:
        weight = tl.minimum(wanted, drafted)
    elif kind == SCALED:
        scale = tl.load(at, mask=there, other=0.0)[:, None]
        weight = tl.minimum(wanted, drafted * factor * scale)
    elif kind == LIGHT:
        edge = tl.load(at, mask=there, other=0.0)[:, None]
        scale = tl.load(at + 1, mask=there, other=0.0)[:, None]
        weight = tl.minimum(
            scale * (tl.where(drafted <= edge, drafted, 0.0) * factor), wanted * factor
        )
    else:
        start = tl.load(at, mask=there, other=0.0)[:, None]
        rise = tl.load(at + 1, mask=there, other=0.0)[:, None]
        top = tl.load(at + 2, mask=there, other=0.0)[:, None]
        line = tl.minimum(start * drafted + rise * wanted, top * drafted)
        weight = tl.minimum(wanted, line)
    if excess:
        weight = wanted - weight
    if mixed:
        share = tl.load(numbers + first, mask=there, other=0.0)[:, None]
        weight = share * wanted + (1 - share) * weight
    return weight


@jit(do_not_specialize=["pairs", "inner"])
def block_sums(
    draft,
    target,
    numbers,
    sums,
    pairs,
    size,
    blocks,
    inner,
    draft_outer,
    draft_inner,
    draft_step,
    target_outer,
    target_inner,
    target_step,
    columns,
    forms: tl.constexpr,
    number: tl.constexpr,
    same: tl.constexpr,
    dtype: tl.constexpr,
    block_size: tl.constexpr,
    tile: tl.constexpr,
    at_once: tl.constexpr,
):
    """Add up several weights over pairs of a row and a block: (weights, pairs) of wide sums."""
    pair = tl.program_id(0) * at_once + tl.arange(0, at_once)
    there = pair < pairs
    row = pair // blocks
    token = (pair % blocks)[:, None] * block_size + tl.arange(0, tile)[None, :]
    inside = there[:, None] & (token < size)
    token = token.to(tl.int64)
    at = start_of(draft, row, inner, draft_outer, draft_inner)[:, None] + token * draft_step
    drafted = tl.load(at, mask=inside, other=0.0).to(dtype)
    wanted = drafted
    if not same:
        at = start_of(target, row, inner, target_outer, target_inner)[:, None]
        wanted = tl.load(at + token * target_step, mask=inside, other=0.0).to(dtype)
    of_row = numbers + row.to(tl.int64) * columns
    for i in tl.static_range(number):
        weight = weigh(
            drafted,
            wanted,
            of_row,
            there,
            forms[i][0],
            forms[i][1],
            forms[i][2],
            forms[i][3],
            forms[i][4],
        )
        total = tl.sum(weight, axis=1).to(sums.dtype.element_ty)
        tl.store(sums + i * pairs.to(tl.int64) + pair, total, mask=there)


@jit()
def locate(weights, uniform, count: tl.constexpr):
    """Return where uniform numbers fall, and how far into that entry: (rows, count), (rows)."""
    ids = tl.arange(0, count)[None, :]
    sums = tl.cumsum(weights, axis=1)
    total = tl.sum(tl.where(ids == count - 1, sums, 0.0), axis=1)
    safe = tl.where(total > 0, total, 1.0)[:, None]
    here = (sums / safe > uniform[:, None]) & (weights > 0)
    first = tl.min(tl.where(here, ids, count), axis=1)
    index = tl.where(first < count, first, tl.argmax(weights, axis=1))
    at_index = ids == index[:, None]
    chosen = tl.sum(tl.where(at_index, weights / safe, 0.0), axis=1)
    upto = tl.sum(tl.where(at_index, sums / safe, 0.0), axis=1)
    left = 1 - (upto - uniform) / tl.where(chosen > 0, chosen, 1.0)
    left = tl.where(chosen > 0, left, 1.0)
    below_one = tl.full((1,), 0.9999999999999999, tl.float64)
    return index, tl.minimum(tl.maximum(left, 0.0), below_one.to(left.dtype))


@jit()
def block_weights(
    draft,
    target,
    numbers,
    excluded,
    block,
    there,
    size,
    draft_step,
    target_step,
    left_out,
    excluded_step,
    form: tl.constexpr,
    same: tl.constexpr,
    dtype: tl.constexpr,
    wide: tl.constexpr,
    block_size: tl.constexpr,
    tile: tl.constexpr,
):
    """Return the weights of one block for each row, (rows, tile), wide; pointers are its rows'."""
    token = block.to(tl.int64)[:, None] * block_size + tl.arange(0, tile)[None, :]
    inside = there[:, None] & (token < size)
    at = draft[:, None] + token * draft_step
    drafted = tl.load(at, mask=inside, other=0.0).to(dtype)
    wanted = drafted
    if not same:
        at = target[:, None] + token * target_step
        wanted = tl.load(at, mask=inside, other=0.0).to(dtype)
    weights = weigh(
        drafted, wanted, numbers, there, form[0], form[1], form[2], form[3], form[4]
    ).to(wide)
    for i in range(left_out):
        one = tl.load(excluded + i * excluded_step, mask=there, other=-1)
        inside = inside & (token != one[:, None])
    return tl.where(inside, weights, 0.0)


@jit(do_not_specialize=["rows", "inner", "left_out"])
def in_block(
    draft,
    target,
    numbers,
    blocks,
    uniforms,
    excluded,
    found,
    rows,
    size,
    width,
    inner,
    draft_outer,
    draft_inner,
    draft_step,
    target_outer,
    target_inner,
    target_step,
    columns,
    left_out,
    excluded_row,
    excluded_step,
    draws: tl.constexpr,
    form: tl.constexpr,
    same: tl.constexpr,
    dtype: tl.constexpr,
    padded: tl.constexpr,
    block_size: tl.constexpr,
    tile: tl.constexpr,
    at_once: tl.constexpr,
):
    """Draw a token for each row: a block by the block sums, then a token of the block.

    Or copy the block sums; that of the last excluded token's block is added up without them all.
    """
    row = tl.program_id(0) * at_once + tl.arange(0, at_once)
    there = row < rows
    long = row.to(tl.int64)
    ids = tl.arange(0, padded)[None, :]
    known = there[:, None] & (ids < width)
    at = long[:, None] * width + ids
    sums = tl.load(blocks + at, mask=known, other=0.0)
    of_row = excluded + long * excluded_row
    if draws:
        uniform = tl.load(uniforms + long, mask=there, other=0.0).to(sums.dtype)
        block, left = locate(sums, uniform, padded)
    else:
        last = of_row + (left_out - 1) * excluded_step
        block = tl.load(last, mask=there, other=0) // block_size
    weights = block_weights(
        start_of(draft, row, inner, draft_outer, draft_inner),
        start_of(target, row, inner, target_outer, target_inner),
        numbers + long * columns,
        of_row,
        block,
        there,
        size,
        draft_step,
        target_step,
        left_out,
        excluded_step,
        form,
        same,
        dtype,
        sums.dtype,
        block_size,
        tile,
    )
    if draws:
        within, _ = locate(weights, left, tile)
        tl.store(found + long, block.to(tl.int64) * block_size + within, mask=there)
    else:
        total = tl.sum(weights, axis=1)[:, None]
        tl.store(found + at, tl.where(ids == block[:, None], total, sums), mask=known)
