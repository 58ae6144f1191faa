"""What is one operation of a graph that PyTorch compiles, since it decides on its way what to do.

Importing this module imports PyTorch.
"""

from __future__ import annotations

from typing import Any

import torch

from otspec.batch._kernels.library import Array, library_of
from otspec.batch._running import optimum


def _computed(draft: Array, target: Array, k: int) -> Array:
    return optimum(draft.detach(), target.detach(), k)


def _like_it(draft: Array, target: Array, k: int) -> Array:  # noqa: ARG001 # of the operation
    """Return an array of the shape and dtype of the result, of which nothing else matters."""
    return draft.new_empty(draft.shape[:-1], dtype=library_of(draft).wide)


def _mapped(
    info: Any, axes: tuple[int | None, ...], draft: Array, target: Array, k: int
) -> tuple[Array, int]:
    """Return the result of rows that are mapped over, and where the axis of the mapping is."""
    rows = [
        part.expand(info.batch_size, *part.shape) if axis is None else part.movedim(axis, 0)
        for part, axis in zip((draft, target), axes, strict=False)
    ]
    return optimal_acceptance(*rows, k), 0


optimal_acceptance: Any = torch.library.custom_op(
    "otspec::optimal_acceptance",
    _computed,
    mutates_args=(),
    schema="(Tensor draft, Tensor target, int k) -> Tensor",
)
"""The optimum of rows that fit together; there are no gradients of it."""
optimal_acceptance.register_fake(_like_it)
optimal_acceptance.register_vmap(_mapped)
