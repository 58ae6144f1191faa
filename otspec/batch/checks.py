"""The front of every batch function: shapes, dtypes and devices are checked, values are not.

Looking at values would wait for the device. So nothing here notices rows that do not sum to 1,
token ids out of range, or uniform numbers outside [0, 1).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from array_api_compat import device, is_jax_namespace

from otspec.batch.arrays import Array, Library, library_of


@dataclass(frozen=True)
class Problem:
    """Checked arguments of a rule.

    Parameters
    ----------
    library : Library
    draft, target : array, shape (..., V)
    drafts : array of token ids, shape (..., k)
        0 where a draft does not count.
    uniforms : array, shape (..., k + 1)
        Wide.
    valid : array of bool, shape (..., k)
        Which drafts count.
    """

    library: Library
    draft: Array
    target: Array
    drafts: Array
    uniforms: Array
    valid: Array

    @property
    def k(self) -> int:
        """How many drafts a row has at most."""
        size: int = self.drafts.shape[-1]
        return size

    def count(self) -> Array:
        """Return how many drafts of each row count, wide, shape (...)."""
        return self.library.xp.sum(self.library.widened(self.valid), axis=-1)

    def drafted(self) -> Array:
        """Return the draft's probability of each draft, wide, shape (..., k)."""
        return self.library.take(self.draft, self.drafts)

    def wanted(self) -> Array:
        """Return the target's probability of each draft, wide, shape (..., k)."""
        return self.library.take(self.target, self.drafts)


def as_problem(
    draft: Array,
    target: Array,
    drafts: Array,
    uniforms: Array,
    mask: Array | None,
    *,
    only_k: int | None = None,
) -> Problem:
    """Check the arguments of a rule.

    Raises
    ------
    ValueError
        A shape, dtype or device that does not fit; the message names the argument and the fix.
    """
    library_of(draft, target, drafts, uniforms, *([] if mask is None else [mask]))
    library = as_pair(draft, target)
    check_lead("drafts", drafts, draft, like="draft")
    check_tokens(library, "drafts", drafts)
    k = drafts.shape[-1]
    if k == 0 or only_k not in (None, k):
        wanted = "at least one draft" if only_k is None else f"exactly k = {only_k}"
        raise ValueError(f"drafts has shape {drafts.shape}, k = {k}: this rule needs {wanted}")
    check_uniforms(library, uniforms, (*draft.shape[:-1], k + 1), draft)
    valid = check_mask(library, mask, drafts, draft)
    # What stands in a place that does not count may be anything, such as −1.
    ids = library.ids(drafts)
    ids = library.xp.where(valid, ids, library.xp.zeros_like(ids))
    return Problem(library, draft, target, ids, library.widened(uniforms), valid)


def check_mask(library: Library, mask: Array | None, drafts: Array, draft: Array) -> Array:
    """Return which drafts count: all, unless a mask says otherwise.

    Raises
    ------
    ValueError
        Naming the mask's dtype, shape or device.
    """
    xp = library.xp
    if mask is None:
        return xp.ones_like(drafts, dtype=xp.bool)
    if mask.dtype != xp.bool or mask.shape != drafts.shape:
        raise ValueError(
            f"mask is {mask.dtype} of shape {mask.shape}: it must be boolean of the shape of "
            f"drafts, {drafts.shape}; True where a draft counts"
        )
    check_device("mask", mask, draft)
    return mask


def as_pair(draft: Array, target: Array) -> Library:
    """Check a draft and a target of one shape (..., V).

    Raises
    ------
    ValueError
        Different shapes, dtypes or devices, or no vocabulary.
    """
    library = library_of(draft, target)
    check_probabilities(library, "draft", draft)
    check_probabilities(library, "target", target)
    if draft.shape != target.shape:
        raise ValueError(
            f"draft has shape {draft.shape} and target {target.shape}: give both one shape "
            "(..., V), with broadcast_to if rows are shared"
        )
    check_alike(draft, target)
    return library


def check_probabilities(library: Library, name: str, values: Array) -> None:
    """Refuse what is not an array (..., V) of floats.

    Raises
    ------
    ValueError
        Naming the shape or dtype.
    """
    if values.ndim == 0 or values.shape[-1] == 0:
        raise ValueError(f"{name} has shape {values.shape}: it must be (..., V) with V at least 1")
    if not library.xp.isdtype(values.dtype, "real floating") and "float" not in str(values.dtype):
        raise ValueError(
            f"{name} has dtype {values.dtype}: pass probabilities in float32, float64, float16 "
            "or bfloat16"
        )


def check_alike(draft: Array, target: Array) -> None:
    """Refuse a draft and a target of different dtypes or devices.

    Raises
    ------
    ValueError
        Naming both.
    """
    if draft.dtype != target.dtype:
        raise ValueError(
            f"draft is {draft.dtype} and target {target.dtype}: cast one of them, so that it is "
            "your choice which is rounded"
        )
    check_device("target", target, draft)


def check_lead(name: str, values: Array, draft: Array, *, like: str) -> None:
    """Refuse leading axes that are not the draft's.

    Raises
    ------
    ValueError
        Naming both shapes.
    """
    if values.ndim != draft.ndim or values.shape[:-1] != draft.shape[:-1]:
        raise ValueError(
            f"{name} has shape {values.shape} and {like} {draft.shape}: all axes but the last "
            "must agree"
        )


def check_tokens(library: Library, name: str, tokens: Array) -> None:
    """Refuse token ids that are not integers.

    Raises
    ------
    ValueError
        Naming the dtype.
    """
    if not library.xp.isdtype(tokens.dtype, "integral"):
        raise ValueError(f"{name} has dtype {tokens.dtype}: token ids are integers")


def check_uniforms(library: Library, uniforms: Array, shape: tuple[int, ...], draft: Array) -> None:
    """Refuse uniform numbers that are too few, too coarse or elsewhere.

    Raises
    ------
    ValueError
        Naming the shape, dtype or device.
    """
    if uniforms.shape != shape:
        raise ValueError(f"uniforms has shape {uniforms.shape}: it must be {shape}")
    if uniforms.dtype not in (library.xp.float32, library.xp.float64):
        raise ValueError(
            f"uniforms has dtype {uniforms.dtype}: draw them in float32 or float64, since fewer "
            "digits would bias every draw"
        )
    check_device("uniforms", uniforms, draft)


def check_device(name: str, values: Array, draft: Array) -> None:
    """Refuse arrays on different devices.

    Raises
    ------
    ValueError
        Naming both devices.
    """
    here, there = place_of(values), place_of(draft)
    if here != there:
        raise ValueError(f"{name} is on {here} and draft on {there}: move one of them")


def place_of(values: Array) -> Any:
    """Return the device of an array; None where the library takes care of it."""
    if is_jax_namespace(library_of(values).xp):
        return None
    return device(values)
