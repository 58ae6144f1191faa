"""How often each rule's output is one of the drafts, row by row: the optimum and the rules.

Each function has the name of its rule. What they return is for rows that sum to 1.
"""

from __future__ import annotations

from typing import Any

from otspec.batch.arguments import as_arrays, as_count, as_pair
from otspec.batch.arrays import Array, quiet
from otspec.batch.checks import check_drafts, check_mask, counted_ids
from otspec.batch.k_sequential import geometric, safe_rho
from otspec.batch.passes import common, overlaps, the_target, totals
from otspec.batch.pooled import as_grades, graded_pools
from otspec.batch.sequential import InTurn
from otspec.batch.spechub import find_hub, hub_shares

MOST_DRAFTS = 2**53
"""Up to here every number of drafts is a float64."""
MOST_PASSES = 10_000
"""Where every draft costs a pass."""


def _any_k(k: Any) -> int:
    return as_count("k", k, 1, MOST_DRAFTS, "a number that float64 holds")


@quiet
def optimal_acceptance(draft: Array, target: Array, k: int, /) -> Array:
    """Return the most that any lossless rule accepts of k i.i.d. drafts.

    α = min over A of q(A) + 1 − p(A)^k, whose minimiser is a prefix of the tokens by ascending
    q/p: one sort. Law: :func:`otspec.optimal_acceptance` for :class:`otspec.IID`. Source: the
    cut, with Canonical, thm. 3, for k = 2.

    Parameters
    ----------
    draft, target : array, shape (..., V)
        As for :func:`otspec.batch.maximal_coupling`.
    k : int

    Returns
    -------
    array, shape (...)
        float64 where the device has it, else float32.

    Raises
    ------
    ValueError
        Arrays that do not fit, as for :func:`otspec.batch.maximal_coupling`; a k that is no
        integer from 1 to 2⁵³.

    Notes
    -----
    For reports rather than for decoding: it sorts, and holds the sorted rows.
    """
    library, k = as_pair(draft, target), _any_k(k)
    xp = library.xp
    drafted = library.widened(draft)
    ratio = library.quotient(library.widened(target), drafted, otherwise=float("inf"))
    order = xp.argsort(ratio, axis=-1)
    inside = xp.cumulative_sum(xp.take_along_axis(drafted, order, axis=-1), axis=-1)
    wanted = xp.cumulative_sum(library.take(target, order), axis=-1)
    cut = xp.min(wanted - xp.clip(inside, max=1.0) ** float(k), axis=-1)
    return 1 + xp.clip(cut, max=0.0)


@quiet
def maximal_coupling(draft: Array, target: Array, /) -> Array:
    """Return Σ min(p, q): (..., V), (..., V) -> (...).

    Law: :meth:`otspec.rules.MaximalCoupling.acceptance`.
    """
    library = as_pair(draft, target)
    return totals(library, draft, target, common(library))[0]


@quiet
def recursive_rejection(draft: Array, target: Array, k: int, /) -> Array:
    """Return 1 − Π Σ (q_{i−1} − p)₊: (..., V), (..., V) -> (...).

    Law: :meth:`otspec.rules.RecursiveRejection.acceptance`. A residual token is never a draft. A
    pass for each draft: k is at most 10,000.
    """
    library, k = as_pair(draft, target), as_count("k", k, 1, MOST_PASSES, "a pass for each draft")
    state = InTurn(library, draft, target, distinct=False)
    for i in range(k):
        state.reject(last=i == k - 1)
    return 1 - state.rejected


@quiet
def recursive_rejection_without_replacement(draft: Array, target: Array, drafts: Array, /) -> Array:
    """Return the probability that one of the given distinct drafts is accepted.

    Its mean over drafts is :meth:`otspec.rules.RecursiveRejectionWithoutReplacement.acceptance`,
    for which there is no formula at full vocabulary with more than two drafts.

    Parameters
    ----------
    draft, target : array, shape (..., V)
    drafts : array of token ids, shape (..., k)
        As from :func:`otspec.batch.sample_without_replacement`.

    Returns
    -------
    array, shape (...)
    """
    library = as_arrays(draft=draft, target=target, drafts=drafts)
    as_pair(draft, target)
    check_drafts(drafts, draft)
    xp = library.xp
    drafts = counted_ids(library, drafts, check_mask(library, None, drafts), draft.shape[-1])
    drafted, wanted = library.take(draft, drafts), library.take(target, drafts)
    state = InTurn(library, draft, target, distinct=True)
    missed = xp.ones_like(state.rejected)
    for i in range(drafts.shape[-1]):
        left, offered = state.offer(drafted[..., i], wanted[..., i])
        chance = xp.clip(library.quotient(left, offered, otherwise=1.0), 0.0, 1.0)
        missed = missed * xp.where(left > 0, 1 - chance, xp.ones_like(chance))
        state.reject(drafts[..., : i + 1], last=i == drafts.shape[-1] - 1)
    return 1 - missed


@quiet
def k_sequential(draft: Array, target: Array, k: int, /) -> Array:
    """Return 1 − (1 − β)^k, and the residual draws that happen to be one of the drafts.

    Law: :meth:`otspec.rules.KSequential.acceptance` at the ρ that
    :func:`otspec.batch.k_sequential` uses. (..., V), (..., V) -> (...).
    """
    library, k = as_pair(draft, target), _any_k(k)
    xp = library.xp
    count = library.full(draft.shape[:-1], float(k))
    rho = safe_rho(library, draft, target, count)
    beta = xp.clip(overlaps(library, draft, target, rho[..., None])[..., 0] / rho, 0.0, 1.0)
    missed, gain = 1 - beta, geometric(library, beta, count)
    scale, gain_, missed_ = (
        library.narrowed(value)[..., None] for value in (1 / rho, gain, missed)
    )

    def hits(draft: Array, target: Array) -> Array:
        kept = xp.minimum(draft, scale * target)
        residual = target - xp.minimum(target, gain_ * kept)
        share = xp.clip((draft - kept) / xp.where(missed_ > 0, missed_, 1 + 0 * missed_), 0.0, 1.0)
        # 1 − (1 − share)^k, given that all drafts are rejected, which `residual` counts.
        return residual * share * geometric(library, share, float(k) + 0 * share)

    return xp.clip(beta * gain + totals(library, draft, target, hits)[0], 0.0, 1.0)


@quiet
def spechub(draft: Array, target: Array, /) -> Array:
    """Return q(a) + Σ_{x ≠ a} min(q, p/(1 − p(a))), at most 1: (..., V), (..., V) -> (...).

    Law: :meth:`otspec.rules.SpecHub.acceptance`.
    """
    library = as_pair(draft, target)
    hub = find_hub(library, draft)
    shares = hub_shares(library, draft, target, hub)
    return library.xp.clip(shares.served + shares.first_taken + shares.last_taken, max=1.0)


@quiet
def pooled_selection(draft: Array, target: Array, k: int, /, *, grades: int = 6) -> Array:
    """Return Σ min(b, q), b the law of the selected draft: (..., V), (..., V) -> (...).

    At most :func:`optimal_acceptance`. Residual tokens that happen to be drafts are not counted.
    """
    library, k = as_pair(draft, target), _any_k(k)
    count = library.full(draft.shape[:-1], float(k))
    pools = graded_pools(library, draft, target, count, as_grades(grades))
    whole, rest = totals(library, draft, target, the_target, pools.rest())
    return library.xp.clip(whole - rest, 0.0, 1.0)
