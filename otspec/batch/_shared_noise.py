"""Shared noise: the same seed gives the same token, whatever was drafted."""

from otspec._base import as_flag, as_integer
from otspec.batch._arguments import check_drafts, check_mask, check_probabilities, counted_ids
from otspec.batch._array_api import shared_noise as kernel
from otspec.batch._array_api.library import Array, Library, quietly
from otspec.batch._arrays import INTEGERS, check_library, dtype_name, one_library
from otspec.batch._results import Verified


def shared_noise(like: Array, positions: Array, seed: int, /) -> Array:
    """Return the exponential noise of positions of a text: a function of seed, position and token.

    Law: independent exponential numbers of mean 1. The random bits are the same in every library
    and on every device (Threefry-2x32, 20 rounds); the numbers differ by the rounding of a
    logarithm. They keep 24 binary digits however small they are, so a race over a large vocabulary
    is as fine as one over a small one.

    Parameters
    ----------
    like : array, shape (..., V)
        Rows, such as the target's. The noise has their vocabulary, dtype and device.
    positions : array of int, shape (...)
        From 0 to 2³² − 1: the position of the drawn token in its text. Drafter and verifier must
        count in the same way, and no two draws of one text may share a position. Independent
        texts need different seeds.
    seed : int
        From 0 to 2⁶⁴ − 1.

    Returns
    -------
    array, shape (..., V)
        float64 for float64, else float32; positive.

    Raises
    ------
    ValueError
        A seed out of range, or shapes, dtypes or devices that do not fit.
    """
    with quietly(like):
        library = one_library(like=like, positions=positions)
        check_probabilities("like", like)
        if positions.shape != like.shape[:-1] or dtype_name(positions) not in INTEGERS:
            raise ValueError(
                f"positions is {positions.dtype} of shape {positions.shape}: it must be integers "
                f"of shape {like.shape[:-1]}, a position for each row"
            )
        key = as_integer(seed, "seed", 0, 2**64 - 1)
        return kernel.exponentials(library, key, positions, like.shape[-1])


def sample_from_noise(draft: Array, noise: Array, k: int, /) -> Array:
    """Return the k tokens of smallest E/p, with E the noise and p the draft: distinct drafts.

    Law: :class:`otspec.WithoutReplacement`. Source: Gumbel top-k; Daliri et al. for k = 1.

    Parameters
    ----------
    draft, noise : array, shape (..., V)
        As for :func:`otspec.batch.maximal_coupling`, and of :func:`otspec.batch.shared_noise`.
    k : int
        From 1 to V.

    Returns
    -------
    array of token ids, shape (..., k)
        In ascending order of E/p; −1 if there are fewer tokens of positive probability.

    Raises
    ------
    ValueError
        Shapes, dtypes or devices that do not fit; more drafts than tokens.
    """
    with quietly(draft):
        library = _checked(draft, noise, "draft")
        count = as_integer(k, "k", 1, draft.shape[-1])
        return kernel.arrivals(library, draft, noise, count)


def gumbel_coupling(
    target: Array,
    drafts: Array,
    noise: Array,
    /,
    *,
    mask: Array | None = None,
    logits: bool = False,
    checked: bool = False,
) -> Verified:
    """Draw the token from the target with shared noise; accept a draft that equals it.

    The token is argmin E/q. It depends on the target and the noise alone: the same seed gives the
    same text with any drafts, or none. Drafts that were drawn with the same noise
    (:func:`otspec.batch.sample_from_noise`) are accepted often. With other noise the rule is still
    lossless, but drafts are accepted only by chance. No draft probabilities are needed.

    Law: the token is distributed as the target. Source: Daliri et al., *Coupling without
    communication and drafter-invariant speculative decoding*, 2024.

    Parameters
    ----------
    target : array, shape (..., V)
        Probabilities, which need not sum to 1; or logits.
    drafts : array of token ids, shape (..., k)
    noise : array, shape (..., V)
        As :func:`otspec.batch.shared_noise` returns it for these rows: float32 or float64.
    mask : array of bool, shape (..., k), optional
        True where a draft counts.
    logits : bool
        True if the target is logits at temperature 1; ``-inf`` masks a token.
    checked
        As for :func:`otspec.batch.maximal_coupling`, as are the errors.

    Returns
    -------
    Verified
        ``index`` is the first draft that equals the token. A row of zeros has token −1.
    """
    with quietly(target):
        as_logits = as_flag(logits, "logits")
        if as_flag(checked, "checked"):
            library, size = one_library(target=target), None
        else:
            library, size = _checked(target, noise, "target"), target.shape[-1]
            given = {} if mask is None else {"mask": mask}
            check_library(target=target, drafts=drafts, **given)
            check_drafts(drafts, target, name="target")
            check_mask(mask, drafts)
        ids = counted_ids(library, drafts, mask, size)
        return kernel.verify(library, target, ids, noise, mask, as_logits)


def _checked(rates: Array, noise: Array, name: str) -> Library:
    library = one_library(**{name: rates, "noise": noise})
    check_probabilities(name, rates)
    if noise.shape != rates.shape or dtype_name(noise) not in ("float32", "float64"):
        raise ValueError(
            f"noise is {noise.dtype} of shape {noise.shape}: it must be float32 or float64 of the "
            f"shape of {name}, {rates.shape}, as shared_noise() returns it"
        )
    return library
