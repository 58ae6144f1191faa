"""Example 2 and appendix B: what is left when variables are eliminated from theorem 2's system.

Some α_ij are held, at fourths of 2 p_i p_j; the pairs of the others are eliminated, and a maximum
flow says whether values for them exist.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from functools import partial
from itertools import product
from time import monotonic
from typing import Any

from otspec.cones.elimination import eliminate
from validation.canonical.algorithms import certain, unordered
from validation.canonical.section_3 import near
from validation.claim import Counterexample, Evidence, Method, at_least, claim, equal
from validation.domains import drafts, pairs
from validation.instances import Exact
from validation.notation import ONE, ZERO, Tokens, mass_of, subsets, total
from validation.oracles import spread

Pairs = dict[tuple[int, int], Fraction]
ORDERS = range(61)
HELD = near(pairs(4, least=2)).one(order=ORDERS)
"""Pairs, and a number for what is eliminated and where the others are held."""


def split(draft: Exact, order: int, least: int = 0, most: int = 7) -> tuple[Pairs, Pairs]:
    """Return α_ij of the pairs that are held, both ways, and 2 p_i p_j of those eliminated."""
    drawn, held, free = random.Random(order), {}, {}  # noqa: S311
    for (i, j), mass in unordered(draft).items():
        if (fourths := drawn.randint(least, most)) > 4:
            free[i, j] = mass
        else:
            held[i, j], held[j, i] = mass * Fraction(fourths, 4), mass * Fraction(4 - fourths, 4)
    return held, free


def needs(draft: Exact, held: Pairs, tokens: Sequence[int]) -> Fraction:
    """Return the right-hand side of (64)."""
    leaving = total(mass for (i, j), mass in held.items() if i in tokens and j not in tokens)
    return mass_of(draft, tokens) ** 2 + leaving


def enough(draft: Exact, target: Exact, held: Pairs) -> bool:
    """Whether (64) holds for all sets."""
    return all(mass_of(target, s) >= needs(draft, held, s) for s in subsets(len(draft)))


def rooms(draft: Exact, target: Exact, held: Pairs) -> list[Fraction]:
    """Return q_i − p_i² − Σ_j α_ij over what is held."""
    return [q - needs(draft, held, (y,)) for y, q in enumerate(target)]


def solvable(draft: Exact, target: Exact, held: Pairs, free: Mapping[Tokens, Fraction]) -> bool:
    """Whether values for the eliminated variables exist."""
    room = rooms(draft, target, held)
    return min(room) >= 0 and total(spread(free, room).values()) == sum(free.values())


@claim("canonical.ex2a", "Example 2, (41) and (42); appendix B, (46) to (54)", HELD)
def ex2a(draft, target, order):
    r"""With $\alpha_{ij} \ge 0$, $\alpha_{ij} + \alpha_{ji} = 2 p_i p_j$, the equations
    $q_i = p_i^2 + \sum_j \alpha_{ij}$ and the inequalities $\ge$ have the same solutions.
    """
    held, _ = split(draft, order, most=4)
    chosen = tuple(needs(draft, held, (y,)) for y in range(len(draft)))
    equal(sum(chosen), ONE, "sum of the right-hand sides")
    for room in (rooms(draft, law, held) for law in (target, chosen)):
        equal(min(room) >= 0, not any(room), "inequalities, against equations")
    return ZERO


def after_elimination(draft, target, order):
    """Values for the eliminated variables exist exactly under (64)."""
    held, free = split(draft, order)
    exists = solvable(draft, target, held, free)
    return equal(exists, enough(draft, target, held), "values exist, against (64)")


claim("canonical.ex2b", "Example 2, (43) to (45)", near(pairs(3, least=3)).one(order=ORDERS),
      r"For three tokens, adding $q_i + q_j \ge (p_i + p_j)^2 + \alpha_{ik} + \alpha_{jk}$, the "
      r"elimination of any of the variables just drops them.",
)(after_elimination)  # fmt: skip
claim("canonical.ex2c", "Example 2, the result", near(pairs(3, least=3)),
      r"For three tokens and $k = 2$: $\alpha = 1$ if and only if $q_i \ge p_i^2$ and "
      r"$q_i + q_j \ge (p_i + p_j)^2$ for $i \ne j$.",
)(lambda draft, target: certain(draft, target, all(
    mass_of(target, {i, j}) >= mass_of(draft, {i, j}) ** 2
    for i, j in product(range(len(draft)), repeat=2)
)))  # fmt: skip


@claim("canonical.lem1", "Lemma 1, appendix B, (55) to (62)", HELD)
def lem1(draft, target, order):
    r"""The system (50) to (53) has the solutions of $q(S) \ge p(S)^2 + \sum_{i \in S,
    j \notin S} \alpha_{ij}$ for all $S$.
    """
    held, _ = split(draft, order, most=4)
    return equal(enough(draft, target, held), min(rooms(draft, target, held)) >= 0, "(55)")


claim("canonical.lem2", "Lemma 2, appendix B, (64)", HELD,
      r"After eliminating the variables of a set $E$ of pairs: $q(S) \ge p(S)^2 + "
      r"\sum_{i \in S, j \notin S, ij \notin E} \alpha_{ij}$ for all $S$.",
)(after_elimination)  # fmt: skip


def crossing(n: int, free: Pairs) -> Iterator[tuple[Any, ...]]:
    """Yield eliminated pairs, what they have, sets that part them, their intersection and union."""
    for ((i, j), mass), a, b in product(free.items(), [*subsets(n)], [*subsets(n)]):
        if i in a and j not in a and j in b and i not in b:
            yield (i, j), mass, a, b, tuple(sorted({*a} & {*b})), tuple(sorted({*a, *b}))


@claim("canonical.eq92", "Appendix B, (73) to (94)", drafts(4, least=2).one(order=ORDERS))
def eq92(draft, order):
    r"""Adding the conditions (65) of $S_1 \ni i$, $\not\ni j$ and $S_2 \ni j$, $\not\ni i$ with
    $\alpha_{ij} + \alpha_{ji} = 2 p_i p_j$ gives a condition that is implied by those of
    $S_1 \cap S_2$ and $S_1 \cup S_2$.
    """
    held, free = split(draft, order)
    need = {s: needs(draft, held, s) for s in subsets(len(draft))}
    slacks = [at_least(need[both] + need[either], need[a] + need[b] + mass, f"{a} and {b}")
              for _, mass, a, b, both, either in crossing(len(draft), free)]  # fmt: skip
    return min(slacks, default=None)


claim("canonical.rem5", "Remark 5", near(pairs()),
      r"With all variables eliminated (64) is $q(S) \ge p(S)^2$: Theorem 2.",
)(lambda draft, target: certain(draft, target, enough(draft, target, {})))  # fmt: skip


def proved(search: Any, sizes: Sequence[tuple], solve: Callable[..., Any]) -> Any:
    """Prove, size after size, that only the conditions of sets are left."""
    began, done = monotonic(), []
    for size in sizes:
        if done and monotonic() - began > search.seconds:
            break
        found = solve(*size)
        unlisted = [step.unknown for step in getattr(found, "steps", ()) if step.unlisted]
        if unlisted or not found.proves_cut_formula:
            what = f"others: {[*map(str, found.others)]}, {unlisted}; missing: {found.missing}"
            return Counterexample(dict(zip("nk", size, strict=False)), what, len(done))
        done.append(size)
    scope = ", ".join(" ".join(map(str, size)) for size in done)
    return Evidence(len(done), None, f"n, k: {scope}; all p and q", proved=True)


SMALL = "Proved there for all n; here n is small, and each step is a computation."
claim("canonical.secB", "Example 2 and appendix B, in steps", None,
      r"Fourier-Motzkin elimination of the pairs one by one from (42) and (43), for more tokens "
      r"from (55), leaves after each step no condition besides (64): it drops variables.",
      printed=SMALL, method=Method.CONES,
)(partial(proved, sizes=[(1,), (2,), (3,), (4,)], solve=eliminate))  # fmt: skip
