"""Rows of logits (float32, or half precision as its bits): their softmax, and gradients of losses.

All is computed in float32. PyTorch's softmax is off by 1e-5 in the sum of a long row.
"""

from typing import Any

import numpy as np

from otspec._base.compiling import unwriteable
from otspec.batch._array_api.library import BLOCK
from otspec.batch._numba import optimum
from otspec.batch._numba.compiled import inner_code, machine_code, plus, power, real_of, stored
from otspec.batch._numba.from_logits.warping import largest_of, unit_of

HELD = 1 << 19  # logits whose softmax is made at once, if a row is not longer


@inner_code
def _fill(logits, found) -> None:
    """Write the softmax of a row."""
    unit, most, total = unit_of(1.0), largest_of(logits), 0.0
    for start in range(0, logits.size, BLOCK):
        part, written = logits[start : start + BLOCK], found[start : start + BLOCK]
        mass: Any = np.float32(0)
        for i in range(part.size):
            weight = power(unit, real_of(part[i]) - most)
            written[i] = weight
            mass = plus(mass, weight)
        total += mass
    scale = np.float32(1 / total)
    for i in range(found.size):
        found[i] *= scale


@machine_code
def softmax(logits, found) -> None:
    """Write the softmax of each row, (rows, V)."""
    for row in range(logits.shape[0]):
        _fill(logits[row], found[row])


def best_cut(logits, target, scale, outside, cost, k: int) -> None:
    """Write :func:`otspec.batch._numba.optimum.best_cut` of the softmax of each row."""
    rows, size = logits.shape
    step = min(max(1, HELD // size), rows)
    draft = np.empty((step, size), np.float32)
    for start in range(0, rows, step):
        here = slice(start, min(start + step, rows))
        part = draft[: here.stop - start]
        softmax(logits[here], part)
        optimum.best_cut(unwriteable(part), target[here], scale[here], outside[here], cost[here], k)


@machine_code
def gradient(logits, target, scales, weights, mean, found) -> None:
    """Write p (mean − Σ_j w_j 1[q > c_j p]) of the softmax p of each row, in the logits' dtype."""
    slope, draft = np.empty(BLOCK, np.float32), np.empty(logits.shape[1], np.float32)
    for row in range(logits.shape[0]):
        _fill(logits[row], draft)
        for start in range(0, draft.size, BLOCK):
            here = slice(start, start + BLOCK)
            p, q, out = draft[here], target[row, here], found[row, here]
            slope[:] = mean[row, 0]
            for j in range(scales.shape[1]):
                c, w = scales[row, j], weights[row, j]
                for i in range(p.size):
                    slope[i] -= w if q[i] > c * p[i] else np.float32(0)
            for i in range(p.size):
                out[i] = stored(p[i] * slope[i], out[i])
