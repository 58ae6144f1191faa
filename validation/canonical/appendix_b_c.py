"""Example 2, appendix B: what is left of theorem 2's system; appendices C and H.1: its cone."""

import random
from fractions import Fraction
from functools import partial
from itertools import combinations, product

from otspec.cones import certainty_cone, optimum_cone
from otspec.cones.condition import cone_generators
from otspec.cones.elimination import eliminate
from validation.canonical.section_3 import ORDERS, certain, near
from validation.claim import Counterexample, Evidence, Method, at_least, claim, equal
from validation.domains import drafts, pairs
from validation.notation import ONE, mass_of, subsets, total
from validation.oracles import spread

HELD = near(pairs(4, least=2)).one(order=ORDERS)
"""Pairs, and a number for what is eliminated and where the others are held."""


def unordered(draft):
    """Return 2 p_i p_j for i < j: the probability to see these two drafts in any order."""
    return {(i, j): 2 * draft[i] * draft[j] for i, j in combinations(range(len(draft)), 2)}


def split(draft, order, least=0, most=7):
    """Return α_ij of pairs that are held, at fourths, and 2 p_i p_j of those eliminated."""
    drawn, held, free = random.Random(order), {}, {}  # noqa: S311
    for (i, j), mass in unordered(draft).items():
        if (fourths := drawn.randint(least, most)) > 4:
            free[i, j] = mass
        else:
            held[i, j], held[j, i] = mass * Fraction(fourths, 4), mass * Fraction(4 - fourths, 4)
    return held, free


def needs(draft, held, tokens):
    """Return the right-hand side of (64)."""
    leaving = total(mass for (i, j), mass in held.items() if i in tokens and j not in tokens)
    return mass_of(draft, tokens) ** 2 + leaving


def enough(draft, target, held, most=9):
    """Whether (64) holds for all sets of at most so many tokens."""
    sets = (s for s in subsets(len(draft)) if len(s) <= most)
    return all(mass_of(target, s) >= needs(draft, held, s) for s in sets)


def solvable(draft, target, held, free):
    """Whether values for the eliminated variables exist."""
    room = [q - needs(draft, held, (y,)) for y, q in enumerate(target)]
    return min(room) >= 0 and total(spread(free, room).values()) == sum(free.values())


@claim("canonical.ex2a", "Example 2, (41) and (42); appendix B, (46) to (54)", HELD)
def ex2a(draft, target, order):
    r"""With $\alpha_{ij} \ge 0$, $\alpha_{ij} + \alpha_{ji} = 2 p_i p_j$, the equations
    $q_i = p_i^2 + \sum_j \alpha_{ij}$ and the inequalities $\ge$ have the same solutions."""
    held, _ = split(draft, order, most=4)
    chosen = tuple(needs(draft, held, (y,)) for y in range(len(draft)))
    equal(sum(chosen), ONE, "sum of the right-hand sides")
    return max(equal(enough(draft, law, held, 1), law == chosen) for law in (target, chosen))


def after_elimination(draft, target, order):
    """Values for the eliminated variables exist exactly under (64)."""
    held, free = split(draft, order)
    exists = solvable(draft, target, held, free)
    return equal(exists, enough(draft, target, held), "values exist, against (64)")


claim("canonical.ex2b", "Example 2, (43) to (45)", near(pairs(3, least=3)).one(order=ORDERS),
      r"For three tokens, adding $q_i + q_j \ge (p_i + p_j)^2 + \alpha_{ik} + \alpha_{jk}$, the "
      r"elimination of any of the variables just drops them.")(after_elimination)  # fmt: skip
claim("canonical.ex2c", "Example 2, the result", near(pairs(3, least=3)),
      r"For three tokens and $k = 2$: $\alpha = 1$ if and only if $q_i \ge p_i^2$ and "
      r"$q_i + q_j \ge (p_i + p_j)^2$ for $i \ne j$.",
)(lambda draft, target: certain(draft, target, enough(draft, target, {}, 2)))  # fmt: skip


@claim("canonical.lem1", "Lemma 1, appendix B, (55) to (62)", HELD)
def lem1(draft, target, order):
    r"""The system (50) to (53) has the solutions of $q(S) \ge p(S)^2 + \sum_{i \in S,
    j \notin S} \alpha_{ij}$ for all $S$."""
    held, _ = split(draft, order, most=4)
    return equal(enough(draft, target, held), enough(draft, target, held, 1), "(55)")


claim("canonical.lem2", "Lemma 2, appendix B, (64)", HELD,
      r"After eliminating the variables of a set $E$ of pairs: $q(S) \ge p(S)^2 + "
      r"\sum_{i \in S, j \notin S, ij \notin E} \alpha_{ij}$ for all $S$.",
)(after_elimination)  # fmt: skip


def combined(draft, order, bound):
    """Conditions of sets that part an eliminated pair add up to less than both and either say."""
    held, free = split(draft, order)
    most = {s: bound(draft, held, free, s) for s in subsets(len(draft))}
    slacks = []
    for ((i, j), mass), a, b in product(free.items(), most, most):
        if i in a and j not in a and j in b and i not in b:
            both, either = (tuple(sorted(some)) for some in ({*a} & {*b}, {*a, *b}))
            slacks.append(
                at_least(most[a] + most[b] - mass, most[both] + most[either], f"{a}, {b}")
            )
    return min(slacks, default=None)


PARTED = drafts(4, least=2).one(order=ORDERS)
claim("canonical.eq92", "Appendix B, (73) to (94)", PARTED,
      r"Adding the conditions (65) of $S_1 \ni i$, $\not\ni j$ and $S_2 \ni j$, $\not\ni i$ with "
      r"$\alpha_{ij} + \alpha_{ji} = 2 p_i p_j$ gives a condition that is implied by those of "
      r"$S_1 \cap S_2$ and $S_1 \cup S_2$.",
)(partial(combined, bound=lambda draft, held, _, s: -needs(draft, held, s)))  # fmt: skip
claim("canonical.rem5", "Remark 5", near(pairs()),
      r"With all variables eliminated (64) is $q(S) \ge p(S)^2$: Theorem 2.",
)(lambda draft, target: certain(draft, target, enough(draft, target, {})))  # fmt: skip


def proved(_search, sizes, solve):
    """Prove for each size that only the conditions of sets are left, after each step, too."""
    for size in sizes:
        found = solve(*size)
        unlisted = [step.unknown for step in getattr(found, "steps", ()) if step.unlisted]
        if unlisted or not found.proves_cut_formula:
            what = f"others: {[*map(str, found.others)]}, {unlisted}; missing: {found.missing}"
            return Counterexample({"size": size}, what)
    return Evidence(len(sizes), None, f"(n, k) in {sizes}; all p and q", proved=True)


SMALL = "Proved there for all n; here n is small, and each step is a computation."
claim("canonical.secB", "Example 2 and appendix B, in steps", None,
      r"Fourier-Motzkin elimination of the pairs one by one from (42) and (43), for more tokens "
      r"from (55), leaves after each step no condition besides (64): it drops variables.",
      printed=SMALL, method=Method.CONES,
)(partial(proved, sizes=[(1,), (2,), (3,), (4,)], solve=eliminate))  # fmt: skip

PAIRS = ((0, 1), (0, 2), (1, 2))
COLUMNS = [
    (*(int(i == token) for token in (0, 1)), *(int({i, j} == {*pair}) for pair in PAIRS))
    for i, j in ((0, 1), (0, 2), (1, 0), (1, 2), (2, 0), (2, 1))
]
"""A of (103) by the columns of α_12, α_13, α_21, ..: the equations of tokens 1, 2 and of pairs."""
GENERATORS = (
    *(tuple(int(i == j) for j in range(5)) for i in range(5)),
    (-1, 0, 1, 1, 0), (0, -1, 1, 0, 1), (1, 1, -1, 0, 0), (-1, -1, 1, 1, 1))  # fmt: skip
"""The rows of (108): the identity, then the conditions of the other four token sets."""


claim("canonical.eq98", "Appendix C, (95) to (102)", drafts(3, least=3).one(order=ORDERS),
      "For three tokens the five equations of tokens 1 and 2 and of the three pairs imply the "
      "equation of token 3.",
)(lambda draft, order: equal(  # the right-hand sides of the equations of tokens sum to 1
    sum(needs(draft, split(draft, order, most=4)[0], (y,)) for y in range(3)), ONE))  # fmt: skip


def products(draft, target):
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

    Printed: As a matrix with an identity block; the order of its rows is immaterial."""
    lines, rays = cone_generators(COLUMNS)
    for z in {*lines} | ({*map(tuple, rays)} ^ {*GENERATORS}):
        return Counterexample({"z": z}, "claimed" if z in GENERATORS else "not claimed")
    return Evidence(len(rays), None, "n = 3, k = 2, all p and q", proved=True)


claim("canonical.eq109", "Appendix C, (109)", pairs(3, least=3),
      "The products of $b$ with these generators are $q(S) - p(S)^2$ for the six token sets other "
      "than the trivial ones, and $2 p_i p_j$.",
)(lambda draft, target: equal(sorted(products(draft, target)), sorted((
    *(mass_of(target, s) - mass_of(draft, s) ** 2 for s in subsets(3) if len(s) in (1, 2)),
    *unordered(draft).values(),
)), "R b"))  # fmt: skip
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
