"""A linear program under construction: blocks of named rows and columns, and coefficients."""

from __future__ import annotations

import numpy as np

from otspec._base.arithmetic import Array, IntArray, zeros
from otspec.solvers import LinearProgram, Names, Sense


class ProgramBuilder:
    """What a formulation adds its rows, columns and coefficients to.

    ``like``: gives the arithmetic.
    """

    def __init__(self, like: Array) -> None:
        self._like = like
        self._rows, self._columns = _Lines(like), _Lines(like)
        self._coefficients: list[tuple[IntArray, IntArray, Array]] = []

    def rows(
        self, prefix: str, indices: IntArray, lower: Array | float, upper: Array | float
    ) -> IntArray:
        """Add a block of rows with names ``prefix(indices)`` and bounds; return their numbers."""
        return self._rows.add(prefix, indices, lower, upper)

    def columns(
        self, prefix: str, indices: IntArray, lower: Array | float, upper: Array | float
    ) -> IntArray:
        """Add a block of columns with names ``prefix(indices)`` and bounds; as :meth:`rows`."""
        return self._columns.add(prefix, indices, lower, upper)

    def put(self, rows: IntArray, columns: IntArray, value: int | Array = 1) -> None:
        """Add one coefficient for each row and column of two arrays of one length."""
        values = zeros(len(rows), like=self._like) + value
        self._coefficients.append((rows, columns, values))

    def program(
        self, title: str, sense: Sense, objective: IntArray, weights: Array | None = None
    ) -> LinearProgram:
        """Return the program.

        ``title`` and ``sense``: as in :class:`LinearProgram`. ``objective``: the columns that the
        objective counts. ``weights``: how often it counts them; by default once.
        """
        one = zeros(1, like=self._like)[0] + 1
        goal = zeros(len(self._columns), like=self._like)
        goal[objective] = one if weights is None else weights
        rows, columns, values = zip(*self._coefficients, strict=True)
        return LinearProgram(
            title,
            sense,
            goal,
            np.concatenate(rows),
            np.concatenate(columns),
            np.concatenate(values),
            *self._rows.bounds(),
            *self._columns.bounds(),
            self._rows.names(),
            self._columns.names(),
        )


class _Lines:
    """Rows or columns: blocks of named lines with bounds."""

    def __init__(self, like: Array) -> None:
        self._like = like
        self._names: list[tuple[str, IntArray]] = []
        self._lower: list[Array] = []
        self._upper: list[Array] = []
        self._count = 0

    def add(
        self, prefix: str, indices: IntArray, lower: Array | float, upper: Array | float
    ) -> IntArray:
        count = len(indices)
        self._names.append((prefix, indices))
        for bounds, given in ((self._lower, lower), (self._upper, upper)):
            block = zeros(count, like=self._like)
            block[:] = given
            bounds.append(block)
        self._count += count
        return np.arange(self._count - count, self._count, dtype=np.intp)

    def __len__(self) -> int:
        return self._count

    def names(self) -> Names:
        return Names(tuple(self._names))

    def bounds(self) -> tuple[Array, Array]:
        return np.concatenate(self._lower), np.concatenate(self._upper)


def arrow(keys: IntArray, tokens: IntArray) -> IntArray:
    """Return name indices that read ``x -> y``: (p, k), (p,) or (p, l) -> (p, k + 1 + l)."""
    return np.column_stack([keys, np.full(len(keys), -1), tokens])
