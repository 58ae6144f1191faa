"""Draws from weights over the vocabulary by inversion, from one uniform number per row.

A cumulative sum of 128,000 float32 numbers is off by far more than their rounding: its tail is
biased. Here the vocabulary is cut into blocks of 256 tokens. The blocks' sums are added up in
float64 where there is one, the uniform number chooses a block, and within the block it chooses
the token in the same way. That is also a fraction of the work of a cumulative sum.
"""

from __future__ import annotations

from otspec.batch._kernels.library import BLOCK, Array, Library
from otspec.batch._kernels.sums import Weight


def draw(
    library: Library,
    draft: Array,
    target: Array,
    weight: Weight,
    blocks: Array,
    uniforms: Array,
    excluded: Array | None = None,
) -> Array:
    """Draw a token with probability proportional to its weight.

    Parameters
    ----------
    library : Library
    draft, target : array, shape (..., V)
    weight : callable
        What the tokens weigh.
    blocks : array, shape (..., ceil(V / 256))
        The block sums of that weight.
    uniforms : array, shape (...)
        From 0 to 1.
    excluded : array, shape (..., j), optional
        Tokens that weigh nothing, which ``blocks`` knows already.

    Returns
    -------
    array of token ids, shape (...)
        A token of weight 0 is drawn only where all weights are 0.
    """
    if library.fused is not None and library.fused.takes(library, draft, target, weight):
        return library.fused.draw(library, draft, target, weight, blocks, uniforms, excluded)
    block, left = locate(library, blocks, library.widened(uniforms))
    ids, weights = block_weights(library, draft, target, weight, block, excluded)
    within, _ = locate(library, weights, left)
    return library.pick(ids, within)


def locate(library: Library, weights: Array, uniforms: Array) -> tuple[Array, Array]:
    """Return where uniform numbers fall: (..., m), (...) -> (...), (...).

    Returns
    -------
    index : array
        Of an entry of positive weight, if there is one.
    left : array
        How far into that entry the number falls, from 0 to 1: a uniform number again.
    """
    xp = library.xp
    sums = xp.cumulative_sum(weights, axis=-1)
    total = sums[..., -1:]
    # Shares of the total, not u·total: that is far from u times the total if both are subnormal.
    safe = xp.where(total > 0, total, xp.ones_like(total))
    # A parallel sum may change where nothing is added: such an entry is passed over.
    here = (sums / safe > uniforms[..., None]) & (weights > 0)
    index = xp.where(xp.any(here, axis=-1), library.first(here), library.largest(weights))
    safe = safe[..., 0]
    chosen = library.pick(weights, index) / safe
    before = library.pick(sums, index) / safe - chosen
    left = library.quotient(uniforms - before, chosen)
    return index, xp.clip(left, 0.0, 1.0)


def block_weights(
    library: Library,
    draft: Array,
    target: Array,
    weight: Weight,
    block: Array,
    excluded: Array | None = None,
) -> tuple[Array, Array]:
    """Return the token ids of one block per row and their weights, both (..., 256).

    Beyond the vocabulary, and at excluded tokens, the weight is 0.
    """
    xp = library.xp
    ids = block[..., None] * BLOCK + library.arange(min(BLOCK, draft.shape[-1]))
    last = draft.shape[-1] - 1
    inside = ids <= last
    ids = xp.where(inside, ids, xp.full_like(ids, last))
    drafted = xp.take_along_axis(draft, ids, axis=-1)
    wanted = drafted if target is draft else xp.take_along_axis(target, ids, axis=-1)
    weights = library.widened(weight(library.narrowed(drafted), library.narrowed(wanted)))
    if excluded is not None:
        inside = inside & ~xp.any(ids[..., None] == excluded[..., None, :], axis=-1)
    return ids, xp.where(inside, weights, xp.zeros_like(weights))


def without(
    library: Library,
    draft: Array,
    target: Array,
    weight: Weight,
    blocks: Array,
    excluded: Array,
) -> Array:
    """Return block sums with the last of the excluded tokens taken out as well.

    Its block is added up anew, without all of them: subtracting a token that holds nearly all
    of the weight would leave nothing but rounding.
    """
    if library.fused is not None and library.fused.takes(library, draft, target, weight):
        return library.fused.without(library, draft, target, weight, blocks, excluded)
    xp = library.xp
    block = excluded[..., -1] // BLOCK
    _, weights = block_weights(library, draft, target, weight, block, excluded)
    its_own = library.arange(blocks.shape[-1]) == block[..., None]
    return xp.where(its_own, xp.sum(weights, axis=-1)[..., None], blocks)
