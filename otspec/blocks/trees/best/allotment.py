"""How many nodes each child gets, and which subtrees are candidates (Sequoia, sec. 4.1)."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias, TypeVar

import numpy as np

from otspec._base import Array, Frozen, IntArray, cached_property, zeros
from otspec.blocks.trees.best.acceptance_rates import Chances
from otspec.blocks.trees.shapes import LEAF, Shape


@dataclass(frozen=True, eq=False)
class Candidate(Frozen):
    """A tree that may be the subtree of a child, and its E[τ] after each place: (places,)."""

    tree: Shape
    kept: Array


@dataclass(frozen=True, eq=False)
class Allotted(Frozen):
    """The best trees for each distribution of places and each number of nodes."""

    values: Array  # E[τ] with at most n nodes, shape (laws, nodes + 1)
    trees: tuple[tuple[Shape, ...], ...]  # by law and number of nodes


@dataclass(frozen=True, eq=False)
class Allotment(Frozen):
    """The best trees for some distributions of places, with children's subtrees from a list."""

    # For a distribution of places, E[τ] is a sum over the children. The term of child i depends on
    # i, on the number k of children and on its own subtree, not on the others. So the nodes are
    # shared out child by child:
    # best(i, n) = max over m of best(i − 1, n − m) + best term of child i with m nodes below it.

    chances: Chances
    laws: Array  # (laws, places): the distributions
    nodes: int  # the largest number of nodes of a tree

    @cached_property
    def _laws_after(self) -> dict[int, tuple[Array, Array]]:
        """By k: P(draft i is kept) for each law, and the place after it, times that probability."""
        greatest = [k for k, *_ in families(self.chances, self.nodes)]
        return {
            k: (self.chances.of(k)[0] @ self.laws.T, self.chances.before(k, self.laws))
            for k in greatest
        }

    def among(self, candidates: Sequence[Candidate]) -> Allotted:
        """Return the best trees whose children are among candidates, by ascending size."""
        values = zeros((len(self.laws), self.nodes + 1), like=self.laws)
        trees = [[LEAF] * (self.nodes + 1) for _ in self.laws]
        sizes = np.array([each.tree.size for each in candidates])
        ends: IntArray = np.searchsorted(sizes, np.arange(self.nodes), side="right")
        vectors = np.array([each.kept for each in candidates]).T
        for family in families(self.chances, self.nodes):
            kept, moved = self._laws_after[family[0]]
            # Child i with the candidate T below it: a_i + Σ_s P(i is kept, then s) E[τ of T](s).
            scores = [own[:, None] + law @ vectors for own, law in zip(kept, moved, strict=True)]
            shared = Shared(tuple(scores), ends, self.nodes)
            for k, law, n in shared.improve(family, values):
                chosen = shared.children(k, law, n)
                trees[law][n] = Shape(tuple(candidates[child].tree for child in chosen))
        return Allotted(values, tuple(map(tuple, trees)))


def families(chances: Chances, nodes: int) -> list[list[int]]:
    """Return the numbers of children that are allotted together, each list descending."""
    # If the drafts of a smaller k are the first of a larger one, one pass serves all of them.
    widths = [k for k in reversed(chances.widths) if k <= nodes]
    return [widths] if chances.nested and widths else [[k] for k in widths]


@dataclass(frozen=True, eq=False)
class Shared(Frozen):
    """The best way to share out nodes among the first 0, 1, …, k children."""

    # (laws, candidates): for each child, its term of E[τ] with each candidate as its subtree
    scores: tuple[Array, ...]
    # (nodes,): entry m: how many candidates have at most m nodes. They are sorted by size.
    ends: IntArray
    nodes: int  # the largest number of nodes, with the children themselves

    @cached_property
    def _steps(self) -> tuple[tuple[Array, IntArray], ...]:
        """For each child, the best sums with it, and how many nodes are below it then."""
        # At (law, t): with t nodes below this child and those before it.
        steps: list[tuple[Array, IntArray]] = []
        for number, each in enumerate(self.scores, start=1):
            # Entry m: the best term of this child with at most m nodes below it.
            best = np.maximum.accumulate(each, axis=1)[:, self.ends - 1]
            before = steps[-1][0] if steps else 0 * best
            steps.append(_one_more(before, best, self.nodes - number))
        return tuple(steps)

    def improve(self, widths: Sequence[int], values: Array) -> Iterator[tuple[int, int, int]]:
        """Raise the best E[τ], (laws, nodes + 1); yield (k, law, nodes) where k children do."""
        for k in widths:
            # A tree of t + k nodes has k children and t nodes below them.
            best, _ = self._steps[k - 1]
            better = best > values[:, k:]
            values[:, k:][better] = best[better]
            for law, left in np.argwhere(better).tolist():
                yield k, law, left + k

    def children(self, k: int, law: int, nodes: int) -> list[int]:
        """Return which candidate is the subtree of each of the k children of the best tree."""
        left, chosen = nodes - k, []  # nodes below the children, from the last child to the first
        for child in reversed(range(k)):
            own = int(self._steps[child][1][law, left])
            chosen.append(int(np.argmax(self.scores[child][law, : self.ends[own]])))
            left -= own
        return chosen[::-1]


def _one_more(before: Array, child: Array, most: int) -> tuple[Array, IntArray]:
    """Return the best sums with one more child, and how many nodes are below it."""
    # Entry t: the maximum over m of before[t − m] + child[m], and the m that attains it.
    values = zeros((len(before), most + 1), like=before)
    below = np.empty(values.shape, dtype=int)
    rows = np.arange(len(before))
    for nodes in range(most + 1):
        sums = before[:, nodes::-1] + child[:, : nodes + 1]
        below[:, nodes] = np.argmax(sums, axis=1)
        values[:, nodes] = sums[rows, below[:, nodes]]
    return values, below


MOST_CANDIDATES = 20_000  # most candidates of one level
_FIRST = 4  # how many of the first drafts of a level have a distribution of their own
_ALIKE = 1e-3  # two distributions count as one if all their probabilities differ by less


def all_candidates(chances: Chances, nodes: int, depth: int) -> Iterator[list[Candidate]]:
    """Yield the candidates of at most 0, 1, … levels: all that may be needed for the best tree."""
    # A tree is left out if another one has no more nodes and at least its E[τ] after every place:
    # by linearity the other one is at least as good as a subtree, whatever the tree above.
    candidates = [Candidate(LEAF, chances.nothing(len(chances.start)))]
    yield candidates
    for _ in range(depth - 1):
        candidates = _undominated(chances, candidates, nodes - 1)
        yield candidates


def _undominated(chances: Chances, candidates: list[Candidate], nodes: int) -> list[Candidate]:
    """Return the candidates whose children are among candidates, by ascending size."""
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
"""The sum of the first children's terms of E[τ] after each place, and their subtrees."""


def _adding(chances: Chances, k: int, candidates: Sequence[Candidate]) -> list[list[Array]]:
    """Return the term a_i + Σ_x a_i(x) E[τ of T](x) of each child i of k, for each candidate T."""
    return [
        [kept + (led * each.kept[chances.following]).sum(axis=1) for each in candidates]
        for kept, led in zip(*chances.of(k), strict=True)
    ]


def _with_child(
    some: list[list[_Some]], candidates: Sequence[Candidate], added: Sequence[Array]
) -> list[list[_Some]]:
    """Return the undominated sums with one more child, by the number of nodes."""
    more: list[list[_Some]] = [[] for _ in some]
    for candidate, each in zip(candidates, added, strict=True):
        tree = candidate.tree
        for size, before in enumerate(some[: max(len(some) - tree.size - 1, 0)]):
            more[size + tree.size + 1] += [(kept + each, (*trees, tree)) for kept, trees in before]
    return [_best([], same, lambda one: one[0]) for same in more]


def _best(known: list[Kind], more: list[Kind], kept: Callable[[Kind], Array]) -> list[Kind]:
    """Return the known ones and, of the others, those that are not dominated."""
    best = list(known)
    if not more:
        return best
    first = kept(more[0])
    rows = np.empty((len(known) + len(more), len(first)), dtype=first.dtype)
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
    """Yield the candidates of at most 0, 1, … levels that are best at likely nodes."""
    candidates = [Candidate(LEAF, chances.nothing(len(chances.start)))]
    yield candidates
    allotment = Allotment(chances, _likely_laws(chances, depth), nodes - 1)
    for _ in range(depth - 1):
        trees = {tree for row in allotment.among(candidates).trees for tree in row}
        kept = {each.tree: each.kept for each in candidates}
        candidates = [
            Candidate(tree, chances.worth([kept[child] for child in tree.children]))
            for tree in sorted(trees, key=lambda tree: (tree.size, tree.text))
        ]
        yield candidates


def _likely_laws(chances: Chances, depth: int) -> Array:
    """Return distributions of the place at likely nodes of each level."""
    # They are that of a kept draft of the level, and those after each of its first four drafts.
    law: Array = chances.start
    found: list[Array] = []
    for _ in range(depth - 1):
        # P(draft i is kept, and the place after it is s) for each draft i: (k, places).
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
    """Return the largest E[τ] if each node may choose its subtree by its own place."""
    # Shape (places, nodes + 1). By the recursion of `Allotment`, but the best value of each place
    # and size takes the place of one tree for all places.
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
"""Candidates by the name of the ``keep`` argument."""
