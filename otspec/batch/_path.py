"""Which path a call takes: row by row in machine code, or by operations on whole arrays.

Row by row go plain arrays of NumPy and plain tensors of PyTorch on a CPU, eagerly, where Numba is
installed and the rows are float32 or float64 that lie one after another. Nothing here refuses
anything: what does not fit goes to the array path, whose checks say what is wrong.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import cache
from importlib import import_module
from math import prod
from typing import Any, NamedTuple

import numpy as np
from array_api_compat import is_torch_array

from otspec.batch._arguments import counted_ids
from otspec.batch._kernels.library import Array, library_of

ROWS = os.environ.get("OTSPEC_BATCH_ROWS", "1") != "0"
"""Whether calls go row by row where they can; set the variable to 0 for arrays alone."""

_REALS = np.dtype(np.float32), np.dtype(np.float64)


class Rows(NamedTuple):
    """Arguments of a rule as NumPy's arrays, read-only, one row after another.

    Parameters
    ----------
    draft, target : ndarray, shape (rows, V)
    drafts : ndarray of int64, shape (rows, k)
    uniforms : ndarray of float64, shape (rows, k + 1)
    valid : ndarray of bool, shape (rows, k)
    lead : tuple of int
        The leading axes of the arguments.
    back : callable
        Turns an array of NumPy into one of the library of the arguments.
    """

    draft: Array
    target: Array
    drafts: Array
    uniforms: Array
    valid: Array
    lead: tuple[int, ...]
    back: Callable[[Array], Array]

    @property
    def arguments(self) -> tuple[Array, ...]:
        """Return what the machine code of a rule takes."""
        return self[:5]

    def shaped(self, values: Array) -> Array:
        """Return results, one per row, as the caller has them."""
        return self.back(values if len(self.lead) == 1 else values.reshape(self.lead))


def rows_of(
    draft: Array,
    target: Array,
    drafts: Array,
    uniforms: Array,
    mask: Array | None,
    only_k: int | None = None,
) -> Rows | None:
    """Return the arguments of a rule row by row; None if they go the other path, or fit nowhere.

    Raises
    ------
    ValueError
        A token id out of range.
    """
    given = draft, target, drafts, uniforms
    memory = _in_memory(given if mask is None else (*given, mask))
    if memory is None:
        return None
    arrays, back = memory
    if not _fit(*arrays) or only_k not in (None, drafts.shape[-1]):
        return None
    draft, target, drafts, uniforms, *masks = arrays
    *lead, size = draft.shape
    count = prod(lead)
    ids = _read(drafts, np.int64, count)
    valid = _read(masks[0], np.bool_, count) if masks else np.ones(ids.shape, np.bool_)
    valid.setflags(write=False)
    if not machine("outcome").are_ids(ids, valid, size):
        counted_ids(library_of(ids), ids, valid, size)
    return Rows(
        _read(draft, draft.dtype, count),
        _read(target, draft.dtype, count),
        ids,
        _read(uniforms, np.float64, count),
        valid,
        tuple(lead),
        back,
    )


def _in_memory(
    given: tuple[Array, ...],
) -> tuple[list[Array], Callable[[Array], Array]] | None:
    """Return arrays that share memory with what is given, all of it plain, and the way back."""
    if not ROWS:
        return None
    kinds = {type(values) for values in given}
    if kinds == {np.ndarray}:
        return (list(given), _itself) if _has_numba() else None
    if not is_torch_array(given[0]):
        return None
    import torch

    if torch.compiler.is_compiling() or torch.jit.is_tracing() or not _has_numba():
        return None
    if not kinds <= {torch.Tensor, torch.nn.Parameter}:
        return None
    try:
        return [values.detach().numpy() for values in given], torch.from_numpy
    except (RuntimeError, TypeError):  # on another device, sparse, of half precision, transformed
        return None


def _fit(
    draft: Array, target: Array, drafts: Array, uniforms: Array, mask: Array | None = None
) -> bool:
    """Return whether the arguments are what a loop over the rows takes."""
    lead, ids, reals = draft.shape[:-1], drafts.dtype, draft.dtype
    return (
        reals in _REALS
        and target.dtype == reals
        and uniforms.dtype in _REALS
        and ids.kind in "iu"
        and ids.isnative
        and target.shape == draft.shape
        and draft.size > 0
        and drafts.ndim == draft.ndim
        and drafts.shape[:-1] == lead
        and drafts.shape[-1] > 0
        and uniforms.shape == (*lead, drafts.shape[-1] + 1)
        and (mask is None or (mask.dtype == np.bool_ and mask.shape == drafts.shape))
        and draft.flags.c_contiguous
        and target.flags.c_contiguous
        and all(values.flags.aligned for values in (draft, target, drafts, uniforms))
    )


def _read(values: Array, dtype: Any, count: int) -> Array:
    """Return a read-only view, (count, ...), or a copy in another dtype or order.

    Machine code is made for read-only arrays alone: once, not twice.
    """
    view = np.ascontiguousarray(values, dtype).reshape(count, values.shape[-1])
    view.setflags(write=False)
    return view


def _itself(values: Array) -> Array:
    return values


def _has_numba() -> bool:
    from otspec import compiling  # imports Numba, if it is there

    return compiling.HAS_NUMBA


@cache
def machine(module: str) -> Any:
    """Import a module of machine code, at its first use, since it imports Numba."""
    return import_module(f"otspec.batch._rows.{module}")
