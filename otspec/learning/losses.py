"""The public losses: arguments are checked, and go to PyTorch or JAX."""

import sys
from collections.abc import Callable
from typing import Any, TypeAlias

from array_api_compat import is_jax_array

from otspec._base import as_choice, shown
from otspec.batch import _arrays as arrays
from otspec.batch._arguments import check_probabilities
from otspec.batch._array_api.library import Array, is_torch
from otspec.learning.distinct import DistinctOptimum, OneRace
from otspec.learning.objectives import FixedButOneOptimum, IIDOptimum, Objective, SoftIIDOptimum
from otspec.learning.rules import KSequential, KullbackLeibler, RecursiveRejection, SharedNoise

Maker: TypeAlias = Callable[[int, int], Objective]  # (k, V) → what a draft is trained for


def _distinct(kind: Callable[[int], Objective]) -> Maker:
    """Return what makes an objective for drafts that are all different."""

    def make(k: int, size: int) -> Objective:
        arrays.as_count("k", k, 1, min(size, arrays.MOST_DISTINCT), "the tokens there are, and 64")
        return IIDOptimum(1) if k == 1 else kind(k)

    return make


def _hub(k: int, size: int) -> Objective:  # noqa: ARG001 # any size will do
    if k != 2:
        raise ValueError(f"k is {k}, but hub drafts come in pairs: use k = 2 or another law")
    return FixedButOneOptimum(2)


def _shared_noise(k: int, size: int) -> Objective:
    arrays.as_count("k", k, 1, min(size, arrays.MOST_DISTINCT), "the tokens there are, and 64")
    return SharedNoise() if k == 1 else OneRace(k)


LAWS: dict[str, Maker] = {
    "iid": lambda k, _: IIDOptimum(k),
    "without-replacement": _distinct(DistinctOptimum),
    "hub": _hub,
    "top-plus-one": _distinct(FixedButOneOptimum),
}
"""The laws of the drafts that the optimum is known for, as :data:`otspec.drafts.LAWS` has them."""
RULES: dict[str, Maker] = {
    "recursive-rejection": lambda k, _: RecursiveRejection(
        arrays.as_count("k", k, 1, arrays.MOST_PASSES, "a pass for each draft")
    ),
    "k-sequential": lambda k, _: KSequential(k),
    "gumbel-coupling": _shared_noise,
}
"""The rules that a draft can be trained for."""


def acceptance_loss(
    draft_logits: Array,
    target_probs: Array | None,
    k: int,
    law: str = "iid",
    *,
    target_logits: Array | None = None,
    temperature: float = 1.0,
    softness: float | None = None,
) -> Array:
    """Return 1 − α_k of each row: what the best rule rejects of k drafts from these logits.

    The gradient is that of the minimizing set A in α = min over A of q(A) + 1 − P(all drafts in A),
    with no graph over the search for A. Its mean is a loss for a draft model that will draft k
    tokens. For k = 1 it is the total variation. Law: :func:`otspec.optimal_acceptance`. Source:
    Danskin's theorem at the cut (:doc:`/training`).

    Ties: a token with q(y) = c p(y) counts as inside A; if several sets are minimal the gradient is
    that of one of them; of equal largest logits the lowest token id is the hub. Each is a
    subgradient of the piece that it belongs to. Where α = 1 the gradient is 0. Memory beyond the
    logits and the target: the gradient, and a chunk of rows.

    Parameters
    ----------
    draft_logits : array, shape (..., V)
        A tensor of PyTorch or an array of JAX: float32, float64 or a half-precision type, of which
        a row is computed in float32. ``-inf`` masks a token.
    target_probs : array, shape (..., V)
        The target's distributions, at its own temperature. No gradient flows to them.
    k : int
        Number of drafts.
    law : str
        How they are drawn: ``"iid"``, ``"without-replacement"`` (k at most 64; of a row with fewer
        than k tokens of positive probability all are drafted), ``"hub"`` (k = 2) or
        ``"top-plus-one"`` (k at most 64).
    target_logits : array, shape (..., V), optional
        In place of ``target_probs``, which is then None.
    temperature : float
        Divides the logits of the draft, and of the target where these are given.
    softness : float, optional
        For ``"iid"`` with k ≥ 2: a smooth minimum of the tangents takes the place of the minimum,
        so that the gradient does not jump from one set to another. In units of acceptance, such as
        0.01.

    Returns
    -------
    array, shape (...)
        float64 for float64 logits, else float32; from 0 to 1.

    Raises
    ------
    ValueError
        Arrays that are not of one library and shape, an unknown law, or a number out of range.
    """
    number = arrays.as_number_of_drafts(k)
    make = LAWS[as_choice(law, "law", LAWS)]
    if softness is None:
        return _loss(draft_logits, target_probs, target_logits, temperature, number, make)
    level = arrays.as_number("softness", softness)
    if not 0 < level < float("inf"):
        raise ValueError(f"softness is {shown(softness)}: it must be positive, such as 0.01")
    if law != "iid" or number < 2:
        raise ValueError(
            f"softness is given for law {law!r} with k = {number}: there is a smooth minimum for "
            "'iid' with k at least 2 only"
        )
    return _loss(
        draft_logits, target_probs, target_logits, temperature, number,
        lambda k, _: SoftIIDOptimum(k, level),
    )  # fmt: skip


def rule_loss(
    draft_logits: Array,
    target_probs: Array | None,
    k: int,
    rule: str,
    *,
    target_logits: Array | None = None,
    temperature: float = 1.0,
) -> Array:
    """Return how likely a rule accepts none of k drafts, for each row, with its exact gradient.

    The rule is ``"recursive-rejection"``, ``"k-sequential"`` at the smallest lossless ρ, or
    ``"gumbel-coupling"``: shared noise, the first k tokens of one race, k at most 64. Everything
    else is as for :func:`acceptance_loss`.

    A correction token that happens to be one of the drafts does not count as accepted. Ties have
    the gradient of one side; of shared noise tokens of equal ratio q/p have none of each other.
    Shared noise takes a sort for k = 1; for more drafts it is computed in NumPy, row by row, by a
    quadrature within 1e-8.
    """
    number = arrays.as_number_of_drafts(k)
    make = RULES[as_choice(rule, "rule", RULES)]
    return _loss(draft_logits, target_probs, target_logits, temperature, number, make)


def total_variation_loss(
    draft_logits: Array,
    target_probs: Array | None,
    *,
    target_logits: Array | None = None,
    temperature: float = 1.0,
) -> Array:
    """Return Σ (q − p)₊ of each row: :func:`acceptance_loss` for k = 1, for comparison.

    Parameters, result and errors: :func:`acceptance_loss`.
    """
    return acceptance_loss(
        draft_logits, target_probs, 1, target_logits=target_logits, temperature=temperature
    )


def kullback_leibler_loss(
    draft_logits: Array,
    target_probs: Array | None,
    *,
    target_logits: Array | None = None,
    temperature: float = 1.0,
) -> Array:
    """Return Σ q log(q/p) of each row in nats, the usual loss of distillation, for comparison.

    Parameters, result and errors: :func:`acceptance_loss`.
    """
    return _loss(
        draft_logits, target_probs, target_logits, temperature, 1, lambda *_: KullbackLeibler()
    )


def _loss(
    draft_logits: Array,
    target_probs: Array | None,
    target_logits: Array | None,
    temperature: Any,
    k: int,
    make: Maker,
) -> Array:
    """Check the arrays, and return the loss that an objective has for them."""
    target = check_pair(draft_logits, target_probs, target_logits)
    heat = arrays.as_number("temperature", temperature)
    if not 0 < heat < float("inf"):
        raise ValueError(f"temperature is {shown(temperature)}: it must be positive and finite")
    objective = make(k, draft_logits.shape[-1])
    if is_torch(draft_logits):
        from otspec.learning import with_torch  # it imports PyTorch, which is there already

        return with_torch.loss_of(draft_logits, target, objective, heat, target_probs is None)
    from otspec.learning import with_jax

    return with_jax.loss_of(draft_logits, target, objective, heat, target_probs is None)


def check_pair(
    draft_logits: Array, target_probs: Array | None, target_logits: Array | None
) -> Array:
    """Check the arrays, and return the target."""
    if (target_probs is None) == (target_logits is None):
        given = "neither" if target_probs is None else "both"
        raise ValueError(
            f"{given} of target_probs and target_logits is given: pass one, and None for the other"
        )
    name = "target_logits" if target_probs is None else "target_probs"
    target: Any = target_logits if target_probs is None else target_probs
    if not (is_torch(draft_logits) or ("jax" in sys.modules and is_jax_array(draft_logits))):
        raise ValueError(
            f"draft_logits is {arrays.kind_of(draft_logits)}: pass a tensor of PyTorch or an array "
            "of JAX, which can be trained"
        )
    arrays.check_library(draft_logits=draft_logits, **{name: target})
    check_probabilities("draft_logits", draft_logits)
    check_probabilities(name, target)
    if target.shape != draft_logits.shape:
        raise ValueError(
            f"{name} has shape {target.shape} and draft_logits {draft_logits.shape}: give both one "
            "shape (..., V)"
        )
    return target
