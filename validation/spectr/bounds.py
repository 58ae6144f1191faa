"""Appendix A: the bounds of Lemma 3, and the steps of the proofs of Lemmas 1 and 3."""

from __future__ import annotations

from fractions import Fraction

from otspec.arithmetic import Number
from validation.checks import over
from validation.claim import Claim, Corrected, above, at_least, equal
from validation.instances import Exact
from validation.notation import (
    ONE,
    ZERO,
    Tokens,
    accepted,
    iid,
    marginals,
    subsets,
    total,
    total_variation,
)
from validation.spectr.checks import over_cases, over_couplings
from validation.spectr.couplings import bound_of_set, optimum, some_coupling, upper_bound
from validation.spectr.examples import appendix_b_pairs
from validation.spectr.printed import (
    acceptance_at_root,
    as_coupling,
    beta,
    chance_of,
    is_among_drafts,
    k_sequential,
    p_acc,
)


def share(k: int) -> Fraction:
    """Return 1 − (1 − 1/k)^k."""
    return 1 - (1 - Fraction(1, k)) ** k


def is_upper_bound(draft: Exact, target: Exact, k: int) -> Number:
    """α_k ≤ ᾱ_k."""
    return at_least(upper_bound(draft, target, k), optimum(draft, target, k), "upper bound")


def is_lower_bound(draft: Exact, target: Exact, k: int) -> Number:
    """(1 − (1 − 1/k)^k) ᾱ_k ≤ α_k."""
    return at_least(optimum(draft, target, k), share(k) * upper_bound(draft, target, k), "alpha_k")


def is_tight(draft: Exact, target: Exact, k: int) -> Fraction:
    """α_k = ᾱ_k."""
    return equal(upper_bound(draft, target, k), optimum(draft, target, k), "upper bound")


def one_more_draft(draft: Exact, target: Exact, k: int, turn: int, blur: Fraction) -> Number:
    """π′(x^{k+1}, y) = π(x^k, y) p(x(k+1)) is a coupling that accepts at least as often."""
    joint = some_coupling(iid(draft, k), target, turn, blur)
    support = [token for token, mass in enumerate(draft) if mass > 0]
    larger: dict[tuple[Tokens, int], Fraction] = {
        ((*x, token), y): mass * draft[token] for (x, y), mass in joint.items() for token in support
    }
    equal(marginals(larger, len(target)), (iid(draft, k + 1), target), "marginals")
    return at_least(accepted(larger), accepted(joint), "acceptance")


def largest_ratio(draft: Exact, target: Exact) -> Fraction | None:
    """Return max q/p, or None if it is infinite."""
    if any(p == 0 < q for p, q in zip(draft, target, strict=True)):
        return None
    return max(q / p for p, q in zip(draft, target, strict=True) if p > 0)


def root_below_largest_ratio(draft: Exact, target: Exact, k: int) -> Number | None:
    """At ρ_max Algorithm 2 is a valid coupling, and β ≥ 1/ρ_max."""
    rho = largest_ratio(draft, target)
    if rho is None:
        return None
    joint = as_coupling(k_sequential(draft, target, k, rho), draft, k)
    equal(marginals(joint, len(target)), (iid(draft, k), target), "marginals")
    at_least(min(joint.values()), ZERO, "least mass of the coupling")
    above(1 / rho, ZERO, "1/rho_max")
    return at_least(beta(draft, target, rho), 1 / rho, "beta(rho_max)")


def acceptance_is_p_acc(draft: Exact, target: Exact, k: int) -> Fraction | None:
    """α(π_ρmax) = 1 − (1 − β(ρ_max))^k."""
    rho = largest_ratio(draft, target)
    if rho is None:
        return None
    found = chance_of(k_sequential(draft, target, k, rho), draft, k, is_among_drafts)
    return equal(found, p_acc(draft, target, k, rho), "Pr(Y in S(X))")


def acceptance_has_residual_hits(draft: Exact, target: Exact, k: int) -> Number | None:
    """α(π_ρmax) is p_acc and the draws from the residual that hit a rejected draft."""
    rho = largest_ratio(draft, target)
    if rho is None:
        return None
    found = chance_of(k_sequential(draft, target, k, rho), draft, k, is_among_drafts)
    left = 1 - 1 / rho
    hits = sum(
        (q * (left**k - (left - (p - q / rho)) ** k) for p, q in zip(draft, target, strict=True)),
        ZERO,
    )
    chance = p_acc(draft, target, k, rho)
    equal(found, chance + hits, "Pr(Y in S(X))")
    return at_least(found, chance, "Pr(Y in S(X))")


def moved_target(draft: Exact, target: Exact, k: int) -> Number:
    """α_k(p, q) ≥ α_k(p, q′) − p_off, with the mass of undrafted tokens moved to any x_0."""
    off = total(q for p, q in zip(draft, target, strict=True) if p == 0)
    slack: Number = ONE
    for x0 in (token for token, p in enumerate(draft) if p > 0):
        moved = tuple(
            (q if p > 0 else ZERO) + (off if token == x0 else ZERO)
            for token, (p, q) in enumerate(zip(draft, target, strict=True))
        )
        equal(total_variation(target, moved), off, "d_TV(q, q')")
        above(1, int(largest_ratio(draft, moved) is None), "1 if q'/p is bounded")
        bound = optimum(draft, moved, k) - off
        slack = min(slack, at_least(optimum(draft, target, k), bound, "alpha_k(p, q)"))
    return slack


def every_coupling_is_bounded(
    draft: Exact, target: Exact, k: int, turn: int, blur: Fraction
) -> Number:
    """No coupling accepts more than the bound of any set Ω₀."""
    found = accepted(some_coupling(iid(draft, k), target, turn, blur))
    bounds = (bound_of_set(draft, target, k, chosen) for chosen in subsets(len(draft)))
    return min(at_least(bound, found, "bound of a set") for bound in bounds)


def k_seq_attains_share(draft: Exact, target: Exact, k: int) -> Number | None:
    """α(π_ρ*) ≥ (1 − (1 − 1/k)^k) ᾱ_k."""
    if total_variation(draft, target) == 1:
        return equal(upper_bound(draft, target, k), ZERO, "upper bound")
    low, _ = acceptance_at_root(draft, target, k)
    return at_least(low, share(k) * upper_bound(draft, target, k), "alpha at rho*")


CLAIMS = (
    Claim(
        "spectr.lem3a",
        "Lemma 3, appendix A.1",
        r"$\alpha_k \le \bar\alpha_k = \min_{\Omega_0 \subseteq V} \{ \sum_{y \in \Omega_0} "
        r"\min(q(y), 1 - (1 - p(y))^k) + \sum_{x \in V^k} \min(\prod p(x_i), "
        r"\sum_{y \in S(x) \setminus \Omega_0} q(y)) \}$.",
        over_cases(is_upper_bound, most_tokens=3),
    ),
    Claim(
        "spectr.lem3b",
        "Lemma 3, appendix A.1",
        r"$(1 - (1 - 1/k)^k)\, \bar\alpha_k \le \alpha_k$: the bound is tight up to that factor.",
        over_cases(is_lower_bound, most_tokens=3),
    ),
    Claim(
        "spectr.lem3c",
        "Appendix A.1, above Lemma 3",
        r"For $k = 1$ the upper bound matches the optimum.",
        over_cases(is_tight, ks=(1,)),
    ),
    Claim(
        "spectr.lem3d",
        "Appendix A.1, below Lemma 3",
        "The upper bound is tight for the examples of appendix B.",
        over(appendix_b_pairs, is_tight, "Bernoulli pairs, k <= 5; uniform pairs, d <= 4, k <= 3"),
        printed="In fact it is tight for all pairs (beyond.lemma3).",
    ),
    Claim(
        "spectr.secA.2a",
        "Appendix A.2, monotonicity",
        r"For a coupling $\pi$ of $p^{\otimes k}$ and q, $\pi'(x^{k+1}, y) = \pi(x^k, y)\, "
        r"p(x(k+1))$ couples $p^{\otimes k+1}$ and q and accepts at least as often.",
        over_couplings(one_more_draft, ks=(1, 2)),
    ),
    Claim(
        "spectr.secA.2b",
        "Appendix A.2, consistency",
        r"If $q/p$ is bounded, Algorithm 2 with $\rho_{max} = \max q/p$ is a valid coupling, and "
        r"$\beta(\rho_{max}) \ge 1/\rho_{max} > 0$.",
        over_cases(root_below_largest_ratio, most_tokens=3),
    ),
    Claim(
        "spectr.secA.2c",
        "Appendix A.2, consistency",
        r"Its acceptance is $\alpha(\pi_{\rho_{max}}) = 1 - (1 - \beta(\rho_{max}))^k$.",
        over_cases(acceptance_is_p_acc, most_tokens=3),
        corrected=Corrected(
            r"Its acceptance is that or more, since a draw from the residual, which is q at "
            r"$\rho_{max}$, may be one of the rejected drafts: with $\beta = 1/\rho_{max}$ and "
            r"$m = p - q/\rho_{max}$, "
            r"$\alpha = 1 - (1-\beta)^k + \sum_y q(y) [(1-\beta)^k - (1-\beta-m(y))^k]$.",
            over_cases(acceptance_has_residual_hits, most_tokens=3),
        ),
    ),
    Claim(
        "spectr.secA.2d",
        "Appendix A.2, consistency",
        r"With $p_{off} = \sum 1\{p = 0\} q$ and q' = q with that mass moved to a drafted token: "
        r"$d_{TV}(q, q') = p_{off}$, $q'/p$ is bounded, and "
        r"$\alpha_k(p, q) \ge \alpha_k(p, q') - p_{off}$.",
        over_cases(moved_target),
    ),
    Claim(
        "spectr.secA.3a",
        "Appendix A.3",
        r"For every coupling and every $\Omega_0$, $\Pr(Y \in S(X^k))$ is at most the term of "
        r"$\Omega_0$ in (9).",
        over_couplings(every_coupling_is_bounded),
    ),
    Claim(
        "spectr.secA.3b",
        "Appendix A.3",
        r"k-Seq at $\rho^*$ accepts at least $(1 - (1 - 1/k)^k)\, \bar\alpha_k$.",
        over_cases(k_seq_attains_share, most_tokens=3),
    ),
)
