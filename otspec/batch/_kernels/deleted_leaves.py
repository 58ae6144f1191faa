"""Traversal Verification: leaves are kept or deleted, depth first (Theory, 22)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from otspec.batch._kernels.coupling import accepts, draw_rest
from otspec.batch._kernels.in_turn import Lacking
from otspec.batch._kernels.library import Array
from otspec.batch._kernels.problem import Problem
from otspec.batch._kernels.sums import block_sums, excess, the_target
from otspec.batch._results import VerifiedTree


def verify(problem: Problem, parents: Sequence[int], distinct: bool) -> VerifiedTree:
    """Visit the nodes of a tree, each after all that is below it, until one is kept.

    Parameters
    ----------
    problem : Problem
        The draft and the target are (..., nodes + 1, V), first those after the text, the drafts
        (..., nodes), and the uniform numbers (..., nodes + 1).
    parents : sequence of int
        Of each node.
    distinct : bool
        Whether siblings are drawn without replacement.
    """
    library, xp = problem.library, problem.library.xp
    node = xp.full_like(problem.drafts[..., 0], -1)
    length, scale = xp.zeros_like(node), library.full(node.shape, 0.0)
    visits = {-1: _visit(problem, -1, library.full(node.shape, 1.0), distinct)}
    depths = {-1: 0}
    for child, comes in _turns(parents):
        above = visits[parents[child]]
        if comes:
            weight = _weight(problem, above, child)
            visits[child] = _visit(problem, child, weight, distinct and child in parents)
            depths[child] = depths[parents[child]] + 1
            continue
        visit = visits.pop(child)
        kept = accepts(problem.uniforms[..., child], visit.lacks, visit.rejected)
        keeps = kept & (node < 0)
        node = xp.where(keeps, xp.full_like(node, child), node)
        length = xp.where(keeps, xp.full_like(length, depths[child]), length)
        scale = xp.where(keeps, visit.scale, scale)
        siblings = [i for i in range(child + 1) if parents[i] == parents[child]]
        tokens = xp.stack([problem.drafts[..., i] for i in siblings], axis=-1)
        visits[parents[child]] = above.after(tokens, problem.valid[..., child])
    scale = xp.where(node < 0, visits[-1].scale, scale)
    return VerifiedTree(node, length, _drawn(problem, node, scale, visits[-1].lift))


def _turns(parents: Sequence[int]) -> Iterator[tuple[int, bool]]:
    """Yield each node when it comes, before all that is below it, and when it is left."""
    children: list[list[int]] = [[] for _ in range(len(parents) + 1)]
    for child, parent in enumerate(parents):
        children[parent + 1].append(child)
    ahead = [(child, True) for child in reversed(children[0])]
    while ahead:
        node, comes = ahead.pop()
        yield node, comes
        if comes:
            ahead.append((node, False))
            ahead += [(child, True) for child in reversed(children[node + 1])]


def _visit(problem: Problem, node: int, weight: Array, distinct: bool) -> Lacking:
    """Return what a node of a weight lacks before any of its children was deleted."""
    rows = problem.draft[..., node + 1, :], problem.target[..., node + 1, :]
    return Lacking.at_first(problem.library, *rows, distinct=distinct, weight=weight)


def _weight(problem: Problem, above: Lacking, child: int) -> Array:
    """Return with which probability a child is kept, itself or something below it."""
    library, xp = problem.library, problem.library.xp
    token = problem.drafts[..., child : child + 1]
    drafted, wanted = (library.take(rows, token)[..., 0] for rows in (above.draft, above.target))
    lacking, offered = above.offer(drafted, wanted)
    chance = xp.clip(library.quotient(lacking, offered, otherwise=1.0), max=1.0)
    kept = problem.valid[..., child] & (lacking > 0)
    return xp.where(kept, chance, xp.zeros_like(chance))


def _drawn(problem: Problem, node: Array, scale: Array, lift: float) -> Array:
    """Draw the token after a node from what it lacks."""
    library = problem.library
    rows = library.at(problem.draft, node + 1), library.at(problem.target, node + 1)
    rest = excess(library, scale, lift)
    blocks = block_sums(library, *rows, the_target, rest)
    at_node = Problem(library, *rows, problem.drafts, problem.uniforms, problem.valid)
    return draw_rest(at_node, rest, blocks)
