"""Block verification of one drafted block (Block, published version, alg. 2; Theory, 9)."""

from __future__ import annotations

from otspec.batch._kernels.coupling import accepts
from otspec.batch._kernels.inversion import block_weights, locate
from otspec.batch._kernels.library import Array, Library
from otspec.batch._kernels.problem import Problem
from otspec.batch._kernels.sums import Weight, block_sums, the_draft, the_target
from otspec.batch._results import VerifiedBlock


def verify(problem: Problem) -> VerifiedBlock:
    """Decide jointly how much of each block to keep, and draw what follows.

    The draft is (..., L, V), the target (..., L + 1, V), the drafts are (..., L).
    """
    library, draft, target = problem.library, problem.draft, problem.target
    xp, valid, length = library.xp, problem.valid, problem.k
    kept = _kept(problem)  # (..., L + 1): w_0 to w_L
    (lacking,) = block_sums(library, draft, target[..., :-1, :], _lack(library, kept[..., :-1]))
    (whole,) = block_sums(library, target, target, the_target)
    z = xp.sum(lacking, axis=-1)
    ends = xp.sum(library.ids(valid), axis=-1)  # the length of each block
    place = library.arange(length + 1)
    at_end = place == ends[..., None]
    z = xp.concat([z, xp.zeros_like(z[..., :1])], axis=-1)
    wanted = xp.where(at_end, kept, z)
    offered = xp.where(at_end, xp.ones_like(z), z + (1 - kept))
    # 0/0 counts as 1: a prefix that is surely kept.
    sure = (kept >= 1) & (place <= ends[..., None])
    passed = accepts(problem.uniforms[..., :-1], wanted[..., 1:], offered[..., 1:])
    stays = (passed | sure[..., 1:]) & valid
    number = library.arange(length) + 1
    tau = xp.max(xp.where(stays, number, xp.zeros_like(number)), axis=-1)
    lacking = xp.concat([lacking, xp.zeros_like(whole[..., :1, :])], axis=-2)
    from_target = at_end | (xp.sum(lacking, axis=-1) == 0)
    # One row of the L + 1, chosen along the last axis but one.
    blocks = row_at(library, xp.where(from_target[..., None], whole, lacking), tau)
    plain = library.pick(from_target, tau)
    return VerifiedBlock(tau, _drawn(problem, kept, blocks, plain, tau))


def _kept(problem: Problem) -> Array:
    """Return w_0 to w_L: (..., L + 1)."""
    library, xp, ids = problem.library, problem.library.xp, problem.drafts
    drafted = library.take(problem.draft, ids[..., None])[..., 0]
    wanted = library.take(problem.target[..., :-1, :], ids[..., None])[..., 0]
    weights = [xp.ones_like(drafted[..., 0])]
    for i in range(problem.k):
        more = weights[-1] * wanted[..., i]
        ratio = library.quotient(more, drafted[..., i], otherwise=1.0)
        ratio = xp.where(more > 0, xp.clip(ratio, max=1.0), xp.zeros_like(ratio))
        weights.append(xp.where(problem.valid[..., i], ratio, weights[-1]))
    return xp.stack(weights, axis=-1)


def _lack(library: Library, kept: Array) -> Weight:
    """Return the weight (w·target − draft)₊ for a w per row, shape (...)."""
    maximum, kept = library.inner.maximum, library.narrowed(kept)[..., None]
    # Exactly 0 where nothing is left, also if the compiler fuses the product.
    return lambda draft, target: maximum(kept * target, draft) - draft


def _drawn(problem: Problem, kept: Array, blocks: Array, plain: Array, tau: Array) -> Array:
    """Draw the token at place ``tau`` of each row; from the target itself where ``plain``.

    The block sums, (..., ceil(V / 256)), are those of what is drawn from.
    """
    library, draft, target = problem.library, problem.draft, problem.target
    xp = library.xp
    block, left = locate(library, blocks, problem.uniforms[..., -1])
    place = xp.clip(tau, max=problem.k - 1)
    every = block[..., None] + xp.zeros_like(draft[..., 0], dtype=library.index)
    ids, drafted = block_weights(library, draft, draft, the_draft, every)
    more = block[..., None] + xp.zeros_like(target[..., 0], dtype=library.index)
    _, wanted = block_weights(library, target, target, the_target, more)
    drafted, wanted = row_at(library, drafted, place), row_at(library, wanted, tau)
    lack = _lack(library, library.pick(kept, place))
    weights = library.widened(lack(library.narrowed(drafted), library.narrowed(wanted)))
    within, _ = locate(library, xp.where(plain[..., None], wanted, weights), left)
    token = library.pick(ids[..., 0, :], within)
    some = xp.sum(blocks, axis=-1) > 0
    return xp.where(some, token, xp.full_like(token, -1))


def row_at(library: Library, values: Array, place: Array) -> Array:
    """Return one row of each matrix: (..., L, m), (...) -> (..., m)."""
    xp = library.xp
    index = place[..., None, None] + xp.zeros_like(values[..., :1, :], dtype=library.index)
    return xp.take_along_axis(values, index, axis=-2)[..., 0, :]
