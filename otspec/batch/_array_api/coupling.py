"""Maximal coupling: whether a draft is accepted, and what is drawn if none is (SpecTr, alg. 1)."""

from otspec.batch._array_api.inversion import draw
from otspec.batch._array_api.library import Array, Library, Problem
from otspec.batch._array_api.sums import KnownWeight, Mixture
from otspec.batch._results import Verified


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
    weight = Mixture(library.narrowed(share), rest)
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
