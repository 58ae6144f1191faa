"""Traversal Verification: leaves are kept or deleted, depth first (Theory, 22)."""

from collections.abc import Iterator, Sequence

from otspec.batch._array_api.inversion import accepts, draw_rest
from otspec.batch._array_api.library import Array, Problem
from otspec.batch._array_api.recursive_rejection import Residual, shares_of
from otspec.batch._array_api.sums import block_sums, excess, the_target
from otspec.batch._results import VerifiedTree


def verify(problem: Problem, parents: Sequence[int], distinct: bool) -> VerifiedTree:
    """Visit the nodes of a tree, each after all that is below it, until one is kept."""
    library, xp = problem.library, problem.library.xp
    node = xp.full_like(problem.drafts[..., 0], -1)
    length, scale = xp.zeros_like(node), library.full(node.shape, 0.0)
    families = _families(parents)
    visits = {-1: _visit(problem, -1, library.full(node.shape, 1.0), families[-1], distinct)}
    depths = {-1: 0}
    for child, comes in turns(parents):
        above, shares = visits[parents[child]]
        if comes:
            weight = _weight(problem, above, child)
            visits[child] = _visit(problem, child, weight, families[child], distinct)
            depths[child] = depths[parents[child]] + 1
            continue
        visit, _ = visits.pop(child)
        kept = accepts(library, problem.uniforms[..., child], visit.lacks, visit.rejected)
        keeps = kept & (node < 0)
        node = xp.where(keeps, child, node)
        length = xp.where(keeps, depths[child], length)
        scale = xp.where(keeps, visit.scale, scale)
        valid = None if problem.valid is None else problem.valid[..., child]
        visits[parents[child]] = above.after(next(shares, None), valid), shares
    last, _ = visits[-1]
    scale = xp.where(node < 0, last.scale, scale)
    return VerifiedTree(node, length, _drawn(problem, node, scale, last.factor))


def _families(parents: Sequence[int]) -> dict[int, list[int]]:
    """Return the children of the text, which is node −1, and of each node."""
    families: dict[int, list[int]] = {node: [] for node in range(-1, len(parents))}
    for child, parent in enumerate(parents):
        families[parent].append(child)
    return families


def turns(parents: Sequence[int]) -> Iterator[tuple[int, bool]]:
    """Yield each node when it comes, before all that is below it, and when it is left."""
    families = _families(parents)
    ahead = [(child, True) for child in reversed(families[-1])]
    while ahead:
        node, comes = ahead.pop()
        yield node, comes
        if comes:
            ahead.append((node, False))
            ahead += [(child, True) for child in reversed(families[node])]


def _visit(
    problem: Problem, node: int, weight, children: list[int], distinct: bool
) -> tuple[Residual, Iterator[Array | float]]:
    """Return what a node of a weight lacks before any of its children was deleted."""
    # And the draft's share that is left to each further one of distinct children.
    library = problem.library
    rows = problem.draft[..., node + 1, :], problem.target[..., node + 1, :]
    if not (distinct and children):
        return Residual.at_first(library, *rows, weight=weight), iter(())
    drafts, valid = (
        None if part is None else library.xp.stack([part[..., i] for i in children], axis=-1)
        for part in (problem.drafts, problem.valid)
    )
    first, *others = shares_of(library, rows[0], drafts, library.take(rows[0], drafts), valid)
    return Residual.at_first(library, *rows, first, library.factor, weight), iter(others)


def _weight(problem: Problem, above: Residual, child: int) -> Array:
    """Return with which probability a child is kept, itself or something below it."""
    library, xp = problem.library, problem.library.xp
    token = problem.drafts[..., child : child + 1]
    drafted, wanted = (library.take(rows, token)[..., 0] for rows in (above.draft, above.target))
    lacking, offered = above.offer(drafted, wanted)
    chance = xp.clip(library.quotient(lacking, offered, otherwise=1.0), max=1.0)
    chance = xp.where(lacking > 0, chance, 0.0)
    return chance if problem.valid is None else xp.where(problem.valid[..., child], chance, 0.0)


def _drawn(problem: Problem, node, scale, factor: float) -> Array:
    """Draw the token after a node from what it lacks."""
    library = problem.library
    rows = library.at(problem.draft, node + 1), library.at(problem.target, node + 1)
    rest = excess(library, scale, factor)
    blocks = block_sums(library, *rows, the_target, rest)
    at_node = Problem(library, *rows, problem.drafts, problem.uniforms, problem.valid)
    return draw_rest(at_node, rest, blocks)
