"""The two descriptions of a polyhedron, one from the other, in exact arithmetic.

Source: Fukuda and Prodon, "Double description method revisited" (1995), as implemented in cddlib
with GMP rationals; it is the method of Canonical, app. C.
"""

from collections.abc import Iterable, Sequence
from fractions import Fraction
from math import lcm
from types import ModuleType
from typing import Any

from otspec._base.extras import needed
from otspec.cones.vectors import Vector, coprime

Point = tuple[Fraction, ...]


def cone_generators(inequalities: Sequence[Vector]) -> tuple[list[Vector], list[Vector]]:
    """Return a basis of the linear space in the cone {c : a · c ≥ 0}, and its extreme rays."""
    array, linear = _converted("INEQUALITY", [(0, *row) for row in inequalities])
    directions = [(index, row) for index, row in enumerate(array) if row[0] == 0]
    lineality = [coprime(row[1:]) for index, row in directions if index in linear]
    return lineality, [coprime(row[1:]) for index, row in directions if index not in linear]


def irredundant(inequalities: Sequence[Vector]) -> list[Vector]:
    """Return the inequalities a · c ≥ 0 that do not follow from the others, by exact LPs."""
    if not inequalities:
        return []
    cdd = require()
    matrix = cdd.gmp.matrix_from_array(
        [(0, *row) for row in inequalities], rep_type=cdd.RepType.INEQUALITY
    )
    superfluous = cdd.gmp.redundant_rows(matrix)
    return [row for index, row in enumerate(inequalities) if index not in superfluous]


def vertices(inequalities: Iterable[Point], equations: Iterable[Point]) -> list[Point]:
    """Return the vertices of a bounded polyhedron, of c + a · b ≥ 0 and c + a · b = 0."""
    equal = list(equations)
    array, _ = _converted("INEQUALITY", [*equal, *inequalities], len(equal))
    return [tuple(Fraction(value) for value in row[1:]) for row in array]


def facets(points: Sequence[Point]) -> tuple[list[Point], list[Point]]:
    """Return the facets of the hull of points, and the equations of the flat that it lies in."""
    # Scaled to whole numbers, cddlib is twice as fast.
    scale = lcm(*(value.denominator for point in points for value in point))
    array, linear = _converted(
        "GENERATOR", [(1, *(int(scale * value) for value in point)) for point in points]
    )
    rows = [(Fraction(row[0]), *(scale * Fraction(value) for value in row[1:])) for row in array]
    # Besides the facets, a hull in homogeneous coordinates may have the face at infinity.
    proper = [index for index, row in enumerate(rows) if any(row[1:])]
    return (
        [rows[index] for index in proper if index not in linear],
        [rows[index] for index in proper if index in linear],
    )


def _converted(
    given: str, rows: Sequence[Sequence[Any]], equations: int = 0
) -> tuple[list[Sequence[Any]], set[int]]:
    """Return the other description, and which of its rows are linear."""
    cdd = require()
    matrix = cdd.gmp.matrix_from_array(rows, lin_set=range(equations), rep_type=cdd.RepType[given])
    polyhedron = cdd.gmp.polyhedron_from_matrix(matrix, row_order=cdd.RowOrderType.MIN_INDEX)
    if given == "INEQUALITY":
        converted = cdd.gmp.copy_generators(polyhedron)
    else:
        converted = cdd.gmp.copy_inequalities(polyhedron)
    return list(converted.array), set(converted.lin_set)


def require() -> ModuleType:
    """Import pycddlib, or raise ``ValueError`` with how to install it."""
    hint = ", which compiles against libcdd and GMP (on Debian: apt install libcdd-dev libgmp-dev)"
    needed("cdd.gmp", "otspec.cones", "cones", hint=hint)
    return needed("cdd", "otspec.cones", "cones", hint=hint)
