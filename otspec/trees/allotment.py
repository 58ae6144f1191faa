"""Sharing out a number of nodes among children: Sequoia's dynamic program (Sequoia, sec. 4.1)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from otspec.arithmetic import Array, IntArray, zeros
from otspec.trees.chances import Chances
from otspec.trees.shapes import LEAF, Shape


class Candidate(NamedTuple):
    """A tree that may stand below a node, and what it keeps at each place: (places,)."""

    tree: Shape
    kept: Array


class Allotted(NamedTuple):
    """The best that is found for each law of places and each number of nodes."""

    values: Array
    """What is kept, shape (laws, nodes + 1): with at most so many nodes."""
    trees: list[list[Shape]]
    """By law and number of nodes."""


class Allotment:
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

    def __init__(self, chances: Chances, laws: Array, nodes: int) -> None:
        self._laws, self._nodes = laws, nodes
        self._families = families(chances, nodes)
        self._kept = {k: [laws @ row for row in chances.of(k)[0]] for k, *_ in self._families}
        self._moved = {k: chances.before(k, laws) for k, *_ in self._families}

    def among(self, candidates: Sequence[Candidate]) -> Allotted:
        """Return the best trees whose children are among candidates, by ascending size."""
        values = zeros((len(self._laws), self._nodes + 1), like=self._laws)
        trees = [[LEAF] * (self._nodes + 1) for _ in self._laws]
        sizes = np.array([each.tree.size for each in candidates])
        ends: IntArray = np.searchsorted(sizes, np.arange(self._nodes), side="right")
        vectors = np.array([each.kept for each in candidates]).T
        for family in self._families:
            kept, moved = self._kept[family[0]], self._moved[family[0]]
            scores = [own[:, None] + law @ vectors for own, law in zip(kept, moved, strict=True)]
            shared = Shared(scores, ends, self._nodes)
            for k, law, n in shared.improve(family, values):
                chosen = shared.children(k, law, n)
                trees[law][n] = Shape(tuple(candidates[child].tree for child in chosen))
        return Allotted(values, trees)


def families(chances: Chances, nodes: int) -> list[list[int]]:
    """Return the numbers of children, descending, together where the greatest serves the others."""
    widths = [k for k in reversed(chances.widths) if k <= nodes]
    return [widths] if chances.nested and widths else [[k] for k in widths]


class Shared:
    """Nodes shared out among children, and among the first of them.

    ``values[i][law, t]`` is the most that the first i children keep with t nodes below them.

    Parameters
    ----------
    scores : sequence of ndarray, shape (laws, candidates)
        What each child adds with each candidate below it.
    ends : ndarray of int, shape (nodes,)
        How many of the candidates have at most 0, 1, … nodes.
    nodes : int
    """

    def __init__(self, scores: Sequence[Array], ends: IntArray, nodes: int) -> None:
        self._scores, self._ends = scores, ends
        self.values = [zeros((len(scores[0]), nodes + 1), like=scores[0])]
        self._below: list[IntArray] = []
        for number, each in enumerate(scores, start=1):
            best = np.maximum.accumulate(each, axis=1)[:, ends - 1]
            more, below = _one_more(self.values[-1], best, nodes - number)
            self.values.append(more)
            self._below.append(below)

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
            own = int(self._below[child][law, left])
            chosen.append(int(np.argmax(self._scores[child][law, : self._ends[own]])))
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
