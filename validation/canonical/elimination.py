"""Appendix B: what is left when variables are eliminated from the system of Theorem 2.

With α_ij the probability that the drafts are i and j, in any order, and i is selected: α_ij ≥ 0
and α_ij + α_ji = 2 p_i p_j. A check holds some of them at given values and asks a maximum flow
whether values for the eliminated ones exist.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from itertools import combinations

from validation.canonical.instances import FREE, Digits, over_held, over_pairs
from validation.canonical.two_steps import unordered
from validation.claim import Claim, at_least, equal
from validation.instances import Exact
from validation.notation import ZERO, iid, mass_of, subsets, total
from validation.oracles import flow, spread

Pair = tuple[int, int]


def held_values(draft: Exact, digits: Digits) -> tuple[dict[Pair, Fraction], dict[Pair, Fraction]]:
    """Return α_ij of the pairs that are held, in both orders, and 2 p_i p_j of the others."""
    held, free = {}, {}
    for number, ((i, j), mass) in enumerate(unordered(draft).items()):
        digit = digits[number % len(digits)]
        if digit == FREE:
            free[i, j] = mass
        else:
            held[i, j] = mass * Fraction(digit, 4)
            held[j, i] = mass - held[i, j]
    return held, free


def leaving(held: Mapping[Pair, Fraction], tokens: tuple[int, ...]) -> Fraction:
    """Return the sum of α_ij over i inside a set and j outside."""
    return total(mass for (i, j), mass in held.items() if i in tokens and j not in tokens)


def needs(draft: Exact, held: Mapping[Pair, Fraction], tokens: tuple[int, ...]) -> Fraction:
    """Return the right-hand side of (64)."""
    return mass_of(draft, tokens) ** 2 + leaving(held, tokens)


def rooms(draft: Exact, target: Exact, held: Mapping[Pair, Fraction]) -> list[Fraction]:
    """Return q_i − p_i² − Σ_j α_ij over what is held."""
    return [
        q - p**2 - total(mass for (i, _), mass in held.items() if i == y)
        for y, (p, q) in enumerate(zip(draft, target, strict=True))
    ]


def saturates(supplies: Mapping[Digits, Fraction], room: list[Fraction]) -> bool:
    """Whether all supplies find room."""
    if min(room) < 0:
        return False
    return total(spread(supplies, room).values()) == sum(supplies.values())


def relaxed_is_tight(draft: Exact, target: Exact, digits: Digits) -> Fraction | None:
    """A solution of (50)–(53) has equality everywhere."""
    held, free = held_values(draft, digits)
    for (i, j), mass in free.items():
        held[i, j], held[j, i] = mass, ZERO
    selected = tuple(p - room for p, room in zip(target, rooms(draft, target, held), strict=True))
    equal(sum(selected), 1, "sum of the right-hand sides")
    for law in (target, selected):
        if min(rooms(draft, law, held)) >= 0:
            equal(rooms(draft, law, held), [ZERO] * len(law), "differences of the two sides")
    return ZERO


def augmented(draft: Exact, target: Exact, digits: Digits) -> Fraction:
    """The conditions on single tokens hold exactly if those on all sets do."""
    held, free = held_values(draft, digits)
    for (i, j), mass in free.items():
        held[i, j], held[j, i] = mass / 3, mass * 2 / 3
    single = min(rooms(draft, target, held)) >= 0
    sets = all(mass_of(target, s) >= needs(draft, held, s) for s in subsets(len(draft)))
    return equal(sets, single, "(55) for all sets, against (50) to (53)")


def after_elimination(draft: Exact, target: Exact, digits: Digits) -> Fraction:
    """Values for the eliminated variables exist exactly under (64)."""
    held, free = held_values(draft, digits)
    exists = saturates(free, rooms(draft, target, held))
    claimed = all(mass_of(target, s) >= needs(draft, held, s) for s in subsets(len(draft)))
    return equal(exists, claimed, "values exist, against (64)")


def all_eliminated(draft: Exact, target: Exact) -> Fraction:
    """With all variables eliminated (64) is (5)."""
    digits = (FREE,)
    held, free = held_values(draft, digits)
    for tokens in subsets(len(draft)):
        equal(needs(draft, held, tokens), mass_of(draft, tokens) ** 2, f"S = {tokens}")
    exists = saturates(free, rooms(draft, target, held))
    least = flow(iid(draft, 2), target)
    return equal(exists, least == 1, f"values exist, against alpha = {least} being 1")


def three_tokens(draft: Exact, target: Exact) -> Fraction | None:
    """For three tokens the conditions are those on single tokens and on pairs."""
    if len(draft) != 3:
        return None
    single = all(q >= p**2 for p, q in zip(draft, target, strict=True))
    double = all(
        target[i] + target[j] >= (draft[i] + draft[j]) ** 2 for i, j in combinations(range(3), 2)
    )
    best = flow(iid(draft, 2), target)
    return equal(best == 1, single and double, f"alpha = {best}; alpha = 1")


def crossing(n: int, i: int, j: int) -> list[tuple[tuple[int, ...], tuple[int, ...]]]:
    """Return all pairs of sets, the first with i and without j, the second the other way."""
    sets = list(subsets(n))
    first = [s for s in sets if i in s and j not in s]
    second = [s for s in sets if j in s and i not in s]
    return [(a, b) for a in first for b in second]


def both_and_either(a: tuple[int, ...], b: tuple[int, ...]) -> tuple[Digits, Digits]:
    """Return intersection and union."""
    return tuple(sorted(set(a) & set(b))), tuple(sorted(set(a) | set(b)))


def redundant_lower(draft: Exact, target: Exact, digits: Digits) -> Fraction | None:
    """The sum of two conditions of (65) follows from those on the union and intersection."""
    slacks = []
    held, free = held_values(draft, digits)
    for (i, j), mass in free.items():  # i, j was eliminated last
        for a, b in crossing(len(draft), i, j):
            both, either = both_and_either(a, b)
            left = mass_of(target, both) + mass_of(target, either)
            equal(mass_of(target, a) + mass_of(target, b), left, "left-hand side of (77)")
            summed = needs(draft, held, a) + needs(draft, held, b) + mass
            implied = needs(draft, held, both) + needs(draft, held, either)
            slacks.append(at_least(implied, summed, f"(92) for {a} and {b}"))
    return min(slacks, default=None)


CLAIMS = (
    Claim(
        "canonical.ex2a",
        "Example 2, (41) and (42); appendix B, (46) to (54)",
        r"With $\alpha_{ij} \ge 0$, $\alpha_{ij} + \alpha_{ji} = 2 p_i p_j$, the equations "
        r"$q_i = p_i^2 + \sum_j \alpha_{ij}$ and the inequalities $\ge$ have the same solutions.",
        over_held(relaxed_is_tight),
    ),
    Claim(
        "canonical.ex2b",
        "Example 2, (43) to (45)",
        r"For three tokens, adding $q_i + q_j \ge (p_i + p_j)^2 + \alpha_{ik} + \alpha_{jk}$, "
        r"the elimination of any of the variables just drops them.",
        over_held(after_elimination, 3, 3),
    ),
    Claim(
        "canonical.ex2c",
        "Example 2, the result",
        r"For three tokens and $k = 2$: $\alpha = 1$ if and only if $q_i \ge p_i^2$ and "
        r"$q_i + q_j \ge (p_i + p_j)^2$ for $i \ne j$.",
        over_pairs(three_tokens, 3, 3),
    ),
    Claim(
        "canonical.lem1",
        "Lemma 1, appendix B, (55) to (62)",
        r"The system (50) to (53) has the solutions of $q(S) \ge p(S)^2 + \sum_{i \in S, "
        r"j \notin S} \alpha_{ij}$ for all $S$.",
        over_held(augmented),
    ),
    Claim(
        "canonical.lem2",
        "Lemma 2, appendix B, (64)",
        r"After eliminating the variables of a set $E$ of pairs: $q(S) \ge p(S)^2 + "
        r"\sum_{i \in S, j \notin S, ij \notin E} \alpha_{ij}$ for all $S$.",
        over_held(after_elimination),
    ),
    Claim(
        "canonical.eq92",
        "Appendix B, (73) to (94)",
        r"Adding the conditions (65) of $S_1 \ni i$, $\not\ni j$ and $S_2 \ni j$, $\not\ni i$ with "
        r"$\alpha_{ij} + \alpha_{ji} = 2 p_i p_j$ gives a condition that is implied by those of "
        r"$S_1 \cap S_2$ and $S_1 \cup S_2$.",
        over_held(redundant_lower),
    ),
    Claim(
        "canonical.rem5",
        "Remark 5",
        r"With all variables eliminated (64) is $q(S) \ge p(S)^2$: Theorem 2.",
        over_pairs(all_eliminated),
    ),
)
