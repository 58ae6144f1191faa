"""Checks of arguments. Values are not looked at (that would wait for a device), but NumPy's ids."""

from collections.abc import Callable, Iterable
from typing import TypeAlias

import numpy as np

from otspec._base import as_flag
from otspec.batch._array_api.library import Array, Library, Problem, library_of
from otspec.batch._arrays import FLOATS, INTEGERS, check_library, dtype_name, kind_of, one_library
from otspec.batch._results import Corrections

Names: TypeAlias = tuple[str, str]
PAIR = "draft", "target"
LOGITS = "draft_logits", "target_logits"
"""What a caller calls the models' rows."""
Given: TypeAlias = tuple[Array, Array, Array, Array, Array | None]
"""What a rule is called with: draft, target, drafts, uniforms and mask."""


def problem_of(given: Given, checked: bool, check: Callable[[Given], None]) -> Problem:
    """Return what a rule is given, once its arguments are checked."""
    library = checked_library(given, checked, check)
    draft, target, drafts, uniforms, mask = given
    ids = counted_ids(library, drafts, mask, None if checked else draft.shape[-1])
    draft, target = library.normal(draft), library.normal(target)
    return Problem(library, draft, target, ids, library.widened(uniforms), mask)


def checked_library(given: Given, checked: bool, check: Callable[[Given], None]) -> Library:
    """Return the one library of all arguments, and check these unless they were."""
    draft, target, drafts, uniforms, mask = given
    if as_flag(checked, "checked"):
        return library_of(draft)
    named = {} if mask is None else {"mask": mask}
    library = one_library(draft=draft, target=target, drafts=drafts, uniforms=uniforms, **named)
    check(given)
    return library


def check_one_token(given: Given, only_k: int | None = None) -> None:
    """Check the arguments of a rule for one token."""
    draft, target, drafts, uniforms, mask = given
    check_pair(draft, target)
    check_drafts(drafts, draft, only_k)
    _check_beside(drafts, uniforms, mask)


def check_block(given: Given) -> None:
    """Check the arguments of block verification, where drafts are (..., L)."""
    draft, target, drafts, uniforms, mask = given
    check_places(draft, target, drafts)
    _check_beside(drafts, uniforms, mask)


def check_paths(given: Given) -> None:
    """Check the arguments of verification of several paths, where drafts are (..., K, L)."""
    draft, target, drafts, uniforms, _ = given
    check_places(draft, target, drafts)
    if drafts.ndim < 2 or drafts.shape[-2] == 0:
        raise ValueError(f"drafts has shape {drafts.shape}: it must be (..., K, L), K at least 1")
    *lead, _, length = drafts.shape
    check_uniforms(uniforms, (*lead, length + 1))


def check_places(draft: Array, target: Array, drafts: Array, names: Names = PAIR) -> None:
    """Check L places of a draft and one more of the target, and a token for each of the L."""
    _check_both(draft, target, names)
    one, other = names
    if draft.ndim < 2 or draft.shape[-2] == 0:
        raise ValueError(f"{one} has shape {draft.shape}: it must be (..., L, V), L at least 1")
    *lead, length, size = draft.shape
    if target.shape != (*lead, length + 1, size):
        raise ValueError(
            f"{other} has shape {target.shape} and {one} {draft.shape}: the target has one place "
            f"more, {(*lead, length + 1, size)}"
        )
    if drafts.shape != (*lead, length):
        raise ValueError(f"drafts has shape {drafts.shape}: it must be {(*lead, length)}")
    check_tokens(drafts)


def _check_beside(drafts: Array, uniforms: Array, mask: Array | None) -> None:
    """Check what goes with the drafts, (..., k): k + 1 uniform numbers, and a mask."""
    *lead, k = drafts.shape
    check_uniforms(uniforms, (*lead, k + 1))
    check_mask(mask, drafts)


def library_of_pair(draft: Array, target: Array) -> Library:
    """Return the library of a draft and a target of one shape (..., V) and one dtype."""
    library = one_library(draft=draft, target=target)
    check_pair(draft, target)
    return library


def check_pair(draft: Array, target: Array, names: Names = PAIR) -> None:
    """Refuse a draft and a target that are not of one shape (..., V) and one dtype."""
    _check_both(draft, target, names)
    if draft.shape != target.shape:
        one, other = names
        raise ValueError(
            f"{one} has shape {draft.shape} and {other} {target.shape}: give both one shape "
            "(..., V), with broadcast_to if rows are shared"
        )


def _check_both(draft: Array, target: Array, names: Names) -> None:
    one, other = names
    check_probabilities(one, draft)
    check_probabilities(other, target)
    if draft.dtype != target.dtype:
        refuse_two_dtypes((draft, target), names)


def refuse_two_dtypes(pair: Iterable[Array], names: Names) -> None:
    """Refuse a draft and a target of which one would have to be rounded."""
    (one, other), (draft, target) = names, pair
    raise ValueError(
        f"{one} is {draft.dtype} and {other} {target.dtype}: cast one of them, so that it is "
        "your choice which is rounded"
    )


def check_probabilities(name: str, values: Array) -> str:
    """Refuse what is not an array (..., V) of floats, and return the name of its dtype."""
    if values.ndim == 0 or values.shape[-1] == 0:
        raise ValueError(f"{name} has shape {values.shape}: it must be (..., V) with V at least 1")
    kind = dtype_name(values)
    if kind not in FLOATS:
        raise ValueError(
            f"{name} has dtype {values.dtype}: cast it to float32, float64, float16 or bfloat16 "
            "in the byte order of the machine"
        )
    return kind


def check_drafts(
    drafts: Array, rows: Array, only_k: int | None = None, *, name: str = "draft"
) -> None:
    """Refuse drafts that are no token ids (..., k), or too few or too many."""
    if drafts.ndim != rows.ndim or drafts.shape[:-1] != rows.shape[:-1]:
        raise ValueError(
            f"drafts has shape {drafts.shape} and {name} {rows.shape}: all axes but the last "
            "must agree"
        )
    check_tokens(drafts)
    k = drafts.shape[-1]
    if k == 0 or (only_k is not None and k != only_k):
        wanted = "at least one draft" if only_k is None else f"exactly k = {only_k}"
        raise ValueError(f"drafts has shape {drafts.shape}, k = {k}: this rule needs {wanted}")


def check_tokens(drafts: Array) -> None:
    """Refuse what are no token ids."""
    if dtype_name(drafts) not in INTEGERS:
        raise ValueError(
            f"drafts has dtype {drafts.dtype}: token ids are integers, in the byte order of the "
            "machine"
        )


def check_uniforms(uniforms: Array, shape: tuple[int, ...]) -> None:
    """Refuse uniform numbers that are too few or too coarse."""
    if uniforms.shape != shape:
        raise ValueError(f"uniforms has shape {uniforms.shape}: it must be {shape}")
    if dtype_name(uniforms) not in ("float32", "float64"):
        raise ValueError(
            f"uniforms has dtype {uniforms.dtype}: draw them in float32 or float64, since fewer "
            "digits would bias every draw"
        )


def check_corrections(corrections: Corrections, drafts: Array) -> None:
    """Refuse what is left over of blocks of another length."""
    if not isinstance(corrections, Corrections):
        raise ValueError(
            f"corrections is {kind_of(corrections)}: pass the corrections that the call for the "
            "block before returned"
        )
    *lead, length = drafts.shape
    named = {f"corrections.{name}": value for name, value in corrections._asdict().items()}
    check_library(drafts=drafts, **named)
    for name, values in named.items():
        if values.shape != (*lead, length - 1):
            raise ValueError(
                f"{name} has shape {values.shape}: for blocks of {length} tokens it must be "
                f"{(*lead, length - 1)}; leave out tokens of a shorter block with a mask"
            )


def check_reach(reach: Array, drafts: Array) -> None:
    """Refuse what is no number of tokens for each block."""
    check_library(drafts=drafts, reach=reach)
    if reach.shape != drafts.shape[:-1] or dtype_name(reach) not in INTEGERS:
        raise ValueError(
            f"reach is {reach.dtype} of shape {reach.shape}: it must be integers of shape "
            f"{drafts.shape[:-1]}, the tokens that each block was to have"
        )


def check_mask(mask: Array | None, drafts: Array) -> None:
    """Refuse what does not say of each draft whether it counts."""
    if mask is not None and (dtype_name(mask) != "bool" or mask.shape != drafts.shape):
        raise ValueError(
            f"mask is {mask.dtype} of shape {mask.shape}: it must be boolean of the shape of "
            f"drafts, {drafts.shape}; True where a draft counts"
        )


def counted_ids(library: Library, drafts: Array, mask: Array | None, size: int | None) -> Array:
    """Return the drafts as token ids, 0 where they do not count."""
    # Of NumPy's arrays only, an id out of range is refused, which indexing would take from the end;
    # none of a vocabulary of no known size.
    ids = library.ids(drafts)
    if mask is not None:  # what stands in a place that does not count may be anything, such as −1
        ids = library.xp.where(mask, ids, library.xp.zeros_like(ids))
    if size is None or not isinstance(ids, np.ndarray) or not ids.size:
        return ids
    if not 0 <= ids.min() <= ids.max() < size:
        wrong = ids.min() if ids.min() < 0 else ids.max()
        raise ValueError(
            f"drafts has the token {wrong}: token ids are from 0 to {size - 1}; leave out a draft "
            "with a mask"
        )
    return ids
