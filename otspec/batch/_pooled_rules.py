"""The front of pooled selection: arguments are checked, and go to the kernels."""

from otspec.batch._array_api.library import Array
from otspec.batch._arrays import as_grades
from otspec.batch._calls import verified
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
    mean grade is r; above k it is in the last pool. A draft is then selected as in
    :class:`otspec.rules.PooledSelection`, from the highest group of pools between barriers that
    holds one. The law of the selected token is b(y) = p(y) f(r), where f is a broken line
    through clip(t_j, low, high) at t_j: it is q except for the lowest and highest ratios.

    Law: the token is distributed as the target, for any grades. More grades bring the acceptance
    closer to the optimum for i.i.d. drafts: with 6 it was below it on a language model by 5e-4,
    4e-4 and 3e-4 for k = 2, 4 and 8 (K-Seq by 0.03 to 0.05, recursive rejection by 0.05 to 0.08).
    Total variation: at most 1.3e-7 in float32 and 8e-16 in float64.
    Source: the documentation ("Pooled selection"), proposition 7. Cost: a sum per grade in one
    reading, and one pass.

    Parameters
    ----------
    uniforms : array, shape (..., k + 1)
        Number i decides the grade of draft i. The rest of the first one decides the barriers, the
        rest of the last but one the selection and the acceptance. The last is for the draw.
    grades : int
        m, from 2 to 256; else a ValueError.
    draft, target, drafts, mask, partial, checked
        As for :func:`otspec.batch.recursive_rejection`, as are the result and the errors.
    """
    given, number = (draft, target, drafts, uniforms, mask), as_grades(grades)
    return verified("pooled_selection", given, number, partial=partial, checked=checked)


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

    Give each token an exponential clock that goes off again and again, with the draft as its rate:
    the distinct drafts are the first k tokens to arrive. Each arrival of a token of ratio r = q/p
    between two grades is in the pool of one of the two at random, so that its mean grade is r. Take
    the highest group of pools between barriers that has an arrival. With probability 1 − λ select
    the draft of its first arrival, otherwise a draft in proportion to its mass in the group. The
    law of the selected draft is then p(y) f(r), with a broken line f as for
    :func:`otspec.batch.pooled_selection`.

    For all but the 32 heaviest tokens every arrival counts as a draft, so they enter only through
    sums. The grades are 0 and, in equal steps, 1/2 to Σ 1/(1 − s_i), where s_i is the mass of the i
    heaviest tokens, i < k: no token is drafted more often than this times p.

    Law: the token is distributed as the target, for any grades;
    :class:`otspec.rules.PooledSelectionWithoutReplacement` with ``pools=Graded(grades)``. With 6
    grades the acceptance on a language model was below the optimum for distinct drafts by 6e-4,
    9e-4 and 6e-4 for k = 2, 4 and 8 (recursive rejection by 0.05 to 0.09). Total variation: at
    most 4e-8 in float32 and 4e-14 in float64, subnormal masses included.
    Source: the documentation ("Beyond i.i.d. drafts"), propositions 6 and 7. Cost: a sum per grade
    in one reading, two passes, and for each row a quadrature, whose work grows with k². In JAX call
    it inside ``jax.jit``.

    Parameters
    ----------
    uniforms : array, shape (..., k + 1)
        Number i decides the i-th arrival that counts, and the arrivals before it. The others are
        used as by :func:`otspec.batch.pooled_selection`.
    mask : array of bool, shape (..., k), optional
        True where a draft counts: the first ones of each row.
    grades : int
        m, from 2 to 256; else a ValueError.
    draft, target, drafts, partial, checked
        As for :func:`otspec.batch.recursive_rejection_without_replacement`, as are the result and
        the errors.
    """
    name = "pooled_selection_without_replacement"
    given, number = (draft, target, drafts, uniforms, mask), as_grades(grades)
    return verified(name, given, number, partial=partial, checked=checked)
