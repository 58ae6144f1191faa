"""Sharing out a number of nodes among children: Sequoia's dynamic program (Sequoia, sec. 4.1)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from otspec._base.arithmetic import Array, IntArray, zeros
from otspec._base.frozen import Frozen, cached_property
from otspec.blocks.trees.best.acceptance_rates import Chances
from otspec.blocks.trees.shapes import LEAF, Shape


@dataclass(frozen=True, eq=False)
class Candidate(Frozen):
    """A tree that may stand below a node, and what it keeps at each place: (places,)."""

    tree: Shape
    kept: Array


@dataclass(frozen=True, eq=False)
class Allotted(Frozen):
    """The best that is found for each law of places and each number of nodes."""

    values: Array
    """What is kept, shape (laws, nodes + 1): with at most so many nodes."""
    trees: tuple[tuple[Shape, ...], ...]
    """By law and number of nodes."""


@dataclass(frozen=True, eq=False)
class Allotment(Frozen):
    """The best trees for some laws of places, whose children are among candidates.

    Given a law of places, a tree keeps the sum of what each of its children adds, which depends
    on its place among them and their number only: so the nodes are shared out child by child.

    Parameters
    ----------
    chances : Chances
    laws : ndarray, shape (laws, places)
    nodes : int
        The most nodes of a tree.
    """

    chances: Chances
    laws: Array
    nodes: int

    @cached_property
    def _laws_after(self) -> dict[int, tuple[Array, Array]]:
        """By k, what is kept of each draft at each law, and what the laws turn to then."""
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
            scores = [own[:, None] + law @ vectors for own, law in zip(kept, moved, strict=True)]
            shared = Shared(tuple(scores), ends, self.nodes)
            for k, law, n in shared.improve(family, values):
                chosen = shared.children(k, law, n)
                trees[law][n] = Shape(tuple(candidates[child].tree for child in chosen))
        return Allotted(values, tuple(map(tuple, trees)))


def families(chances: Chances, nodes: int) -> list[list[int]]:
    """Return the numbers of children, descending, together where the greatest serves the others."""
    widths = [k for k in reversed(chances.widths) if k <= nodes]
    return [widths] if chances.nested and widths else [[k] for k in widths]


@dataclass(frozen=True, eq=False)
class Shared(Frozen):
    """Nodes shared out among children, and among the first of them.

    Parameters
    ----------
    scores : tuple of ndarray, shape (laws, candidates)
        What each child adds with each candidate below it.
    ends : ndarray of int, shape (nodes,)
        How many of the candidates have at most 0, 1, … nodes.
    nodes : int
    """

    scores: tuple[Array, ...]
    ends: IntArray
    nodes: int

    @cached_property
    def values(self) -> tuple[Array, ...]:
        """Entry i at (law, t): the most that the first i children keep with t nodes below them."""
        nothing = zeros((len(self.scores[0]), self.nodes + 1), like=self.scores[0])
        return (nothing, *(values for values, _ in self._steps))

    @cached_property
    def _steps(self) -> tuple[tuple[Array, IntArray], ...]:
        """For each child, the values with it, and how many of the nodes are below it then."""
        steps = []
        values = zeros((len(self.scores[0]), self.nodes + 1), like=self.scores[0])
        for number, each in enumerate(self.scores, start=1):
            best = np.maximum.accumulate(each, axis=1)[:, self.ends - 1]
            values, below = _one_more(values, best, self.nodes - number)
            steps.append((values, below))
        return tuple(steps)

    def improve(self, widths: Sequence[int], values: Array) -> Iterator[tuple[int, int, int]]:
        """Raise values, (laws, nodes + 1), to those of trees with k children at the root.

        Yields
        ------
        k, law, nodes : int
            Where the best has k children now.
        """
        for k in widths:
            better = self.values[k] > values[:, k:]
            values[:, k:][better] = self.values[k][better]
            for law, left in np.argwhere(better).tolist():
                yield k, law, left + k

    def children(self, k: int, law: int, nodes: int) -> list[int]:
        """Return which candidates stand below the k children of the best tree."""
        left, chosen = nodes - k, []
        for child in reversed(range(k)):
            own = int(self._steps[child][1][law, left])
            chosen.append(int(np.argmax(self.scores[child][law, : self.ends[own]])))
            left -= own
        return chosen[::-1]


def _one_more(before: Array, child: Array, most: int) -> tuple[Array, IntArray]:
    """Return the best with one more child for 0, …, most nodes below, and how many are its own."""
    values = zeros((len(before), most + 1), like=before)
    below = np.zeros(values.shape, dtype=int)
    rows = np.arange(len(before))
    for nodes in range(most + 1):
        sums = before[:, nodes::-1] + child[:, : nodes + 1]
        below[:, nodes] = np.argmax(sums, axis=1)
        values[:, nodes] = sums[rows, below[:, nodes]]
    return values, below
