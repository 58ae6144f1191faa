"""Distinct drafts drawn one after the other, also those with a given token (Theory, 2).

Few tuples of many tokens are drawn quickly.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from otspec._base.arithmetic import Array, IntArray
from otspec._base.frozen import Frozen, cached_property
from otspec.drafts.base import inverted

_TIMES = 4
"""How many times k tokens are drawn at once for k distinct ones."""


def successive(draft: Array, k: int, size: int, rng: np.random.Generator) -> IntArray:
    """Draw tuples without replacement, in time of the drafts rather than of the vocabulary.

    The tokens of i.i.d. draws in the order in which they come for the first time are draws without
    replacement. Where they are too few, more are drawn off them one by one.

    Parameters
    ----------
    draft : ndarray of float, shape (n,)
    k : int
        At most the tokens of positive probability.
    size : int
    rng : numpy.random.Generator

    Returns
    -------
    ndarray of int, shape (size, k)
    """
    drawn = inverted(np.cumsum(draft), rng.random((size, _TIMES * k)))
    rows = [list(dict.fromkeys(row))[:k] for row in drawn.tolist()]
    for row in rows:
        while len(row) < k:
            left = draft.copy()
            left[row] = 0.0
            row.append(int(inverted(np.cumsum(left), rng.random(1))[0]))
    return np.array(rows, dtype=np.intp)


@dataclass(frozen=True, eq=False)
class WithOne(Frozen):
    """k drafts without replacement, one of which is y.

    Law: P(x) of drafts x with y at place i is the probability of the others, z, to be drawn in
    this order without y, times p(y)/(1 − s_i) Π_{j<i} (1 − p(y) − s_j)/(1 − s_j), where s_j is the
    mass of the first j of z: y is not drawn in any of the first i rounds, and then it is.

    Parameters
    ----------
    draft : ndarray of float, shape (n,)
    y : int
        A token of positive probability.
    k : int
        At most the number of such tokens.
    """

    draft: Array
    y: int
    k: int

    def sample(self, size: int, rng: np.random.Generator) -> IntArray:
        """Draw the other drafts, shape (size, k − 1)."""
        if self.k == 1:
            return np.empty((size, 0), dtype=np.intp)
        return successive(self._others / self._others.sum(), self.k - 1, size, rng)

    def weights(self, z: Sequence[int]) -> list[float]:
        """Return, for each place, the probability that y is drafted there among others like z."""
        found, left, before = [], 1.0, 1.0
        mass = float(self.draft[self.y])
        for token in (*z, self.y):
            found.append(before * min(mass / left, 1.0) if left > 0 else before)
            before = max(before - found[-1], 0.0)
            left = max(left - float(self.draft[token]), mass)
        return found

    @property
    def most(self) -> list[float]:
        """The most that each of them may be, whatever the others."""
        heaviest = np.sort(self._others)[::-1][: self.k - 1].tolist()
        mass, left, most = float(self.draft[self.y]), 1.0, []
        for each in (*heaviest, 0.0):
            most.append(min(mass / left, 1.0))
            left = max(left - each, mass)
        return most

    @cached_property
    def _others(self) -> Array:
        others = self.draft.copy()
        others[self.y] = 0
        return others
