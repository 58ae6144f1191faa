"""Draws from weights over the vocabulary by inversion, and maximal coupling (SpecTr, alg. 1).

A cumulative sum of 128,000 float32 numbers is off by far more than their rounding: its tail is
biased. So blocks of 256 tokens are added up in float64 where there is one; the uniform number
of a row chooses a block, then the token within it.
"""

from dataclasses import replace
from math import inf, prod

from otspec.batch._array_api.library import BLOCK, Array, Library, Problem
from otspec.batch._array_api.sums import KnownWeight, Weight, block_sums, the_draft
from otspec.batch._results import Verified

_COMPARED = 4096  # how many pairs of drafts are looked at at once, in each place of a block


def draw(
    library: Library, draft, target, weight: Weight, blocks, uniforms, excluded: Array | None = None
) -> Array:
    """Draw a token with probability proportional to its weight: (...)."""
    if library.fused is not None and library.fused.takes(library, draft, target, weight):
        return library.fused.draw(library, draft, target, weight, blocks, uniforms, excluded)
    block, left = locate(library, blocks, library.widened(uniforms))
    _, weights = block_weights(library, draft, target, weight, block, excluded)
    within, *_ = _fall(library, weights, left[..., None])
    return (block[..., None] * BLOCK + within)[..., 0]


def locate(library: Library, weights, uniforms) -> tuple[Array, Array]:
    """Return where uniform numbers fall, and how far into that entry: uniform numbers again."""
    xp = library.xp
    index, shares, total = _fall(library, weights, uniforms[..., None])
    chosen = xp.take_along_axis(weights, index, axis=-1) / total
    beyond = xp.take_along_axis(shares, index, axis=-1) - uniforms[..., None]
    below_one = 1 - float(xp.finfo(library.wide).eps) / 2
    left = xp.clip(1 - library.quotient(beyond, chosen), 0.0, below_one)
    return index[..., 0], left[..., 0]


def _fall(library: Library, weights, uniforms) -> tuple[Array, Array, Array]:
    """Return where uniform numbers fall, (..., 1), the shares up to each entry, and the total."""
    xp = library.xp
    sums = xp.cumulative_sum(weights, axis=-1)
    total = sums[..., -1:]
    # Shares of the total, not u·total: that is far from u times the total if both are subnormal.
    shares = sums / total
    # A parallel sum may change where nothing is added: such an entry is passed over.
    here = (shares > uniforms) & (weights > 0)
    return library.largest(xp.where(here, inf, weights))[..., None], shares, total


def block_weights(
    library: Library, draft, target, weight: Weight, block, excluded: Array | None = None
) -> tuple[Array, Array]:
    """Return the token ids of one block per row and their weights, both (..., 256)."""
    # Beyond the vocabulary, and at excluded tokens, the weight is 0.
    xp = library.xp
    size = draft.shape[-1]
    ids = block[..., None] * BLOCK + library.arange(min(BLOCK, size))
    none = None
    if size > BLOCK and size % BLOCK:
        none = ids >= size
        ids = xp.clip(ids, max=size - 1)
    drafted = xp.take_along_axis(draft, ids, axis=-1)
    wanted = drafted if target is draft else xp.take_along_axis(target, ids, axis=-1)
    weights = library.widened(weight(library.narrowed(drafted), library.narrowed(wanted)))
    if excluded is not None:
        out = xp.any(ids[..., None] == excluded[..., None, :], axis=-1)
        none = out if none is None else none | out
    return ids, weights if none is None else xp.where(none, 0.0, weights)


def without(library: Library, draft, target, weight: Weight, blocks, excluded) -> Array:
    """Return block sums with the last of the excluded tokens taken out as well."""
    # Its block is added up anew, without all of them: subtracting a token that holds nearly all of
    # the weight would leave nothing but rounding.
    if library.fused is not None and library.fused.takes(library, draft, target, weight):
        return library.fused.without(library, draft, target, weight, blocks, excluded)
    xp = library.xp
    block = excluded[..., -1] // BLOCK
    _, weights = block_weights(library, draft, target, weight, block, excluded)
    its_own = library.arange(blocks.shape[-1]) == block[..., None]
    return xp.where(its_own, xp.sum(weights, axis=-1)[..., None], blocks)


def off_drafts(
    library: Library,
    draft,
    drafts,
    drafted,
    valid: Array | None = None,
    blocks: Array | None = None,
) -> Array:
    """Return the draft's mass off the first 0 to k distinct drafts: (..., k + 1), wide."""
    # The mass off all of them, whose blocks are added up anew, and then that of the later drafts:
    # nothing is subtracted. `drafted`: their draft probabilities. `blocks`: the draft's, if known.
    xp = library.xp
    if blocks is None:
        (blocks,) = block_sums(library, draft, draft, the_draft)
    excluded = drafts if valid is None else xp.where(valid, drafts, -1)
    drafted = drafted if valid is None else xp.where(valid, drafted, 0.0)
    *lead, k = drafts.shape
    ids, size = library.arange(blocks.shape[-1]), draft.shape[-1]
    places, step = library.arange(min(BLOCK, size)), max(_COMPARED // k, 1)
    for start in range(0, k, step):
        # The standard does not say what a slice past the end is.
        block = drafts[..., start : min(start + step, k)] // BLOCK
        tokens = block[..., None] * BLOCK + places
        flat = xp.reshape(xp.clip(tokens, max=size - 1), (*lead, prod(tokens.shape[-2:])))
        weights = xp.reshape(library.take(draft, flat), tokens.shape)
        out = xp.any(tokens[..., None] == excluded[..., None, None, :], axis=-1) | (tokens >= size)
        anew = xp.sum(xp.where(out, 0.0, weights), axis=-1, keepdims=True)
        its_own = block[..., None] == ids
        anew = xp.max(xp.where(its_own, anew, -1.0), axis=-2)
        blocks = xp.where(anew >= 0, anew, blocks)
    later = xp.concat([xp.sum(blocks, axis=-1, keepdims=True), xp.flip(drafted, axis=-1)], axis=-1)
    return xp.flip(xp.cumulative_sum(later, axis=-1), axis=-1)


def accepts(library: Library, uniforms, wanted, offered) -> Array:
    """Return whether uniform numbers are below min(1, wanted/offered), without dividing."""
    # Never where nothing is wanted; always where at least what is offered is wanted.
    xp = library.xp
    return xp.where(wanted >= offered, 0.0, uniforms * offered) < wanted


def draw_rest(
    problem: Problem,
    rest: KnownWeight,
    blocks: list[Array],
    *,
    keep: Array | None = None,
    uniforms: Array | None = None,
    excluded: Array | None = None,
) -> Array:
    """Draw from keep · target + (1 − keep) · rest, or −1 where the target is zero: (...)."""
    # `blocks` are the sums of the target and the rest, `keep` is 0 by default, and the uniforms are
    # the problem's last. Where the rest is zero but for rounding, the draw is from the target.
    library = problem.library
    xp = library.xp
    whole, lacking = blocks
    nothing = xp.sum(lacking, axis=-1, keepdims=True) <= 0
    share = library.widened(nothing) if keep is None else xp.where(nothing, 1.0, keep[..., None])
    weight = replace(rest, share=library.narrowed(share))
    mixed = lacking + share * (whole - lacking)
    last = problem.uniforms[..., -1] if uniforms is None else uniforms
    drawn = draw(library, problem.draft, problem.target, weight, mixed, last, excluded)
    return xp.where(xp.sum(whole, axis=-1) > 0, drawn, -1)


def verified(problem: Problem, took, drawn) -> Verified:
    """Return a draft that passed, ``took`` (..., k), else the drawn token, (...)."""
    library, xp = problem.library, problem.library.xp
    first, passed = library.first(took), xp.any(took, axis=-1)
    token = xp.where(passed, library.pick(problem.drafts, first), drawn)
    accepted = xp.any(problem.counted(problem.drafts == token[..., None]), axis=-1)
    return Verified(token, accepted, xp.where(passed, first, -1))
