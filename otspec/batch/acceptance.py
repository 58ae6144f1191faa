"""How often each rule's output is one of the drafts, row by row: the optimum and the rules.

Each function has the name of its rule. What they return is for rows that sum to 1; with ``partial``
what a row of the draft lacks to 1 is the null token, as for the rules.
"""

from __future__ import annotations

from otspec.batch._arguments import check_drafts, counted_ids, library_of_pair
from otspec.batch._array_api import (
    k_sequential as inflated,
)
from otspec.batch._array_api import (
    recursive_rejection as in_turn,
)
from otspec.batch._array_api import (
    spechub as hub,
)
from otspec.batch._array_api.library import Array, is_torch, quietly
from otspec.batch._array_api.pooled import clock_selection, graded_pools
from otspec.batch._arrays import (
    MOST_DISTINCT,
    MOST_PASSES,
    as_count,
    as_grades,
    as_number_of_drafts,
    one_library,
)
from otspec.batch._calls import completed, completed_pair, operation
from otspec.batch._dispatch import are_learnt
from otspec.batch._running import optimum


def optimal_acceptance(draft: Array, target: Array, k: int, /, *, partial: bool = False) -> Array:
    """Return the most that any lossless rule accepts of k i.i.d. drafts.

    α = min over A of q(A) + 1 − p(A)^k, found from sums Σ min(q, c·p) at a few scales c. Law:
    :func:`otspec.optimal_acceptance` for :class:`otspec.IID`. Source: the cut, with Canonical,
    thm. 3, for k = 2.

    Parameters
    ----------
    draft, target : array, shape (..., V)
        As for :func:`otspec.batch.maximal_coupling`.
    k : int
    partial : bool
        Rows of the draft may sum to less than 1, as for :func:`otspec.batch.maximal_coupling`.

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
    Up to rounding, also where there are several minima. At most 18 sums in float32 and 27 in
    float64, one for k = 1, and no copy of the rows; a row with minima of one depth all over, which
    so few sums do not decide, is sorted. Whether there is one is asked of the device, which waits
    for it. Row by row, on a CPU with Numba, that is 1 to 6 passes over the rows.

    What is inside A is taken as 1 less what is outside, so that no number of drafts makes more of
    rounding. A draft without any mass is never accepted.
    """
    with quietly(draft):
        library_of_pair(draft, target)
        draft, target = completed_pair(partial, draft, target)
        k = as_number_of_drafts(k)
        if is_torch(draft) and not are_learnt(draft, target):
            return operation("optimal_acceptance")(draft, target, k)
        return optimum(draft, target, k)


def maximal_coupling(draft: Array, target: Array, /, *, partial: bool = False) -> Array:
    """Return Σ min(p, q): (..., V), (..., V) -> (...).

    Law: :meth:`otspec.rules.MaximalCoupling.acceptance`.
    """
    with quietly(draft):
        draft, target = completed_pair(partial, draft, target)
        return in_turn.overlap(library_of_pair(draft, target), draft, target)


def recursive_rejection(draft: Array, target: Array, k: int, /, *, partial: bool = False) -> Array:
    """Return 1 − Π Σ (q_{i−1} − p)₊: (..., V), (..., V) -> (...).

    Law: :meth:`otspec.rules.RecursiveRejection.acceptance`. A residual token is never a draft. A
    pass for each draft: k is at most 10,000.
    """
    with quietly(draft):
        draft, target = completed_pair(partial, draft, target)
        library = library_of_pair(draft, target)
        k = as_count("k", k, 1, MOST_PASSES, "a pass for each draft")
        return in_turn.independent_acceptance(library, draft, target, k)


def recursive_rejection_without_replacement(
    draft: Array, target: Array, drafts: Array, /, *, partial: bool = False
) -> Array:
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
    with quietly(draft):
        draft, target, drafts = completed(partial, draft, target, drafts)
        library = one_library(draft=draft, target=target, drafts=drafts)
        library_of_pair(draft, target)
        check_drafts(drafts, draft)
        ids = counted_ids(library, drafts, None, draft.shape[-1])
        return in_turn.distinct_acceptance(library, draft, target, ids)


def k_sequential(draft: Array, target: Array, k: int, /, *, partial: bool = False) -> Array:
    """Return 1 − (1 − β)^k, and the residual draws that happen to be one of the drafts.

    Law: :meth:`otspec.rules.KSequential.acceptance` at the ρ that
    :func:`otspec.batch.k_sequential` uses. (..., V), (..., V) -> (...).
    """
    with quietly(draft):
        draft, target = completed_pair(partial, draft, target)
        library = library_of_pair(draft, target)
        return inflated.acceptance(library, draft, target, as_number_of_drafts(k))


def spechub(draft: Array, target: Array, /, *, partial: bool = False) -> Array:
    """Return q(a) + Σ_{x ≠ a} min(q, p/(1 − p(a))), at most 1: (..., V), (..., V) -> (...).

    Law: :meth:`otspec.rules.SpecHub.acceptance`.
    """
    with quietly(draft):
        draft, target = completed_pair(partial, draft, target)
        return hub.acceptance(library_of_pair(draft, target), draft, target)


def pooled_selection(
    draft: Array, target: Array, k: int, /, *, partial: bool = False, grades: int = 6
) -> Array:
    """Return Σ min(b, q), b the law of the selected draft: (..., V), (..., V) -> (...).

    At most :func:`optimal_acceptance`. Residual tokens that happen to be drafts are not counted.
    """
    with quietly(draft):
        draft, target = completed_pair(partial, draft, target)
        library, k = library_of_pair(draft, target), as_number_of_drafts(k)
        return graded_pools.acceptance(library, draft, target, k, as_grades(grades))


def pooled_selection_without_replacement(
    draft: Array, target: Array, k: int, /, *, partial: bool = False, grades: int = 6
) -> Array:
    """Return Σ min(b, q), b the law of the selected draft: (..., V), (..., V) -> (...).

    At most the optimum for distinct drafts. Residual tokens that happen to be drafts are not
    counted. Work grows with k²: k is at most 64.
    """
    with quietly(draft):
        draft, target = completed_pair(partial, draft, target)
        library = library_of_pair(draft, target)
        k = as_count("k", k, 1, MOST_DISTINCT, "since work grows with its square")
        return clock_selection.acceptance(library, draft, target, k, as_grades(grades))
