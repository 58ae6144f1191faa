"""Appendix C: the cone behind Theorem 2, its generators, and more drafts and tokens."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import combinations, product
from math import gcd
from time import monotonic

from validation.canonical.elimination import rooms, saturates
from validation.canonical.instances import Digits, over_held, over_pairs
from validation.canonical.two_steps import unordered
from validation.claim import (
    Check,
    Claim,
    Counterexample,
    Evidence,
    Method,
    Outcome,
    Search,
    equal,
)
from validation.instances import Exact
from validation.notation import ZERO, mass_of

Vector = tuple[int, ...]

PAIRS = ((0, 1), (0, 2), (1, 2))
VARIABLES = ((0, 1), (0, 2), (1, 0), (1, 2), (2, 0), (2, 1))
"""α_12, α_13, α_21, α_23, α_31, α_32, with tokens counted from 0."""

MATRIX: tuple[Vector, ...] = (
    *(tuple(int(i == token) for i, _ in VARIABLES) for token in (0, 1)),
    *(tuple(int({i, j} == set(pair)) for i, j in VARIABLES) for pair in PAIRS),
)
"""A of (103): the equations of tokens 1 and 2, then those of the three pairs."""

GENERATORS: tuple[Vector, ...] = (
    *(tuple(int(i == j) for j in range(5)) for i in range(5)),
    (-1, 0, 1, 1, 0),
    (0, -1, 1, 0, 1),
    (1, 1, -1, 0, 0),
    (-1, -1, 1, 1, 1),
)
"""The rows of (108): the identity, then the conditions of the other four token sets."""


def right_side(draft: Exact, target: Exact) -> list[Fraction]:
    """Return b of (104)."""
    own = [target[i] - draft[i] ** 2 for i in (0, 1)]
    return [*own, *(2 * draft[i] * draft[j] for i, j in PAIRS)]


def products(draft: Exact, target: Exact) -> list[Fraction]:
    """Return b times each generator."""
    b = right_side(draft, target)
    return [sum((c * each for c, each in zip(row, b, strict=True)), ZERO) for row in GENERATORS]


def five_equations(draft: Exact, digits: Digits, **_: Exact) -> Fraction | None:
    """(98) to (102) imply the equation (97) of the third token, for variables that fit."""
    if len(draft) != 3:
        return None
    supply = unordered(draft)
    alpha = {}
    for number, ((i, j), mass) in enumerate(supply.items()):
        share = Fraction(min(digits[number % len(digits)], 4), 4)
        alpha[i, j], alpha[j, i] = share * mass, (1 - share) * mass
    # The target that makes (98) and (99) true; its third mass follows from the sum 1.
    first, second = (draft[i] ** 2 + sum(alpha[i, j] for j in range(3) if j != i) for i in (0, 1))
    found = draft[2] ** 2 + alpha[2, 0] + alpha[2, 1]
    return equal(found, 1 - first - second, "p3^2 + alpha_31 + alpha_32, against q3")


def farkas(draft: Exact, target: Exact) -> Fraction | None:
    """The system has a solution exactly if b times every generator is at least 0."""
    if len(draft) != 3:
        return None
    exists = saturates(unordered(draft), rooms(draft, target, {}))
    return equal(exists, min(products(draft, target)) >= 0, "a solution exists, against (109)")


def named_conditions(draft: Exact, target: Exact) -> Fraction | None:
    """(109): b times the generators are the slacks of (5), and 2 p_i p_j."""
    if len(draft) != 3:
        return None

    def slack(*tokens: int) -> Fraction:
        return mass_of(target, tokens) - mass_of(draft, tokens) ** 2

    wanted = [slack(0), slack(1), *(2 * draft[i] * draft[j] for i, j in PAIRS)]
    wanted += [slack(1, 2), slack(0, 2), slack(0, 1), slack(2)]
    return equal(products(draft, target), wanted, "R b")


def extreme_rays(inequalities: Sequence[Vector]) -> set[Vector]:
    """Return the extreme rays of {z : a · z ≥ 0}, a pointed cone, from all sets of d − 1 rows."""
    size = len(inequalities[0])
    found = set()
    for chosen in combinations(inequalities, size - 1):
        line = normal_to(chosen)
        for sign in (1, -1):
            z = tuple(sign * each for each in line)
            if any(z) and all(dot(a, z) >= 0 for a in inequalities):
                found.add(z)
    return found


def normal_to(rows: Sequence[Vector]) -> Vector:
    """Return the coprime vector orthogonal to d − 1 rows; zeros if they are dependent."""
    size = len(rows[0])
    minors = [
        (-1) ** i * determinant([[row[j] for j in range(size) if j != i] for row in rows])
        for i in range(size)
    ]
    common = gcd(*minors) or 1
    return tuple(minor // common for minor in minors)


def determinant(matrix: list[list[int]]) -> int:
    """Return the determinant by expansion."""
    if not matrix:
        return 1
    return sum(
        (-1) ** j * each * determinant([[*row[:j], *row[j + 1 :]] for row in matrix[1:]])
        for j, each in enumerate(matrix[0])
        if each
    )


def dot(first: Vector, second: Vector) -> int:
    """Return the scalar product."""
    return sum(a * b for a, b in zip(first, second, strict=True))


def generators_of(matrix: Sequence[Vector], claimed: Sequence[Vector]) -> Check:
    """Return a check that these are the extreme rays of {z : Aᵀ z ≥ 0}: a proof."""

    def check(search: Search) -> Outcome:  # noqa: ARG001 (small enough always)
        columns = list(zip(*matrix, strict=True))
        rays = extreme_rays(columns)
        for z in sorted(rays ^ set(claimed)):
            kind = "an extreme ray that is not claimed" if z in rays else "claimed, not extreme"
            return Counterexample({"z": z}, kind)
        # Full rank makes the cone pointed, so that its extreme rays generate it.
        if not any(
            determinant([list(column) for column in some])
            for some in combinations(columns, len(matrix))
        ):
            return Counterexample({"A": tuple(matrix)}, "A has no full rank")
        return Evidence(len(rays), None, "n = 3, k = 2, all p and q", proved=True)

    return check


Sizes = Sequence[tuple[int, int]]


def proved_for(make: Callable[[int, int], object], sizes: Sizes) -> Check:
    """Return a check that the cones of these sizes are generated by cuts alone: a proof.

    Raises
    ------
    ImportError
        When it is run without pycddlib.
    """

    def check(search: Search) -> Outcome:
        began, done = monotonic(), []
        for n, k in sizes:
            if done and monotonic() - began > search.seconds:
                break
            cone = make(n, k)
            if not cone.proves_cut_formula:  # type: ignore[attr-defined]
                others = ", ".join(map(str, cone.others)) or "none"  # type: ignore[attr-defined]
                missing = cone.missing  # type: ignore[attr-defined]
                found = f"other conditions: {others}; superfluous sets: {missing}"
                return Counterexample({"n": n, "k": k}, found, len(done))
            done.append((n, k))
        covered = ", ".join(
            f"n = {n}: k <= {max(k for m, k in done if m == n)}"
            for n in sorted({n for n, _ in done})
        )
        return Evidence(len(done), None, f"{covered}; all p and q", proved=True)

    return check


def certainty(n: int, k: int) -> object:
    """Return the cone of acceptance 1."""
    from otspec.cones import certainty_cone

    return certainty_cone(n, k)


def optimum(n: int, k: int) -> object:
    """Return the cone of the optimal acceptance."""
    from otspec.cones import optimum_cone

    return optimum_cone(n, k)


SMALL = tuple(product((1, 2, 3, 4), (2, 3, 4, 5, 6)))

CLAIMS = (
    Claim(
        "canonical.eq98",
        "Appendix C, (95) to (102)",
        r"For three tokens the five equations of tokens 1 and 2 and of the three pairs imply the "
        r"equation of token 3.",
        over_held(five_equations, 3, 3),
    ),
    Claim(
        "canonical.eq106",
        "Appendix C, (103) to (107)",
        r"By Farkas' lemma, $A x = b$, $x \ge 0$ has a solution if and only if $b \cdot z \ge 0$ "
        r"for all generators $z$ of $\{z : A^T z \ge 0\}$.",
        over_pairs(farkas, 3, 3),
    ),
    Claim(
        "canonical.eq108",
        "Appendix C, (108)",
        r"For $n = 3$, $k = 2$ the generators of $\{z \in R^5 : A^T z \ge 0\}$ are the five unit "
        r"vectors and $(-1, 0, 1, 1, 0)$, $(0, -1, 1, 0, 1)$, $(1, 1, -1, 0, 0)$, "
        r"$(-1, -1, 1, 1, 1)$.",
        generators_of(MATRIX, GENERATORS),
        method=Method.CONES,
        printed="As a matrix with an identity block; the order of its rows is immaterial.",
    ),
    Claim(
        "canonical.eq109",
        "Appendix C, (109)",
        r"The products of $b$ with these generators are $q(S) - p(S)^2$ for the six token sets "
        r"other than the trivial ones, and $2 p_i p_j$.",
        over_pairs(named_conditions, 3, 3),
    ),
    Claim(
        "canonical.secC",
        "Section 3 and appendix C, up to six drafts",
        r"For $k \le 6$ the cone has no other rays than the trivial ones and one per token set, so "
        r"that $\alpha = 1$ if and only if $q(S) \ge p(S)^k$ for all $S$.",
        proved_for(certainty, (*SMALL, *((5, k) for k in (2, 3, 4)), (6, 2))),
        method=Method.CONES,
        printed="A numerical finding, for a range of alphabets of which the sizes covered here are "
        "the smaller ones. The cone depends on k only through min(n, k).",
    ),
)

APPENDIX_H = (
    Claim(
        "canonical.secH",
        "Appendix H.1 and Table 3, after Remark 2",
        r"The theoretically optimal acceptance for $K = 2, 3, 4$ is "
        r"$\min_S q(S) + 1 - p(S)^K$.",
        proved_for(optimum, (*product((1, 2, 3, 4), (2, 3, 4)), (5, 2))),
        method=Method.CONES,
        printed="For $K > 2$ as the natural extension of Theorem 3, not as a result.",
    ),
)
