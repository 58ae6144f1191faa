"""Appendices C and H.1: the cone behind theorem 2, its generators, more drafts and tokens."""

from __future__ import annotations

from functools import partial
from itertools import product

from otspec.cones import certainty_cone, optimum_cone
from otspec.cones.double_description import cone_generators
from validation.canonical.algorithms import unordered
from validation.canonical.appendix_b import ORDERS, needs, proved, solvable, split
from validation.canonical.section_3 import near
from validation.claim import Counterexample, Evidence, Method, claim, equal
from validation.domains import drafts, pairs
from validation.instances import Exact
from validation.notation import mass_of

PAIRS = ((0, 1), (0, 2), (1, 2))
COLUMNS = [
    (*(int(i == token) for token in (0, 1)), *(int({i, j} == {*pair}) for pair in PAIRS))
    for i, j in ((0, 1), (0, 2), (1, 0), (1, 2), (2, 0), (2, 1))
]
"""A of (103) by the columns of α_12, α_13, α_21, ..: the equations of tokens 1, 2 and of pairs."""
GENERATORS = (
    *(tuple(int(i == j) for j in range(5)) for i in range(5)),
    (-1, 0, 1, 1, 0), (0, -1, 1, 0, 1), (1, 1, -1, 0, 0), (-1, -1, 1, 1, 1),
)  # fmt: skip
"""The rows of (108): the identity, then the conditions of the other four token sets."""


@claim("canonical.eq98", "Appendix C, (95) to (102)", drafts(3, least=3).one(order=ORDERS))
def eq98(draft, order):
    """For three tokens the five equations of tokens 1 and 2 and of the three pairs imply the
    equation of token 3.
    """
    first, second, third = (needs(draft, split(draft, order, most=4)[0], (y,)) for y in range(3))
    return equal(third, 1 - first - second, "p3^2 + alpha_31 + alpha_32, against q3")


def products(draft: Exact, target: Exact) -> list:
    """Return b of (104) times each generator."""
    b = [target[i] - draft[i] ** 2 for i in (0, 1)] + [2 * draft[i] * draft[j] for i, j in PAIRS]
    return [sum(c * each for c, each in zip(row, b, strict=True)) for row in GENERATORS]


claim("canonical.eq106", "Appendix C, (103) to (107)", near(pairs(3, least=3)),
      r"By Farkas' lemma, $A x = b$, $x \ge 0$ has a solution if and only if $b \cdot z \ge 0$ "
      r"for all generators $z$ of $\{z : A^T z \ge 0\}$.",
)(lambda draft, target: equal(solvable(draft, target, {}, unordered(draft)),
                              min(products(draft, target)) >= 0, "a solution exists"))  # fmt: skip


@claim("canonical.eq108", "Appendix C, (108)", method=Method.CONES)
def eq108(_search):
    r"""For $n = 3$, $k = 2$ the generators of $\{z \in R^5 : A^T z \ge 0\}$ are the five unit
    vectors and $(-1, 0, 1, 1, 0)$, $(0, -1, 1, 0, 1)$, $(1, 1, -1, 0, 0)$, $(-1, -1, 1, 1, 1)$.

    Printed: As a matrix with an identity block; the order of its rows is immaterial.
    """
    lines, rays = cone_generators(COLUMNS)
    for z in {*lines} | ({*map(tuple, rays)} ^ {*GENERATORS}):
        return Counterexample({"z": z}, "claimed" if z in GENERATORS else "not claimed")
    return Evidence(len(rays), None, "n = 3, k = 2, all p and q", proved=True)


@claim("canonical.eq109", "Appendix C, (109)", pairs(3, least=3))
def eq109(draft, target):
    r"""The products of $b$ with these generators are $q(S) - p(S)^2$ for the six token sets other
    than the trivial ones, and $2 p_i p_j$.
    """
    sets = [(0,), (1,), (1, 2), (0, 2), (0, 1), (2,)]
    slacks = [mass_of(target, tokens) - mass_of(draft, tokens) ** 2 for tokens in sets]
    wanted = [*slacks[:2], *unordered(draft).values(), *slacks[2:]]
    return equal(products(draft, target), wanted, "R b")


claim("canonical.secC", "Section 3 and appendix C, up to six drafts", None,
      r"For $k \le 6$ the cone has no other rays than the trivial ones and one per token set, so "
      r"that $\alpha = 1$ if and only if $q(S) \ge p(S)^k$ for all $S$.",
      printed="A numerical finding, for a range of alphabets of which the sizes covered here are "
      "the smaller ones. The cone depends on k only through min(n, k).", method=Method.CONES,
)(partial(proved, solve=certainty_cone,
          sizes=[*product(range(1, 5), range(2, 7)), (5, 2), (5, 3), (5, 4), (6, 2)]))  # fmt: skip
claim("canonical.secH", "Appendix H.1 and Table 3, after Remark 2", None,
      r"The theoretically optimal acceptance for $K = 2, 3, 4$ is $\min_S q(S) + 1 - p(S)^K$.",
      printed="For $K > 2$ as the natural extension of Theorem 3, not as a result.",
      method=Method.CONES,
)(partial(proved, solve=optimum_cone,
          sizes=[*product(range(1, 5), (2, 3, 4)), (5, 2)]))  # fmt: skip
