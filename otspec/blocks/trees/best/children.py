"""Which trees may stand below a node: the best after some law of texts, or after likely ones."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TypeAlias, TypeVar

import numpy as np

from otspec._base.arithmetic import Array, IntArray, zeros
from otspec.blocks.trees.best.acceptance_rates import Chances
from otspec.blocks.trees.best.allotment import Allotment, Candidate, Shared, families
from otspec.blocks.trees.shapes import LEAF, Shape

MOST_CANDIDATES = 20_000
"""Most trees that are gone on with at once."""
_FIRST = 4
"""After how many of the first drafts of a level the law of texts is followed."""
_ALIKE = 1e-3
"""How far all chances of two laws of texts are from each other that count as one."""


def all_candidates(chances: Chances, nodes: int, depth: int) -> Iterator[list[Candidate]]:
    """Yield the trees of at most 0, 1, … levels that are best for some law of places.

    Those that keep no more than another at any place, and have no fewer nodes, are left out: as a
    subtree they are nowhere better.
    """
    candidates = [Candidate(LEAF, chances.nothing(len(chances.start)))]
    for level in range(depth):
        yield candidates
        if level < depth - 1:
            candidates = _undominated(chances, candidates, nodes - 1)


def _undominated(chances: Chances, candidates: list[Candidate], nodes: int) -> list[Candidate]:
    """Return the best trees with such children, by ascending size."""
    found: list[list[Candidate]] = [[] for _ in range(nodes + 1)]
    found[0] = [candidates[0]]
    for family in families(chances, nodes):
        adding = _adding(chances, family[0], candidates)
        some: list[list[_Some]] = [[(chances.nothing(len(chances.start)), ())]]
        some += [[] for _ in range(nodes)]
        for k, added in enumerate(adding, start=1):
            some = _with_child(some, candidates, added)
            if k in family:
                for size, each in enumerate(some):
                    found[size] += [Candidate(Shape(trees), kept) for kept, trees in each]
    best: list[Candidate] = []
    for same in found:
        best = _best(best, same, lambda candidate: candidate.kept)
    return best


Kind = TypeVar("Kind")
_Some: TypeAlias = tuple[Array, tuple[Shape, ...]]
"""What the first children of a node keep at each place, and what is below them."""


def _adding(chances: Chances, k: int, candidates: Sequence[Candidate]) -> list[list[Array]]:
    """Return what each of k children adds at each place, with each candidate below it."""
    return [
        [kept + (led * each.kept[chances.following]).sum(axis=1) for each in candidates]
        for kept, led in zip(*chances.of(k), strict=True)
    ]


def _with_child(
    some: list[list[_Some]], candidates: Sequence[Candidate], added: Sequence[Array]
) -> list[list[_Some]]:
    """Return the best with one more child, by how many nodes there are."""
    more: list[list[_Some]] = [[] for _ in some]
    for candidate, each in zip(candidates, added, strict=True):
        tree = candidate.tree
        for size, before in enumerate(some[: max(len(some) - tree.size - 1, 0)]):
            more[size + tree.size + 1] += [(kept + each, (*trees, tree)) for kept, trees in before]
    return [_best([], same, lambda one: one[0]) for same in more]


def _best(known: list[Kind], more: list[Kind], kept: Callable[[Kind], Array]) -> list[Kind]:
    """Return what is known, and of the others each that keeps more than the rest at some place.

    Raises
    ------
    ValueError
        Too many.
    """
    best = list(known)
    if not more:
        return best
    first = kept(more[0])
    rows = np.zeros((len(known) + len(more), len(first)), dtype=first.dtype)
    for row, each in enumerate(known):
        rows[row] = kept(each)
    for each in sorted(more, key=lambda one: -kept(one).sum()):  # what keeps more comes first
        if not (rows[: len(best)] >= kept(each)).all(axis=1).any():
            rows[len(best)] = kept(each)
            best.append(each)
    if len(best) > MOST_CANDIDATES:
        raise ValueError(
            f"more than {MOST_CANDIDATES:,} trees are each best after some texts: use "
            "keep='likely', or fewer nodes"
        )
    return best


def likely_candidates(chances: Chances, nodes: int, depth: int) -> Iterator[list[Candidate]]:
    """Yield the trees of at most 0, 1, … levels that are best for the places of likely nodes."""
    candidates = [Candidate(LEAF, chances.nothing(len(chances.start)))]
    allotment = Allotment(chances, _likely_laws(chances, depth), nodes - 1)
    for level in range(depth):
        yield candidates
        if level < depth - 1:
            trees = {tree for row in allotment.among(candidates).trees for tree in row}
            kept = {each.tree: each.kept for each in candidates}
            candidates = [
                Candidate(tree, chances.worth([kept[child] for child in tree.children]))
                for tree in sorted(trees, key=lambda tree: (tree.size, tree.text))
            ]


def _likely_laws(chances: Chances, depth: int) -> Array:
    """Return the laws of places after the first drafts of a level, and after any of its drafts."""
    law: Array = chances.start
    found: list[Array] = []
    for _ in range(depth - 1):
        after = chances.before(max(chances.widths), law[None])[:, 0]
        together = after.sum(axis=0)
        if not together.sum() > 0:
            break
        law = together / together.sum()
        laws = [each / each.sum() for each in after[:_FIRST] if each.sum() > 0]
        for each in (law, *laws):
            if not any((abs(each - other) < _ALIKE).all() for other in found):
                found.append(each)
    return np.array(found or [chances.start])


def best_at_every_place(chances: Chances, nodes: int, depth: int) -> Array:
    """Return what trees keep that are shaped by what is remembered, (places, nodes + 1)."""
    values = zeros((len(chances.start), nodes + 1), like=chances.start)
    ends: IntArray = np.arange(1, nodes + 1)
    for _ in range(depth):
        more = np.zeros_like(values) + values[0, 0]
        for family in families(chances, nodes):
            scores = [
                kept[:, None] + (led[:, :, None] * values[chances.following, :nodes]).sum(axis=1)
                for kept, led in zip(*chances.of(family[0]), strict=True)
            ]
            for _ in Shared(tuple(scores), ends, nodes).improve(family, more):
                pass
        values = more
    return values


KEEP: dict[str, Callable[[Chances, int, int], Iterator[list[Candidate]]]] = {
    "all": all_candidates,
    "likely": likely_candidates,
}
"""What to go on with, by name."""
