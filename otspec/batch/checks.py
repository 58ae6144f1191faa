"""The front of every rule: its arguments, checked together.

What stands in an array is not looked at, since that would wait for the device: nothing here
notices rows that do not sum to 1, or uniform numbers outside [0, 1). Only token ids are looked at,
and only in NumPy's arrays, where nothing has to be waited for.
"""

from __future__ import annotations

from dataclasses import dataclass

from array_api_compat import is_numpy_array

from otspec.batch.arguments import (
    as_arrays,
    as_pair,
    check_lead,
    check_tokens,
    check_uniforms,
    dtype_name,
)
from otspec.batch.arrays import Array, Library


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
    given = {} if mask is None else {"mask": mask}
    library = as_arrays(draft=draft, target=target, drafts=drafts, uniforms=uniforms, **given)
    as_pair(draft, target)
    check_drafts(drafts, draft, only_k)
    check_uniforms(uniforms, (*draft.shape[:-1], drafts.shape[-1] + 1))
    valid = check_mask(library, mask, drafts)
    ids = counted_ids(library, drafts, valid, draft.shape[-1])
    return Problem(library, draft, target, ids, library.widened(uniforms), valid)


def check_drafts(drafts: Array, draft: Array, only_k: int | None = None) -> None:
    """Refuse drafts that are no token ids, or too few or too many.

    Raises
    ------
    ValueError
        Naming the shape or dtype.
    """
    check_lead("drafts", drafts, draft, like="draft")
    check_tokens("drafts", drafts)
    k = drafts.shape[-1]
    if k == 0 or only_k not in (None, k):
        wanted = "at least one draft" if only_k is None else f"exactly k = {only_k}"
        raise ValueError(f"drafts has shape {drafts.shape}, k = {k}: this rule needs {wanted}")


def check_mask(library: Library, mask: Array | None, drafts: Array) -> Array:
    """Return which drafts count: all, unless a mask says otherwise.

    Raises
    ------
    ValueError
        Naming the mask's dtype or shape.
    """
    if mask is None:
        return library.xp.ones_like(drafts, dtype=library.xp.bool)
    if dtype_name(mask) != "bool" or mask.shape != drafts.shape:
        raise ValueError(
            f"mask is {mask.dtype} of shape {mask.shape}: it must be boolean of the shape of "
            f"drafts, {drafts.shape}; True where a draft counts"
        )
    return mask


def counted_ids(library: Library, drafts: Array, valid: Array, size: int) -> Array:
    """Return the drafts as token ids, 0 where they do not count.

    Raises
    ------
    ValueError
        NumPy's arrays only: an id out of range, which indexing would take from the end or refuse.
    """
    # What stands in a place that does not count may be anything, such as −1.
    ids = library.ids(drafts)
    ids = library.xp.where(valid, ids, library.xp.zeros_like(ids))
    if is_numpy_array(ids) and ids.size and not 0 <= ids.min() <= ids.max() < size:
        wrong = ids.min() if ids.min() < 0 else ids.max()
        raise ValueError(
            f"drafts has the token {wrong}: token ids are from 0 to {size - 1}; leave out a draft "
            "with a mask"
        )
    return ids
