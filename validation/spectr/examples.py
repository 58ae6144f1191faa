"""Appendices B.1 and B.2: Bernoulli and uniform pairs."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np

import otspec
from otspec.distributions import as_distribution
from validation.checks import over, over_all
from validation.claim import Claim, Corrected, Fails, above, at_least, equal
from validation.instances import Exact
from validation.notation import ONE, ZERO, Coupling, accepted, iid, marginals, mass_of, total
from validation.spectr.couplings import bound_of_set, optimum
from validation.spectr.printed import (
    as_coupling,
    beta,
    f,
    k_sequential,
    p_acc,
)
from validation.spectr.sequential import uniform


def ber(b: Fraction) -> Exact:
    """Return Ber(b): token 1 has probability b."""
    return 1 - b, b


def bernoulli_cases(seed: int) -> Iterator[dict[str, Any]]:
    """Yield p, q and k: small denominators first, then random fractions without end."""
    few = sorted({Fraction(i, d) for d in range(1, 5) for i in range(d + 1)})
    few.sort(key=lambda each: each.denominator)
    for p, q in sorted(
        product(few, repeat=2), key=lambda pq: pq[0].denominator + pq[1].denominator
    ):
        yield from ({"p": p, "q": q, "k": k} for k in (1, 2, 3))
    rng = np.random.default_rng(seed)
    while True:
        first, second = (int(each) for each in rng.integers(1, 60, 2))
        p = Fraction(int(rng.integers(first + 1)), first)
        q = Fraction(int(rng.integers(second + 1)), second)
        yield {"p": p, "q": q, "k": int(rng.integers(1, 6))}


def uniform_cases(most: int = 12, ks: range = range(1, 9)) -> Iterator[dict[str, Any]]:
    """Yield d, a divisor r and k."""
    for d in range(1, most + 1):
        for r in (r for r in range(1, d + 1) if d % r == 0):
            yield from ({"d": d, "r": r, "k": k} for k in ks)


def appendix_b_pairs(seed: int) -> Iterator[dict[str, Any]]:
    """Yield uniform pairs, then Bernoulli pairs without end."""
    for case in uniform_cases(4, range(1, 4)):
        d, r = case["d"], case["r"]
        yield {"draft": uniform(d, d), "target": uniform(d, d // r), "k": case["k"]}
    for case in bernoulli_cases(seed):
        yield {"draft": ber(case["p"]), "target": ber(case["q"]), "k": case["k"]}


def closed_form(p: Fraction, q: Fraction, k: int) -> Fraction:
    """Return the right-hand side of (10)."""
    return min(q, 1 - (1 - p) ** k) + min(1 - q, 1 - p**k)


def bernoulli_optimum(p: Fraction, q: Fraction, k: int) -> Fraction:
    """(10)."""
    return equal(optimum(ber(p), ber(q), k), closed_form(p, q, k), "alpha_k")


def whole_set_gives_bound(p: Fraction, q: Fraction, k: int) -> Fraction:
    """Ω₀ = {0, 1} in Lemma 3 gives (10)."""
    return equal(bound_of_set(ber(p), ber(q), k, (0, 1)), closed_form(p, q, k), "bound")


def binary_tuples() -> Iterator[dict[str, Any]]:
    """Yield all drafts of two tokens."""
    for k in range(1, 10):
        yield from ({"x": x} for x in product((0, 1), repeat=k))


def cheap_iff_constant(x: tuple[int, ...]) -> Fraction:
    """1{y ∉ S(x)} < 1 if and only if x is 0^k or 1^k."""
    for y in (0, 1):
        cost = int(y not in x)
        equal(
            cost < 1, len(set(x)) == 1, f"whether 1{{y not in S(x)}} = {cost} is below 1, y = {y}"
        )
    return ZERO


def costly_iff_constant(x: tuple[int, ...]) -> Fraction:
    """Some y has cost 1 if and only if x is 0^k or 1^k."""
    costs = [int(y not in x) for y in (0, 1)]
    return equal(max(costs) == 1, x in {(0,) * len(x), (1,) * len(x)}, "whether some y costs 1")


def mixed_and_constant(p: Fraction, q: Fraction, k: int) -> Fraction:
    """α_k is the mass of mixed drafts and the most that constant drafts can accept."""
    law = iid(ber(p), k)
    mixed = total(mass for x, mass in law.items() if len(set(x)) == 2)
    equal(mixed, 1 - p**k - (1 - p) ** k, "mass of mixed drafts")
    constant = min(p**k, q) + min((1 - p) ** k, 1 - q)
    return equal(optimum(ber(p), ber(q), k), 1 - p**k - (1 - p) ** k + constant, "alpha_k")


def printed_plan_is_optimal(p: Fraction, q: Fraction, k: int) -> Fraction:
    """The four printed masses extend to a coupling that accepts (10)."""
    ones, zeros = min(p**k, q), min((1 - p) ** k, 1 - q)
    printed = {
        ((1,) * k, 1): ones,
        ((1,) * k, 0): p**k - ones,
        ((0,) * k, 0): zeros,
        ((0,) * k, 1): (1 - p) ** k - zeros,
    }
    coupling: Coupling = {pair: mass for pair, mass in printed.items() if pair[0] in iid(ber(p), k)}
    left = [
        want - sum(m for (_, y), m in printed.items() if y == i) for i, want in enumerate(ber(q))
    ]
    at_least(min(left), ZERO, "what is left for mixed drafts")
    mixed = {x: mass for x, mass in iid(ber(p), k).items() if len(set(x)) == 2}
    for x, mass in mixed.items():
        coupling |= {(x, y): mass * left[y] / sum(left) for y in (0, 1)}
    equal(marginals(coupling, 2), (iid(ber(p), k), ber(q)), "marginals")
    at_least(min(coupling.values()), ZERO, "least mass of the coupling")
    return equal(accepted(coupling), closed_form(p, q, k), "acceptance")


def cases_agree(p: Fraction, q: Fraction, k: int) -> Fraction:
    """The three cases of the printed simplification, and no fourth."""
    ones, zeros = p**k > q, (1 - p) ** k > 1 - q
    if ones and zeros:
        raise Fails("p^k > q and (1 - p)^k > 1 - q")
    value = 1 + q - p**k if ones else 1 + (1 - q) - (1 - p) ** k if zeros else ONE
    constant = min(p**k, q) + min((1 - p) ** k, 1 - q)
    equal(1 - p**k - (1 - p) ** k + constant, value, "the display")
    return equal(closed_form(p, q, k), value, "(10)")


def uniform_optimum(d: int, r: int, k: int) -> Fraction:
    """α_k(U(d), U(d/r)) = 1 − (1 − 1/r)^k."""
    law = otspec.IID(as_distribution(uniform(d, d)), k)
    found = otspec.optimal_acceptance(law, uniform(d, d // r)).acceptance
    return equal(found, 1 - (1 - Fraction(1, r)) ** k, "alpha_k")


def drawing_from_hits(d: int, r: int, k: int) -> Fraction:
    """Draw from S(X) ∩ [d/r], or from [d/r] if that is empty."""
    wanted, law = set(range(d // r)), iid(uniform(d, d), k)
    coupling: Coupling = {}
    for x, mass in law.items():
        drawn = wanted & set(x) or wanted
        coupling |= {(x, y): mass * Fraction(int(y in drawn), len(drawn)) for y in range(d)}
    equal(marginals(coupling, d), (law, uniform(d, d // r)), "marginals")
    return equal(accepted(coupling), 1 - (1 - Fraction(1, r)) ** k, "acceptance")


def set_gives_uniform_bound(d: int, r: int, k: int) -> Fraction:
    """Ω₀ = [d] without [d/r] in Lemma 3 gives Pr(S(X) ∩ [d/r] ≠ ∅)."""
    draft, target = uniform(d, d), uniform(d, d // r)
    hit = 1 - mass_of(draft, range(d // r, d)) ** k
    equal(hit, 1 - (1 - Fraction(1, r)) ** k, "Pr(S(X) meets [d/r])")
    return equal(bound_of_set(draft, target, k, range(d // r, d)), hit, "bound")


def uniform_beta_cases() -> Iterator[dict[str, Any]]:
    """Yield d, r and ρ."""
    for case in uniform_cases(16, range(1, 2)):
        for rho in (Fraction(i, 4) for i in range(1, 30)):
            yield {"d": case["d"], "r": case["r"], "rho": rho}


def uniform_beta(d: int, r: int, rho: Fraction) -> Fraction:
    """β(ρ) = 1/max(r, ρ)."""
    found = beta(uniform(d, d), uniform(d, d // r), rho)
    return equal(found, 1 / max(Fraction(r), rho), "beta")


def uniform_root(d: int, r: int, k: int) -> Fraction:
    """ρ* = r (1 − (1 − 1/r)^k) solves (6), and no other ρ on a grid does."""
    pair, rho = (uniform(d, d), uniform(d, d // r)), r * (1 - (1 - Fraction(1, r)) ** k)
    others = [each for i in range(1, 4 * k + 4) if (each := Fraction(i, 4)) != rho]
    above(min(abs(f(*pair, k, each)) for each in others), ZERO, "|f| elsewhere")
    return equal(f(*pair, k, rho), ZERO, "f at rho*")


def k_seq_is_optimal(d: int, r: int, k: int) -> Fraction:
    """At ρ* Algorithm 2 is a coupling that accepts 1 − (1 − 1/r)^k."""
    draft, target = uniform(d, d), uniform(d, d // r)
    rho = r * (1 - (1 - Fraction(1, r)) ** k)
    joint = as_coupling(k_sequential(draft, target, k, rho), draft, k)
    equal(marginals(joint, d), (iid(draft, k), target), "marginals")
    equal(p_acc(draft, target, k, rho), 1 - (1 - Fraction(1, r)) ** k, "p_acc")
    return equal(accepted(joint), 1 - (1 - Fraction(1, r)) ** k, "acceptance")


CLAIMS = (
    Claim(
        "spectr.eq10",
        "Equation (10), appendix B.1",
        r"$\alpha_k(Ber(p), Ber(q)) = \min(q, 1 - (1-p)^k) + \min(1 - q, 1 - p^k)$.",
        over(bernoulli_cases, bernoulli_optimum, "k <= 5"),
    ),
    Claim(
        "spectr.secB.1a",
        "Appendix B.1, below (10)",
        r"$\Omega_0 = \{0, 1\}$ in Lemma 3 gives (10) as upper bound.",
        over(bernoulli_cases, whole_set_gives_bound, "k <= 5"),
    ),
    Claim(
        "spectr.secB.1b",
        "Appendix B.1, below (10)",
        r"For two tokens, $1\{y \notin S(x^k)\} < 1$ if and only if $x^k$ is $0^k$ or $1^k$.",
        over_all(binary_tuples, cheap_iff_constant, "k <= 9"),
        corrected=Corrected(
            r"$1\{y \notin S(x^k)\} = 1$ for some y if and only if $x^k$ is $0^k$ or $1^k$.",
            over_all(binary_tuples, costly_iff_constant, "k <= 9"),
        ),
    ),
    Claim(
        "spectr.secB.1c",
        "Appendix B.1, displays below (10)",
        r"$\alpha_k(Ber(p), Ber(q)) = 1 - p^k - (1-p)^k + \min(p^k, q) + \min((1-p)^k, 1-q)$, the "
        "first three terms being the mass of drafts that are not constant.",
        over(bernoulli_cases, mixed_and_constant, "k <= 5"),
    ),
    Claim(
        "spectr.secB.1d",
        "Appendix B.1, the transport plan",
        r"$\pi(1^k, 1) = \min(p^k, q)$, $\pi(0^k, 0) = \min((1-p)^k, 1-q)$ and "
        r"$\pi(1^k, 0)$, $\pi(0^k, 1)$ the rest of $p^k$ and $(1-p)^k$ is a valid transport plan, "
        "and attains (10).",
        over(bernoulli_cases, printed_plan_is_optimal, "k <= 5"),
        printed="Only these four masses are printed; for other drafts what is left of q is shared "
        "in proportion.",
    ),
    Claim(
        "spectr.secB.1e",
        "Appendix B.1, end of the Bernoulli case",
        r"Both the display of spectr.secB.1c and (10) are 1 if $p^k \le q$ and "
        r"$(1-p)^k \le 1-q$, $1 + q - p^k$ if $p^k > q$, and $1 + (1-q) - (1-p)^k$ if "
        r"$(1-p)^k > 1-q$; there is no other case.",
        over(bernoulli_cases, cases_agree, "k <= 5"),
    ),
    Claim(
        "spectr.secB.1f",
        "Appendix B.1, uniform pairs",
        r"$\alpha_k(U(d), U(d/r)) = 1 - (1 - 1/r)^k$.",
        over_all(lambda: uniform_cases(30), uniform_optimum, "d <= 30, k <= 8, r divides d"),
    ),
    Claim(
        "spectr.secB.1g",
        "Appendix B.1, uniform pairs",
        r"Drawing Y uniformly from $S(X) \cap [d/r]$, or from $[d/r]$ if that is empty, is a valid "
        r"transport plan that accepts $1 - (1 - 1/r)^k$.",
        over_all(lambda: uniform_cases(6, range(1, 4)), drawing_from_hits, "d <= 6, k <= 3"),
    ),
    Claim(
        "spectr.secB.1h",
        "Appendix B.1, uniform pairs",
        r"$\Omega_0 = [d] \setminus [d/r]$ in Lemma 3 gives "
        r"$\Pr(S(X) \cap [d/r] \ne \emptyset) = 1 - (1 - 1/r)^k$ as upper bound.",
        over_all(lambda: uniform_cases(6, range(1, 5)), set_gives_uniform_bound, "d <= 6, k <= 4"),
    ),
    Claim(
        "spectr.secB.2a",
        "Appendix B.2",
        r"For $U(d)$ and $U(d/r)$, $\beta(\rho) = 1/\max(r, \rho)$.",
        over_all(uniform_beta_cases, uniform_beta, "d <= 16, r divides d"),
    ),
    Claim(
        "spectr.secB.2b",
        "Appendix B.2",
        r"For $U(d)$ and $U(d/r)$, solving (6) gives $\rho^* = r (1 - (1 - 1/r)^k)$.",
        over_all(uniform_cases, uniform_root, "d <= 12, k <= 8, r divides d"),
    ),
    Claim(
        "spectr.secB.2c",
        "Appendix B.2",
        r"For $U(d)$ and $U(d/r)$, k-Seq at $\rho^*$ accepts $1 - (1 - 1/r)^k$, the optimum.",
        over_all(lambda: uniform_cases(6, range(1, 4)), k_seq_is_optimal, "d <= 6, k <= 3"),
    ),
)
