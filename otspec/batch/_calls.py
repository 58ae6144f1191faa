"""Calls of rules: one operation of a graph that PyTorch compiles, or run directly.

PyTorch looks before each call of a compiled function at all that was looked at when its graph was
made. So in a graph a call is one operation, which checks the arguments itself.
"""

from typing import Any

from otspec._base import as_flag
from otspec.batch import _dispatch, _running
from otspec.batch._arguments import Given, check_probabilities, check_tokens
from otspec.batch._array_api.library import Array, Problem, is_compiled, quietly
from otspec.batch._arrays import one_library
from otspec.batch._results import Verified


def verified(name: str, given: Given, *options: int, partial: bool, checked: bool) -> Any:
    """Check the arguments of a rule of the tables, and run it."""
    draft, target, drafts, *others = given
    with quietly(draft):
        draft, target, drafts = completed(partial, draft, target, drafts)
        given, checked = (draft, target, drafts, *others), as_flag(checked, "checked")
        if is_one_operation(name, draft, target):
            return _running.EVERY[name].result(*operation(name)(*given, *options))
        return _running.verified(name, given, *options, checked=checked)


def selected(name: str, problem: Problem, *options: int) -> Verified:
    """Run a rule whose arguments were checked as part of something else."""
    if is_one_operation(name, problem.draft, problem.target):
        given = problem.draft, problem.target, problem.drafts, problem.uniforms, problem.valid
        return Verified(*operation(name)(*given, *options))
    return _running.selected(name, problem, *options)


def is_one_operation(name: str, draft: Array, target: Array) -> bool:
    """Return whether a call of a rule is one operation; what does not fit goes by arrays."""
    places = name in _running.BLOCK_RULES
    return (
        is_compiled(draft)
        and _fits(draft, places)
        and _fits(target, places)
        and _dispatch.ROWS
        and _dispatch.has_numba()
    )


def _fits(rows: Array, places: bool) -> bool:
    """Return whether these are plain rows that lie one after another, or can be copied so."""
    import torch  # it is there already

    return (
        type(rows) in (torch.Tensor, torch.nn.Parameter)
        and rows.device.type == "cpu"
        and rows.dtype in (torch.float32, torch.float64)
        and (rows.is_contiguous() or not (places or 0 in rows.stride()))
    )


def operation(name: str) -> Any:
    """Return what is one operation of a graph."""
    from otspec.batch import _torch_operations  # it imports PyTorch

    return _torch_operations.OPERATIONS[name]


def completed(
    partial: bool, draft: Array, target: Array, drafts: Array
) -> tuple[Array, Array, Array]:
    """Return ``partial`` rows with a null token, which has the missing mass; others as they are."""
    if not as_flag(partial, "partial"):
        return draft, target, drafts
    library = one_library(draft=draft, target=target, drafts=drafts)
    check_tokens(drafts)
    rows, null = completed_pair(partial, draft, target), draft.shape[-1]
    ids = library.ids(drafts)
    outside = (ids < 0) | (ids > null)
    return *rows, library.xp.where(outside, 0 * ids + null, ids)


def completed_pair(partial: bool, draft: Array, target: Array) -> tuple[Array, Array]:
    """Return rows over one more token, as :func:`completed`."""
    if not as_flag(partial, "partial"):
        return draft, target
    library = one_library(draft=draft, target=target)
    check_probabilities("draft", draft)
    check_probabilities("target", target)
    xp = library.xp
    missing = 1 - xp.sum(library.widened(draft), axis=-1, keepdims=True)
    missing = xp.astype(xp.where(missing > 0, missing, 0 * missing), draft.dtype)
    draft = xp.concat([draft, missing], axis=-1)
    return draft, xp.concat([target, 0 * target[..., :1]], axis=-1)
