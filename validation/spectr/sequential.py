"""Section 6: k-sequential selection, Algorithm 2 and Theorem 1."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

from otspec.arithmetic import Number
from validation.checks import over, over_all
from validation.claim import Claim, Corrected, Fails, above, at_least, equal
from validation.instances import Exact, cases
from validation.notation import ONE, ZERO, Tokens, iid, marginals, total_variation
from validation.spectr.checks import over_cases, over_rhos
from validation.spectr.couplings import optimum
from validation.spectr.many_drafts import ONE_LESS_1_E
from validation.spectr.printed import (
    Branch,
    acceptance_at_root,
    as_coupling,
    beta,
    chance_of,
    f,
    is_accepted,
    k_sequential,
    p_acc,
    residual,
    residual_made_whole,
    rho_star,
)

GRID = tuple(Fraction(i, 2) for i in range(1, 13))


def at_or_above_root(draft: Exact, target: Exact, k: int, rho: Fraction) -> bool:
    """Whether (6) determines ρ*, and ρ is at least that."""
    return total_variation(draft, target) < 1 and rho >= rho_star(draft, target, k)[1]


def accepts_p_acc(draft: Exact, target: Exact, k: int, rho: Fraction) -> Fraction:
    """Algorithm 2 accepts a draft with probability p_acc, and returns p^res otherwise."""
    rule = k_sequential(draft, target, k, rho, residual_made_whole)
    found = chance_of(rule, draft, k, is_accepted)
    return equal(found, p_acc(draft, target, k, rho), "Pr(one of the drafts is accepted)")


def is_distribution(law: Exact) -> Number:
    """The entries are non-negative and sum to 1."""
    equal(sum(law), ONE, "sum of p^res")
    return at_least(min(law), ZERO, "least entry of p^res")


def residual_is_distribution(draft: Exact, target: Exact, k: int, rho: Fraction) -> Number | None:
    """(5) is a distribution for ρ ≥ ρ*."""
    if not at_or_above_root(draft, target, k, rho):
        return None
    try:
        return is_distribution(residual(draft, target, k, rho))
    except ZeroDivisionError:
        raise Fails("p^res reads 0/0") from None


def residual_mostly_distribution(
    draft: Exact, target: Exact, k: int, rho: Fraction
) -> Number | None:
    """(5) is a distribution where it can be drawn from, and q if the supports are disjoint."""
    if total_variation(draft, target) == 1:
        return equal(residual_made_whole(draft, target, k, rho), target, "p^res")
    if not at_or_above_root(draft, target, k, rho):
        return None
    if p_acc(draft, target, k, rho) == 1:
        rule = k_sequential(draft, target, k, rho)
        return equal(chance_of(rule, draft, k, is_accepted), ONE, "Pr(a draft is accepted)")
    plain = residual(draft, target, k, rho)
    equal(plain, residual_made_whole(draft, target, k, rho), "(5), against its other form")
    return is_distribution(plain)


def has_one_root(draft: Exact, target: Exact, k: int) -> Number:
    """(6) has exactly one solution."""
    roots = [rho for rho in GRID if f(draft, target, k, rho) == 0]
    if len(roots) > 1:
        raise Fails(f"rho = {roots[0]} and rho = {roots[1]} both solve (6)")
    low, high = rho_star(draft, target, k)
    outside = [rho for rho in roots if not low <= rho <= high]
    equal(outside, [], "solutions besides the one in [1, k]")
    below = min((f(draft, target, k, rho) for rho in GRID if rho < low), default=ONE)
    beyond = max((f(draft, target, k, rho) for rho in GRID if rho > high), default=-ONE)
    return min(above(below, ZERO, "f below the root"), above(ZERO, beyond, "0, against f beyond"))


def has_one_root_unless_disjoint(draft: Exact, target: Exact, k: int) -> Number | None:
    """(6) has exactly one solution if d_TV < 1."""
    return None if total_variation(draft, target) == 1 else has_one_root(draft, target, k)


def is_valid(draft: Exact, target: Exact, k: int, rho: Fraction) -> Number | None:
    """For ρ ≥ ρ* Algorithm 2 is a coupling of p^{⊗k} and q."""
    if not at_or_above_root(draft, target, k, rho):
        return None
    joint = as_coupling(k_sequential(draft, target, k, rho), draft, k)
    equal(marginals(joint, len(target)), (iid(draft, k), target), "marginals")
    return at_least(min(joint.values()), ZERO, "least mass of the coupling")


def is_near_optimal(draft: Exact, target: Exact, k: int) -> Number | None:
    """α(π_ρ*) ≥ (1 − 1/e) α_k."""
    if total_variation(draft, target) == 1:
        return None
    low, _ = acceptance_at_root(draft, target, k)
    return at_least(low, ONE_LESS_1_E * optimum(draft, target, k), "alpha at rho*")


def accuracy_cases(seed: int) -> Iterator[dict[str, Any]]:
    """Yield pairs, k and an accuracy."""
    for case in cases(seed, (2, 3, 5), 4, enumerated=80):
        for delta in (Fraction(1, 2), Fraction(1, 10), Fraction(1, 1000)):
            yield {**case, "delta": delta}


def search_is_quick(draft: Exact, target: Exact, k: int, delta: Fraction) -> Number | None:
    """Binary search over [1, k] is within δ of ρ* after n ⌈log2((k − 1)/δ)⌉ steps."""
    if total_variation(draft, target) == 1:
        return None
    low, high, steps = ONE, Fraction(k), 0
    while high - low > delta:
        middle, steps = (low + high) / 2, steps + len(draft)
        low, high = (low, middle) if f(draft, target, k, middle) <= 0 else (middle, high)
    at_least(ZERO, f(draft, target, k, high), "0, against f at what is found")
    at_least(f(draft, target, k, high - delta), ZERO, "f a distance delta below")
    halvings = next(i for i in range(100) if 2**i * delta >= k - 1)
    return at_least(Fraction(len(draft) * halvings), steps, "bound on the steps")


def uniform(d: int, size: int) -> Exact:
    """Return the uniform distribution over the first tokens of d."""
    return tuple(Fraction(int(y < size), size) for y in range(d))


def comparison_cases() -> Iterator[dict[str, Any]]:
    """Yield pairs on which k-Seq is worse than the optimum, and pairs on which it is not."""
    quarter = (Fraction(3, 4), Fraction(1, 4))
    for k in range(2, 9):
        for b in (Fraction(1, 10), Fraction(3, 4)):
            yield {"draft": quarter, "target": (1 - b, b), "k": k, "optimal": "no"}
    for d in range(2, 9):
        for size in (size for size in range(1, d) if d % size == 0):
            for k in (2, 3, 4):
                pair = {"draft": uniform(d, d), "target": uniform(d, size)}
                yield {**pair, "k": k, "optimal": "yes"}


def compares_as_told(draft: Exact, target: Exact, k: int, optimal: str) -> Number:
    """Compare k-Seq at ρ* with the optimum."""
    low, high = acceptance_at_root(draft, target, k)
    best = optimum(draft, target, k)
    return equal((low, high), (best, best)) if optimal == "yes" else above(best, high, "alpha_k")


def is_beta(draft: Exact, target: Exact, k: int, rho: Fraction) -> Fraction:
    """Each draft that is reached is accepted with probability β(ρ)."""
    rule = k_sequential(draft, target, k, rho, residual_made_whole)
    scale = beta(draft, target, rho)
    reached = ONE
    for i in range(k):

        def event(_: Tokens, branch: Branch, i: int = i) -> bool:
            return branch.accepted == i

        chance = chance_of(rule, draft, k, event)
        equal(chance, reached * scale, f"Pr(draft {i} is accepted)")
        reached -= chance
    return ZERO


CLAIMS = (
    Claim(
        "spectr.alg2a",
        "Algorithm 2, steps 2 to 7",
        r"For every $\rho \ge 1$ each draft that is reached is accepted with probability "
        r"$\beta(\rho) = \sum_x \min(p(x), q(x)/\rho)$.",
        over_rhos(is_beta),
    ),
    Claim(
        "spectr.alg2b",
        "Algorithm 2, step 1",
        r"$p_{acc} = 1 - (1 - \beta(\rho))^k$ is the probability that one of the drafts is "
        "accepted.",
        over_rhos(accepts_p_acc),
    ),
    Claim(
        "spectr.eq5",
        "Equation (5), Algorithm 2, step 1; appendix C.1",
        r"For $\rho \ge \rho^*$, "
        r"$p^{res} = (q - \min(p, q/\rho)\, p_{acc}/\beta(\rho)) / (1 - p_{acc})$ "
        "is a distribution.",
        over_rhos(residual_is_distribution),
        corrected=Corrected(
            r"It is one if $\beta > 0$ and $p_{acc} < 1$. If $p_{acc} = 1$ (then $p = q$ and "
            r"$\rho = 1$) it reads 0/0 and is never drawn from. If $\beta = 0$ (disjoint supports) "
            r"it reads 0/0 as well, but with $\sum_{i<k} (1-\beta)^i$ for $p_{acc}/\beta$ it is q.",
            over_rhos(residual_mostly_distribution),
        ),
    ),
    Claim(
        "spectr.eq6",
        "Equation (6), Theorem 1",
        r"$1 - (1 - \beta(\rho))^k = \rho\,\beta(\rho)$ has exactly one solution $\rho^*$.",
        over_cases(has_one_root),
        printed=r"Let $\rho^*$ be the solution to the identity below.",
        corrected=Corrected(
            r"It has exactly one if $d_{TV}(p, q) < 1$; otherwise every $\rho$ solves it.",
            over_cases(has_one_root_unless_disjoint),
        ),
    ),
    Claim(
        "spectr.thm1a",
        "Theorem 1 and Algorithm 2, section 6",
        r"For $\rho \ge \rho^*$ Algorithm 2 is a valid transport plan from $p^{\otimes k}$ to q.",
        over_rhos(is_valid),
        printed="Pairs with disjoint supports, for which (6) does not determine ρ*, are left to "
        "spectr.eq5. The converse is not printed, and does not hold.",
    ),
    Claim(
        "spectr.thm1b",
        "Theorem 1, section 6",
        r"At $\rho = \rho^*$ its acceptance is at least $(1 - e^{-1})\, \alpha_k(p, q)$.",
        over_cases(is_near_optimal),
    ),
    Claim(
        "spectr.thm1c",
        "Theorem 1, section 6; appendix C.1",
        r"$\rho^*$ can be computed up to accuracy $\delta$ in time $O(n \log((k-1)/\delta))$: "
        r"binary search over $[1, k]$ takes $n \lceil \log_2((k-1)/\delta) \rceil$ steps.",
        over(accuracy_cases, search_is_quick, "n <= 4, k in {2, 3, 5}, delta >= 1/1000"),
        printed="For k = 1, where ρ* = 1, the printed time is the logarithm of 0; k ≥ 2 here.",
    ),
    Claim(
        "spectr.sec6a",
        "Section 6, below Theorem 1",
        "k-Seq is strictly worse than the optimum in some cases and optimal in non-trivial others: "
        r"here $Ber(1/4)$ against $Ber(1/10)$ and $Ber(3/4)$, and $U(d)$ against $U(d/r)$.",
        over_all(comparison_cases, compares_as_told, "k <= 8, d <= 8"),
    ),
)
