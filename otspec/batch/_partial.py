"""Rows of drafts that a policy withdraws: the mass that is missing is that of a null token."""

from __future__ import annotations

from otspec._base.arguments import as_flag
from otspec.batch._arguments import check_probabilities, check_tokens
from otspec.batch._array_api.library import Array
from otspec.batch._arrays import one_library


def completed(
    partial: bool, draft: Array, target: Array, drafts: Array
) -> tuple[Array, Array, Array]:
    """Return rows over one more token, the null token, if they are ``partial``; else as they are.

    The null token has the draft mass that is missing and the target 0. Ids out of range become it.

    Raises
    ------
    ValueError
        No flag, and arrays that do not fit.
    """
    if not as_flag(partial, "partial"):
        return draft, target, drafts
    library = one_library(draft=draft, target=target, drafts=drafts)
    check_probabilities("draft", draft)
    check_probabilities("target", target)
    check_tokens(drafts)
    xp, null = library.xp, draft.shape[-1]
    missing = 1 - xp.sum(library.widened(draft), axis=-1, keepdims=True)
    missing = xp.astype(xp.where(missing > 0, missing, 0 * missing), draft.dtype)
    draft = xp.concat([draft, missing], axis=-1)
    target = xp.concat([target, 0 * target[..., :1]], axis=-1)
    ids = library.ids(drafts)
    return draft, target, xp.where((ids < 0) | (ids > null), 0 * ids + null, ids)
