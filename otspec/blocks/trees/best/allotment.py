"""Sequoia's dynamic program: how many nodes each child of a node gets (Sequoia, sec. 4.1)."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from otspec._base.arithmetic import Array, IntArray, zeros
from otspec._base.frozen import Frozen, cached_property
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

    values: Array
    """E[τ] with at most n nodes, shape (laws, nodes + 1)."""
    trees: tuple[tuple[Shape, ...], ...]
    """By law and number of nodes."""


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
    def values(self) -> tuple[Array, ...]:
        """Entry i at (law, t): the best sum of i terms with t nodes below the first i children."""
        nothing = zeros((len(self.scores[0]), self.nodes + 1), like=self.scores[0])
        return (nothing, *(values for values, _ in self._steps))

    @cached_property
    def _steps(self) -> tuple[tuple[Array, IntArray], ...]:
        """For each child, the best sums with it, and how many nodes are below it then."""
        steps = []
        values = zeros((len(self.scores[0]), self.nodes + 1), like=self.scores[0])
        for number, each in enumerate(self.scores, start=1):
            # Entry m: the best term of this child with at most m nodes below it.
            best = np.maximum.accumulate(each, axis=1)[:, self.ends - 1]
            values, below = _one_more(values, best, self.nodes - number)
            steps.append((values, below))
        return tuple(steps)

    def improve(self, widths: Sequence[int], values: Array) -> Iterator[tuple[int, int, int]]:
        """Raise the best E[τ], (laws, nodes + 1); yield (k, law, nodes) where k children do."""
        for k in widths:
            # A tree of t + k nodes has k children and t nodes below them.
            better = self.values[k] > values[:, k:]
            values[:, k:][better] = self.values[k][better]
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
    below = np.zeros(values.shape, dtype=int)
    rows = np.arange(len(before))
    for nodes in range(most + 1):
        sums = before[:, nodes::-1] + child[:, : nodes + 1]
        below[:, nodes] = np.argmax(sums, axis=1)
        values[:, nodes] = sums[rows, below[:, nodes]]
    return values, below
