"""What a rule can see of the drafts (Programs, 1): each tuple, or the set of its tokens."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from otspec._base.arguments import as_flag, as_integer
from otspec._base.arithmetic import Array, IntArray, sums_by
from otspec._base.frozen import Frozen, cached_property
from otspec.drafts.base import DraftLaw, as_drafts, as_law


@dataclass(frozen=True, eq=False)
class Support(Frozen):
    """The draft tuples of positive probability, or their sets of distinct tokens.

    A *pair* is a row together with one of its distinct tokens: a draft that may be accepted.

    Acceptance, and every constraint of the transport problem, depends on a tuple only through
    its set of distinct tokens: adding up the tuples of one set gives a solution on sets, and
    splitting that in proportion to P(x) gives one on tuples. Rows of sets therefore lose nothing,
    whatever the law, and shrink n^k rows to at most Σ_{j ≤ k} C(n, j).

    ``keys``, shape (m, k): the tuple of each row; of a set the tokens ascending, the largest
    repeated. ``masses``, shape (m,): of the rows. ``rows``, ``tokens``, shape (p,): the pairs, row
    by row, tokens ascending.
    """

    law: DraftLaw
    sets: bool
    keys: IntArray
    masses: Array
    rows: IntArray
    tokens: IntArray

    def row_of(self, x: Sequence[int]) -> int | None:
        """Return the row of a draft tuple, or None if it has probability 0."""
        key = np.array([as_drafts(x, self.law)], dtype=np.intp)
        return self._row_numbers.get(tuple((_as_set_keys(key) if self.sets else key)[0].tolist()))

    def pairs_of(self, row: int) -> slice:
        """Return the stretch of pairs that belong to a row."""
        row = as_integer(row, "row", 0, len(self.keys) - 1)
        return slice(*np.searchsorted(self.rows, [row, row + 1]))

    @cached_property
    def _row_numbers(self) -> dict[tuple[int, ...], int]:
        return {tuple(key): row for row, key in enumerate(self.keys.tolist())}


def support(law: DraftLaw, *, sets: bool = True) -> Support:
    """Return what a rule sees of the drafts of a law: tuples, or sets of distinct tokens."""
    keys, masses = as_law(law).tuples()
    if as_flag(sets, "sets"):
        keys, masses = _added_up(_as_set_keys(keys), masses)
        ascending = keys
    else:
        ascending = np.sort(keys, axis=1)
    distinct = np.ones(ascending.shape, dtype=bool)
    distinct[:, 1:] = ascending[:, 1:] != ascending[:, :-1]
    rows = np.nonzero(distinct)[0]
    return Support(law, sets, keys, masses, rows, ascending[distinct])


def _as_set_keys(tuples: IntArray) -> IntArray:
    """Sort each tuple and replace repetitions by its largest token: equal sets, equal keys."""
    ordered = np.sort(tuples, axis=1)
    repeated = np.zeros(ordered.shape, dtype=bool)
    repeated[:, 1:] = ordered[:, 1:] == ordered[:, :-1]
    keys: IntArray = np.sort(np.where(repeated, ordered[:, -1:], ordered), axis=1)
    return keys


def _added_up(keys: IntArray, masses: Array) -> tuple[IntArray, Array]:
    """Add up the masses of equal keys; keys come out in lexicographic order."""
    order = np.lexsort(keys.T[::-1])
    keys, masses = keys[order], masses[order]
    first = np.ones(len(keys), dtype=bool)
    first[1:] = (keys[1:] != keys[:-1]).any(axis=1)
    return keys[first], sums_by(np.cumsum(first) - 1, masses, int(first.sum()))
