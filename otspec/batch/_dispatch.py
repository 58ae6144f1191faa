"""Which path a call takes: row by row in machine code, or by operations on whole arrays.

Row by row go plain arrays of NumPy and plain tensors of PyTorch on a CPU, eagerly, where Numba is
installed and the rows are float32 or float64 that lie one after another, or are copied so. Nothing
here refuses anything: what does not fit goes to the array path, whose checks say what is wrong.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache, lru_cache
from importlib import import_module
from itertools import pairwise
from math import prod
from typing import Any, NamedTuple

import numpy as np

from otspec.batch._arguments import counted_ids
from otspec.batch._array_api.library import Array, is_torch, library_of
from otspec.batch._array_api.warping import Settings
from otspec.batch._arrays import bits_of

ROWS = os.environ.get("OTSPEC_BATCH_ROWS", "1") != "0"
"""Whether calls go row by row where they can; set the variable to 0 for arrays alone."""

_SHARED = 1 << 21
"""Numbers from which on rows are shared among threads: starting these takes less than they save."""
_REALS = np.dtype(np.float32), np.dtype(np.float64)


class Rows(NamedTuple):
    """Arguments of a rule as NumPy's arrays, read-only, one row after another.

    Parameters
    ----------
    arguments : tuple of ndarray
        What machine code takes: ``draft`` and ``target``, (rows, V), and of a rule that verifies
        ``drafts``, (rows, k) of int64, ``uniforms``, (rows, k + 1) of float64, and ``valid``,
        (rows, k) of bool.
    lead : tuple of int
        The leading axes of the arguments.
    back : callable
        Turns an array of NumPy into one of the library of the arguments.
    threads : int
        How many threads may share the rows: those of PyTorch, and one of NumPy.
    """

    arguments: tuple[Array, ...]
    lead: tuple[int, ...]
    back: Callable[[Array], Array]
    threads: int

    @property
    def number(self) -> int:
        """Return how many rows there are."""
        return len(self.arguments[0])

    def run(self, loop: Callable[..., None], *more: Any, kinds: tuple[Any, ...]) -> list[Array]:
        """Run a loop over the rows, and return what it fills: arrays of some kinds, one per row."""
        found = [np.empty(self.number, kind) for kind in kinds]
        parts = min(self.threads, self.number) if self.arguments[0].size >= _SHARED else 1
        if parts == 1:
            loop(*self.arguments, *found, *more)
        else:
            self._share(parts, loop, [*self.arguments, *found], more)
        return [self.shaped(values) for values in found]

    def _share(
        self, parts: int, loop: Callable[..., None], arrays: list[Array], more: tuple[Any, ...]
    ) -> None:
        edges = [self.number * part // parts for part in range(parts + 1)]
        with ThreadPoolExecutor(parts) as pool:
            running = [
                pool.submit(loop, *(values[start:end] for values in arrays), *more)
                for start, end in pairwise(edges)
            ]
            for part in running:
                part.result()

    def joined(self, *numbers: Array) -> Rows:
        """Return the same with more arguments, arrays of NumPy with an entry for each row."""
        more = (_read(part, part.dtype, *part.shape) for part in numbers)
        return self._replace(arguments=(*self.arguments, *more))

    def shaped(self, values: Array) -> Array:
        """Return results, one per row, as the caller has its arrays."""
        if len(self.lead) != 1:
            values = values.reshape((*self.lead, *values.shape[1:]))
        return self.back(values)


def rows_of(
    draft: Array,
    target: Array,
    drafts: Array,
    uniforms: Array,
    mask: Array | None,
    *,
    only_k: int | None = None,
    places: bool = False,
    settings: Sequence[Settings | None] = (),
) -> Rows | None:
    """Return the arguments of a rule row by row; None if they go the other path, or fit nowhere.

    With ``places`` the rule is for blocks: draft is (..., L, V), target (..., L + 1, V), and drafts
    (..., L). With ``settings`` both are sources: logits, or probabilities where a setting is None.

    Raises
    ------
    ValueError
        A token id out of range.
    """
    models = tuple(map(bits_of, (draft, target))) if settings else (draft, target)
    given = (*models, drafts, uniforms)
    memory = _in_memory(given if mask is None else (*given, mask))
    if memory is None:
        return None
    arrays, back, threads = memory
    draft, target, drafts, uniforms, *masks = arrays
    if not (_are_fit(drafts, uniforms, *masks) and _fit_together(*arrays, places=places)):
        return None
    *lead, k = drafts.shape
    if only_k not in (None, k) or not draft.size:
        return None
    size, count, axes = draft.shape[-1], prod(lead), len(lead)
    if settings:
        source = machine("from_logits.sources").source_of
        pair = source(draft, settings[0], axes), source(target, settings[1], axes)
        if None in pair:
            return None
    elif _are_reals(draft, target) and all(_lie_well(each, places) for each in (draft, target)):
        pair = tuple(_read(each, each.dtype, count, *each.shape[axes:]) for each in (draft, target))
    else:
        return None
    ids = _read(drafts, np.int64, count, k)
    valid = _read(masks[0], np.bool_, count, k) if masks else _all(count, k)
    if not machine("outcome").are_ids(ids, valid, size):
        counted_ids(library_of(ids), ids, valid, size)
    arguments = (*pair, ids, _read(uniforms, np.float64, count, k + 1), valid)
    return Rows(arguments, tuple(lead), back, threads)


def reals_of(
    *given: Array,
    single: bool = False,
    settings: Sequence[Settings | None] = (),
    beside: tuple[Array, ...] = (),
) -> Rows | None:
    """Return arrays of one shape row by row; None if they go the other path, or do not fit.

    Gradients are found of operations on arrays. Where ``single``, only float32 goes row by row.
    With ``settings`` they are sources, as of :func:`rows_of`. Numbers ``beside`` them, (..., m),
    are token ids or reals that were checked.

    Raises
    ------
    ValueError
        A token id out of range.
    """
    models = tuple(map(bits_of, given)) if settings else given
    memory = None if are_learnt(*given) else _in_memory((*models, *beside))
    if memory is None:
        return None
    arrays, back, threads = memory
    models, others = tuple(arrays[: len(given)]), arrays[len(given) :]
    first = models[0]
    *lead, size = first.shape
    count = prod(lead)
    if not first.size or any(part.shape != first.shape for part in models):
        return None
    if settings:
        source = machine("from_logits.sources").source_of
        models = tuple(map(source, models, settings, [len(lead)] * len(models)))
        if None in models:
            return None
    elif (
        _are_reals(*models)
        and not (single and first.dtype != np.float32)
        and all(_lie_well(part, False) for part in models)
    ):
        models = tuple(_read(part, first.dtype, count, size) for part in models)
    else:
        return None
    numbers = tuple(_beside(part, count, size) for part in others)
    return Rows((*models, *numbers), tuple(lead), back, threads)


def _beside(values: Array, count: int, size: int) -> Array:
    """Return token ids, which are checked, or uniform numbers, (rows, m)."""
    if values.dtype.kind == "f":
        return _read(values, np.float64, count, values.shape[-1])
    ids = _read(values, np.int64, count, values.shape[-1])
    counted_ids(library_of(ids), ids, None, size)
    return ids


def are_learnt(*given: Array) -> bool:
    """Return whether gradients are wanted of one of some arrays."""
    if not is_torch(given[0]):
        return False
    import torch

    return bool(torch.is_grad_enabled() and any(part.requires_grad for part in given))


def _in_memory(
    given: tuple[Array, ...],
) -> tuple[list[Array], Callable[[Array], Array], int] | None:
    """Return arrays that share memory with what is given, all plain; the way back, and threads."""
    if not ROWS:
        return None
    kinds = {type(values) for values in given}
    if kinds == {np.ndarray}:
        return (list(given), _itself, 1) if has_numba() else None
    if not is_torch(given[0]):
        return None
    torch = sys.modules["torch"]
    if torch.compiler.is_compiling() or torch.jit.is_tracing() or not has_numba():
        return None
    if not kinds <= {torch.Tensor, torch.nn.Parameter}:
        return None
    try:
        arrays = [(part.detach() if part.requires_grad else part).numpy() for part in given]
    except (RuntimeError, TypeError):  # on another device, sparse, of half precision, transformed
        return None
    return arrays, torch.from_numpy, torch.get_num_threads()


def _are_fit(drafts: Array, uniforms: Array, mask: Array | None = None) -> bool:
    """Return whether what goes with the models is what a loop over the rows takes."""
    return (
        uniforms.dtype in _REALS
        and drafts.dtype.kind in "iu"
        and drafts.dtype.isnative
        and (mask is None or mask.dtype == np.bool_)
        and drafts.flags.aligned
        and uniforms.flags.aligned
        and drafts.ndim > 0
        and drafts.size > 0
    )


def _are_reals(first: Array, *others: Array) -> bool:
    """Return whether arrays are real numbers of one dtype, and some."""
    return (
        first.dtype in _REALS
        and first.ndim > 0
        and first.size > 0
        and all(part.dtype == first.dtype for part in others)
        and all(part.flags.aligned for part in (first, *others))
    )


def _fit_together(
    draft: Array,
    target: Array,
    drafts: Array,
    uniforms: Array,
    mask: Array | None = None,
    *,
    places: bool,
) -> bool:
    *lead, k = drafts.shape
    size = draft.shape[-1:]
    return (
        draft.ndim > 0
        and draft.shape == ((*lead, k, *size) if places else (*lead, *size))
        and target.shape == ((*lead, k + 1, *size) if places else draft.shape)
        and uniforms.shape == (*lead, k + 1)
        and (mask is None or mask.shape == drafts.shape)
    )


def _lie_well(values: Array, places: bool) -> bool:
    """Return whether rows lie one after another, or can be copied so.

    Copies take less time than operations on arrays, but rows that are shared would take memory, and
    of a block only two rows are needed.
    """
    return values.flags.c_contiguous or not (places or 0 in values.strides)


def _read(values: Array, dtype: Any, *shape: int) -> Array:
    """Return a read-only view of a shape, or a copy in another dtype or order.

    Machine code is made for read-only arrays alone: once, not twice.
    """
    view = np.ascontiguousarray(values, dtype).reshape(shape)
    view.setflags(write=False)
    return view


@lru_cache(maxsize=8)
def _all(*shape: int) -> Array:
    flags = np.ones(shape, np.bool_)
    flags.setflags(write=False)
    return flags


def _itself(values: Array) -> Array:
    return values


def has_numba() -> bool:
    """Return whether loops can be machine code."""
    import otspec._base.compiling as compiling  # imports Numba, if it is there

    return compiling.HAS_NUMBA


@cache
def machine(module: str) -> Any:
    """Import a module of machine code, at its first use, since it imports Numba."""
    return import_module(f"otspec.batch._numba.{module}")
