"""In which pieces kernels read rows, and how they are started."""

from __future__ import annotations

from typing import Any

import torch
import triton.language as tl

from otspec.batch._array_api.library import BLOCK, Array, Library

PIECE = 2048
"""How many tokens a program of the sums reads at once on a GPU: 16 in each of its threads."""
INTERPRETED = 1 << 18
"""How many numbers at once in the interpreter, where every program takes long to begin."""


def start(kernel: Any, programs: int, near: Array, **given: Any) -> None:
    """Start a kernel on the device of an array; every operation is rounded by itself."""
    with torch.cuda.device_of(near):
        kernel[(programs,)](**given, enable_fp_fusion=False)


def laid_out(library: Library, rows: Array) -> tuple[int, dict[str, int]]:
    """Return how many rows of one outer index there are, and the steps of (outer, inner, V)."""
    cube = rows if rows.ndim == 3 else library.xp.reshape(rows, (1, -1, rows.shape[-1]))
    return cube.shape[1], dict(zip(("outer", "inner", "step"), cube.stride(), strict=True))


def kind(library: Library) -> Any:
    """Return Triton's name of what is computed in."""
    return tl.float64 if library.dtype == library.xp.float64 else tl.float32


def tile(size: int) -> int:
    """Return how many tokens of a block are read: fewer where the vocabulary is smaller."""
    return min(BLOCK, power(size))


def power(size: int) -> int:
    """Return the least power of two that is not below a positive number."""
    return 1 << (size - 1).bit_length()


def at_once(library: Library, number: int, width: int, usual: int) -> int:
    """Return how many of a number of things a program works on: the usual ones on a GPU."""
    if library.device.type != "cpu":
        return usual
    return min(power(number), max(power(INTERPRETED // width), 1))
