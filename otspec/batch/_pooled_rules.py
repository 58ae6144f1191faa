"""The front of pooled selection: arguments are checked, and go to the kernels."""

from otspec.batch._array_api.library import Array, quietly
from otspec.batch._arrays import as_grades
from otspec.batch._calls import completed, verified
from otspec.batch._results import Verified


def pooled_selection(
    draft: Array,
    target: Array,
    drafts: Array,
    uniforms: Array,
    /,
    *,
    mask: Array | None = None,
    grades: int = 6,
    partial: bool = False,
    checked: bool = False,
) -> Verified:
    """Select one of the drafts by graded pools, then couple it maximally with the target.

    The grades are 0 = t_0 < t_1 < … < t_m, from t_1 = 1/2 to t_m = k in equal steps. A draft of
    ratio r = q/p between two grades is put in the pool of one of the two at random, so that its
    grade is r in the mean; above k it is in the last pool. A draft is then selected as in
    :class:`otspec.rules.PooledSelection`, from the highest group of pools between barriers that
    holds one. The law of the selected token is b(y) = p(y) f(r), f a broken line that runs
    through clip(t_j, low, high) at t_j: it is q itself but for the lowest and highest ratios.

    Law: the token is distributed as the target, whatever the grades; the more there are, the
    closer the acceptance is to the optimum for i.i.d. drafts.
    Source: the documentation ("Pooled selection"), proposition 7.

    Parameters
    ----------
    draft, target : array, shape (..., V)
        As for :func:`otspec.batch.maximal_coupling`.
    drafts : array of token ids, shape (..., k)
        Drawn from the draft, independently.
    uniforms : array, shape (..., k + 1)
        Number i decides the grade of draft i. What is left of the first one decides on the
        barriers, of the last but one on the selection and on acceptance. The last is for the
        draw.
    mask : array of bool, shape (..., k), optional
        As for :func:`otspec.batch.recursive_rejection`.
    grades : int
        m, from 2 to 256.
    partial : bool
        As for :func:`otspec.batch.maximal_coupling`.
    checked : bool
        As for :func:`otspec.batch.maximal_coupling`.

    Returns
    -------
    Verified

    Raises
    ------
    ValueError
        As :func:`otspec.batch.maximal_coupling`; or grades that are none.

    Notes
    -----
    With 6 grades the acceptance on a language model was below the optimum by 5e-4, 4e-4 and 3e-4
    in the mean for k = 2, 4 and 8, where K-Seq lost 0.03 to 0.05 and recursive rejection 0.05 to
    0.08.

    Measured total variation between the law of the token and the target: at most 1.3e-7 in
    float32 and 8e-16 in float64 (:mod:`otspec.batch`).

    Cost: a sum per grade in one reading, and one pass.
    """
    with quietly(draft):
        draft, target, drafts = completed(partial, draft, target, drafts)
        number = as_grades(grades)
        return verified(
            "pooled_selection", draft, target, drafts, uniforms, mask, number, checked=checked
        )


def pooled_selection_without_replacement(
    draft: Array,
    target: Array,
    drafts: Array,
    uniforms: Array,
    /,
    *,
    mask: Array | None = None,
    partial: bool = False,
    grades: int = 6,
    checked: bool = False,
) -> Verified:
    """Select one of distinct drafts by graded pools, then couple it maximally with the target.

    Distinct drafts are the tokens that ring first, if tokens ring again and again, at random, in
    proportion to the draft. Every ring of a token of ratio r = q/p between two grades is in the
    pool of one of the two at random, so that its grade is r in the mean. In the highest group of
    pools between barriers that rang, the draft of its first ring is selected with probability
    1 − λ, one in proportion to what lies of it in the group with probability λ. The law of the
    selected draft is then p(y) f(r), f a broken line, as for :func:`otspec.batch.pooled_selection`.

    Of tokens that are lighter than the 32 heaviest every ring counts as a draft, so that nothing
    but sums is needed of them. The grades are 0 and, in equal steps, 1/2 to Σ 1/(1 − s_i), s_i the
    mass of the i heaviest tokens, i < k: no token is drafted more often than that times p.

    Law: the token is distributed as the target, whatever the grades; the more there are, the
    closer the acceptance is to the optimum for distinct drafts.
    :class:`otspec.rules.PooledSelectionWithoutReplacement` with ``pools=Graded(grades)``.
    Source: the documentation ("Beyond i.i.d. drafts"), propositions 6 and 7.

    Parameters
    ----------
    draft, target : array, shape (..., V)
        As for :func:`otspec.batch.maximal_coupling`.
    drafts : array of token ids, shape (..., k)
        As for :func:`otspec.batch.recursive_rejection_without_replacement`.
    uniforms : array, shape (..., k + 1)
        Number i decides on the i-th ring that counts, and on those before it. What is left of the
        first one decides on the barriers, of the last but one on the selection and on
        acceptance. The last is for the draw.
    mask : array of bool, shape (..., k), optional
        True where a draft counts: the first ones of each row.
    partial : bool
        As for :func:`otspec.batch.recursive_rejection_without_replacement`.
    grades : int
        m, from 2 to 256.
    checked : bool
        As for :func:`otspec.batch.maximal_coupling`.

    Returns
    -------
    Verified

    Raises
    ------
    ValueError
        As :func:`otspec.batch.maximal_coupling`; or grades that are none.

    Notes
    -----
    With 6 grades the acceptance on a language model was below the optimum for distinct drafts by
    6e-4, 9e-4 and 6e-4 in the mean for k = 2, 4 and 8, where recursive rejection lost 0.05 to 0.09.

    Measured total variation between the law of the token and the target: at most 4e-8 in
    float32 and 4e-14 in float64 (:mod:`otspec.batch`), subnormal masses included.

    Cost: a sum per grade in one reading, and two passes; and for each row a quadrature, whose work
    grows with k². In JAX call it compiled.
    """
    with quietly(draft):
        name = "pooled_selection_without_replacement"
        number = as_grades(grades)
        draft, target, drafts = completed(partial, draft, target, drafts)
        return verified(name, draft, target, drafts, uniforms, mask, number, checked=checked)
