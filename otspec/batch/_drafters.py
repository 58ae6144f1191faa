"""Samplers: token ids from uniform numbers, with the draft laws of the rules."""

from collections.abc import Iterable

from otspec._base import as_choice
from otspec.batch._arguments import check_probabilities, check_uniforms
from otspec.batch._array_api.library import Array, quietly
from otspec.batch._arrays import as_count, check_library
from otspec.batch._from_logits.settings import settings_of
from otspec.batch._results import Drafted
from otspec.batch._running import drafted, drafted_straight, top
from otspec.warping import STEPS


def sample_iid(draft: Array, uniforms: Array, /) -> Array:
    """Draw independent drafts.

    Law: :class:`otspec.IID`. A token of probability 0 is never drawn. Total variation of one draw,
    measured: 2e-8 in float32, 1e-16 in float64. Cost: one sum.

    Parameters
    ----------
    draft : array, shape (..., V)
        As for :func:`otspec.batch.maximal_coupling`. Rows are scaled to sum to 1.
    uniforms : array, shape (..., k)
        Independent and uniform on [0, 1), float32 or float64: one for each draft.

    Returns
    -------
    array of token ids, shape (..., k)
        int64, in the library and on the device of the draft. −1 for a row of zeros.

    Raises
    ------
    ValueError
        Shapes, dtypes or devices that do not fit.
    """
    with quietly(draft):
        _check("sample_iid", draft, uniforms)
        return drafted("iid", draft, uniforms)


def sample_without_replacement(draft: Array, uniforms: Array, /) -> Array:
    """Draw distinct drafts one after another, each from the draft without the earlier ones.

    Law: :class:`otspec.WithoutReplacement`, which is also the law of Gumbel top-k. It takes k
    uniform numbers instead of one per token. Everything else is as for :func:`sample_iid`.

    Parameters
    ----------
    draft : array, shape (..., V)
        With at least k tokens of positive probability. Otherwise the last drafts repeat or have
        probability 0: mask them. A ValueError refuses more drafts than tokens.
    uniforms : array, shape (..., k)
    """
    with quietly(draft):
        _check("sample_without_replacement", draft, uniforms)
        return drafted("without_replacement", draft, uniforms)


def sample_spechub(draft: Array, uniforms: Array, /) -> Array:
    """Draw SpecHub's two drafts: one of them is the likeliest token a, the hub.

    Law: :class:`otspec.Hub`: (x, a) with probability p(x), (a, x) with p(a) p(x) / (1 − p(a)). Both
    are the hub if it has all the mass. Everything else is as for :func:`sample_iid`.

    Parameters
    ----------
    draft : array, shape (..., V)
    uniforms : array, shape (..., 2)
        For the order, and for the token other than the hub.
    """
    with quietly(draft):
        _check("sample_spechub", draft, uniforms)
        return drafted("spechub", draft, uniforms)


DRAFTERS = {
    "sample_iid": "iid",
    "sample_without_replacement": "without_replacement",
    "sample_spechub": "spechub",
}
"""The kernel of each sampler, by name."""


def draft_from_logits(
    drafter: str,
    logits: Array,
    uniforms: Array,
    /,
    *,
    temperature: float | Array = 1.0,
    top_k: int | Array | None = None,
    top_p: float | Array | None = None,
    min_p: float | Array | None = None,
    order: str | Iterable[str] = STEPS,
) -> Drafted:
    """Draw drafts from logits; return them with the probabilities that they were drawn from.

    Law: that of the sampler for ``warp(logits, ...)``. With Numba, float32 and half-precision
    logits on a CPU go row by row and are read once.

    Parameters
    ----------
    drafter : str
        ``sample_iid``, ``sample_without_replacement`` or ``sample_spechub``.
    logits, temperature, top_k, top_p, min_p, order
        As for :func:`otspec.batch.warp`.
    uniforms : array, shape (..., k)
        As the sampler takes them.

    Returns
    -------
    Drafted
        ``drafts`` and ``probabilities``. Pass the latter to :func:`otspec.batch.from_logits` with
        ``draft_probabilities=True``, or to a rule.

    Raises
    ------
    ValueError
        As the sampler and :func:`otspec.batch.warp`; an unknown sampler.

    Examples
    --------
    >>> import numpy as np
    >>> logits, uniforms = np.log([[0.5, 0.25, 0.25]]), np.array([[0.4, 0.9]])
    >>> draft_from_logits("sample_iid", logits, uniforms).drafts.tolist()
    [[0, 2]]
    """
    with quietly(logits):
        name = as_choice(drafter, "drafter", DRAFTERS)
        check_library(logits=logits, uniforms=uniforms)
        settings = settings_of("logits", logits, temperature, top_k, top_p, min_p, order)
        _check(name, logits, uniforms)
        return Drafted(*drafted_straight(DRAFTERS[name], logits, uniforms, settings))


def top_tokens(values: Array, k: int, /) -> Array:
    """Return the k likeliest tokens of each row, as certain drafts.

    Law: :class:`otspec.Fixed`. Every lossless rule accepts the target's mass of these tokens: draw
    the token from the target, with :func:`sample_iid` or :func:`draft_from_logits`, and check
    whether it is one of them. Cost: one pass row by row, elsewhere a sort.

    Parameters
    ----------
    values : array, shape (..., V)
        Logits or probabilities.
    k : int
        From 1 to V.

    Returns
    -------
    array of token ids, shape (..., k)
        int64, in descending order of the values; the lowest id first among equal ones. Undefined
        for a row with NaN.

    Raises
    ------
    ValueError
        An array or a dtype that does not fit; a k out of range.

    Examples
    --------
    >>> import numpy as np
    >>> top_tokens(np.array([0.1, 0.4, 0.1, 0.4]), 3).tolist()
    [1, 3, 0]
    """
    with quietly(values):
        check_library(values=values)
        check_probabilities("values", values)
        return top(values, as_count("k", k, 1, values.shape[-1], "the number of tokens"))


def _check(name: str, draft: Array, uniforms: Array) -> None:
    """Check the arguments of a drafter."""
    check_library(draft=draft, uniforms=uniforms)
    check_probabilities("draft", draft)
    k, size = uniforms.shape[-1] if uniforms.ndim else 0, draft.shape[-1]
    if k == 0:
        raise ValueError(f"uniforms has shape {uniforms.shape}: it must be (..., k), k at least 1")
    check_uniforms(uniforms, (*draft.shape[:-1], k))
    if name == "sample_without_replacement" and k > size:
        raise ValueError(
            f"uniforms has shape {uniforms.shape}: there are only {size} tokens to draw"
        )
    if name == "sample_spechub" and k != 2:
        raise ValueError(f"uniforms has shape {uniforms.shape}: two are needed per row")
