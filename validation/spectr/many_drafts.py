"""Section 5: optimal transport with several drafts."""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from itertools import islice, product
from typing import Any

import otspec
from otspec.arithmetic import Number
from otspec.distributions import as_distribution
from validation.checks import over, over_all
from validation.claim import Claim, at_least, equal
from validation.instances import Exact, pairs, random_pairs, smallest_pairs
from validation.notation import ONE, ZERO, iid, marginals, total
from validation.spectr.checks import over_cases, over_couplings
from validation.spectr.couplings import best_coupling, least_cut, optimum, some_coupling

E_ABOVE = total(Fraction(1, math.factorial(i)) for i in range(21)) + Fraction(2, math.factorial(21))
"""A rational number above e: the rest of the series is less than twice its first term."""
ONE_LESS_1_E = 1 - 1 / E_ABOVE
"""A rational number above 1 − 1/e, by less than 1e-19."""
NEAR = Fraction(1, 20)
"""How close to its limit the optimum must come."""


def cost_is_rejection(draft: Exact, target: Exact, k: int, turn: int, blur: Fraction) -> Fraction:
    """C(π) = Pr(Y ∉ S(X)) and α(π) = Pr(Y ∈ S(X)), by the place where Y first appears."""
    joint = some_coupling(iid(draft, k), target, turn, blur)
    cost = total(mass * (1 if y not in set(x) else 0) for (x, y), mass in joint.items())
    at_place = [
        total(mass for (x, y), mass in joint.items() if y in x and x.index(y) == i)
        for i in range(k)
    ]
    absent = [
        total(mass for (x, y), mass in joint.items() if y == token and token not in x)
        for token in range(len(target))
    ]
    equal(cost, sum(absent), "C")
    if k == 1:
        other = total(mass for (x, y), mass in joint.items() if (y,) != x)
        equal(cost, other, "C, against Pr(Y != X)")
    return equal(1 - cost, sum(at_place), "alpha")


def increases(draft: Exact, target: Exact, k: int) -> Number:
    """α_k ≤ α_{k+1}."""
    return at_least(optimum(draft, target, k + 1), optimum(draft, target, k), "alpha_{k+1}")


def drafts_enough(draft: Exact) -> int:
    """Return k so large that k drafts miss a drafted token with probability at most NEAR."""
    rarest = min(mass for mass in draft if mass > 0)
    return 1 if rarest == 1 else math.ceil(math.log(NEAR) / math.log1p(-rarest))


def tends_to(draft: Exact, target: Exact, limit: Fraction) -> Number:
    """The optimum is at most the limit, and comes near it."""
    far, near = (least_cut(draft, target, k)[0] for k in (3, drafts_enough(draft)))
    at_least(limit, max(far, near), "limit")
    return at_least(near, limit - NEAR, "optimum of many drafts")


def tends_to_one(draft: Exact, target: Exact) -> Number | None:
    """With q/p bounded the optimum tends to 1."""
    if any(p == 0 and q > 0 for p, q in zip(draft, target, strict=True)):
        return None
    return tends_to(draft, target, ONE)


def tends_to_drafted_mass(draft: Exact, target: Exact) -> Number | None:
    """With q/p unbounded the optimum tends to the target mass of the drafted tokens."""
    if all(p > 0 or q == 0 for p, q in zip(draft, target, strict=True)):
        return None
    drafted = total(q for p, q in zip(draft, target, strict=True) if p > 0)
    return tends_to(draft, target, drafted)


def program_is_solved(draft: Exact, target: Exact, k: int) -> Fraction:
    """The linear program (4): a coupling and a dual solution of one value, each checked."""
    law = iid(draft, k)
    coupling, _ = best_coupling(law, target)
    at_least(min(coupling.values()), ZERO, "least mass of the coupling")
    equal(marginals(coupling, len(target)), (law, target), "marginals")
    cost = total(mass for (x, y), mass in coupling.items() if y not in x)
    _, cut = least_cut(draft, target, k)
    rows = {x: int(set(x) <= set(cut)) for x in law}
    tokens = [-int(y in cut) for y in range(len(target))]
    for (x, y), price in {(x, y): rows[x] + tokens[y] for x, y in coupling}.items():
        at_least(int(y not in x), price, f"cost of {x}, {y}")
    dual = total(mass * rows[x] for x, mass in law.items())
    dual += total(q * price for q, price in zip(target, tokens, strict=True))
    equal(cost, dual, "primal value, against the dual value")
    return equal(1 - cost, optimum(draft, target, k), "1 - value")


def program_has_size(draft: Exact, target: Exact, k: int) -> Fraction | None:
    """Definition 1 written out has n^{k+1} variables and n^k + n equalities."""
    if ZERO in draft:
        return None  # the package leaves out tuples of probability 0
    n = len(draft)
    tuples = list(product(range(n), repeat=k))
    variables = [(x, y) for x in tuples for y in range(n)]
    equalities = [[(x, y) for y in range(n)] for x in tuples]
    equalities += [[(x, y) for x in tuples] for y in range(n)]
    equal((len(variables), len(equalities)), (n ** (k + 1), n**k + n), "variables, equalities")
    law, checked = otspec.IID(as_distribution(draft), k), as_distribution(target)
    program = otspec.programs.Membership(law, checked, sets=False).build()
    equal(program.shape, (len(equalities), len(variables)), "rows, columns")
    return equal(int((program.row_lower != program.row_upper).sum()), 0, "inequalities")


def is_polynomial(draft: Exact, target: Exact, k: int) -> Number:
    """Augmenting paths find an optimal coupling after so many looks at arcs."""
    coupling, looks = best_coupling(iid(draft, k), target)
    cost = total(mass for (x, y), mass in coupling.items() if y not in x)
    equal(1 - cost, least_cut(draft, target, k)[0], "1 - C")
    return at_least(Fraction(4 * (k + 2) ** 2 * len(draft) ** (3 * k)), looks, "bound on the looks")


def guarantee_is_above(k: int) -> Number:
    """1 − (1 − 1/k)^k ≥ 1 − 1/e."""
    return at_least(1 - (1 - Fraction(1, k)) ** k, ONE_LESS_1_E)


def all_pairs(seed: int) -> Iterator[dict[str, Any]]:
    """Yield drafts and targets."""
    return pairs(seed, 3, enumerated=150)


def undrafted_pairs(seed: int) -> Iterator[dict[str, Any]]:
    """Yield the smallest pairs, then pairs with one more token, which is never drafted."""
    yield from islice(smallest_pairs(3), 300)
    for pair in random_pairs(seed, 3):
        for share in (Fraction(1, 7), Fraction(1, 2), Fraction(5, 6)):
            target = (*(q * (1 - share) for q in pair["target"]), share)
            yield {"draft": (*pair["draft"], ZERO), "target": target}


LIMIT_SCOPE = "n <= 4, one k per pair, so large that the optimum is less than 1/20 below its limit"

CLAIMS = (
    Claim(
        "spectr.eq2",
        "Equation (2) and membership cost, section 5",
        r"$C(\pi) = E[1\{Y \notin S(X)\}] = \Pr(Y \notin S(X))$ and "
        r"$\alpha(\pi) = 1 - C(\pi) = \Pr(Y \in S(X))$; for $k = 1$ the cost is $\Pr(Y \ne X)$.",
        over_couplings(cost_is_rejection),
    ),
    Claim(
        "spectr.lem1a",
        "Lemma 1, monotonicity",
        r"$\alpha_k(p, q) \le \alpha_{k+1}(p, q)$ for all $k \ge 1$.",
        over_cases(increases),
    ),
    Claim(
        "spectr.lem1b",
        "Lemma 1, consistency",
        r"If $q(x)/p(x)$ is bounded, $\lim_{k \to \infty} \alpha_k(p, q) = 1$.",
        over(all_pairs, tends_to_one, LIMIT_SCOPE),
    ),
    Claim(
        "spectr.lem1c",
        "Lemma 1, consistency",
        r"Else $\lim_{k \to \infty} \alpha_k(p, q) = \sum_x 1\{p(x) > 0\} q(x)$.",
        over(undrafted_pairs, tends_to_drafted_mass, LIMIT_SCOPE),
    ),
    Claim(
        "spectr.eq4",
        "Equation (4), section 5",
        r"The transport problem (3) is the linear program (4), whose least value is "
        r"$1 - \alpha_k(p, q)$.",
        over_cases(program_is_solved, most_tokens=3),
    ),
    Claim(
        "spectr.sec5a",
        "Section 5, below (4)",
        r"The program (4) has $n^{k+1}$ variables and $n^k + n$ equality constraints.",
        over_cases(program_has_size, most_tokens=3),
    ),
    Claim(
        "spectr.lem2",
        "Lemma 2, section 5",
        r"The solution of (3) can be computed in time $O(n^{O(k)})$: augmenting paths find it "
        r"after at most $4 (k+2)^2 n^{3k}$ looks at arcs.",
        over_cases(is_polynomial, most_tokens=3),
        printed=r"Printed is $O(n^{O(k)})$ without constants; the second half makes it checkable.",
    ),
    Claim(
        "spectr.sec5b",
        "Section 5, below Lemma 2; appendix A.1",
        r"$1 - (1 - 1/k)^k \ge 1 - 1/e$ for all $k \ge 1$.",
        over_all(lambda: ({"k": k} for k in range(1, 1001)), guarantee_is_above, "k <= 1000"),
    ),
)
