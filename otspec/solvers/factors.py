"""Exact linear systems: a sparse matrix of whole numbers, decomposed once."""

import math
from fractions import Fraction

_ZERO = Fraction(0)


class Factors:
    """A square matrix of whole numbers, decomposed by sparse elimination (Markowitz, 1957)."""

    def __init__(self, rows: list[dict[int, int]]) -> None:
        left = dict(enumerate(rows))
        holders: dict[int, set[int]] = {j: set() for j in left}
        for i, row in left.items():
            for j in row:
                holders[j].add(i)
        self._pivots: list[tuple[int, int, dict[int, int]]] = []
        self._steps: list[tuple[int, int, Fraction, Fraction]] = []
        while left:
            # The row or column with the fewest entries, and in it the entry that changes the least.
            i = min(left, key=lambda i: len(left[i]))
            j = min(holders, key=lambda j: len(holders[j]))
            if min(len(left[i]), len(holders[j])) == 0:
                raise ZeroDivisionError("a singular matrix")
            if len(left[i]) <= len(holders[j]):
                j = min(left[i], key=lambda j: len(holders[j]))
            else:
                i = min(holders[j], key=lambda i: len(left[i]))
            pivot = left.pop(i)
            self._pivots.append((i, j, pivot))
            for column in pivot:
                holders[column].discard(i)
            for k in sorted(holders.pop(j)):
                self._eliminate(j, i, pivot, k, left, holders)

    def _eliminate(
        self,
        j: int,
        i: int,
        pivot: dict[int, int],
        k: int,
        left: dict[int, dict[int, int]],
        holders: dict[int, set[int]],
    ) -> None:
        """Subtract the pivot row i from row k, so that its column j is 0; keep how."""
        row = left[k]
        times, less = pivot[j], row.pop(j)
        for column in row.keys() | (pivot.keys() - {j}):
            value = times * row.get(column, 0) - less * pivot.get(column, 0)
            if value:
                row[column] = value
                holders[column].add(k)
            else:
                del row[column]
                holders[column].discard(k)
        common = math.gcd(*row.values()) or 1
        for column in row:
            row[column] //= common
        self._steps.append((i, k, Fraction(times, common), Fraction(less, common)))

    def solve(self, sides: list[Fraction]) -> list[Fraction]:
        """Return x with M x = sides."""
        sides = list(sides)
        for i, k, times, less in self._steps:
            if sides[k] or sides[i]:
                sides[k] = times * sides[k] - less * sides[i]
        found = [_ZERO] * len(sides)
        for i, j, pivot in reversed(self._pivots):
            rest = sum((a * found[c] for c, a in pivot.items() if found[c]), _ZERO)
            found[j] = (sides[i] - rest) / pivot[j]
        return found

    def solve_transposed(self, sides: list[Fraction]) -> list[Fraction]:
        """Return y with Mᵀ y = sides."""
        sides = list(sides)
        found = [_ZERO] * len(sides)
        for i, j, pivot in self._pivots:
            found[i] = sides[j] / pivot[j]
            if found[i]:
                for c, a in pivot.items():
                    sides[c] -= a * found[i]
        for i, k, times, less in reversed(self._steps):
            if found[k]:
                found[i] -= less * found[k]
                found[k] *= times
        return found
