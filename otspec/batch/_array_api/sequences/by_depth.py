"""A tree of drafts, verified depth by depth with a rule for one token (MCSD, algs. 1 and 2)."""

from collections.abc import Callable, Sequence
from functools import partial

from otspec.batch._array_api.inversion import draw
from otspec.batch._array_api.library import Array, Problem
from otspec.batch._array_api.sums import block_sums, the_target
from otspec.batch._results import Verified, VerifiedTree


def verify(
    problem: Problem,
    parents: Sequence[int],
    widths: Sequence[int],
    rule: Callable[[Problem], Verified],
    together: bool,
    models: Callable[[Array], tuple[Array, Array]] | None = None,
) -> VerifiedTree:
    """Go from the text to a child that the rule selects, until it selects none or at a leaf."""
    library, xp = problem.library, problem.library.xp
    models = partial(_rows, problem) if models is None else models
    family = library.numbers(parents)
    length = xp.zeros_like(problem.drafts[..., 0])
    node, token = xp.full_like(length, -1), xp.full_like(length, -1)
    going = xp.ones_like(length, dtype=xp.bool)
    for depth, width in enumerate(widths):
        children, drafted = _children(problem, family == node[..., None], width)
        if together:
            drafted = drafted & xp.all(drafted, axis=-1, keepdims=True)
        at = _at(problem, models(node), depth, width, children, drafted)
        selected = rule(at).token
        same = drafted & (at.drafts == selected[..., None])
        tried = going & xp.any(drafted, axis=-1)
        kept = xp.any(same, axis=-1)
        node = xp.where(tried & kept, library.pick(children, library.first(same)), node)
        length = length + library.ids(tried & kept)
        token = xp.where(tried & ~kept, selected, token)
        going = going & (kept | ~tried)
    return VerifiedTree(node, length, xp.where(going, _after(problem, models(node)[1]), token))


def _children(problem: Problem, own, width: int) -> tuple[Array, Array]:
    """Return the children of a node in each row that count, the first ones, and which there are."""
    library, xp = problem.library, problem.library.xp
    own = problem.counted(own)
    number = xp.cumulative_sum(library.ids(own), axis=-1)[..., None, :]
    found = own[..., None, :] & (number == library.arange(width)[:, None] + 1)
    return library.first(found), xp.any(found, axis=-1)


def _rows(problem: Problem, node) -> tuple[Array, Array]:
    """Return the rows of the draft and of the target after a node of each row."""
    at = problem.library.at
    return at(problem.draft, node + 1), at(problem.target, node + 1)


def _at(
    problem: Problem, models: tuple[Array, Array], depth: int, width: int, children, drafted
) -> Problem:
    """Return what the rule is given at a node of each row."""
    library, xp = problem.library, problem.library.xp
    tokens = xp.take_along_axis(problem.drafts, children, axis=-1)
    uniforms = problem.uniforms[..., depth, :]
    return Problem(
        library,
        *models,
        xp.where(drafted, tokens, xp.zeros_like(tokens)),
        xp.concat([uniforms[..., :width], uniforms[..., -1:]], axis=-1),
        drafted,
    )


def _after(problem: Problem, target) -> Array:
    """Draw the token after a node from the target there."""
    library, xp = problem.library, problem.library.xp
    (blocks,) = block_sums(library, target, target, the_target)
    last = problem.uniforms[..., -1, -1]
    drawn = draw(library, target, target, the_target, blocks, last)
    return xp.where(xp.sum(blocks, axis=-1) > 0, drawn, xp.full_like(drawn, -1))
