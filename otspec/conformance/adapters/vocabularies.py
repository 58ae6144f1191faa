"""Verifiers whose draft has a vocabulary of its own, with an index into the target's."""

from collections.abc import Callable
from typing import Any

import numpy as np

from otspec._base.arguments import as_flag
from otspec.conformance.adapters.shapes import Renamed, parameters_of
from otspec.conformance.adapters.tensors import as_array, tensor_of

INDEX = "draft_to_target"


def draft_to_target(
    function: Callable[..., Any], *, offsets: bool = False, own_ids: bool = False
) -> Callable[..., Any]:
    """Return a verifier over one vocabulary, from one whose draft has fewer tokens.

    The draft's rows are handed over on the tokens that it can draw, from the last to the first, so
    that no id is the same in both vocabularies by chance alone.

    Parameters
    ----------
    function : callable
        A verifier whose ``draft`` has D tokens on its last axis, and which takes
        ``draft_to_target``, shape (D,): the target's id of each.
    offsets : bool
        Whether ``draft_to_target`` is that id minus the draft's, as ``d2t`` of EAGLE-3.
    own_ids : bool
        Whether ``drafts`` are ids of the draft's vocabulary; those that are not read are 0.

    Returns
    -------
    callable
        Without ``draft_to_target``.

    Raises
    ------
    ValueError
        No callable, one that does not tell its parameters, or no flag.
    """
    names = parameters_of(function)
    relative, own = as_flag(offsets, "offsets"), as_flag(own_ids, "own_ids")

    def verify(**given: Any) -> Any:
        rows = as_array(given["draft"])
        tokens = np.flatnonzero((rows > 0).reshape(-1, rows.shape[-1]).any(axis=0))[::-1].copy()
        index = tokens - np.arange(len(tokens)) if relative else tokens
        new = {"draft": given["draft"][..., tokens], INDEX: _like(index, given["draft"])}
        if own:
            ids = np.zeros(rows.shape[-1], dtype=np.int64)
            ids[tokens] = np.arange(len(tokens))
            new["drafts"] = _like(ids, given["draft"])[given["drafts"]]
        return function(**given | new)

    return Renamed(verify, tuple(name for name in names if name != INDEX))


def _like(values: Any, like: Any) -> Any:
    """Return integers in the library, and on the device, of other arrays."""
    return tensor_of(values).to(like.device) if hasattr(like, "detach") else values
