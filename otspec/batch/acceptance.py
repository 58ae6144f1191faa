"""How often each rule's output is one of the drafts, row by row: the optimum and the rules.

Each function has the name of its rule. Rows must sum to 1. With ``partial`` the missing mass of a
draft row belongs to the null token, as for the rules.
"""

from collections.abc import Callable
from typing import Any

from otspec._base import as_choice, as_flag, shown
from otspec.batch import _arrays as arrays
from otspec.batch._arguments import check_drafts, counted_ids, library_of_pair
from otspec.batch._array_api.library import Array, is_torch, quietly
from otspec.batch._calls import completed, completed_pair, operation
from otspec.batch._dispatch import are_learnt
from otspec.batch._from_logits.settings import settings_of_both
from otspec.batch._running import ACCEPTANCES, accepted, optimum
from otspec.warping import STEPS


def optimal_acceptance(draft: Array, target: Array, k: int, /, *, partial: bool = False) -> Array:
    """Return the most that any lossless rule accepts of k i.i.d. drafts.

    α = min over A of q(A) + 1 − p(A)^k, found from sums Σ min(q, c·p) at a few scales c. Law:
    :func:`otspec.optimal_acceptance` for :class:`otspec.IID`. Source: the cut, with Canonical,
    thm. 3, for k = 2.

    Parameters
    ----------
    draft, target, partial
        Arrays of shape (..., V) and a flag, as for :func:`otspec.batch.maximal_coupling`.
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
    The result is exact up to rounding. It takes at most 18 sums in float32 and 27 in float64, one
    for k = 1, and no copy of the rows. Only a row with equally deep minima everywhere is sorted;
    the call waits for the device to learn whether there is one. Row by row, on a CPU with Numba, it
    takes 1 to 6 passes.

    The mass inside A is computed as 1 minus the mass outside, so rounding errors do not grow with
    k. A draft without any mass is never accepted.
    """
    with quietly(draft):
        library_of_pair(draft, target)
        draft, target = completed_pair(partial, draft, target)
        k = arrays.as_number_of_drafts(k)
        if is_torch(draft) and not are_learnt(draft, target):
            return operation("optimal_acceptance")(draft, target, k)
        return optimum(draft, target, k)


def maximal_coupling(draft: Array, target: Array, /, *, partial: bool = False) -> Array:
    """Return Σ min(p, q): (..., V), (..., V) -> (...).

    Law: :meth:`otspec.rules.MaximalCoupling.acceptance`.
    """
    return _of_pair("maximal_coupling", draft, target, partial)


def recursive_rejection(draft: Array, target: Array, k: int, /, *, partial: bool = False) -> Array:
    """Return 1 − Π Σ (q_{i−1} − p)₊: (..., V), (..., V) -> (...).

    Law: :meth:`otspec.rules.RecursiveRejection.acceptance`. A residual token is never a draft. A
    pass for each draft: k is at most 10,000.
    """
    return _of_pair("recursive_rejection", draft, target, partial, k)


def recursive_rejection_without_replacement(
    draft: Array, target: Array, drafts: Array, /, *, partial: bool = False
) -> Array:
    """Return the probability that one of the given distinct drafts is accepted.

    Its mean over drafts, (..., k) as from :func:`otspec.batch.sample_without_replacement`, is
    :meth:`otspec.rules.RecursiveRejectionWithoutReplacement.acceptance`, for which there is no
    formula at full vocabulary with more than two drafts: (..., V), (..., V), (..., k) -> (...).
    """
    with quietly(draft):
        draft, target, drafts = completed(partial, draft, target, drafts)
        library = arrays.one_library(draft=draft, target=target, drafts=drafts)
        library_of_pair(draft, target)
        check_drafts(drafts, draft)
        ids = counted_ids(library, drafts, None, draft.shape[-1])
        return accepted("recursive_rejection_without_replacement", draft, target, ids)


def k_sequential(draft: Array, target: Array, k: int, /, *, partial: bool = False) -> Array:
    """Return 1 − (1 − β)^k plus the probability of a residual draw that equals a draft.

    Law: :meth:`otspec.rules.KSequential.acceptance` at the ρ that
    :func:`otspec.batch.k_sequential` uses. (..., V), (..., V) -> (...).
    """
    return _of_pair("k_sequential", draft, target, partial, k)


def spechub(draft: Array, target: Array, /, *, partial: bool = False) -> Array:
    """Return q(a) + Σ_{x ≠ a} min(q, p/(1 − p(a))), at most 1: (..., V), (..., V) -> (...).

    Law: :meth:`otspec.rules.SpecHub.acceptance`.
    """
    return _of_pair("spechub", draft, target, partial)


def pooled_selection(
    draft: Array, target: Array, k: int, /, *, partial: bool = False, grades: int = 6
) -> Array:
    """Return Σ min(b, q), with b the law of the selected draft: (..., V), (..., V) -> (...).

    At most :func:`optimal_acceptance`. Residual tokens that happen to be drafts are not counted.
    """
    return _of_pair("pooled_selection", draft, target, partial, k, grades)


def pooled_selection_without_replacement(
    draft: Array, target: Array, k: int, /, *, partial: bool = False, grades: int = 6
) -> Array:
    """Return Σ min(b, q), with b the law of the selected draft: (..., V), (..., V) -> (...).

    At most the optimum for distinct drafts. Residual tokens that happen to be drafts are not
    counted. Work grows with k²: k is at most 64.
    """
    name = "pooled_selection_without_replacement"
    return _of_pair(name, draft, target, partial, k, grades)


def _of_pair(
    name: str, draft: Array, target: Array, partial: bool, k: Any = None, grades: Any = 6
) -> Array:
    """Check rows of a draft and a target, and return how often a rule accepts."""
    options = _options(name, k, None, grades)
    with quietly(draft):
        draft, target = completed_pair(partial, draft, target)
        library_of_pair(draft, target)
        return accepted(name, draft, target, *options)


def from_logits(
    rule: str,
    draft_logits: Array,
    target_logits: Array,
    /,
    k: int | None = None,
    *,
    drafts: Array | None = None,
    grades: int = 6,
    temperature: Any = 1.0,
    top_k: Any = None,
    top_p: Any = None,
    min_p: Any = None,
    order: Any = STEPS,
    draft_probabilities: bool = False,
) -> Array:
    """Return the result of a function of this module, given logits instead of probabilities.

    Law: that of the function for ``warp(draft_logits, ...)`` and ``warp(target_logits, ...)``.
    With Numba, float32 and half-precision logits on a CPU go row by row and are read once.

    Parameters
    ----------
    rule : str
        A function of this module, such as ``optimal_acceptance``.
    draft_logits, target_logits : array, shape (..., V)
    k : int, optional
        For a function that takes a number of drafts.
    drafts : array of token ids, shape (..., k), optional
        For :func:`recursive_rejection_without_replacement`.
    grades : int
        For a function that takes grades.
    temperature, top_k, top_p, min_p, order, draft_probabilities
        As for :func:`otspec.batch.from_logits`.

    Returns
    -------
    array, shape (...)

    Raises
    ------
    ValueError
        As the function and :func:`otspec.batch.from_logits`; missing or superfluous k or drafts.

    Examples
    --------
    >>> import numpy as np
    >>> draft, target = np.log([[0.5, 0.5]]), np.log([[0.25, 0.75]])
    >>> from_logits("optimal_acceptance", draft, target, 1).round(4).tolist()
    [0.75]
    """
    with quietly(target_logits):
        rule = as_choice(rule, "rule", ACCEPTANCES)
        known = as_flag(draft_probabilities, "draft_probabilities")
        given = {"draft_logits": draft_logits, "target_logits": target_logits}
        arrays.check_library(**given)
        settings = settings_of_both(given, known, temperature, top_k, top_p, min_p, order)
        options = _options(rule, k, drafts, grades)
        if drafts is not None:
            library = arrays.one_library(**given, drafts=drafts)
            check_drafts(drafts, draft_logits, name="draft_logits")
            options = (counted_ids(library, drafts, None, draft_logits.shape[-1]),)
        return accepted(rule, draft_logits, target_logits, *options, settings=settings)


_COUNTS: dict[str, Callable[[Any], int]] = {
    "optimal_acceptance": arrays.as_number_of_drafts,
    "recursive_rejection": lambda k: arrays.as_count(
        "k", k, 1, arrays.MOST_PASSES, "a pass for each draft"
    ),
    "k_sequential": arrays.as_number_of_drafts,
    "pooled_selection": arrays.as_number_of_drafts,
    "pooled_selection_without_replacement": lambda k: arrays.as_count(
        "k", k, 1, arrays.MOST_DISTINCT, "since work grows with its square"
    ),
}
"""How a number of drafts is checked, where a rule takes one."""


def _options(rule: str, k: Any, drafts: Array | None, grades: Any) -> tuple[Any, ...]:
    """Return what a rule takes beside the rows."""
    distinct = rule == "recursive_rejection_without_replacement"
    if (k is not None) != (rule in _COUNTS):
        wanted = "it must be a number of drafts" if rule in _COUNTS else "leave it out"
        raise ValueError(f"k is {shown(k)}: {wanted}, for {rule}")
    if (drafts is not None) != distinct:
        wanted = "pass the drafts" if distinct else "leave them out"
        raise ValueError(f"drafts is {arrays.kind_of(drafts)}: {wanted}, for {rule}")
    graded = (arrays.as_grades(grades),) if rule.startswith("pooled") else ()
    counted = (_COUNTS[rule](k),) if rule in _COUNTS else ()
    return (drafts,) if distinct else (*counted, *graded)
