"""Maximal coupling: whether a draft is accepted, and what is drawn if none is (SpecTr, alg. 1)."""

from __future__ import annotations

from otspec.batch._kernels.inversion import draw
from otspec.batch._kernels.library import Array, Library
from otspec.batch._kernels.problem import Problem
from otspec.batch._kernels.sums import Mixture, Weight
from otspec.batch._results import Verified


def accepts(uniforms: Array, wanted: Array, offered: Array) -> Array:
    """Return whether uniform numbers are below min(1, wanted/offered), without dividing.

    Never where nothing is wanted; always where at least what is offered is wanted.
    """
    return (uniforms * offered < wanted) | ((wanted >= offered) & (wanted > 0))


def draw_rest(
    problem: Problem,
    rest: Weight,
    blocks: list[Array],
    *,
    keep: Array | None = None,
    uniforms: Array | None = None,
    excluded: Array | None = None,
) -> Array:
    """Draw from keep · target + (1 − keep) · rest.

    Parameters
    ----------
    problem : Problem
    rest : callable
        The weight that is drawn from.
    blocks : list of two arrays, shape (..., ceil(V / 256))
        The block sums of the target and of the rest.
    keep : array, shape (...), optional
        0 by default.
    uniforms : array, shape (...), optional
        By default the problem's last uniform numbers.
    excluded : array, shape (..., 1), optional
        A token that is not drawn.

    Returns
    -------
    array of token ids, shape (...)
        From the target where the rest is zero: then the draw is not needed but for rounding.
        −1 where the target is zero, too.
    """
    library = problem.library
    xp = library.xp
    whole, lacking = blocks
    keep = xp.zeros_like(whole[..., 0]) if keep is None else keep
    keep = xp.where(xp.sum(lacking, axis=-1) > 0, keep, xp.ones_like(keep))[..., None]
    weight = Mixture(library.narrowed(keep), rest)
    mixed = keep * whole + (1 - keep) * lacking
    last = problem.uniforms[..., -1] if uniforms is None else uniforms
    drawn = draw(library, problem.draft, problem.target, weight, mixed, last, excluded)
    return xp.where(xp.sum(whole, axis=-1) > 0, drawn, xp.full_like(drawn, -1))


def verified(library: Library, drafts: Array, valid: Array, took: Array, drawn: Array) -> Verified:
    """Return what comes out: a draft that passed, else the drawn token.

    Parameters
    ----------
    library : Library
    drafts, valid, took : array, shape (..., k)
        The drafts, which of them count, and which of them passed.
    drawn : array, shape (...)
        The token if none passed.
    """
    xp = library.xp
    first = library.first(took)
    passed = xp.any(took, axis=-1)
    token = xp.where(passed, library.pick(drafts, first), drawn)
    index = xp.where(passed, first, xp.full_like(first, -1))
    accepted = xp.any(valid & (drafts == token[..., None]), axis=-1)
    return Verified(token, accepted, index)
