"""Appendix D: what is left when variables are eliminated from the linear program of Theorem 3."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from validation.canonical.elimination import (
    Pair,
    both_and_either,
    crossing,
    held_values,
    needs,
)
from validation.canonical.instances import Digits, over_held, over_pairs
from validation.canonical.two_steps import unordered
from validation.claim import Claim, at_least, equal
from validation.instances import Exact
from validation.notation import ZERO, mass_of, subsets, total
from validation.oracles import spread


def reach(
    draft: Exact,
    held: Mapping[Pair, Fraction],
    free: Mapping[Pair, Fraction],
    tokens: tuple[int, ...],
) -> Fraction:
    """Return the right-hand side of (148)."""
    crossed = total(
        mass for pair, mass in free.items() if (pair[0] in tokens) ^ (pair[1] in tokens)
    )
    return needs(draft, held, tokens) + crossed


def redundant_upper(draft: Exact, digits: Digits, **_: Exact) -> Fraction | None:
    """The sum of two conditions of (156) follows from those on the union and intersection."""
    slacks = []
    held, free = held_values(draft, digits)
    for (i, j), mass in free.items():
        earlier = {pair: each for pair, each in free.items() if pair != (i, j)}
        for a, b in crossing(len(draft), i, j):
            both, either = both_and_either(a, b)
            # α_ij + α_ji = 2 p_i p_j is what remains of the pair when both are added.
            summed = reach(draft, held, earlier, a) + reach(draft, held, earlier, b) + mass
            implied = reach(draft, held, free, both) + reach(draft, held, free, either)
            slacks.append(at_least(summed, implied, f"(172) for {a} and {b}"))
    return min(slacks, default=None)


def levels(target: Exact, digits: Digits) -> list[Fraction]:
    """Return values of w_i between 0 and q_i."""
    return [q * Fraction(min(digits[-1 - i % len(digits)], 4), 4) for i, q in enumerate(target)]


def all_drafts(draft: Exact) -> dict[Digits, Fraction]:
    """Return the supplies of all unordered pairs and of the equal ones."""
    return {**unordered(draft), **{(i,): p**2 for i, p in enumerate(draft)}}


def covers(draft: Exact, tokens: tuple[int, ...]) -> Fraction:
    """Return p(S)² + 2 p(S) p(Sᶜ)."""
    inside = mass_of(draft, tokens)
    return inside**2 + 2 * inside * (1 - inside)


def third_lemma(draft: Exact, target: Exact, digits: Digits) -> Fraction:
    """Variables exist that select w_i of each token exactly under (114)."""
    w = levels(target, digits)
    exists = total(spread(all_drafts(draft), w).values()) == sum(w)
    claimed = all(mass_of(w, s) <= covers(draft, s) for s in subsets(len(draft)))
    return equal(exists, claimed, "variables exist, against (114)")


def third_lemma_partly(draft: Exact, target: Exact, digits: Digits) -> Fraction:
    """(148): the same when only some of the pairs are eliminated."""
    held, free = held_values(draft, digits)
    w = levels(target, digits)
    wanted = [
        max(
            level - p**2 - total(mass for (i, _), mass in held.items() if i == y),
            ZERO,
        )
        for y, (p, level) in enumerate(zip(draft, w, strict=True))
    ]
    exists = total(spread(free, wanted).values()) == sum(wanted)
    claimed = all(mass_of(w, s) <= reach(draft, held, free, s) for s in subsets(len(draft)))
    return equal(exists, claimed, "variables exist, against (148)")


def fourth_lemma(draft: Exact, target: Exact, digits: Digits) -> Fraction:
    """Eliminating w_1 to w_j leaves (116) to (118)."""
    n, w = len(draft), levels(target, digits)
    supplies = all_drafts(draft)
    for j in range(n + 1):
        first, second = range(j), range(j, n)
        room = [target[i] if i < j else w[i] for i in range(n)]
        alone = [ZERO if i < j else w[i] for i in range(n)]
        exists = total(spread(supplies, alone).values()) == sum(alone)
        inner = [tuple(j + i for i in s) for s in subsets(len(second))]
        claimed = all(mass_of(w, s) <= covers(draft, s) for s in inner)
        equal(exists, claimed, f"w_i for i > {j} can be selected, against (118)")
        if not exists:
            continue
        largest = total(spread(supplies, room).values())
        least = min(
            mass_of(target, s) + mass_of(w, t) + 1 - mass_of(draft, (*s, *t)) ** 2
            for s in subsets(len(first))
            for t in inner
        )
        equal(least, largest, f"largest z for j = {j}, from (116)")
    return ZERO


def base_case(draft: Exact, target: Exact, digits: Digits) -> Fraction | None:
    """Given (114), z ≤ Σ w_i is the same as (120)."""
    w = levels(target, digits)
    n = len(draft)
    if any(mass_of(w, s) > covers(draft, s) for s in subsets(n)):
        return None
    least = min(mass_of(w, s) + covers(draft, tuple(set(range(n)) - set(s))) for s in subsets(n))
    return equal(least, sum(w), "largest z by (120), against the sum of w")


def no_new_bounds(draft: Exact, target: Exact) -> Fraction:  # noqa: ARG001
    """(126) to (136): what a bound (116) and a condition (118) imply together is implied."""
    slacks = [ZERO]
    sets = list(subsets(len(draft)))
    for a in sets:
        for b in sets:
            common = set(a) & set(b)
            if not common:
                continue
            # a = S ∪ W, b of (118): the new bound against those of W ∖ b and of b ∖ W.
            combined = 1 - mass_of(draft, a) ** 2 + covers(draft, b)
            implied = 1 - mass_of(draft, set(a) - set(b)) ** 2
            implied += covers(draft, tuple(set(b) - set(a)))
            slacks.append(at_least(combined, implied, f"S u W = {a}, S' = {b}"))
    return min(slacks)


def smaller_sets(draft: Exact, target: Exact) -> Fraction:  # noqa: ARG001
    """(137), (138): leaving out a token of w ≥ 0 gives nothing new."""
    slacks = [ZERO]
    for tokens in subsets(len(draft)):
        for y in tokens:
            without = tuple(set(tokens) - {y})
            slacks.append(at_least(covers(draft, tokens), covers(draft, without), f"S = {tokens}"))
    return min(slacks)


CLAIMS = (
    Claim(
        "canonical.lem3",
        "Lemma 3, appendix D, (113) to (115)",
        r"Eliminating all $\alpha_{ij}$ from $w_i \le p_i^2 + \sum_j \alpha_{ij}$, "
        r"$0 \le w_i \le q_i$ leaves $w(S) \le p(S)^2 + 2 p(S) p(S^c)$ for all $S$.",
        over_held(third_lemma),
        printed="With $z \\le \\sum_i w_i$, which has none of these variables.",
    ),
    Claim(
        "canonical.lem4",
        "Lemma 4, appendix D, (116) to (118)",
        r"After eliminating $w_1, …, w_j$: $z \le q(S) + w(W) + p((S \cup W)^c)^2 + "
        r"2 p(S \cup W) p((S \cup W)^c)$ for $S \subseteq \{1..j\}$, $W \subseteq \{j+1..n\}$, "
        r"$0 \le w_i \le q_i$ and $w(S) \le p(S)^2 + 2 p(S) p(S^c)$ for $S \subseteq \{j+1..n\}$. "
        r"With $j = n$ this is Theorem 3.",
        over_held(fourth_lemma, 3),
    ),
    Claim(
        "canonical.eq120",
        "Appendix D, (120) to (122)",
        r"Given (114), $z \le \sum_i w_i$ is equivalent to $z \le w(W) + p(W^c)^2 + "
        r"2 p(W) p(W^c)$ for all $W$.",
        over_held(base_case),
    ),
    Claim(
        "canonical.eq135",
        "Appendix D, (126) to (136)",
        r"Combining (116) for $S \cup W$ with (118) for $S'$ gives nothing that (116) for "
        r"$S \cup (W \setminus S')$ and (118) for $S' \setminus W$ do not imply.",
        over_pairs(no_new_bounds),
    ),
    Claim(
        "canonical.eq138",
        "Appendix D, (137) to (143)",
        r"Combining (118) for $S \ni i$ with $w_i \ge 0$ gives nothing that (118) for "
        r"$S \setminus \{i\}$ does not imply.",
        over_pairs(smaller_sets),
    ),
    Claim(
        "canonical.eq148",
        "Proof of Lemma 3, (148) to (158)",
        r"After eliminating the pairs $E$: $w(S) \le p(S)^2 + \sum_{i \in S, j \notin S} c_{ij}$ "
        r"for all $S$, $c_{ij} = 2 p_i p_j$ for $ij \in E$ and $\alpha_{ij}$ otherwise.",
        over_held(third_lemma_partly),
    ),
    Claim(
        "canonical.eq172",
        "Proof of Lemma 3, (159) to (173)",
        r"Adding (156) for $S_1 \ni i$, $\not\ni j$ and $S_2 \ni j$, $\not\ni i$ gives a condition "
        r"implied by (157) for $S_1 \cap S_2$ and $S_1 \cup S_2$.",
        over_held(redundant_upper),
    ),
)
