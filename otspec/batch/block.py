"""Block verification of one draft block."""

from __future__ import annotations

from otspec.batch.arguments import (
    as_arrays,
    check_alike,
    check_probabilities,
    check_tokens,
    check_uniforms,
)
from otspec.batch.arrays import Array, Library, quiet
from otspec.batch.checks import check_mask, counted_ids
from otspec.batch.draws import block_weights, locate
from otspec.batch.passes import Weight, block_sums, the_target
from otspec.batch.results import VerifiedBlock
from otspec.batch.sequential import passes


@quiet
def block_verification(
    draft: Array,
    target: Array,
    drafts: Array,
    uniforms: Array,
    /,
    *,
    mask: Array | None = None,
) -> VerifiedBlock:
    """Decide jointly how much of a block of L drafts to keep.

    With w_0 = 1 and w_i = min(1, w_{i−1} q_i(x_i) / p_i(x_i)), Z_i = Σ (w_i q_{i+1} − p_{i+1})₊
    and h_i = Z_i / (Z_i + 1 − w_i), or w_L at the end, the block is kept up to the last i whose
    uniform number is below h_i. Then one token is drawn from (w_i q_{i+1} − p_{i+1})₊, or
    from the target after a whole block.

    Law: the kept tokens, the drawn one, and the target's own continuation are distributed as the
    target's text; no such rule keeps more in the mean. Source: block verification, published
    version, alg. 2.

    Parameters
    ----------
    draft : array, shape (..., L, V)
        What each token of the block was drawn from, p_1 to p_L.
    target : array, shape (..., L + 1, V)
        The target at the same places, and after the block.
    drafts : array of token ids, shape (..., L)
        The block.
    uniforms : array, shape (..., L + 1)
        One for each place, the last one for the draw.
    mask : array of bool, shape (..., L), optional
        True for the tokens of a shorter block, which come first: the target after a block of
        ℓ tokens is then ``target[..., ℓ, :]``.

    Returns
    -------
    VerifiedBlock
        ``length`` and ``token``, each of shape (...).

    Raises
    ------
    ValueError
        As :func:`otspec.batch.maximal_coupling`; also blocks that do not fit.

    Notes
    -----
    Each place goes through the sums of :func:`otspec.batch.maximal_coupling`, whose total variation
    is at most 3e-8 in float32 and 3e-16 in float64. Cost: one pass over the block.
    """
    library = _checked(draft, target, drafts, uniforms, mask)
    xp = library.xp
    uniforms, length = library.widened(uniforms), draft.shape[-2]
    valid = check_mask(library, mask, drafts)
    ids = counted_ids(library, drafts, valid, draft.shape[-1])
    kept = _kept(library, draft, target, ids, valid)  # (..., L + 1): w_0 to w_L
    before = target[..., :-1, :]
    (lacking,) = block_sums(library, draft, before, _lack(library, kept[..., :-1]))
    (whole,) = block_sums(library, target, target, the_target)
    z = xp.sum(lacking, axis=-1)
    ends = xp.sum(library.ids(valid), axis=-1)  # the length of each block
    place = library.arange(length + 1)
    at_end = place == ends[..., None]
    none = xp.zeros_like(z[..., :1])
    z = xp.concat([z, none], axis=-1)
    wanted = xp.where(at_end, kept, z)
    offered = xp.where(at_end, xp.ones_like(z), z + (1 - kept))
    # 0/0 counts as 1: a prefix that is surely kept.
    sure = (kept >= 1) & (place <= ends[..., None])
    stays = (passes(uniforms[..., :-1], wanted[..., 1:], offered[..., 1:]) | sure[..., 1:]) & valid
    number = library.arange(length) + 1
    tau = xp.max(xp.where(stays, number, xp.zeros_like(number)), axis=-1)
    padded = xp.concat([lacking, xp.zeros_like(whole[..., :1, :])], axis=-2)
    from_target = (place == ends[..., None]) | (xp.sum(padded, axis=-1) == 0)
    token = _drawn(library, draft, target, kept, whole, padded, from_target, tau, uniforms)
    return VerifiedBlock(tau, token)


def _kept(library: Library, draft: Array, target: Array, ids: Array, valid: Array) -> Array:
    """Return w_0 to w_L: (..., L + 1)."""
    xp = library.xp
    drafted = library.take(draft, ids[..., None])[..., 0]
    wanted = library.take(target[..., :-1, :], ids[..., None])[..., 0]
    weights = [xp.ones_like(drafted[..., 0])]
    for i in range(ids.shape[-1]):
        more = weights[-1] * wanted[..., i]
        ratio = library.quotient(more, drafted[..., i], otherwise=1.0)
        ratio = xp.where(more > 0, xp.clip(ratio, max=1.0), xp.zeros_like(ratio))
        weights.append(xp.where(valid[..., i], ratio, weights[-1]))
    return xp.stack(weights, axis=-1)


def _lack(library: Library, kept: Array) -> Weight:
    """Return the weight (w·target − draft)₊ for a w per row, shape (...)."""
    maximum, kept = library.inner.maximum, library.narrowed(kept)[..., None]
    # Exactly 0 where nothing is left, also if the compiler fuses the product.
    return lambda draft, target: maximum(kept * target, draft) - draft


def _drawn(
    library: Library,
    draft: Array,
    target: Array,
    kept: Array,
    whole: Array,
    lacking: Array,
    from_target: Array,
    tau: Array,
    uniforms: Array,
) -> Array:
    """Draw the token at place ``tau`` of each row."""
    xp = library.xp
    blocks = xp.where(from_target[..., None], whole, lacking)
    # One row of the L + 1, chosen along the last axis but one.
    blocks = _at(library, blocks, tau)
    block, left = locate(library, blocks, uniforms[..., -1])
    place = xp.clip(tau, max=draft.shape[-2] - 1)
    same = xp.zeros_like(tau)[..., None]
    every = block[..., None] + xp.zeros_like(draft[..., 0], dtype=library.index)
    ids, drafted = block_weights(library, draft, draft, lambda p, _: p, every)
    more = block[..., None] + xp.zeros_like(target[..., 0], dtype=library.index)
    _, wanted = block_weights(library, target, target, lambda _, q: q, more)
    drafted, wanted = _at(library, drafted, place), _at(library, wanted, tau)
    lack = _lack(library, library.pick(kept, place))
    weights = library.widened(lack(library.narrowed(drafted), library.narrowed(wanted)))
    plain = xp.take_along_axis(from_target, tau[..., None] + same, axis=-1)
    within, _ = locate(library, xp.where(plain, wanted, weights), left)
    token = library.pick(ids[..., 0, :], within)
    some = xp.sum(blocks, axis=-1) > 0
    return xp.where(some, token, xp.full_like(token, -1))


def _at(library: Library, values: Array, place: Array) -> Array:
    """Return one row of each matrix: (..., L, m), (...) -> (..., m)."""
    xp = library.xp
    index = place[..., None, None] + xp.zeros_like(values[..., :1, :], dtype=library.index)
    return xp.take_along_axis(values, index, axis=-2)[..., 0, :]


def _checked(
    draft: Array, target: Array, drafts: Array, uniforms: Array, mask: Array | None
) -> Library:
    given = {} if mask is None else {"mask": mask}
    library = as_arrays(draft=draft, target=target, drafts=drafts, uniforms=uniforms, **given)
    check_probabilities("draft", draft)
    check_probabilities("target", target)
    check_alike(draft, target)
    if draft.ndim < 2 or draft.shape[-2] == 0:
        raise ValueError(f"draft has shape {draft.shape}: it must be (..., L, V), L at least 1")
    *lead, length, size = draft.shape
    if target.shape != (*lead, length + 1, size):
        raise ValueError(
            f"target has shape {target.shape} and draft {draft.shape}: the target has one place "
            f"more, {(*lead, length + 1, size)}"
        )
    if drafts.shape != (*lead, length):
        raise ValueError(f"drafts has shape {drafts.shape}: it must be {(*lead, length)}")
    check_tokens("drafts", drafts)
    check_uniforms(uniforms, (*lead, length + 1))
    return library
