"""Linear conditions on a draft law, a target and an acceptance: what they are, and in print.

The two descriptions of a polyhedron follow from each other in exact arithmetic. Source: Fukuda and
Prodon, "Double description method revisited" (1995), as implemented in cddlib with GMP rationals;
it is the method of Canonical, app. C.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import lcm
from types import ModuleType
from typing import Any, Literal, get_args

from otspec._base import as_choice, as_list, as_scalar, needed, shown
from otspec.cones.coordinates import Coordinates, Quotient, Vector, coprime, dot

Kind = Literal["trivial", "cut", "equality", "other"]
Drafts = Literal["any", "iid", "independent"]


@dataclass(frozen=True)
class Condition:
    """A linear condition: the sum of coefficients times coordinates is at least 0.

    Parameters
    ----------
    coordinates : Coordinates
    coefficients : tuple of int
        Coprime, one per coordinate.
    kind : {"trivial", "cut", "equality", "other"}
        ``"trivial"``: a probability is not negative. ``"cut"``: the condition of a token set.
        ``"equality"``: the sum must be 0. ``"other"``: none of these.
    cut : tuple of int, optional
        The token set of a cut.
    """

    coordinates: Coordinates
    coefficients: Vector
    kind: Kind
    cut: tuple[int, ...] | None = None

    def slack(self, values: Sequence[Fraction]) -> Fraction:
        """Return by how much the condition holds, given the coordinates' exact values."""
        given = as_list(values, "values", "the coordinates' values, as fractions")
        exact = [as_scalar(value, f"values[{i}]") for i, value in enumerate(given)]
        if len(exact) != len(self.coefficients) or not all(isinstance(v, Fraction) for v in exact):
            raise ValueError(
                f"values is {shown(given)}: it must hold {len(self.coefficients)} exact numbers"
            )
        return dot(self.coefficients, [Fraction(value) for value in exact])

    def holds(self, values: Sequence[Fraction]) -> bool:
        """Return whether the condition holds, given the coordinates' values."""
        slack = self.slack(values)
        return slack == 0 if self.kind == "equality" else slack >= 0

    def written(self, drafts: Drafts = "any") -> str:
        """Return the condition in print.

        That of a cut can be written for ``"iid"`` drafts from p, or for ``"independent"`` ones from
        p, p', p'', …; by default, and for any other condition, it has the mass P of each row.
        """
        as_choice(drafts, "drafts", get_args(Drafts))
        if self.cut is None or drafts == "any":
            return self._in_masses()
        wanted = " + ".join(f"q{token}" for token in self.cut)
        inside = _inside(self.cut, self.coordinates.k, drafts)
        if not self.coordinates.acceptance:
            return f"{wanted} >= {inside}"
        return f"alpha <= {wanted} + 1 - {inside}" if self.cut else "alpha <= 1"

    def __str__(self) -> str:
        return self.written()

    def _in_masses(self) -> str:
        """Write the condition with every positive term on one side, the target's on the left."""
        space = self.coordinates
        shape = "({})" if space.rows == "tuples" else "{{{}}}"
        names = ["P" + shape.format(", ".join(map(str, row))) for row in space.drafts]
        names += [f"q{token}" for token in range(space.n)]
        names += ["alpha"] * space.acceptance
        terms = list(zip(self.coefficients, names, strict=True))
        terms = [*terms[len(space.drafts) :], *terms[: len(space.drafts)]]
        greater = _sum((factor, name) for factor, name in terms if factor > 0)
        less = _sum((-factor, name) for factor, name in terms if factor < 0)
        if self.kind == "equality":
            return f"{greater} = {less}"
        if space.acceptance and self.coefficients[-1] < 0:
            return f"{less} <= {greater}"
        return f"{greater} >= {less}"


class Classifier:
    """Recognizes trivial conditions and cuts modulo the span of equalities."""

    def __init__(self, coordinates: Coordinates, equalities: Iterable[Vector] = ()) -> None:
        self.coordinates = coordinates
        self.modulo = Quotient(equalities)
        self._known: dict[Vector, Condition] = {}
        self._equal: list[Vector] = []
        for index in range(len(coordinates.drafts) + coordinates.n):
            self._learn(Condition(coordinates, coordinates.unit(index), "trivial"))
        for cut in coordinates.token_sets():
            self._learn(Condition(coordinates, coordinates.cut(cut), "cut", cut))

    def equalities(self) -> tuple[Condition, ...]:
        """Return the equalities as conditions, in reduced echelon form, target terms positive."""
        found = []
        for vector in self.modulo.basis:
            last = next(value for value in reversed(vector) if value)
            sign = 1 if last > 0 else -1
            signed = tuple(sign * value for value in vector)
            found.append(Condition(self.coordinates, signed, "equality"))
        return tuple(found)

    def conditions(self, vectors: Iterable[Vector]) -> tuple[Condition, ...]:
        """Return vectors as conditions: trivial ones, cuts from small to large sets, others."""
        found = [self.condition(vector) for vector in vectors]
        return tuple(sorted(found, key=_place))

    def condition(self, vector: Vector) -> Condition:
        """Return a vector as a condition of the right kind, in its natural form if it has one."""
        form = self.modulo.representative(vector)
        return self._known.get(form) or Condition(self.coordinates, form, "other")

    def missing(self, conditions: Iterable[Condition]) -> tuple[tuple[int, ...], ...]:
        """Return the token sets whose cuts are neither among conditions nor equalities."""
        present = {condition.cut for condition in conditions}
        cuts = (known.cut for known in self._known.values() if known.kind == "cut")
        return tuple(cut for cut in cuts if cut is not None and cut not in present)

    def equalities_are_cuts(self) -> bool:
        """Return whether the equalities follow from cuts and Σ q = Σ P."""
        # The cut of A is an equality only if no draft row meets both A and its complement; then the
        # cuts of the two add up to Σ q ≥ Σ P, and must both be tight.
        return Quotient(self._equal).rank == self.modulo.rank

    def _learn(self, condition: Condition) -> None:
        form = self.modulo.representative(condition.coefficients)
        if any(form):
            self._known.setdefault(form, condition)
        elif condition.kind == "cut":
            self._equal.append(condition.coefficients)


def _place(condition: Condition) -> tuple[int, int, tuple[int, ...]]:
    """Where a condition comes in a list: trivial ones, cuts by size, others."""
    if condition.kind == "trivial":
        return 0, 0, tuple(-value for value in condition.coefficients)
    if condition.cut is not None:
        return 1, len(condition.cut), condition.cut
    return 2, 0, condition.coefficients


def _inside(cut: tuple[int, ...], k: int, drafts: Drafts) -> str:
    """Write P(all drafts inside a token set)."""
    if drafts == "iid":
        mass = " + ".join(f"p{token}" for token in cut)
        mass = f"({mass})" if len(cut) > 1 and k > 1 else mass
        return mass if k == 1 else f"{mass}^{k}"
    masses = [" + ".join(f"p{draft * chr(39)}{token}" for token in cut) for draft in range(k)]
    return " ".join(f"({mass})" if len(cut) > 1 and k > 1 else mass for mass in masses)


def _sum(terms: Iterable[tuple[int, str]]) -> str:
    """Write a sum of names with positive factors."""
    return " + ".join(name if factor == 1 else f"{factor} {name}" for factor, name in terms) or "0"


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
