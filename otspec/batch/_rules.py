"""The front of the rules for one token: arguments are checked, and go to the kernels."""

from otspec.batch._array_api.library import Array
from otspec.batch._arrays import as_grades
from otspec.batch._calls import verified
from otspec.batch._results import Verified


def maximal_coupling(
    draft: Array,
    target: Array,
    drafts: Array,
    uniforms: Array,
    /,
    *,
    mask: Array | None = None,
    partial: bool = False,
    checked: bool = False,
) -> Verified:
    """Accept the one draft x with probability min(1, q(x)/p(x)), else draw from (q − p)₊.

    Law: the token is distributed as the target; :class:`otspec.rules.MaximalCoupling`.
    Source: SpecTr, alg. 1.

    Parameters
    ----------
    draft, target : array, shape (..., V)
        Probabilities p and q; float32 or float64, or a half-precision type, which is computed in
        float32. Rows should sum to 1; an error in a sum is an error in the law.
    drafts : array of token ids, shape (..., 1)
        Drawn from the draft.
    uniforms : array, shape (..., 2)
        Independent and uniform on [0, 1), float32 or float64: for the draft and for the draw.
    mask : array of bool, shape (..., 1), optional
        False where a row has no draft: its token is drawn from the target.
    partial : bool
        True if rows of the draft may sum to less than 1, because a policy withdraws drafts by
        token (:class:`otspec.Masked`). A withdrawn draft is −1, or any id out of range.
    checked : bool
        True skips all checks of the arguments, for callers who know that they fit. Otherwise the
        result, or the error, is undefined.

    Returns
    -------
    Verified
        ``token``, ``accepted``, ``index``, each of shape (...).

    Raises
    ------
    ValueError
        An argument that is not a plain array; libraries, shapes, dtypes or devices that do not fit.
        Values are not checked, except token ids in NumPy's arrays and in rows on a CPU.

    Notes
    -----
    Total variation between the law of the token and the target, measured: at most 3e-8 in float32
    and 3e-16 in float64 (:mod:`otspec.batch`). Cost: one pass.
    """
    given = draft, target, drafts, uniforms, mask
    return verified("maximal_coupling", given, partial=partial, checked=checked)


def recursive_rejection(
    draft: Array,
    target: Array,
    drafts: Array,
    uniforms: Array,
    /,
    *,
    mask: Array | None = None,
    partial: bool = False,
    checked: bool = False,
) -> Verified:
    """Accept draft i with probability min(1, q_{i−1}/p), else go on with q_i ∝ (q_{i−1} − p)₊.

    Law: the token is distributed as the target; :class:`otspec.rules.RecursiveRejection`.
    Source: MCSD, alg. 1; SpecHub, alg. 1 with replacement. Total variation: at most 1.3e-7 in
    float32 and 9e-16 in float64. Cost: k passes.

    Parameters
    ----------
    drafts : array of token ids, shape (..., k)
        Drawn from the draft, independently.
    uniforms : array, shape (..., k + 1)
        One for each draft, and the last one for the draw if all are rejected.
    mask : array of bool, shape (..., k), optional
        True where a draft counts. Rows may have different numbers of drafts, or none.
    draft, target, partial, checked
        As for :func:`otspec.batch.maximal_coupling`, as are the result and the errors.
    """
    given = draft, target, drafts, uniforms, mask
    return verified("recursive_rejection", given, partial=partial, checked=checked)


def recursive_rejection_without_replacement(
    draft: Array,
    target: Array,
    drafts: Array,
    uniforms: Array,
    /,
    *,
    mask: Array | None = None,
    partial: bool = False,
    checked: bool = False,
) -> Verified:
    """Recursive rejection of distinct drafts, drawn one after another without replacement.

    Draft i is drawn from p̄_i, which is p without the earlier drafts, rescaled. Accept it with
    probability min(1, q_{i−1}/p̄_i), else go on with q_i ∝ (q_{i−1} − p̄_i)₊.

    Law: the token is distributed as the target;
    :class:`otspec.rules.RecursiveRejectionWithoutReplacement`. Source: MCSD, alg. 2; SpecHub,
    alg. 1 without replacement. Total variation for two drafts: at most 4e-8 in float32 and 3e-16
    in float64. Cost: k passes and a sum.

    Parameters
    ----------
    drafts : array of token ids, shape (..., k)
        Distinct, in the order in which they were drawn, such as from
        :func:`otspec.batch.sample_without_replacement`. A mask may leave out the last ones.
        With ``partial`` they contain the null token at most once.
    draft, target, uniforms, mask, partial, checked
        As for :func:`otspec.batch.recursive_rejection`, as are the result and the errors.
    """
    name, given = "recursive_rejection_without_replacement", (draft, target, drafts, uniforms, mask)
    return verified(name, given, partial=partial, checked=checked)


def k_sequential(
    draft: Array,
    target: Array,
    drafts: Array,
    uniforms: Array,
    /,
    *,
    mask: Array | None = None,
    partial: bool = False,
    checked: bool = False,
) -> Verified:
    """Accept each draft x in turn with probability min(1, q(x) / (ρ p(x))).

    With β = Σ min(p, q/ρ), the residual after k rejections is ∝ q − min(p, q/ρ) g, where
    g = 1 + (1−β) + … + (1−β)^{k−1}. This is lossless for every ρ ≥ ρ*, where ρ* = g. Here ρ is
    slightly above ρ*: ρβ = Σ min(q, ρp) is concave in ρ, so a chord is below it, and the root of
    the chord is above ρ*. One pass gives a chord, a second pass a much shorter one.

    Law: the token is distributed as the target; :class:`otspec.rules.KSequential` at that ρ. On a
    language model the mean loss of acceptance was 1e-6, 1e-5 and 7e-5 for k = 2, 4 and 8, and at
    most 5e-4. Source: SpecTr, alg. 2. Total variation: at most 9e-8 in float32 and 3e-16 in
    float64. Cost: four sums in two readings, and one pass.

    Parameters, result and errors are those of :func:`otspec.batch.recursive_rejection`.
    """
    given = draft, target, drafts, uniforms, mask
    return verified("k_sequential", given, partial=partial, checked=checked)


def spechub(
    draft: Array,
    target: Array,
    drafts: Array,
    uniforms: Array,
    /,
    *,
    partial: bool = False,
    checked: bool = False,
) -> Verified:
    """Accept a token x other than the hub a from the pairs (x, a), then (a, x); a takes the rest.

    Law: the token is distributed as the target; :class:`otspec.rules.SpecHub`, optimal for its
    draft law. Source: SpecHub, alg. 3. Total variation: at most 1.1e-7 in float32 and 7e-16 in
    float64. Cost: three passes. There is no mask: the rule has no single draft.

    Parameters
    ----------
    drafts : array of token ids, shape (..., 2)
        From :func:`otspec.batch.sample_spechub`: one of them is the likeliest token of the
        draft (the first one of equal tokens).
    uniforms : array, shape (..., 3)
        For the token other than the hub, for the hub, and for the draw.
    partial : bool
        The null token comes after all others and may be the hub.
    draft, target, checked
        As for :func:`otspec.batch.maximal_coupling`, as are the result and the errors.
    """
    given = draft, target, drafts, uniforms, None
    return verified("spechub", given, partial=partial, checked=checked)


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
