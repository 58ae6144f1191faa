"""What conditions are about: the mass of each draft row and target token, and the acceptance.

Also integer vectors up to positive factors, and modulo a linear space.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import combinations, product
from math import comb, gcd, lcm
from typing import Any, Literal, TypeAlias, cast, get_args

from otspec._base import as_choice, as_integer, counted_power, plain_integer, shown
from otspec.distributions import DistributionLike, as_k
from otspec.drafts import DraftLaw
from otspec.drafts.base import as_law

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


Rows = Literal["sets", "tuples"]

LARGEST = 2_000_000
"""Most integers in the matrix of a cone: one row per inequality, one column per coordinate."""


@dataclass(frozen=True)
class Coordinates:
    """The coordinates (P, q), or (P, q, α), of the conditions for n tokens and k drafts.

    A draft row is a tuple of tokens, or the set of its distinct tokens. Coordinates come in the
    order of :attr:`drafts`, then the tokens, then the acceptance.
    """

    n: int  # vocabulary size
    k: int  # number of drafts
    rows: Rows
    acceptance: bool  # whether the acceptance α is a coordinate; otherwise it is 1

    @cached_property
    def drafts(self) -> tuple[tuple[int, ...], ...]:
        """The draft rows: tuples in lexicographic order, or sets, ascending, by size."""
        if self.rows == "tuples":
            return tuple(product(range(self.n), repeat=self.k))
        sizes = range(1, min(self.n, self.k) + 1)
        return tuple(chosen for size in sizes for chosen in combinations(range(self.n), size))

    @cached_property
    def size(self) -> int:
        """How many coordinates there are."""
        return len(self.drafts) + self.n + self.acceptance

    def draft(self, row: tuple[int, ...]) -> int:
        """Return the coordinate of a draft row."""
        return self._row_numbers[row]

    def token(self, token: int) -> int:
        """Return the coordinate of a target token."""
        return len(self.drafts) + token

    def pairs(self) -> Iterator[tuple[int, int]]:
        """Yield the coordinates of each draft row with each token that it can accept."""
        for number, row in enumerate(self.drafts):
            for token in sorted(set(row)):
                yield number, self.token(token)

    def unit(self, coordinate: int) -> Vector:
        """Return the condition that a coordinate is not negative."""
        return unit(coordinate, self.size)

    def cut(self, tokens: Iterable[int]) -> Vector:
        """Return the condition of a token set A."""
        # It is q(A) ≥ P(inside A), or with the acceptance α ≤ q(A) + P(not inside A).
        members = set(tokens)
        inside = [members.issuperset(row) for row in self.drafts]
        target = [int(token in members) for token in range(self.n)]
        if self.acceptance:
            return (*(int(not within) for within in inside), *target, -1)
        return (*(-int(within) for within in inside), *target)

    def token_sets(self) -> Iterator[tuple[int, ...]]:
        """Yield every token set, the small ones first."""
        for size in range(self.n + 1):
            yield from combinations(range(self.n), size)

    def values(
        self, law: DraftLaw, target: DistributionLike, acceptance: Fraction
    ) -> tuple[Fraction, ...]:
        """Return the coordinates of a draft law and a target."""
        if (as_law(law).n, law.k) != (self.n, self.k):
            raise ValueError(
                f"law has n = {law.n} tokens and k = {law.k} drafts, but the cone n = {self.n} and "
                f"k = {self.k}: compute the cone of that n and k"
            )
        refuse_floats(law)
        checked = law.as_target(target)
        refuse_floats(law.for_target(checked))
        masses = dict.fromkeys(self.drafts, Fraction(0))
        tuples, probabilities = law.tuples()
        for drafts, mass in zip(tuples.tolist(), probabilities, strict=True):
            row = tuple(drafts) if self.rows == "tuples" else tuple(sorted(set(drafts)))
            masses[row] += mass
        return (*masses.values(), *checked, *[acceptance] * self.acceptance)

    @cached_property
    def _row_numbers(self) -> dict[tuple[int, ...], int]:
        return {row: number for number, row in enumerate(self.drafts)}


def coordinates(n: Any, k: Any, rows: Any, *, acceptance: bool) -> Coordinates:
    """Check n, k and the kind of rows."""
    tokens, drafts = as_vocabulary_size(n), as_k(k)
    rows = as_choice(rows, "rows", get_args(Rows))
    lines = pairs = 0
    if rows == "sets":
        for size in range(1, min(tokens, drafts) + 1):
            lines, pairs = lines + comb(tokens, size), pairs + size * comb(tokens, size)
            if lines > LARGEST:
                break
    else:
        lines = counted_power(tokens, drafts)
        pairs = tokens * max(lines - counted_power(tokens - 1, drafts), 1)
    if (pairs + lines) * (lines + tokens) > LARGEST:
        advice = "" if rows == "sets" else " or rows='sets', which loses nothing"
        raise ValueError(
            f"n = {tokens} and k = {drafts} have {lines:,} draft rows with {pairs:,} tokens to "
            f"accept, too many for exact cones: use a smaller n or k{advice}"
        )
    return Coordinates(tokens, drafts, cast(Rows, rows), acceptance)


def as_vocabulary_size(n: Any) -> int:
    """Check a vocabulary size."""
    size = plain_integer(n)
    if size is None or size < 1:
        raise ValueError(
            f"n is {shown(n)}: it must be an integer, at least 1: the number of tokens"
        )
    return as_integer(size, "n", 1, LARGEST, otherwise="use fewer tokens")


def refuse_floats(law: DraftLaw) -> None:
    """Refuse a law that is not exact."""
    if not as_law(law).exact:
        raise ValueError(
            "law is in floats, but cones are exact: pass Fractions or strings such as '3/10'"
        )


def dot(vector: Vector, values: Sequence[Fraction]) -> Fraction:
    """Return the sum of the products."""
    return sum((factor * value for factor, value in zip(vector, values, strict=True)), Fraction(0))
