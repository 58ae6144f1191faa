"""Appendix D: what is left when variables are eliminated from theorem 3's linear program."""

import random
from fractions import Fraction
from functools import partial

from otspec.cones.elimination import eliminate
from validation.canonical import appendix_b_c as system
from validation.canonical.section_3 import ORDERS
from validation.claim import Method, at_least, claim, equal
from validation.domains import drafts, pairs
from validation.notation import ZERO, mass_of, positive, subsets, total
from validation.oracles import spread


def levels(target, order):
    """Return values of w_i, in fourths of q_i."""
    drawn = random.Random(order + 100)  # noqa: S311
    return [q * Fraction(drawn.randrange(5), 4) for q in target]


def covers(draft, tokens):
    """Return p(S)² + 2 p(S) p(Sᶜ)."""
    inside = mass_of(draft, tokens)
    return inside**2 + 2 * inside * (1 - inside)


def reach(draft, held, free, tokens):
    """Return the right-hand side of (148)."""
    crossed = total(mass for (i, j), mass in free.items() if (i in tokens) ^ (j in tokens))
    return system.needs(draft, held, tokens) + crossed


def filled(supplies, w):
    """Whether the supplies can give as much as w to each token."""
    return total(spread(supplies, w).values()) == sum(w)


def after_elimination(draft, target, order, least=0):
    """Values for the eliminated variables exist exactly under (148), or (114) of all pairs."""
    held, free = system.split(draft, order, least)
    w, sets = levels(target, order), subsets(len(draft))
    exists = filled(free, positive(w, [system.needs(draft, held, (y,)) for y in range(len(draft))]))
    bounds = {s: reach(draft, held, free, s) if held else covers(draft, s) for s in sets}
    return equal(exists, all(mass_of(w, s) <= most for s, most in bounds.items()), "values exist")


claim("canonical.lem3", "Lemma 3, appendix D, (113) to (115)", system.HELD,
      r"Eliminating all $\alpha_{ij}$ from $w_i \le p_i^2 + \sum_j \alpha_{ij}$, "
      r"$0 \le w_i \le q_i$ leaves $w(S) \le p(S)^2 + 2 p(S) p(S^c)$ for all $S$.",
      printed=r"With $z \le \sum_i w_i$, which has none of these variables.",
)(partial(after_elimination, least=5))  # fmt: skip


def after_levels(draft, target, order, most=9):
    """(116) to (118), when up to ``most`` of the w_i are eliminated, too."""
    n, w = len(draft), levels(target, order)
    supplies = {**system.unordered(draft), **{(i,): p**2 for i, p in enumerate(draft)}}
    for j in range(min(n, most) + 1):
        inner = [tuple(j + i for i in s) for s in subsets(n - j)]
        exists = filled(supplies, [ZERO] * j + w[j:])
        claimed = all(mass_of(w, s) <= covers(draft, s) for s in inner)
        equal(exists, claimed, f"w_i for i > {j} can be selected, against (118)")
        if exists:
            largest = total(spread(supplies, [*target[:j], *w[j:]]).values())
            least = min(mass_of(target, s) + mass_of(w, t) + covers(draft, {*range(n)} - {*s, *t})
                        for s in subsets(j) for t in inner)  # fmt: skip
            equal(least, largest, f"largest z for j = {j}, from (116)")
    return ZERO


claim("canonical.lem4", "Lemma 4, appendix D, (116) to (118)", pairs(3).one(order=ORDERS),
      r"After eliminating $w_1, …, w_j$: $z \le q(S) + w(W) + p((S \cup W)^c)^2 + "
      r"2 p(S \cup W) p((S \cup W)^c)$ for $S \subseteq \{1..j\}$, $W \subseteq \{j+1..n\}$, "
      r"$0 \le w_i \le q_i$ and $w(S) \le p(S)^2 + 2 p(S) p(S^c)$ for $S \subseteq "
      r"\{j+1..n\}$. With $j = n$ this is Theorem 3.")(after_levels)  # fmt: skip
claim("canonical.eq120", "Appendix D, (120) to (122)", system.HELD,
      r"Given (114), $z \le \sum_i w_i$ is equivalent to $z \le w(W) + p(W^c)^2 + "
      r"2 p(W) p(W^c)$ for all $W$.")(partial(after_levels, most=0))  # fmt: skip


@claim("canonical.eq135", "Appendix D, (126) to (136)", drafts(4))
def eq135(draft):
    r"""Combining (116) for $S \cup W$ with (118) for $S'$ gives nothing that (116) for
    $S \cup (W \setminus S')$ and (118) for $S' \setminus W$ do not imply."""
    sets = [frozenset(s) for s in subsets(len(draft))]
    rest = {s: 1 - mass_of(draft, s) ** 2 for s in sets}  # of (116)
    covered = {s: covers(draft, s) for s in sets}
    return min(at_least(rest[a] + covered[b], rest[a - b] + covered[b - a], f"{a}, S' = {b}")
               for a in sets for b in sets)  # fmt: skip


claim("canonical.eq138", "Appendix D, (137) to (143)", drafts(5),
      r"Combining (118) for $S \ni i$ with $w_i \ge 0$ gives nothing that (118) for "
      r"$S \setminus \{i\}$ does not imply.",
)(lambda draft: min(
    at_least(covers(draft, s), covers(draft, {*s} - {y}), f"S = {s}")
    for s in subsets(len(draft)) for y in s))  # fmt: skip
claim("canonical.eq148", "Proof of Lemma 3, (148) to (158)", system.HELD,
      r"After eliminating the pairs $E$: $w(S) \le p(S)^2 + \sum_{i \in S, j \notin S} c_{ij}$ "
      r"for all $S$, $c_{ij} = 2 p_i p_j$ for $ij \in E$ and $\alpha_{ij}$ otherwise.",
)(after_elimination)  # fmt: skip
claim("canonical.eq172", "Proof of Lemma 3, (159) to (173)", system.PARTED,
      r"Adding (156) for $S_1 \ni i$, $\not\ni j$ and $S_2 \ni j$, $\not\ni i$ gives a condition "
      r"implied by (157) for $S_1 \cap S_2$ and $S_1 \cup S_2$.",
)(partial(system.combined, bound=reach))  # fmt: skip
claim("canonical.secD", "Appendix D, in steps", None,
      r"Fourier-Motzkin elimination of the pairs and then of $w_1, …, w_n$ leaves after each step "
      r"no condition besides (148), then (116) to (118), and in the end Theorem 3.",
      printed=system.SMALL, method=Method.CONES,
)(partial(system.proved, solve=partial(eliminate, target="optimum"),
          sizes=[(1,), (2,), (3,)]))  # fmt: skip
