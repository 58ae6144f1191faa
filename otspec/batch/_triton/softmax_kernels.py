"""Kernels in Triton that turn logits into probabilities: they are read twice, in any dtype."""

from __future__ import annotations

import triton.language as tl
from triton import jit

from otspec.batch._triton.kernels import start_of


@jit()
def piece_of(
    logits,
    row,
    piece,
    there,
    size,
    per_outer,
    outer,
    inner,
    step,
    dtype: tl.constexpr,
    tile: tl.constexpr,
):
    """Return the logits of pieces of rows, the tokens, and which there are: (pieces, tile) each."""
    token = piece.to(tl.int64)[:, None] * tile + tl.arange(0, tile)[None, :]
    inside = there[:, None] & (token < size)
    at = start_of(logits, row, per_outer, outer, inner)[:, None] + token * step
    return tl.load(at, mask=inside, other=float("-inf")).to(dtype), token, inside


@jit(do_not_specialize=["pairs", "per_outer"])
def softmax(
    logits,
    temperatures,
    tops,
    places,
    sums,
    found,
    pairs,
    size,
    pieces,
    per_outer,
    outer,
    inner,
    step,
    writes: tl.constexpr,
    dtype: tl.constexpr,
    tile: tl.constexpr,
    at_once: tl.constexpr,
):
    """Write exp((z − largest)/T) over its sum of the row, and 1 at one place where T is 0.

    Or each piece's largest logit, the first token that has it, and Σ exp((z − largest)/T).
    """
    pair = tl.program_id(0) * at_once + tl.arange(0, at_once)
    there = pair < pairs
    row, piece = pair // pieces, pair % pieces
    values, token, inside = piece_of(
        logits, row, piece, there, size, per_outer, outer, inner, step, dtype, tile
    )
    temperature = tl.load(temperatures + row, mask=there, other=1.0)[:, None]
    divisor = tl.where(temperature == 0, 1.0, temperature)
    if writes:
        top = tl.load(tops + row, mask=there, other=0.0)[:, None]
        total = tl.load(sums + row, mask=there, other=1.0)[:, None]
        place = tl.load(places + row, mask=there, other=0)[:, None]
        chances = tl.exp((values - top) / divisor) / total
        greedy = tl.where(token == place, 1.0, 0.0)
        chances = tl.where((temperature == 0) & (total == total), greedy, chances)
        at = found + row.to(tl.int64)[:, None] * size + token
        tl.store(at, chances.to(dtype), mask=inside)
    else:
        top = tl.max(values, axis=1)
        weights = tl.exp((values - top[:, None]) / divisor)
        # A masked token weighs nothing, also where all of the piece are; what is no number shows.
        weights = tl.where(values == float("-inf"), 0.0, weights)
        tl.store(tops + pair, top, mask=there)
        tl.store(places + pair, piece * tile + tl.argmax(values, axis=1), mask=there)
        tl.store(sums + pair, tl.sum(weights, axis=1).to(sums.dtype.element_ty), mask=there)
