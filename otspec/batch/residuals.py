"""What is drawn when no draft is accepted."""

from __future__ import annotations

from otspec.batch.arrays import Array
from otspec.batch.checks import Problem
from otspec.batch.draws import draw
from otspec.batch.passes import Weight


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
    share = library.narrowed(keep)

    def weight(draft: Array, target: Array) -> Array:
        return share * target + (1 - share) * rest(draft, target)

    mixed = keep * whole + (1 - keep) * lacking
    last = problem.uniforms[..., -1] if uniforms is None else uniforms
    drawn = draw(library, problem.draft, problem.target, weight, mixed, last, excluded)
    return xp.where(xp.sum(whole, axis=-1) > 0, drawn, xp.full_like(drawn, -1))
