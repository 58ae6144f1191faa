"""The polytope of selection laws (Theory, 3; Cones, 6), from its vertices and from its facets.

A law b of a selected draft has b(A) ≥ P(all drafts in A) for every token set A, and every such b is
feasible: the vertices are the laws of priority orders, which select the first draft in an order.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, permutations
from math import factorial

from otspec.cones.condition import Point, facets, vertices
from otspec.cones.coordinates import refuse_floats
from otspec.drafts import DraftLaw

MOST_ORDERS = 40_320  # most priority orders, one per permutation of the tokens

Inside = dict[frozenset[int], Fraction]  # P(all drafts in A) for each token set A


@dataclass(frozen=True, eq=False)
class SelectionPolytope:
    """The feasible selection laws of a draft law, described twice and compared.

    Parameters
    ----------
    law : DraftLaw
    vertices : tuple of points
        The laws of the priority orders, each once, ascending.
    vertices_from_facets : tuple of points
        The vertices that double description finds from b(A) ≥ P(all drafts in A), ascending.
    facets : tuple of token sets
        The sets A whose conditions are the facets of the hull of ``vertices`` that double
        description finds. Where several sets state one facet, the first of the smallest.
    unnamed : tuple of points (c, a)
        Facets c + a · b ≥ 0 of the hull that are the condition of no token set.
    """

    law: DraftLaw
    vertices: tuple[Point, ...]
    vertices_from_facets: tuple[Point, ...]
    facets: tuple[tuple[int, ...], ...]
    unnamed: tuple[Point, ...]

    @property
    def agree(self) -> bool:
        """Whether each description gives the other."""
        return self.vertices == self.vertices_from_facets and not self.unnamed


def selection_polytope(law: DraftLaw) -> SelectionPolytope:
    """Describe the feasible selection laws of a draft law by vertices and by facets.

    For i.i.d. drafts, k > 1 and a draft without zeros there are n! vertices and 2ⁿ − 2 facets. A
    ValueError asks for an exact law of at most 8 tokens, and for pycddlib.
    """
    refuse_floats(law)
    if factorial(law.n) > MOST_ORDERS:
        raise ValueError(
            f"law has n = {law.n} tokens, which makes {factorial(law.n):,} priority orders, at "
            f"most {MOST_ORDERS:,}: use a law of fewer tokens"
        )
    tokens = range(law.n)
    sets = [chosen for size in tokens for chosen in combinations(tokens, size + 1)]
    inside = {frozenset(chosen): Fraction(law.inside(chosen)) for chosen in sets}
    inside[frozenset()] = Fraction(0)
    by_orders = list(dict.fromkeys(_priority_law(order, inside) for order in permutations(tokens)))
    conditions = [_condition(chosen, inside, law.n) for chosen in sets]
    by_facets = vertices(conditions[:-1], conditions[-1:])
    named, unnamed = _named(facets(by_orders)[0], sets[:-1], by_orders, inside)
    return SelectionPolytope(
        law, tuple(sorted(by_orders)), tuple(sorted(by_facets)), named, unnamed
    )


def _priority_law(order: Sequence[int], inside: Inside) -> Point:
    """Return the law of the draft that comes first in an order."""
    # The first j tokens of the order are avoided if all drafts are inside the others.
    law, left = [Fraction(0)] * len(order), frozenset(order)
    for token in order:
        law[token] = inside[left] - inside[left - {token}]
        left -= {token}
    return tuple(law)


def _condition(chosen: tuple[int, ...], inside: Inside, n: int) -> Point:
    """Return (c, a) with c + a · b = b(A) − P(all drafts in A)."""
    return (-inside[frozenset(chosen)], *(Fraction(int(token in chosen)) for token in range(n)))


def _named(
    hull: Iterable[Point], sets: Iterable[tuple[int, ...]], points: Sequence[Point], inside: Inside
) -> tuple[tuple[tuple[int, ...], ...], tuple[Point, ...]]:
    """Match facets with token sets by the vertices on them, which no two facets have in common."""
    names: dict[frozenset[int], tuple[int, ...]] = {}
    for chosen in sets:
        mass = inside[frozenset(chosen)]
        names.setdefault(_on(points, _gap_of_set(chosen, mass)), chosen)
    named, unnamed = [], []
    for facet in hull:
        name = names.get(_on(points, _gap_of_facet(facet)))
        if name is None:
            unnamed.append(facet)
        else:
            named.append(name)
    return tuple(sorted(named, key=lambda chosen: (len(chosen), chosen))), tuple(unnamed)


def _on(points: Sequence[Point], gap: Callable[[Point], Fraction]) -> frozenset[int]:
    return frozenset(index for index, point in enumerate(points) if gap(point) == 0)


def _gap_of_set(chosen: tuple[int, ...], mass: Fraction) -> Callable[[Point], Fraction]:
    return lambda point: sum((point[token] for token in chosen), -mass)


def _gap_of_facet(facet: Point) -> Callable[[Point], Fraction]:
    return lambda point: sum(
        (factor * value for factor, value in zip(facet[1:], point, strict=True)), facet[0]
    )
