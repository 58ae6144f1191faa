"""Starts the kernels that turn logits into probabilities."""

from __future__ import annotations

from math import prod
from typing import Any

import torch

from otspec.batch._array_api.library import Array, Library
from otspec.batch._triton import pieces, softmax_kernels


def softmax(library: Library, logits: Array, temperatures: Array | float) -> Array:
    """Return the softmax of logits over temperatures, 0 for the first of the largest logits."""
    xp, (*lead, size) = library.xp, logits.shape
    rows, tile = prod(lead), min(pieces.PIECE, pieces.power(size))
    number = -(-size // tile)
    temperatures = (
        library.full((*lead, 1), temperatures) if isinstance(temperatures, float) else temperatures
    )
    temperatures = (
        library.narrowed(torch.broadcast_to(temperatures, (*lead, 1))).reshape(rows, 1).contiguous()
    )
    per_outer, steps = pieces.laid_out(library, logits)
    at_once = pieces.at_once(library, rows * number, tile, 1)
    given: dict[str, Any] = {
        "logits": logits,
        "temperatures": temperatures,
        "pairs": rows * number,
        "size": size,
        "pieces": number,
        "per_outer": per_outer,
        **steps,
        "dtype": pieces.kind(library),
        "tile": tile,
        "at_once": at_once,
    }
    tops, places, sums = (
        torch.empty((rows, number), dtype=dtype, device=library.device)
        for dtype in (library.dtype, library.index, library.wide)
    )
    programs = -(-rows * number // at_once)
    parts = {"tops": tops, "places": places, "sums": sums}
    pieces.start(softmax_kernels.softmax_parts, programs, logits, **given, **parts)
    top = xp.max(tops, axis=-1, keepdims=True)
    apart = (tops - top) / xp.where(temperatures == 0, xp.ones_like(temperatures), temperatures)
    parts = {
        "tops": top,
        "places": library.pick(places, library.largest(tops)),
        "sums": xp.sum(sums * library.widened(xp.exp(apart)), axis=-1),
    }
    found = torch.empty(logits.shape, dtype=library.dtype, device=library.device)
    pieces.start(softmax_kernels.softmax, programs, logits, **given, **parts, found=found)
    return found
