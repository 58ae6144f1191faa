"""Appendix C.1: Lemma 4, and that Algorithm 2 is valid."""

from __future__ import annotations

from fractions import Fraction

from otspec.arithmetic import Number
from validation.claim import Claim, Corrected, above, at_least, equal
from validation.instances import Exact
from validation.notation import ONE, ZERO, Tokens, total_variation
from validation.spectr.bounds import largest_ratio
from validation.spectr.checks import over_cases, over_rhos
from validation.spectr.printed import (
    Branch,
    beta,
    chance_of,
    f,
    is_accepted,
    k_sequential,
    p_acc,
    residual_made_whole,
)
from validation.spectr.sequential import at_or_above_root

STEP = Fraction(1, 4)


def f_is_monotone(draft: Exact, target: Exact, k: int, rho: Fraction) -> Number | None:
    """If 0 < d_TV < 1, f decreases on [1, ∞)."""
    if total_variation(draft, target) in (0, 1):
        return None
    here, there = (f(draft, target, k, each) for each in (rho, rho + STEP))
    return above(here, there, f"f({rho})")


def root_in_range(draft: Exact, target: Exact, k: int) -> Number | None:
    """ρ* lies in [1, min(k, max q/p)] if 0 < d_TV < 1."""
    if total_variation(draft, target) in (0, 1):
        return None
    ratio = largest_ratio(draft, target)
    end = Fraction(k) if ratio is None else min(Fraction(k), ratio)
    for rho in (STEP, 2 * STEP, 3 * STEP):
        above(f(draft, target, k, rho), ZERO, f"f({rho})")
    for rho in (end + STEP, end + 1, end + k):
        above(ZERO, f(draft, target, k, rho), f"0, against f({rho})")
    at_least(ZERO, f(draft, target, k, end), "0, against f at the upper end")
    return at_least(f(draft, target, k, ONE), ZERO, "f(1)")


def steps_of_lemma_4(draft: Exact, target: Exact, k: int) -> Number | None:
    """The displays of the proof of Lemma 4."""
    if total_variation(draft, target) in (0, 1):
        return None
    variation, ratio = total_variation(draft, target), largest_ratio(draft, target)
    equal(beta(draft, target, ONE), 1 - variation, "beta(1)")
    equal(p_acc(draft, target, k, ONE), 1 - variation**k, "p_acc at rho = 1")
    slack = at_least(1 - variation**k, 1 - variation, "1 - d_TV^k")
    slack = min(slack, at_least(k * variation, 1 - (1 - variation) ** k, "kx at x = d_TV"))
    if ratio is not None:
        above(ratio, ONE, "max q/p")
        equal(beta(draft, target, ratio), 1 / ratio, "beta(max q/p)")
        above(ONE, p_acc(draft, target, k, ratio), "1, against p_acc at max q/p")
    return slack


def beta_decreases(draft: Exact, target: Exact, k: int, rho: Fraction) -> Number | None:
    """β and 1 − (1 − β)^k decrease strictly."""
    if total_variation(draft, target) == 1:
        return None
    above(beta(draft, target, rho), beta(draft, target, rho + STEP), f"beta({rho})")
    here, there = (p_acc(draft, target, k, each) for each in (rho, rho + STEP))
    return above(here, there, f"p_acc at {rho}")


def beta_does_not_increase(draft: Exact, target: Exact, k: int, rho: Fraction) -> Number:
    """β and 1 − (1 − β)^k do not increase; β decreases beyond the least positive q/p."""
    here, there = beta(draft, target, rho), beta(draft, target, rho + STEP)
    slack = at_least(here, there, f"beta({rho})")
    ratios = [q / p for p, q in zip(draft, target, strict=True) if p > 0 and q > 0]
    if ratios and rho >= min(ratios):
        above(here, there, f"beta({rho})")
    lower = p_acc(draft, target, k, rho + STEP)
    return min(slack, at_least(p_acc(draft, target, k, rho), lower, f"p_acc at {rho}"))


def misprint(draft: Exact, target: Exact, k: int, rho: Fraction) -> Number | None:
    """For ρ ≥ ρ*, 1 − (1 − β)^k ≥ ρβ."""
    if not at_or_above_root(draft, target, k, rho) or rho > k:
        return None
    right = rho * beta(draft, target, rho)
    return at_least(p_acc(draft, target, k, rho), right, "1 - (1 - beta)^k")


def reversed_misprint(draft: Exact, target: Exact, k: int, rho: Fraction) -> Number | None:
    """For ρ ≥ ρ*, 1 − (1 − β)^k ≤ ρβ."""
    if not at_or_above_root(draft, target, k, rho):
        return None
    return at_least(rho * beta(draft, target, rho), p_acc(draft, target, k, rho), "rho beta")


def residual_is_positive(draft: Exact, target: Exact, k: int, rho: Fraction) -> Number | None:
    """min(p, q/ρ) p_acc/β ≤ q p_acc/(ρβ) ≤ q for ρ ≥ ρ*."""
    if not at_or_above_root(draft, target, k, rho):
        return None
    scale = p_acc(draft, target, k, rho) / beta(draft, target, rho)
    slack: Number = ONE
    for p, q in zip(draft, target, strict=True):
        middle = scale / rho * q
        slack = min(slack, at_least(middle, min(p, q / rho) * scale, "middle"))
        slack = min(slack, at_least(q, middle, "q"))
    return slack


def first_draft_as_value(draft: Exact, target: Exact, k: int, rho: Fraction) -> Fraction | None:
    """Pr(Y = X_1 = x) = min(p, q/ρ), Pr(Y = X_1) = β, with = between random values."""
    if not at_or_above_root(draft, target, k, rho) or rho > k:
        return None
    rule = k_sequential(draft, target, k, rho)
    for token, (p, q) in enumerate(zip(draft, target, strict=True)):

        def event(x: Tokens, branch: Branch, token: int = token) -> bool:
            return branch.output == x[0] == token

        equal(chance_of(rule, draft, k, event), min(p, q / rho), f"Pr(Y = X_1 = {token})")
    return ZERO


def each_draft_as_event(draft: Exact, target: Exact, k: int, rho: Fraction) -> Fraction | None:
    """Pr(X_1, …, X_i rejected, X_{i+1} = x accepted) = (1 − β)^i min(p, q/ρ)."""
    if not at_or_above_root(draft, target, k, rho):
        return None
    rule, left = k_sequential(draft, target, k, rho), 1 - beta(draft, target, rho)
    for token, (p, q) in enumerate(zip(draft, target, strict=True)):
        for i in range(k):

            def event(x: Tokens, branch: Branch, token: int = token, i: int = i) -> bool:
                return branch.accepted == i and x[i] == token

            found = chance_of(rule, draft, k, event)
            equal(found, left**i * min(p, q / rho), f"Pr(X_{i + 1} = {token} is accepted)")
    return ZERO


def accepted_output(draft: Exact, target: Exact, k: int, rho: Fraction) -> Fraction | None:
    """Pr(Y = x, one of X^k is accepted) = min(p, q/ρ) (1 − (1 − β)^k)/β, and the sum over x."""
    if total_variation(draft, target) == 1:
        return None
    rule = k_sequential(draft, target, k, rho, residual_made_whole)
    scale = p_acc(draft, target, k, rho) / beta(draft, target, rho)
    for token, (p, q) in enumerate(zip(draft, target, strict=True)):

        def event(_: Tokens, branch: Branch, token: int = token) -> bool:
            return branch.accepted is not None and branch.output == token

        found = chance_of(rule, draft, k, event)
        equal(found, min(p, q / rho) * scale, f"Pr(Y = {token}, one is accepted)")
    return equal(chance_of(rule, draft, k, is_accepted), p_acc(draft, target, k, rho))


def none_accepted(draft: Exact, target: Exact, k: int, rho: Fraction) -> Fraction:
    """Return the probability that no draft is accepted."""
    rule = k_sequential(draft, target, k, rho, residual_made_whole)
    return chance_of(rule, draft, k, lambda _, branch: branch.accepted is None)


def printed_weight(draft: Exact, target: Exact, k: int, rho: Fraction) -> Fraction | None:
    """The residual is weighted by 1 − (1 − β)^k."""
    if not at_or_above_root(draft, target, k, rho):
        return None
    left = 1 - beta(draft, target, rho)
    return equal(none_accepted(draft, target, k, rho), 1 - left**k, "Pr(no draft is accepted)")


def correct_weight(draft: Exact, target: Exact, k: int, rho: Fraction) -> Fraction | None:
    """The residual is weighted by (1 − β)^k, and the two parts sum to q."""
    if not at_or_above_root(draft, target, k, rho):
        return None
    scale = beta(draft, target, rho)
    weight = (1 - scale) ** k
    equal(none_accepted(draft, target, k, rho), weight, "Pr(no draft is accepted)")
    law = residual_made_whole(draft, target, k, rho)
    for p, q, r in zip(draft, target, law, strict=True):
        equal(min(p, q / rho) * (1 - weight) / scale + weight * r, q, "sum of the two parts")
    return ZERO


CLAIMS = (
    Claim(
        "spectr.lem4a",
        "Lemma 4, appendix C.1",
        r"If $0 < d_{TV}(p, q) < 1$, $f(\rho) = 1 - (1 - \beta(\rho))^k - \rho \beta(\rho)$ is "
        r"decreasing on $[1, \infty)$.",
        over_rhos(f_is_monotone),
        printed="Monotone; its proof says decreasing.",
    ),
    Claim(
        "spectr.lem4b",
        "Lemma 4, appendix C.1",
        r"If $0 < d_{TV}(p, q) < 1$, $\rho^* \in [1, \min\{k, \max_x q(x)/p(x)\}]$.",
        over_cases(root_in_range),
    ),
    Claim(
        "spectr.secC.1a",
        "Appendix C.1, proof of Lemma 4, (2) to (4)",
        r"$\beta(1) = 1 - d_{TV}$ and $1 - (1 - \beta(1))^k = 1 - d_{TV}^k \ge 1 - d_{TV}$; "
        r"$1 - (1-x)^k \le kx$ on $[0, 1]$; at $\rho = \max q/p > 1$, if finite, "
        r"$\beta = 1/\rho$ and $1 - (1 - \beta)^k < 1 = \rho \beta$.",
        over_cases(steps_of_lemma_4),
    ),
    Claim(
        "spectr.secC.1b",
        "Appendix C.1, proof of Lemma 4, (1)",
        r"$\beta(\rho)$ is decreasing in $\rho$, and so is $1 - (1 - \beta(\rho))^k$.",
        over_rhos(beta_decreases),
        printed="Decreasing, next to non-decreasing for ρβ: read as strictly; d_TV < 1.",
        corrected=Corrected(
            r"Both are non-increasing, and $\beta$ is decreasing from the least positive $q/p$ on; "
            "where it is constant, f is still decreasing, because ρβ increases.",
            over_rhos(beta_does_not_increase),
        ),
    ),
    Claim(
        "spectr.secC.1c",
        "Appendix C.1, valid transport plan",
        r"For $\rho \ge \rho^*$, $1 - (1 - \beta(\rho))^k \ge \rho \beta(\rho)$.",
        over_rhos(misprint),
        corrected=Corrected(
            r"For $\rho \ge \rho^*$, $1 - (1 - \beta(\rho))^k \le \rho \beta(\rho)$.",
            over_rhos(reversed_misprint),
        ),
    ),
    Claim(
        "spectr.secC.1d",
        "Appendix C.1, valid transport plan",
        r"For $\rho \ge \rho^*$ and all x, $\min(p, q/\rho)\, p_{acc}/\beta \le "
        r"(1 - (1-\beta)^k)/(\rho\beta)\, q \le q$.",
        over_rhos(residual_is_positive),
    ),
    Claim(
        "spectr.secC.1e",
        "Appendix C.1, valid transport plan",
        r"$\Pr(Y = X_1 = x) = \min(p(x), q(x)/\rho)$, hence $\Pr(Y = X_1) = \beta(\rho)$.",
        over_rhos(first_draft_as_value),
        printed=r"Likewise $\Pr(Y = X_2 = x) = \Pr(Y \ne X_1) \Pr(Y = X_2 | Y \ne X_1) = "
        r"(1 - \beta) \min(p(x), q(x)/\rho)$. Y may equal $X_1$ though $X_1$ was rejected: by a "
        "later draft of the same value, or by the residual.",
        corrected=Corrected(
            r"$\Pr(X_1, \dots, X_i \text{ rejected}, X_{i+1} = x \text{ accepted}) = "
            r"(1 - \beta(\rho))^i \min(p(x), q(x)/\rho)$ for $i = 0, \dots, k - 1$.",
            over_rhos(each_draft_as_event),
        ),
    ),
    Claim(
        "spectr.secC.1f",
        "Appendix C.1, valid transport plan",
        r"$\Pr(Y = x, \text{one of } X^k \text{ is accepted}) = "
        r"\min(p(x), q(x)/\rho)\, (1 - (1-\beta)^k)/\beta$, which sums to $1 - (1-\beta)^k$.",
        over_rhos(accepted_output),
        printed="Read for β > 0.",
    ),
    Claim(
        "spectr.secC.1g",
        "Appendix C.1, last display of the validity proof",
        r"In $\Pr(Y = x) = \Pr(Y = x, \text{one accepted}) + \Pr(\text{none accepted})\, "
        r"p^{res}(x)$ the factor $\Pr(\text{none accepted})$ is $1 - (1 - \beta)^k$, as is the "
        r"denominator of $p^{res}$.",
        over_rhos(printed_weight),
        printed="Factor and denominator are both printed wrong, so that the sum is right.",
        corrected=Corrected(
            r"Both are $(1 - \beta)^k$, and the two parts sum to $q(x)$.",
            over_rhos(correct_weight),
        ),
    ),
)
