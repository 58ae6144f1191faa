"""Integer vectors up to positive factors, and modulo a linear space."""

from collections.abc import Iterable, Sequence
from fractions import Fraction
from math import gcd, lcm
from typing import TypeAlias

Vector: TypeAlias = tuple[int, ...]


def unit(coordinate: int, size: int) -> Vector:
    """Return the vector of zeros with a one at a coordinate."""
    return tuple(int(index == coordinate) for index in range(size))


def coprime(values: Sequence[int] | Sequence[Fraction]) -> Vector:
    """Return the shortest integer vector in the same direction.

    Examples
    --------
    >>> coprime([Fraction(1, 2), Fraction(-1, 3)])
    (3, -2)
    """
    scale = lcm(*(value.denominator for value in values))
    whole = [value.numerator * (scale // value.denominator) for value in values]
    common = gcd(*whole) or 1
    return tuple(value // common for value in whole)


class Quotient:
    """Vectors modulo a linear space, each class up to positive factors with one representative.

    Examples
    --------
    >>> modulo = Quotient([(1, 1, -2)])
    >>> modulo.representative((3, 1, 0)), modulo.representative((0, -1, 3))
    ((0, -1, 3), (0, -1, 3))
    """

    def __init__(self, spanning: Iterable[Vector]) -> None:
        self._rows: dict[int, list[Fraction]] = {}
        for vector in spanning:
            rest = self._reduced(vector)
            pivot = next((index for index, value in enumerate(rest) if value), None)
            if pivot is None:
                continue
            added = [value / rest[pivot] for value in rest]
            for row in self._rows.values():
                factor = row[pivot]
                row[:] = [value - factor * other for value, other in zip(row, added, strict=True)]
            self._rows[pivot] = added

    @property
    def rank(self) -> int:
        """The dimension of the space."""
        return len(self._rows)

    @property
    def basis(self) -> tuple[Vector, ...]:
        """The reduced echelon form, its rows as coprime integers."""
        return tuple(coprime(self._rows[pivot]) for pivot in sorted(self._rows))

    def representative(self, vector: Vector) -> Vector:
        """Return the representative of a vector's class; zeros for a vector in the space."""
        return coprime(self._reduced(vector))

    def _reduced(self, vector: Vector) -> list[Fraction]:
        rest = [Fraction(value) for value in vector]
        for pivot, row in self._rows.items():
            factor = rest[pivot]
            if factor:
                rest = [value - factor * other for value, other in zip(rest, row, strict=True)]
        return rest
