"""Claims of section 4, figure 6, section 5.2 and appendix B.1: SpecHub's drafts and algorithms."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import permutations, product
from typing import Any

import numpy as np

import otspec
from otspec.distributions import as_distribution
from otspec.programs import formulate
from validation.checks import over, over_pairs
from validation.claim import Claim, Corrected, Method, at_least, equal
from validation.instances import Exact
from validation.notation import ZERO, overlap, same, support, total
from validation.spechub.instances import exact, on, over_drafts, over_hubs
from validation.spechub.lp import simplified
from validation.spechub.printed import hub_columns, hub_of, hub_table, spechub, token_rejection


def printed_mass(draft: Exact, x: tuple[int, int]) -> Fraction:
    """Return the printed Q(x1, x2), its cases in their order; the hub must not be certain."""
    a = hub_of(draft)
    if x[1] == a:
        return draft[x[0]]
    return draft[a] * draft[x[1]] / (1 - draft[a]) if x[0] == a else ZERO


def sums_to_one(draft: Exact) -> Fraction | None:
    """The printed law of the pairs sums to 1."""
    if max(draft) == 1:
        return None
    n = len(draft)
    masses = [printed_mass(draft, (first, last)) for first, last in product(range(n), repeat=2)]
    return equal(total(masses), 1, "sum of all P(x_1, x_2)")


def two_steps(draft: Exact) -> Fraction | None:
    """Without (a, a) the law sums to 1: draw x_1 from p, then a, or after a another token."""
    if max(draft) == 1:
        return None
    a, n = hub_of(draft), len(draft)
    for first, last in product(range(n), repeat=2):
        if first == a:
            then = ZERO if last == a else draft[last] / (1 - draft[a])
        else:
            then = Fraction(last == a)
        claimed = ZERO if first == last == a else printed_mass(draft, (first, last))
        equal(claimed, draft[first] * then, f"P({first}, {last})")
    return equal(total(hub_table(draft).values()), 1, "sum")


def sparse(draft: Exact) -> Fraction | None:
    """The pairs number 2 (s − 1), s the support; the program has 4 (s − 1) variables."""
    if max(draft) == 1:
        return None
    n, size = len(draft), support(draft)
    law = otspec.Hub(as_distribution(draft))
    equal(len(law.tuples()[0]), 2 * (size - 1), "pairs")
    rows, columns = formulate("reduced", law, as_distribution(draft), sets=False).build().shape
    equal(columns, 4 * (size - 1), "variables")
    equal(rows, 2 * (size - 1) + n, "constraints")
    return Fraction(2 * (n - size))


def printed_solution(draft: Exact, target: Exact) -> tuple[list[Fraction], list[Fraction]]:
    """Return π(x, a, x) and π(a, x, x) of section 4, 0 at x = a."""
    a = hub_of(draft)
    last, first = hub_columns(draft)
    wanted = [ZERO if x == a else mass for x, mass in enumerate(target)]
    as_first = [min(q, p) for q, p in zip(wanted, last, strict=True)]
    as_second = [min(q - r, s) for q, r, s in zip(wanted, as_first, first, strict=True)]
    return as_first, as_second


def solution_is_optimal(draft: Exact, target: Exact) -> Fraction:
    """Section 4's solution, with the hub served from what is left, is optimal."""
    a = hub_of(draft)
    others = total([*map(total, printed_solution(draft, target))])
    pairs = list(map(total, zip(*hub_columns(draft), strict=True)))
    most = [min(q, mass) for x, (q, mass) in enumerate(zip(target, pairs, strict=True)) if x != a]
    equal(others, total(most), "mass of the tokens off the hub, at most")
    value = simplified(hub_table(draft), target)[0]
    return equal(others + min(target[a], 1 - others), 1 - value, "acceptance")


def figure6(draft: Exact, target: Exact) -> Fraction:
    """The pairs have the stated masses, and SpecHub accepts all of them."""
    equal(hub_of(draft), 0, "top token")
    table, off = hub_table(draft), {x: draft[x] for x in (1, 2)}
    equal({x: table[x, 0] for x in off}, off, "masses of the pairs (x, a)")
    equal(table[0, 1], Fraction("0.5") * Fraction("0.3") / Fraction("0.5"), "mass of (a, b)")
    equal(table[0, 2], Fraction("0.5") * Fraction("0.2") / Fraction("0.5"), "mass of (a, c)")
    as_first, as_second = printed_solution(draft, target)
    same(as_first, exact("0", "0.3", "0.2"), "π(x, a, x)")
    same(as_second, exact("0", "0.3", "0.1"), "π(a, x, x)")
    return equal(spechub(draft, target).acceptance(), 1, "acceptance")


def maximum_rate(draft: Exact, target: Exact) -> Fraction:
    """Σ max(p, q) is the acceptance rate of the first draft of RRS."""
    found = token_rejection(draft, target, 1, replacement=True).acceptance()
    largest = total(max(p, q) for p, q in zip(draft, target, strict=True))
    return equal(found, largest, "acceptance of the first draft")


def minimum_rate(draft: Exact, target: Exact) -> Fraction:
    """Σ min(p, q) is the acceptance rate of the first draft of RRS."""
    found = token_rejection(draft, target, 1, replacement=True).acceptance()
    return equal(found, overlap(draft, target), "acceptance of the first draft")


def better_than_rejection(draft: Exact, target: Exact, *, rate: Fraction) -> Fraction | None:
    """SpecHub accepts at least as much as RRS if p(a)/(1 − p(a)) > 1 − α."""
    if max(draft) / (1 - max(draft)) <= 1 - rate:
        return None
    found = spechub(draft, target).acceptance()
    other = token_rejection(draft, target, 2, replacement=True).acceptance()
    return Fraction(at_least(found, other, "SpecHub, against RRS"))


def better_with_maximum(draft: Exact, target: Exact) -> Fraction | None:
    """With α = Σ max(p, q)."""
    rate = total(max(p, q) for p, q in zip(draft, target, strict=True))
    return better_than_rejection(draft, target, rate=rate)


def better_with_minimum(draft: Exact, target: Exact) -> Fraction | None:
    """With α = Σ min(p, q)."""
    return better_than_rejection(draft, target, rate=overlap(draft, target))


def logits(seed: int) -> Iterator[dict[str, Any]]:
    """Yield exponentials of logits at temperature 1: different whole numbers from 1 to 9."""
    rng = np.random.default_rng(seed)
    for n in (2, 3):
        for draft, target in product(permutations(range(1, n + 2), n), repeat=2):
            yield {"draft_weights": draft, "target_weights": target}
    while True:
        n = int(rng.integers(3, 5))
        chosen = [rng.choice(np.arange(1, 10), n, replace=False).tolist() for _ in range(2)]
        yield {"draft_weights": tuple(chosen[0]), "target_weights": tuple(chosen[1])}


def cooled(weights: tuple[int, ...]) -> Exact:
    """Return the distribution of these weights at temperature 1/100."""
    powers = [weight**100 for weight in weights]
    return tuple(Fraction(power, sum(powers)) for power in powers)


def zero_temperature(draft_weights: tuple[int, ...], target_weights: tuple[int, ...]) -> float:
    """At zero temperature SpecHub and RRSw both accept the target's best of the draft's top 2."""
    draft, target = cooled(draft_weights), cooled(target_weights)
    wanted = target_weights.index(max(target_weights))
    top = sorted(range(len(draft)), key=lambda y: -draft_weights[y])[:2]
    limit = Fraction(wanted in top)
    distinct = token_rejection(draft, target, 2, replacement=False).acceptance()
    worst = max(abs(spechub(draft, target).acceptance() - limit), abs(distinct - limit))
    return float(at_least(Fraction(1, 10**4), worst, "distance from top-2 greedy decoding"))


COLD = "temperature 1/100, logits log 1, …, log 9, n <= 4; distances below 1e-4"


SECTION_4 = (
    Claim(
        "spechub.sec4a",
        "Section 4, the joint draft distribution",
        r"$P(x_1, x_2) = p(x_1)$ if $x_2 = a$, $p(a) p(x_2)/(1 - p(a))$ if $x_1 = a$, and 0 "
        "otherwise is a probability distribution.",
        over_drafts(sums_to_one),
        printed="The cases overlap at (a, a): the first gives it p(a). Appendix B.2 says that "
        "Q(a, a) = 0. If p(a) = 1 the second is 0/0.",
        corrected=Corrected(
            r"With $P(a, a) = 0$, for $p(a) < 1$, it is the law of these two steps: draw $x_1$ "
            r"from $p$; then $x_2$ is $a$ if $x_1 \ne a$, and from $p$ off $a$ if $x_1 = a$.",
            over_drafts(two_steps),
        ),
    ),
    Claim(
        "spechub.sec4b",
        "Sections 3.3 and 4, sparsity",
        r"Only the row and the column of $a$ are populated, at most $2(n - 1)$ pairs: the "
        "simplified program has at most $4(n - 1)$ variables and $3n - 2$ constraints, and the "
        "overhead is linear.",
        over_drafts(sparse, most_tokens=6),
    ),
    Claim(
        "spechub.sec4c",
        "Section 4, the solution",
        r"$\pi(x, a, x) = \min(q(x), p(x))$ and $\pi(a, x, x) = \min(q(x) - \pi(x, a, x), "
        r"P(a, x))$ for $x \ne a$, and $a$ served out of what is left up to $q(a)$, solves the "
        "simplified program; it gives the tokens off the hub as much as possible.",
        over_hubs(solution_is_optimal),
    ),
    Claim(
        "spechub.fig6",
        "Figure 6, section 4",
        r"For the draft (0.5, 0.3, 0.2) and the target (0.1, 0.6, 0.3), SpecHub samples $(x, a)$ "
        r"and $(a, x)$ with probabilities $p(x)$ and $p(a) p(x)/(1 - p(a))$: 0.3, 0.2, 0.3, 0.2. "
        "It accepts always.",
        on(
            {"draft": exact("0.5", "0.3", "0.2"), "target": exact("0.1", "0.6", "0.3")},
            figure6,
        ),
    ),
    Claim(
        "spechub.sec4d",
        "Section 4, Analysis",
        r"The acceptance rate of the first draft of rejection sampling is "
        r"$\alpha = \sum_x \max(p(x), q(x))$.",
        over_pairs(maximum_rate),
        corrected=Corrected(
            r"It is $\alpha = \sum_x \min(p(x), q(x))$, as theorem 3 has it.",
            over_pairs(minimum_rate),
        ),
    ),
    Claim(
        "spechub.sec4e",
        "Section 4, Analysis",
        r"SpecHub accepts at least as much as RRS if $p(a)/(1 - p(a)) > 1 - \alpha$, with "
        r"$\alpha = \sum_x \max(p(x), q(x))$.",
        over_hubs(better_with_maximum),
        printed="“a higher acceptance rate”; since that α is at least 1, the condition is always "
        "met. Read strictly it also fails where p = q.",
        corrected=Corrected(
            r"SpecHub accepts at least as much as RRS, in all, if $p(a)/(1 - p(a)) > 1 - \alpha$ "
            r"with $\alpha = \sum_x \min(p(x), q(x))$.",
            over_hubs(better_with_minimum),
        ),
    ),
)

SECTION_5 = (
    Claim(
        "spechub.sec5.2b",
        "Section 5.2, Second Draft Acceptance Rate",
        "At zero temperature SpecHub is equivalent to RRS without replacement: both are top-2 "
        "greedy decoding.",
        over(logits, zero_temperature, COLD),
        Method.FLOAT,
        printed="With three or more logits tied at the top of the draft they differ: uniform over "
        "three tokens, SpecHub drafts each token off the hub half the time, RRSw two thirds.",
    ),
)
