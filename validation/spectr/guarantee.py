"""Appendix C: the acceptance of k-Seq against the optimum, and the proof of Theorem 2."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np

from otspec.arithmetic import Number
from validation.checks import over
from validation.claim import Claim, Corrected, Fails, above, at_least, equal
from validation.instances import Exact
from validation.notation import ONE, ZERO, total, total_variation
from validation.spectr.bounds import share
from validation.spectr.checks import over_cases, over_models, over_rhos
from validation.spectr.couplings import optimum
from validation.spectr.printed import (
    acceptance_at_root,
    beta,
    chance_of,
    is_among_drafts,
    k_sequential,
    p_acc,
    rho_star,
)
from validation.spectr.selection import decoded
from validation.spectr.sequences import Model, next_law
from validation.spectr.sequential import at_or_above_root


def accepts_at_least_p_acc(draft: Exact, target: Exact, k: int, rho: Fraction) -> Number | None:
    """α(π_ρ) ≥ 1 − (1 − β(ρ))^k."""
    if not at_or_above_root(draft, target, k, rho):
        return None
    found = chance_of(k_sequential(draft, target, k, rho), draft, k, is_among_drafts)
    return at_least(found, p_acc(draft, target, k, rho), "alpha")


def inflated(draft: Exact, target: Exact, k: int) -> Fraction:
    """Return Σ min(k p, q)."""
    return total(min(k * p, q) for p, q in zip(draft, target, strict=True))


def chain_to_k(draft: Exact, target: Exact, k: int) -> Number | None:
    """α(π_ρ*) ≥ p_acc(ρ*) ≥ p_acc(k) = c_k Σ min(kp, q)."""
    if total_variation(draft, target) == 1:
        return None
    low, _ = acceptance_at_root(draft, target, k)
    rho = rho_star(draft, target, k)[1]
    found = chance_of(k_sequential(draft, target, k, rho), draft, k, is_among_drafts)
    at_least(found, low, "alpha")
    at_k, scale = p_acc(draft, target, k, Fraction(k)), k * beta(draft, target, Fraction(k))
    equal(at_k, at_k / scale * inflated(draft, target, k), "p_acc at rho = k")
    return at_least(low, at_k, "p_acc at rho*")


def factor(draft: Exact, target: Exact, k: int) -> Fraction:
    """Return c_k(p, q); a ZeroDivisionError where it reads 0/0."""
    return p_acc(draft, target, k, Fraction(k)) / (k * beta(draft, target, Fraction(k)))


def factor_in_range(draft: Exact, target: Exact, k: int) -> Number:
    """c_k ∈ [1 − (1 − 1/k)^k, 1)."""
    try:
        found = factor(draft, target, k)
    except ZeroDivisionError:
        raise Fails("c_k reads 0/0") from None
    return min(at_least(found, share(k), "c_k"), above(ONE, found, "1, against c_k"))


def factor_in_range_mostly(draft: Exact, target: Exact, k: int) -> Number | None:
    """c_k is in that range if k ≥ 2 and d_TV < 1, and 1 if k = 1."""
    if total_variation(draft, target) == 1:
        return None
    return equal(factor(draft, target, k), ONE) if k == 1 else factor_in_range(draft, target, k)


def unit_cases(seed: int, largest: int) -> Iterator[dict[str, Any]]:
    """Yield k and x ≥ 0 up to ``largest``, small numbers first, then random fractions."""
    for size in range(2, 20):
        for k in range(1, size):
            yield {"k": k, "x": Fraction(size - k - 1)}
    rng = np.random.default_rng(seed)
    while True:
        bottom = int(rng.integers(1, 60))
        x = Fraction(int(rng.integers(0, largest * bottom + 1)), bottom)
        yield {"k": int(rng.integers(1, 9)), "x": x}


def quotient(k: int, x: Fraction) -> Fraction:
    """Return f(x) = (1 − (1 − x)^k) / (kx)."""
    return (1 - (1 - x) ** k) / (k * x)


def quotient_behaves(k: int, x: Fraction) -> Number | None:
    """It decreases on (0, 1/k], from 1 to 1 − (1 − 1/k)^k."""
    if not 0 < x <= 1:
        return None
    here, end = x / k, Fraction(1, k)
    equal(quotient(k, end), share(k), "f(1/k)")
    at_least(Fraction(k - 1, 2) * here, 1 - quotient(k, here), "(k - 1) x / 2, against 1 - f(x)")
    at_least(quotient(k, here), quotient(k, (here + end) / 2), "f(x)")
    return at_least(quotient(k, here), quotient(k, end), "f(x)")


def union_bound(k: int, x: Fraction) -> Number:
    """For all x ≥ 0, kx ≥ 1 − (1 − x)^k."""
    return at_least(k * x, 1 - (1 - x) ** k, "kx")


def union_bound_to_two(k: int, x: Fraction) -> Number | None:
    """For 0 ≤ x ≤ 2, kx ≥ 1 − (1 − x)^k."""
    return union_bound(k, x) if x <= 2 else None


def eq_11(draft: Exact, target: Exact, k: int) -> Number | None:
    """(11)."""
    if total_variation(draft, target) == 1:
        return None
    least = (min(1 - (1 - p) ** k, q) for p, q in zip(draft, target, strict=True))
    low, _ = acceptance_at_root(draft, target, k)
    middle, end = share(k) * inflated(draft, target, k), share(k) * sum(least, ZERO)
    return min(at_least(low, middle, "alpha at rho*"), at_least(middle, end, "middle"))


def eq_12(draft: Exact, target: Exact, k: int) -> Number | None:
    """(12)."""
    if total_variation(draft, target) == 1:
        return None
    low, _ = acceptance_at_root(draft, target, k)
    return at_least(low, share(k) * optimum(draft, target, k), "alpha at rho*")


def first_token_given_stop(
    draft: Model, target: Model, length: int, count: int, plan: str
) -> Fraction | None:
    """Given τ = 1, Y_1 is distributed as the large model's next token."""
    outputs = decoded(draft, target, length, count, plan)
    single = [outputs.get((y,), ZERO) for y in range(2)]
    if sum(single) == 0:
        return None
    for y, wanted in enumerate(next_law(target, ())):
        equal(single[y] / sum(single), wanted, f"Pr(Y_1 = {y} | tau = 1)")
    return ZERO


def first_token(draft: Model, target: Model, length: int, count: int, plan: str) -> Fraction:
    """Whatever τ, Y_1 is distributed as the large model's next token."""
    law = [ZERO, ZERO]
    for output, mass in decoded(draft, target, length, count, plan).items():
        law[output[0]] += mass
    return equal(tuple(law), next_law(target, ()), "law of Y_1")


CLAIMS = (
    Claim(
        "spectr.secC.1h",
        "Appendix C.1, acceptance probability",
        r"For $\rho \ge \rho^*$, $\alpha(\pi_\rho) \ge "
        r"\Pr(\text{one of } X^k \text{ is accepted}) = 1 - (1 - \beta(\rho))^k$.",
        over_rhos(accepts_at_least_p_acc),
    ),
    Claim(
        "spectr.secC.1i",
        "Appendix C.1, optimality guarantee",
        r"$\alpha(\pi_{\rho^*}) \ge 1 - (1 - \beta(\rho^*))^k \ge 1 - (1 - \beta(k))^k = "
        r"c_k \sum_x \min(k p(x), q(x))$ with $c_k = (1 - (1 - \beta(k))^k) / (k \beta(k))$.",
        over_cases(chain_to_k),
    ),
    Claim(
        "spectr.secC.1j",
        "Appendix C.1, optimality guarantee",
        r"$c_k(p, q) \in [1 - (1 - 1/k)^k, 1)$.",
        over_cases(factor_in_range),
        corrected=Corrected(
            r"If $k \ge 2$ and $d_{TV} < 1$ it is in that range; $c_1 = 1$; for disjoint supports "
            "it reads 0/0.",
            over_cases(factor_in_range_mostly),
        ),
    ),
    Claim(
        "spectr.secC.1k",
        "Appendix C.1, optimality guarantee",
        r"$f(x) = (1 - (1-x)^k)/(kx)$ decreases on $(0, 1/k]$, $f(1/k) = 1 - (1 - 1/k)^k$ and "
        r"$\lim_{x \to 0^+} f(x) = 1$.",
        over(lambda seed: unit_cases(seed, 1), quotient_behaves, "k <= 18"),
        printed="Monotonically decreasing; for k = 1 it is constant. The limit is checked as "
        r"$1 - f(x) \le (k-1)x/2$.",
    ),
    Claim(
        "spectr.secC.1l",
        "Appendix C.1, above (11)",
        r"$kx \ge 1 - (1-x)^k$ for all $x \ge 0$.",
        over(lambda seed: unit_cases(seed, 20), union_bound, "k <= 18, x <= 20"),
        corrected=Corrected(
            r"It holds for $0 \le x \le 2$; the proof needs $0 \le x \le 1$.",
            over(lambda seed: unit_cases(seed, 2), union_bound_to_two, "k <= 18"),
        ),
    ),
    Claim(
        "spectr.eq11",
        "Equation (11), appendix C.1",
        r"$\alpha(\pi_{\rho^*}) \ge (1 - (1 - 1/k)^k) \sum_x \min(kp, q) \ge "
        r"(1 - (1 - 1/k)^k) \sum_x \min(1 - (1-p)^k, q)$.",
        over_cases(eq_11),
    ),
    Claim(
        "spectr.eq12",
        "Equation (12), appendix C.1; sections 5 and 6",
        r"$\alpha(\pi_{\rho^*}) \ge (1 - (1 - 1/k)^k)\, \alpha_k(p, q)$.",
        over_cases(eq_12),
    ),
    Claim(
        "spectr.secC.2",
        "Appendix C.2, proof of Theorem 2",
        r"When $\tau = 1$, $Y_1 \sim M_b(\cdot | x^t)$.",
        over_models(first_token_given_stop),
        corrected=Corrected(
            r"$Y_1 \sim M_b(\cdot | x^t)$, not given $\tau$: $\tau = 1$ if and only if $Y_1$ is "
            "none of the drafts.",
            over_models(first_token),
        ),
    ),
)
