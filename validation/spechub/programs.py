"""Claims of sections 3.1 to 3.3: the linear programs and the design of sampling."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import product
from math import prod
from typing import Any

import otspec
from otspec.distributions import as_distribution
from otspec.programs import formulate
from validation.checks import Slack, over_all
from validation.claim import Check, Claim, Corrected, Fails, above, at_least, equal
from validation.instances import Exact
from validation.notation import ONE, ZERO, Table, distinct, iid, overlap, same, support, total
from validation.oracles import least_bound
from validation.spechub.instances import exact, on, over_cases, over_drafts_and_k, over_joints
from validation.spechub.lp import completed, cost, couples, joint_table, simplified, transport
from validation.spechub.printed import token_rejection
from validation.simplex import Program


def least_cost(draft: Exact, target: Exact, k: int) -> Fraction:
    """The program (1) gives the least rejection of any lossless rule, 1 − the least cut."""
    table = iid(draft, k)
    return equal(transport(table, target)[0], 1 - least_bound(table, target), "cost")


def sizes() -> Iterator[dict[str, Any]]:
    """Yield numbers of tokens and drafts, as long as all couplings have at most 4,000 entries."""
    pairs = [(n, k) for n in range(1, 64) for k in range(1, 12) if n ** (k + 1) <= 4_000]
    for n, k in sorted(pairs, key=sum):
        yield {"n": n, "k": k}


def over_sizes(slack: Slack) -> Check:
    """Return a check over sizes."""
    return over_all(sizes, slack, "all n, k with n^(k+1) <= 4,000")


def variables(program: str, n: int, k: int) -> int:
    """Return how many variables a program has for k drafts with all n tokens possible."""
    uniform = as_distribution([1 / n] * n)
    law = otspec.IID(uniform, k)
    return int(formulate(program, law, uniform, sets=False).build().shape[1])


def transport_size(n: int, k: int) -> Fraction:
    """The program (1) has n^(k+1) variables."""
    return equal(variables("membership", n, k), n ** (k + 1), "variables")


def simplified_size(n: int, k: int) -> Fraction:
    """The simplified program has n (n^k − (n−1)^k) variables, at most k n^k."""
    found = variables("reduced", n, k)
    equal(found, n * (n**k - (n - 1) ** k), "variables")
    return Fraction(at_least(k * n**k, found, "k n^k"))


def reconstruction(joint: Exact, target: Exact, k: int) -> Fraction:
    """An optimal solution, its sums over i as printed, is completed to a coupling."""
    table = joint_table(joint, len(target), k)
    _, plan = simplified(table, target)
    return couples(completed(plan, table, target), table, target)


def reconstruction_once(joint: Exact, target: Exact, k: int) -> Fraction:
    """An optimal solution that counts each distinct token once is completed to a coupling."""
    table = joint_table(joint, len(target), k)
    value, plan = simplified(table, target, once=True)
    coupling = completed(plan, table, target, once=True)
    couples(coupling, table, target)
    return equal(cost(coupling), value, "cost")


def equivalence(joint: Exact, target: Exact, k: int) -> Fraction:
    """The simplified program has the optimum of the transport problem."""
    table = joint_table(joint, len(target), k)
    return equal(simplified(table, target)[0], transport(table, target)[0], "optimum")


def figure5(draft: Exact, target: Exact) -> Fraction:
    """RRSw has cost 0.06, all of it for want of token b, and is not optimal."""
    run = token_rejection(draft, target, 2, replacement=False)
    equal(1 - run.acceptance(), Fraction("0.06"), "transport cost of RRSw")
    taken = [run.accepted[0][y] + run.accepted[1][y] for y in range(3)]
    lacking = [q - mass for q, mass in zip(target, taken, strict=True)]
    same(lacking, exact("0", "0.06", "0"), "what is accepted too rarely")
    best = transport(distinct(draft, 2), target)[0]
    return Fraction(above(1 - run.acceptance(), best, "cost of RRSw"))


def order(joint: Exact, target: Exact, k: int) -> Fraction | None:
    """Two drafts in the other order have the same optimum."""
    if k != 2:
        return None
    table = joint_table(joint, len(target), 2)
    turned: Table = {(x[1], x[0]): mass for x, mass in table.items()}
    return equal(simplified(turned, target)[0], simplified(table, target)[0], "optimum")


def first_draft_at_optimum(draft: Exact, target: Exact) -> tuple[Fraction, Fraction]:
    """Return the optimum of two i.i.d. drafts and the most of it that the first can have."""
    table = iid(draft, 2)
    best = 1 - simplified(table, target)[0]
    keys = [(x, i) for x in table for i in range(len(set(x)))]
    program = Program(len(keys))
    program.objective = [ONE if i == 0 else ZERO for _, i in keys]
    for x, mass in table.items():
        row = [(v, 1) for v, key in enumerate(keys) if key[0] == x]
        program.add(row, mass, equal=False)
    for y, mass in enumerate(target):
        row = [(v, 1) for v, (x, i) in enumerate(keys) if x[i] == y]
        program.add(row, mass, equal=False)
    program.add([(v, 1) for v in range(len(keys))], best, equal=True)
    return best, program.solve()[0]


def lower_first_draft(draft: Exact, target: Exact) -> Fraction:
    """Every optimal rule accepts the first draft less often than RRS, and more in all."""
    best, first = first_draft_at_optimum(draft, target)
    run = token_rejection(draft, target, 2, replacement=True)
    above(best, run.acceptance(), "optimum")
    return Fraction(above(overlap(draft, target), first, "RRS's first draft"))


def distinct_formula(draft: Exact, x: tuple[int, ...]) -> Fraction:
    """Return the printed probability of the drafts x; fail where it divides by zero."""
    below = prod((1 - total(draft[y] for y in x[: i + 1]) for i in range(len(x) - 1)), start=ONE)
    if below == 0:
        raise Fails(f"P{x} divides by zero")
    return prod((draft[y] for y in x), start=ONE) / below


def without_replacement(draft: Exact, k: int) -> Fraction | None:
    """The printed formula is the law of drafts without replacement, for all tuples."""
    if support(draft) < k:
        return None
    table = distinct(draft, k)
    for x in product(range(len(draft)), repeat=k):
        equal(distinct_formula(draft, x), table.get(x, ZERO), f"P{x}")
    return ZERO


def without_replacement_distinct(draft: Exact, k: int) -> Fraction | None:
    """The formula is that law for tuples of distinct possible tokens, and they are all."""
    if support(draft) < k:
        return None
    table = distinct(draft, k)
    chosen = [
        x
        for x in product(range(len(draft)), repeat=k)
        if len(set(x)) == k and all(draft[y] for y in x[:-1])
    ]
    for x in chosen:
        equal(distinct_formula(draft, x), table.get(x, ZERO), f"P{x}")
    return equal(total(table.get(x, ZERO) for x in chosen), 1, "sum")


CLAIMS = (
    Claim(
        "spechub.eq1",
        "Equation (1), section 3.1",
        r"The optimum of the program (1), $\min_\pi \sum_{x, y \notin S(x)} \pi(x, y)$ over the "
        r"couplings of $p^{\otimes k}$ and $q$, is the least rejection rate of any lossless "
        r"verification, $1 - \alpha(p^{\otimes k}, q)$.",
        over_cases(least_cost, ks=(1, 2), most_tokens=3),
    ),
    Claim(
        "spechub.sec3.1",
        "Section 3.1, after equation (1)",
        r"The program (1) has $O(n^{k+1})$ variables: $n^{k+1}$ where all tokens can be drafted.",
        over_sizes(transport_size),
    ),
    Claim(
        "spechub.sec3.2a",
        "Section 3.2",
        r"The simplified program has $O(n^k)$ variables (for fixed k): "
        r"$n\,(n^k - (n-1)^k) \le k\,n^k$, one for each tuple and each of its distinct tokens.",
        over_sizes(simplified_size),
    ),
    Claim(
        "spechub.sec3.2b",
        "Section 3.2, the reconstruction",
        r"An optimal solution of the simplified program becomes a coupling of $P$ and $q$ with "
        r"$\pi(x, y) = \frac{q(y) - \alpha(y)}{\sum_y (q(y) - \alpha(y))} "
        r"\bigl(P(x) - \sum_{i=1}^k \pi(x, x_i)\bigr)$ for $y \notin S(x)$, where "
        r"$\alpha(y) = \sum_{i=1}^k \sum_{x : x_i = y} \pi(x, y)$.",
        over_joints(reconstruction),
        printed="The sums run over i = 1..k, so that the entry of a token that occurs twice among "
        "the drafts counts twice; the coupling has it once (appendix A: π(x, y) = π(x, x_i)). The "
        "normalising sum is printed without parentheses in section 3.2 and with them in appendix "
        "A; where nothing is left (0/0) nothing is added.",
        corrected=Corrected(
            "If the program's sums run over the distinct tokens of x, each optimal solution "
            "becomes a coupling, and its transport cost is the program's value.",
            over_joints(reconstruction_once),
        ),
    ),
    Claim(
        "spechub.thm1",
        "Theorem 1, section 3.2",
        r"For any draft law $P$ and target $q$, $1 - \sum_x \sum_{i=1}^k \pi(x, x_i)$ at an "
        r"optimal solution of the simplified program is the optimal transport cost $C(\pi^*)$.",
        over_joints(equivalence),
        printed="Both readings of the sums over i have this value: where they count a token that "
        "occurs twice among the drafts twice, the solution has half its mass.",
    ),
    Claim(
        "spechub.fig5",
        "Figure 5, section 3.2",
        "For the draft (0.5, 0.3, 0.2) and the target (0.1, 0.6, 0.3), RRSw has transport cost "
        "0.06, because token b is accepted 0.06 too rarely; an optimal solution has a lower cost.",
        on(
            {"draft": exact("0.5", "0.3", "0.2"), "target": exact("0.1", "0.6", "0.3")},
            figure5,
        ),
    ),
    Claim(
        "spechub.sec3.2c",
        "Section 3.2, Unbalanced Tree and Asymmetric Verification",
        "In a single step the order in which the drafts are selected does not matter: $(x_1, x_2)$ "
        "and $(x_2, x_1)$ have the same optimal acceptance.",
        over_joints(order),
        printed="“appears inconsequential”",
    ),
    Claim(
        "spechub.sec3.2d",
        "Section 3.2, Unbalanced Tree and Asymmetric Verification",
        "Optimal algorithms may accept the first draft less often than RRS, to accept more in all: "
        "for some p and q every optimal rule does.",
        on(
            {"draft": exact("1/3", "1/3", "1/3"), "target": exact("2/3", "1/3", "0")},
            lower_first_draft,
            "one pair is enough",
        ),
        printed="“may decrease the first few drafts' acceptance rate slightly”",
    ),
    Claim(
        "spechub.sec3.3",
        "Section 3.3",
        r"Drafts without replacement have the law "
        r"$P(x) = \prod_{i=1}^k p(x_i) \big/ \prod_{i=1}^{k-1} (1 - \sum_{j=1}^i p(x_j))$.",
        over_drafts_and_k(without_replacement, ks=(1, 2, 3)),
        printed="Nothing says that the $x_i$ are distinct.",
        corrected=Corrected(
            "That is their law for distinct $x_i$; all other tuples have probability 0.",
            over_drafts_and_k(without_replacement_distinct, ks=(1, 2, 3)),
        ),
    ),
)
