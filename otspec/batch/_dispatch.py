"""Which path a call takes: row by row in machine code, or by operations on whole arrays.

Row by row go NumPy's arrays and PyTorch's tensors on a CPU, eagerly, with Numba, in float32 or
float64. Nothing is refused here: what does not fit goes to the array path, whose checks say why.
"""

import os
import sys
from collections.abc import Callable, Sequence
from functools import cache, lru_cache
from importlib import import_module
from math import prod
from typing import Any

import numpy as np

from otspec.batch._arguments import counted_ids
from otspec.batch._array_api.library import Array, is_torch, library_of
from otspec.batch._array_api.warping import Settings
from otspec.batch._arrays import bits_of
from otspec.batch._rows import Rows, read_only

ROWS = os.environ.get("OTSPEC_BATCH_ROWS", "1") != "0"
"""Whether calls go row by row where they can; set the variable to 0 for arrays alone."""

BLOCK, TREE = (0, 1), (1, 1)
"""How many rows more than drafts a draft and a target have: of a block, and of a tree."""
_REALS = np.dtype(np.float32), np.dtype(np.float64)
_SINGLES = np.dtype(np.float32), np.dtype(np.uint16), np.dtype(np.int16)


def rows_of(
    draft: Array,
    target: Array,
    drafts: Array,
    uniforms: Array,
    mask: Array | None,
    *,
    only_k: int | None = None,
    places: tuple[int, int] | None = None,
    settings: Sequence[Settings | None] = (),
) -> Rows | None:
    """Return the arguments of a rule row by row; None if they go the other path, or fit nowhere."""
    # With `places` the rule is for blocks or trees: drafts are (..., L), and both models have so
    # many rows more than L: (..., L + places[0], V) and (..., L + places[1], V). With `settings`
    # both are sources: logits, or probabilities where a setting is None.
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
        pair = _sources((draft, target), settings, axes)
    else:
        pair = _models((draft, target), axes, count, places=places is not None)
    if pair is None:
        return None
    ids = read_only(drafts, np.int64, count, k)
    valid = read_only(masks[0], np.bool_, count, k) if masks else _all(count, k)
    if not machine("compiled").are_ids(ids, valid, size):
        counted_ids(library_of(ids), ids, valid, size)
    arguments = (*pair, ids, read_only(uniforms, np.float64, count, k + 1), valid)
    return Rows(arguments, tuple(lead), back, threads)


def reals_of(
    *given: Array,
    single: bool = False,
    settings: Sequence[Settings | None] = (),
    beside: tuple[Array, ...] = (),
) -> Rows | None:
    """Return arrays of one shape row by row; None if they go the other path, or do not fit."""
    # Gradients are found of operations on arrays. Where `single`, only float32 goes row by row, and
    # half precision as its bits. With `settings` they are sources, as of `rows_of`. Numbers
    # `beside` them, (..., m), are token ids or reals that were checked.
    models = tuple(map(bits_of, given)) if settings or single else given
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
        found = _sources(models, settings, len(lead))
    else:
        found = _models(models, len(lead), count, single=single)
    if found is None:
        return None
    numbers = tuple(_beside(part, count, size) for part in others)
    return Rows((*found, *numbers), tuple(lead), back, threads)


def _sources(
    arrays: tuple[Array, ...], settings: Sequence[Settings | None], axes: int
) -> tuple[Array, ...] | None:
    """Return rows of models as sources with one axis in place of the first ones."""
    source = machine("from_logits.sources").source_of
    sources = tuple(map(source, arrays, settings, [axes] * len(arrays)))
    return None if any(each is None for each in sources) else sources


def _models(
    arrays: tuple[Array, ...],
    axes: int,
    count: int,
    *,
    places: bool = False,
    single: bool = False,
) -> tuple[Array, ...] | None:
    """Return rows of models with one axis in place of the first ones."""
    # They are real numbers of one dtype; where `single`, of float32, of which the first may be
    # half precision, as bits.
    first, *others = arrays
    kind = np.float32 if single else first.dtype
    if first.dtype not in (_SINGLES if single else _REALS):
        return None
    if any(part.dtype != kind for part in others):
        return None
    if not all(part.flags.aligned and _lie_well(part, places) for part in arrays):
        return None
    return tuple(read_only(each, each.dtype, count, *each.shape[axes:]) for each in arrays)


def _beside(values: Array, count: int, size: int) -> Array:
    """Return token ids, which are checked, or uniform numbers, (rows, m)."""
    if values.dtype.kind == "f":
        return read_only(values, np.float64, count, values.shape[-1])
    ids = read_only(values, np.int64, count, values.shape[-1])
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
        return (list(given), lambda values: values, 1) if has_numba() else None
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


def _fit_together(
    draft: Array,
    target: Array,
    drafts: Array,
    uniforms: Array,
    mask: Array | None = None,
    *,
    places: tuple[int, int] | None,
) -> bool:
    *lead, k = drafts.shape
    size = draft.shape[-1:]
    own, its = ((), ()) if places is None else ((k + places[0],), (k + places[1],))
    return (
        draft.ndim > 0
        and draft.shape == (*lead, *own, *size)
        and target.shape == (*lead, *its, *size)
        and uniforms.shape == (*lead, k + 1)
        and (mask is None or mask.shape == drafts.shape)
    )


def _lie_well(values: Array, places: bool) -> bool:
    """Return whether rows lie one after another, or can be copied so."""
    # Copies take less time than operations on arrays, but rows that are shared would take memory,
    # and of a block only two rows are needed.
    return values.flags.c_contiguous or not (places or 0 in values.strides)


@lru_cache(maxsize=8)
def _all(*shape: int) -> Array:
    flags = np.ones(shape, np.bool_)
    flags.setflags(write=False)
    return flags


def has_numba() -> bool:
    """Return whether loops can be machine code."""
    import otspec._base.compiling as compiling  # imports Numba, if it is there

    return compiling.HAS_NUMBA


@cache
def machine(module: str) -> Any:
    """Import a module of machine code, at its first use, since it imports Numba."""
    return import_module(f"otspec.batch._numba.{module}")
