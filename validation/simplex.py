"""Linear programs over fractions by the simplex method, for programs of a few dozen variables."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction

Vector = list[Fraction]
ZERO, ONE = Fraction(0), Fraction(1)


@dataclass
class Program:
    """Maximise c·x subject to x ≥ 0, a·x ≤ b and a·x = b, with all b ≥ 0.

    Parameters
    ----------
    size : int
        Number of variables.
    """

    size: int
    objective: Vector = field(init=False)
    rows: list[tuple[Vector, Fraction, bool]] = field(default_factory=list, init=False)

    def __post_init__(self) -> None:
        self.objective = [ZERO] * self.size

    def add(
        self, terms: Sequence[tuple[int, int | Fraction]], bound: Fraction, *, equal: bool
    ) -> None:
        """Add a row given by (variable, coefficient) pairs, whose coefficients add up."""
        row = [ZERO] * self.size
        for variable, coefficient in terms:
            row[variable] += coefficient
        self.rows.append((row, bound, equal))

    def solve(self) -> tuple[Fraction, Vector]:
        """Return the optimum and where it is attained.

        Raises
        ------
        ValueError
            No point meets the rows, or there is no maximum.
        """
        # Each row gets a column of its own: a slack, or for an equality an artificial variable.
        width, height = self.size + len(self.rows), len(self.rows)
        table = []
        for i, (row, bound, _) in enumerate(self.rows):
            own = [ONE if j == i else ZERO for j in range(height)]
            table.append([*row, *own, bound])
        basis = list(range(self.size, width))
        artificial = {self.size + i for i, (_, _, equal) in enumerate(self.rows) if equal}
        if artificial:
            goal = [-ONE if column in artificial else ZERO for column in range(width)]
            if _climb(table, basis, goal, set()) < 0:
                raise ValueError("no point meets the rows")
            _leave(table, basis, artificial)
        goal = [*self.objective, *[ZERO] * height]
        value = _climb(table, basis, goal, artificial)
        point = [ZERO] * width
        for row, column in zip(table, basis, strict=True):
            point[column] = row[-1]
        return value, point[: self.size]


def _climb(table: list[Vector], basis: list[int], goal: Vector, banned: set[int]) -> Fraction:
    """Pivot by Bland's rule until no column gains, and return the value."""
    gains = [*goal, ZERO]
    for row, column in zip(table, basis, strict=True):
        _subtract(gains, row, gains[column])
    while True:
        entering = next(
            (j for j, gain in enumerate(gains[:-1]) if gain > 0 and j not in banned), None
        )
        if entering is None:
            return -gains[-1]
        ratios = [
            (row[-1] / row[entering], basis[i], i)
            for i, row in enumerate(table)
            if row[entering] > 0
        ]
        if not ratios:
            raise ValueError("there is no maximum")
        leaving = min(ratios)[2]
        _pivot(table, basis, leaving, entering)
        _subtract(gains, table[leaving], gains[entering])


def _leave(table: list[Vector], basis: list[int], artificial: set[int]) -> None:
    """Take artificial variables, all at 0 now, out of the basis where a row allows it."""
    for i, column in enumerate(basis):
        if column in artificial:
            row = table[i]
            entering = next(
                (j for j, a in enumerate(row[:-1]) if a != 0 and j not in artificial), None
            )
            if entering is not None:
                _pivot(table, basis, i, entering)


def _pivot(table: list[Vector], basis: list[int], leaving: int, entering: int) -> None:
    scale = table[leaving][entering]
    table[leaving] = [value / scale if value else value for value in table[leaving]]
    for i, row in enumerate(table):
        if i != leaving:
            _subtract(row, table[leaving], row[entering])
    basis[leaving] = entering


def _subtract(row: Vector, other: Vector, factor: Fraction) -> None:
    """Subtract a multiple of another row in place."""
    if factor:
        for j, value in enumerate(other):
            if value:
                row[j] -= factor * value
