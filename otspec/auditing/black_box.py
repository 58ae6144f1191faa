"""Calling a black box, and reading what it returns."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np

from otspec.arithmetic import Array, IntArray
from otspec.auditing.declared import DisagreementError
from otspec.auditing.foreign import attempt

Drawn: TypeAlias = tuple[IntArray, IntArray | None]
"""Tokens and accepted indices (−2: accepted, index unknown), each of shape (size,)."""


def drawn(
    sampler: Callable[..., Any], drafts: IntArray, rng: np.random.Generator, batched: bool
) -> Drawn:
    """Call a sampler for all drafts.

    Parameters
    ----------
    sampler, batched
        As for :func:`otspec.audit_samples`.
    drafts : ndarray of int, shape (size, k)
    rng : numpy.random.Generator
        For the sampler, if it takes one.

    Returns
    -------
    Drawn

    Raises
    ------
    DisagreementError
        The sampler raises something.
    ValueError
        No sampler, or one that does not return what it should.
    """
    if not callable(sampler):
        raise ValueError(f"sampler is {type(sampler).__name__}: pass a callable")
    wants_rng, _ = attempt(takes_generator, sampler)
    extra = (rng,) if wants_rng else ()
    if batched:
        # A copy: the sampler may write to what it is given.
        answer, crash = attempt(sampler, drafts.copy(), *extra)
        if crash is not None:
            raise DisagreementError("sampler", f"the sampler {crash.what}", crash)
        parts = answer if isinstance(answer, tuple) else (answer,)
    else:
        answers = []
        for x in map(tuple, drafts.tolist()):
            answer, crash = attempt(sampler, x, *extra)
            if crash is not None:
                raise DisagreementError("sampler", f"drafts {x}: the sampler {crash.what}", crash)
            answers.append(answer)
        paired = isinstance(answers[0], tuple)
        if any(isinstance(each, tuple) != paired for each in answers):
            raise ValueError("sampler returned a pair for some drafts only: do so for all or none")
        lengths = {len(each) for each in answers} if paired else {1}
        if len(lengths) > 1:
            raise ValueError(f"sampler returned {min(lengths)} values for some drafts only")
        parts = tuple(zip(*answers, strict=True)) if paired else (answers,)
    if not 1 <= len(parts) <= 2 or (len(parts) == 1 and isinstance(answer, tuple)):
        raise ValueError(
            f"sampler returned {len(parts)} values: it must return a token, or a token and which "
            "draft is accepted"
        )
    arrays, crash = attempt(lambda: [np.asarray(part) for part in parts])
    if crash is not None:
        raise DisagreementError("sampler", f"reading what the sampler returned {crash.what}", crash)
    tokens = _tokens(arrays[0], len(drafts))
    return tokens, _marks(arrays[1], tokens, drafts.shape[1]) if len(arrays) == 2 else None


def takes_generator(sampler: Callable[..., Any]) -> bool:
    """Return whether a sampler wants a second argument; one with a default is its own."""
    try:
        parameters = inspect.signature(sampler).parameters.values()
    except ValueError:  # a builtin that does not tell
        return False
    positional = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    wanted = [p for p in parameters if p.kind in positional and p.default is p.empty]
    return len(wanted) >= 2


def _tokens(ids: Array, size: int) -> IntArray:
    if ids.dtype.kind not in "iu" or ids.shape != (size,):
        raise ValueError(
            f"sampler returned tokens of type {ids.dtype} and shape {ids.shape}: it must return "
            "one integer per draft tuple"
        )
    return ids.astype(np.intp)


def _marks(flags: Array, tokens: IntArray, k: int) -> IntArray:
    if flags.dtype == bool and flags.shape == tokens.shape:
        return np.where(flags, -2, -1)
    if (
        flags.dtype.kind not in "iu"
        or flags.shape != tokens.shape
        or not ((flags >= -1) & (flags < k)).all()
    ):
        raise ValueError(
            f"sampler returned marks of type {flags.dtype} and shape {flags.shape}: beside each "
            f"token it must return a bool, or the index of the accepted draft, -1 to {k - 1}"
        )
    return flags.astype(np.intp)
