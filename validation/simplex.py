"""Linear programs over fractions by the simplex method, for programs of a few dozen variables."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from math import lcm

Vector = list[Fraction]


@dataclass
class Program:
    """Maximize c·x subject to x ≥ 0, a·x ≤ b and a·x = b, with all b ≥ 0."""

    size: int
    """Number of variables."""
    objective: Vector = field(init=False)
    rows: list[tuple[Vector, bool]] = field(default_factory=list, init=False)
    """The coefficients and, last, the bound; and whether it is to be attained."""

    def __post_init__(self) -> None:
        self.objective = [Fraction(0)] * self.size

    def add(
        self, terms: Sequence[tuple[int, int | Fraction]], bound: Fraction, *, equal: bool
    ) -> None:
        """Add a row given by (variable, coefficient) pairs, whose coefficients add up."""
        row = [Fraction(0)] * self.size + [bound]
        for variable, coefficient in terms:
            row[variable] += coefficient
        self.rows.append((row, equal))

    def solve(self) -> tuple[Fraction, Vector]:
        """Return the optimum and where it is attained; a ValueError without either."""
        height = len(self.rows)
        # Each row has a variable of its own: what it leaves, or what an equality misses.
        table = [_whole(row) for row, _ in self.rows]
        # Last come what equalities miss in all, which outweighs any gain, and the gain.
        missing = [row for row, (_, equal) in zip(table, self.rows, strict=True) if equal]
        table.append([sum(column) for column in zip([0] * (self.size + 1), *missing, strict=True)])
        table.append([*_whole(self.objective), 0])
        for i, row in enumerate(table):
            row[-1:-1] = [int(i == j) for j in range(height)]
        basis, scale = list(range(self.size, self.size + height)), 1
        columns = range(self.size + height)
        while gaining := [j for j in columns if (table[-2][j], table[-1][j]) > (0, 0)]:
            entering = gaining[0]  # Bland's rule: the first that gains, the first that binds
            open_rows = [i for i in range(height) if table[i][entering] > 0]
            if not open_rows:
                raise ValueError("there is no maximum, or no point meets the rows")
            ratios = [(Fraction(table[i][-1], table[i][entering]), basis[i], i) for i in open_rows]
            leaving = min(ratios)[2]
            scale = _pivot(table, leaving, entering, scale)
            basis[leaving] = entering
        if table[-2][-1] != 0:
            raise ValueError("no point meets the rows")
        point = [Fraction(0)] * len(columns)
        for row, column in zip(table, basis, strict=False):
            point[column] = Fraction(row[-1], scale)
        gained = (c * x for c, x in zip(self.objective, point, strict=False))
        return sum(gained, Fraction(0)), point[: self.size]


def _whole(row: Sequence[Fraction]) -> list[int]:
    """Return the smallest multiple of a row that is in whole numbers."""
    scale = lcm(*(Fraction(value).denominator for value in row))
    return [int(value * scale) for value in row]


def _pivot(table: list[list[int]], leaving: int, entering: int, scale: int) -> int:
    """Enter a variable in whole numbers, all of them over one scale; return the new scale."""
    own = table[leaving]
    pivot = own[entering]
    for i, row in enumerate(table):
        factor = row[entering]
        if i != leaving and (factor or pivot != scale):
            table[i] = [(pivot * x - factor * y) // scale for x, y in zip(row, own, strict=True)]
    return pivot
