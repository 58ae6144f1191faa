"""The front of the rules: arguments are checked, and go to the kernel of the table."""

from otspec.batch._array_api.library import Array, quietly
from otspec.batch._calls import completed, verified
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
        float32. Rows should sum to 1: what is off is off in the law, too.
    drafts : array of token ids, shape (..., 1)
        Drawn from the draft.
    uniforms : array, shape (..., 2)
        Independent and uniform on [0, 1), float32 or float64: for the draft and for the draw.
    mask : array of bool, shape (..., 1), optional
        False where a row has no draft: its token is drawn from the target.
    partial : bool
        True where rows of the draft sum to less than 1, as of a policy that withdraws drafts by
        token (:class:`otspec.Masked`). A withdrawn draft is −1, or any id out of range.
    checked : bool
        True where the caller knows that the arguments fit, so that nothing of them is looked at.
        If they do not, the error or the token may be any.

    Returns
    -------
    Verified
        ``token``, ``accepted``, ``index``, each of shape (...).

    Raises
    ------
    ValueError
        What is not a plain array; libraries, shapes, dtypes or devices that do not fit. Values are
        not looked at, but for token ids out of range in NumPy's arrays and in rows on a CPU.

    Notes
    -----
    Measured total variation between the law of the token and the target: at most 3e-8 in
    float32 and 3e-16 in float64 (:mod:`otspec.batch`). Cost: one pass.
    """
    with quietly(draft):
        draft, target, drafts = completed(partial, draft, target, drafts)
        return verified("maximal_coupling", draft, target, drafts, uniforms, mask, checked=checked)


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
    Source: MCSD, alg. 1; SpecHub, alg. 1 with replacement.

    Parameters
    ----------
    draft, target : array, shape (..., V)
        As for :func:`otspec.batch.maximal_coupling`.
    drafts : array of token ids, shape (..., k)
        Drawn from the draft, independently.
    uniforms : array, shape (..., k + 1)
        One for each draft, the last one for the draw if all are rejected.
    mask : array of bool, shape (..., k), optional
        True where a draft counts; rows may have different numbers of drafts, also none.
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
        As :func:`otspec.batch.maximal_coupling`.

    Notes
    -----
    Measured total variation between the law of the token and the target: at most 1.3e-7 in
    float32 and 9e-16 in float64 (:mod:`otspec.batch`). Cost: k passes.
    """
    with quietly(draft):
        draft, target, drafts = completed(partial, draft, target, drafts)
        return verified(
            "recursive_rejection", draft, target, drafts, uniforms, mask, checked=checked
        )


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

    Draft i is drawn from p̄_i, p renormalised off the earlier drafts. Accept it with probability
    min(1, q_{i−1}/p̄_i), else go on with q_i ∝ (q_{i−1} − p̄_i)₊.

    Law: the token is distributed as the target;
    :class:`otspec.rules.RecursiveRejectionWithoutReplacement`.
    Source: MCSD, alg. 2; SpecHub, alg. 1 without replacement.

    Parameters
    ----------
    draft, target, uniforms, mask, checked
        As for :func:`otspec.batch.recursive_rejection`.
    drafts : array of token ids, shape (..., k)
        Distinct, in the order in which they were drawn, such as from
        :func:`otspec.batch.sample_without_replacement`. A row may leave out its last ones.
    partial : bool
        As for :func:`otspec.batch.maximal_coupling`. The null token is one of the tokens that
        distinct drafts are drawn from, so that it is drafted once at most.

    Returns
    -------
    Verified

    Raises
    ------
    ValueError
        As :func:`otspec.batch.maximal_coupling`.

    Notes
    -----
    Measured total variation between the law of the token and the target: at most 4e-8 in
    float32 and 3e-16 in float64 (:mod:`otspec.batch`), two drafts. Cost: k passes and a sum.
    """
    with quietly(draft):
        name = "recursive_rejection_without_replacement"
        draft, target, drafts = completed(partial, draft, target, drafts)
        return verified(name, draft, target, drafts, uniforms, mask, checked=checked)


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
    g = 1 + (1−β) + … + (1−β)^{k−1}. That is lossless for every ρ ≥ ρ*, where ρ* = g. Here ρ is
    a little above ρ*: see the notes.

    Law: the token is distributed as the target; :class:`otspec.rules.KSequential` at that ρ.
    Source: SpecTr, alg. 2.

    Parameters
    ----------
    draft, target, drafts, uniforms, mask, partial, checked
        As for :func:`otspec.batch.recursive_rejection`.

    Returns
    -------
    Verified

    Raises
    ------
    ValueError
        As :func:`otspec.batch.maximal_coupling`.

    Notes
    -----
    ρβ = Σ min(q, ρp) is concave in ρ, so that a chord between two values of it is below it, and
    the root that the chord gives is above ρ*: a valid ρ. Two values in one pass give a chord,
    two more in a second pass a much shorter one. On a language model the acceptance that this
    costs was 1e-6, 1e-5 and 7e-5 in the mean for k = 2, 4 and 8, and at most 5e-4; it never
    costs losslessness.

    Measured total variation between the law of the token and the target: at most 9e-8 in
    float32 and 3e-16 in float64 (:mod:`otspec.batch`).

    Cost: four sums in two readings, and one pass.
    """
    with quietly(draft):
        draft, target, drafts = completed(partial, draft, target, drafts)
        return verified("k_sequential", draft, target, drafts, uniforms, mask, checked=checked)


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
    """Serve a token x off the hub a from the pairs (x, a), then (a, x); a takes what is left.

    Law: the token is distributed as the target; :class:`otspec.rules.SpecHub`, optimal for its
    draft law. Source: SpecHub, alg. 3.

    Parameters
    ----------
    draft, target : array, shape (..., V)
        As for :func:`otspec.batch.maximal_coupling`.
    drafts : array of token ids, shape (..., 2)
        From :func:`otspec.batch.sample_spechub`: one of them is the likeliest token of the
        draft, of equally likely ones the first.
    uniforms : array, shape (..., 3)
        For the token off the hub, for the hub, for the draw.
    partial : bool
        As for :func:`otspec.batch.maximal_coupling`. The null token, after all others, may be the
        hub.
    checked : bool
        As for :func:`otspec.batch.maximal_coupling`.

    Returns
    -------
    Verified

    Raises
    ------
    ValueError
        As :func:`otspec.batch.maximal_coupling`; or another number of drafts.

    Notes
    -----
    There is no mask: the rule has no single draft.

    Measured total variation between the law of the token and the target: at most 1.1e-7 in
    float32 and 7e-16 in float64 (:mod:`otspec.batch`).

    Cost: three passes.
    """
    with quietly(draft):
        draft, target, drafts = completed(partial, draft, target, drafts)
        return verified("spechub", draft, target, drafts, uniforms, None, checked=checked)
