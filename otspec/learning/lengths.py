"""How many drafted levels of a chain or tree are lost, from the losses of its levels."""

from collections.abc import Iterable
from typing import Any

from otspec._base import as_list
from otspec.batch._arguments import check_tokens
from otspec.batch._array_api.library import Array, Library, library_of
from otspec.batch._arrays import as_number_of_drafts
from otspec.learning.losses import acceptance_loss, check_pair, rule_loss


def length_loss(
    draft_logits: Array,
    target_probs: Array | None,
    branching: Iterable[int],
    law: str = "iid",
    *,
    rule: str | None = None,
    tokens: Array | None = None,
    target_logits: Array | None = None,
    temperature: float = 1.0,
) -> Array:
    """Return how many of L drafted levels are lost in expectation: L − E[kept length].

    Without tokens E[kept length] is Σ_ℓ Π_{i≤ℓ} α_i, α_i the acceptance of the drafts of level i.
    That is exact if acceptance is independent from level to level given the rows, and a common
    approximation otherwise.

    With tokens y_i it is Σ_ℓ α_ℓ Π_{i<ℓ} P(level i is kept | its output is y_i). Of recursive
    rejection of k drafts that is min(1, c p(y)/q(y)), c = 1 + W_1 + … + W_{k−1}; its first scale is
    1, which is token verification. At the optimum for k > 1 it is not determined: several rules
    accept as much, of different tokens.

    Parameters
    ----------
    draft_logits, target_probs : array, shape (..., L, V)
        Rows at L places in a row along texts, as for :func:`acceptance_loss`.
    branching : iterable of int, length L
        How many drafts each node has at each level: ``[1, 1, 1]`` is a chain, ``[4, 2, 1]`` a tree.
    rule : str, optional
        In place of the optimum, as for :func:`rule_loss`; the law is the rule's.
    tokens : array of int, shape (..., L), optional
        For a chain, and for a tree with ``rule="recursive-rejection"``: the target's token at each
        place, drawn from the target, so that row i follows tokens before i. Then the mean over
        texts is exactly the expected kept length.
    law, target_logits, temperature
        As for :func:`acceptance_loss`, at every level.

    Returns
    -------
    array, shape (...)

    Raises
    ------
    ValueError
        As :func:`acceptance_loss`; a branching that does not have a number for each place, tokens
        of another shape, or tokens for a tree without that rule.
    """
    numbers = [as_number_of_drafts(k) for k in as_list(branching, "branching", "a list of numbers")]
    check_pair(draft_logits, target_probs, target_logits)
    if draft_logits.ndim < 2 or draft_logits.shape[-2] != len(numbers) or not numbers:
        raise ValueError(
            f"branching has {len(numbers)} levels and draft_logits shape {draft_logits.shape}: "
            "give one number of drafts for each of the L places of (..., L, V)"
        )
    if tokens is not None:
        check_tokens(tokens)
        if tokens.shape != draft_logits.shape[:-1]:
            raise ValueError(
                f"tokens has shape {tokens.shape} and draft_logits {draft_logits.shape}: give one "
                "token for each place"
            )
        if rule is None and all(k == 1 for k in numbers):
            rule = "recursive-rejection"
        if rule != "recursive-rejection":
            raise ValueError(
                f"tokens are given for the branching {numbers}: they make the loss exact for a "
                "chain or for rule 'recursive-rejection'; leave them out, or give that rule"
            )
    reached: Any = 1.0
    lost: Any = 0.0
    for level, k in enumerate(numbers):
        row, target, others = (
            None if part is None else part[..., level, :]
            for part in (draft_logits, target_probs, target_logits)
        )
        more: Any = {"target_logits": others, "temperature": temperature}
        if rule is None:
            missed = acceptance_loss(row, target, k, law, **more)
        else:
            missed = rule_loss(row, target, k, rule, **more)
        lost = lost + 1 - reached * (1 - missed)
        kept = 1 - missed
        if tokens is not None and rule is not None:
            earlier = (rule_loss(row, target, i, rule, **more) for i in range(1, k))
            scale = 1 + sum(earlier, 0 * missed)
            at = tokens[..., level]
            kept = _kept(library_of(draft_logits), row, target, others, temperature, at, scale)
        reached = reached * kept
    return lost


def _kept(
    library: Library,
    logits: Array,
    target: Array | None,
    target_logits: Array | None,
    temperature: float,
    tokens: Array,
    scale: Array,
) -> Array:
    """Return min(1, c p/q) at one token of each row."""
    xp, at = library.xp, library.ids(tokens)[..., None]

    def log_probability(logits: Array) -> Array:
        scaled = library.narrowed(logits) / temperature
        highest = xp.max(scaled, axis=-1, keepdims=True)
        size = xp.log(xp.sum(xp.exp(scaled - highest), axis=-1)) + highest[..., 0]
        return xp.take_along_axis(scaled, at, axis=-1)[..., 0] - size

    if target_logits is not None:
        wanted = log_probability(target_logits)
    else:
        wanted = xp.log(library.narrowed(xp.take_along_axis(target, at, axis=-1))[..., 0])
    # What is beyond 1 is cut off before it may be infinite, and so may its derivative.
    return xp.exp(xp.clip(xp.log(scale) + log_probability(logits) - wanted, max=0.0))
