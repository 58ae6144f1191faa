"""Section 3: Theorems 2 and 3, what follows from them, and more than two drafts."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

from validation.canonical.baselines import acceptances
from validation.canonical.instances import over, over_cases, over_pairs
from validation.canonical.two_steps import best_kernel, selected_law, two_steps
from validation.claim import Claim, above, at_least, equal
from validation.instances import Exact, distributions
from validation.notation import ONE, ZERO, iid, mass_of, subsets
from validation.oracles import flow


def fits(draft: Exact, target: Exact, k: int) -> bool:
    """Whether q(A) ≥ p(A)^k for all token sets."""
    return all(
        mass_of(target, tokens) >= mass_of(draft, tokens) ** k for tokens in subsets(len(draft))
    )


def certainty(draft: Exact, target: Exact, k: int = 2) -> Fraction:
    """All can be accepted exactly if every set has enough target mass."""
    best = flow(iid(draft, k), target)
    return equal(best == 1, fits(draft, target, k), f"alpha = {best}; alpha = 1")


def two_sided(draft: Exact, target: Exact, tokens: tuple[int, ...]) -> Fraction:
    """Return q(S) + p(Sᶜ)² + 2 p(S) p(Sᶜ)."""
    inside = mass_of(draft, tokens)
    outside = mass_of(draft, set(range(len(draft))) - set(tokens))
    return mass_of(target, tokens) + outside**2 + 2 * inside * outside


def closed_form(draft: Exact, target: Exact) -> Fraction:
    """Theorem 3 against the maximum flow."""
    least = min(two_sided(draft, target, tokens) for tokens in subsets(len(draft)))
    return equal(least, flow(iid(draft, 2), target), "least over S")


def third_implies_second(draft: Exact, target: Exact) -> Fraction:
    """The formula (6) is 1 exactly under (5)."""
    least = min(two_sided(draft, target, tokens) for tokens in subsets(len(draft)))
    return equal(least == 1, fits(draft, target, 2), f"(6) = {least}; (6) is 1")


def certain_terms(draft: Exact, target: Exact) -> Fraction | None:
    """Under (7) every term of (6) is at least 1, and that of the empty set and of V is 1."""
    if not fits(draft, target, 2):
        return None
    equal(two_sided(draft, target, ()), ONE, "the empty set")
    equal(two_sided(draft, target, tuple(range(len(draft)))), ONE, "all tokens")
    return min(
        at_least(two_sided(draft, target, tokens), ONE, f"S = {tokens}")
        for tokens in subsets(len(draft))
    )


def rewritten(draft: Exact, target: Exact) -> Fraction:
    """(9): each term of (6) is q(S) + 1 − p(S)²."""
    for tokens in subsets(len(draft)):
        claimed = mass_of(target, tokens) + 1 - mass_of(draft, tokens) ** 2
        equal(two_sided(draft, target, tokens), claimed, f"S = {tokens}")
    return ZERO


def conjectured(draft: Exact, target: Exact, k: int) -> Fraction:
    """The conjecture for more drafts against the maximum flow."""
    least = min(
        mass_of(target, tokens) + 1 - mass_of(draft, tokens) ** k for tokens in subsets(len(draft))
    )
    return equal(least, flow(iid(draft, k), target), "least over S")


def certain_single_draft(draft: Exact, target: Exact) -> Fraction:
    """One draft is always accepted only if p = q."""
    best = flow(iid(draft, 1), target)
    return equal(best == 1, draft == target, f"alpha = {best}; alpha = 1")


def certain_baselines(draft: Exact, target: Exact, k: int) -> Fraction:
    """SpecTr's and SpecInfer's rules accept all only if p = q."""
    for name, found in acceptances(draft, target, k).items():
        equal(found == 1, draft == target, f"{name} accepts {found}; all accepted")
    return ZERO


def second_step_idle(draft: Exact, target: Exact, k: int) -> Fraction | None:
    """If α = 1 the selected token has the target's law and is never rejected."""
    if not fits(draft, target, k):
        return None
    table = iid(draft, k)
    kernel = best_kernel(table, target)
    equal(selected_law(table, kernel, len(target)), target, "law of the selected token")
    return equal(two_steps(table, kernel, target).accepted, ONE, "accepted")


def two_tokens(k: int) -> Iterator[dict[str, Any]]:
    """Yield all pairs over two tokens, by size."""
    for size in range(2, 40):
        for first in range(1, size):
            for draft in distributions(2, first):
                for target in distributions(2, size - first):
                    yield {"draft": draft, "target": target, "k": k}


def binary_condition(draft: Exact, target: Exact, k: int) -> Fraction:
    """For two tokens only single tokens matter."""
    best = flow(iid(draft, k), target)
    claimed = all(q >= p**k for p, q in zip(draft, target, strict=True))
    return equal(best == 1, claimed, f"alpha = {best}; alpha = 1")


def even_draft(q1: Fraction) -> Fraction:
    """For p = (1/2, 1/2): α_2 = 1 exactly for 1/4 ≤ q₁ ≤ 3/4; α_1 = 1 only for q₁ = 1/2."""
    draft, target = (Fraction(1, 2), Fraction(1, 2)), (q1, 1 - q1)
    best = flow(iid(draft, 2), target)
    within = Fraction(1, 4) <= q1 <= Fraction(3, 4)
    equal(best == 1, within, f"alpha_2 = {best}; alpha_2 = 1")
    single = flow(iid(draft, 1), target)
    return equal(single == 1, q1 == Fraction(1, 2), f"alpha_1 = {single}; alpha_1 = 1")


def steps(limit: int) -> Iterator[dict[str, Any]]:
    """Yield q₁ = i/d for growing d; the first has d = 1."""
    for d in range(1, limit):
        yield from ({"q1": Fraction(i, d)} for i in range(d + 1) if Fraction(i, d).denominator == d)


def neither_certain(draft: Exact, target: Exact) -> Fraction | None:
    """Strictly between: different laws that are close enough lose nothing with two drafts."""
    if draft == target or min(draft) == 0:
        return None
    near = tuple((99 * p + q) / 100 for p, q in zip(draft, target, strict=True))
    if not all(
        mass_of(near, tokens) >= mass_of(draft, tokens) ** 2 for tokens in subsets(len(draft))
    ):
        return None
    above(ONE, flow(iid(draft, 1), near), "1, against one draft")
    return equal(flow(iid(draft, 2), near), ONE, "two drafts")


CLAIMS = (
    Claim(
        "canonical.thm2",
        "Theorem 2",
        r"For $k = 2$: $\alpha = 1$ if and only if $q(S) \ge p(S)^2$ for all $S \subseteq V$.",
        over_pairs(certainty),
    ),
    Claim(
        "canonical.sec3a",
        "After Theorem 2",
        r"For $k = 2$ the acceptance can be 1 although $p \ne q$, if $p$ is close to $q$; for "
        r"$k = 1$ it is then below 1.",
        over_pairs(neither_certain),
        printed="'Close' is read as: the target is a mixture of 99 parts p and one part of "
        "another law, and (5) holds.",
    ),
    Claim(
        "canonical.sec3b",
        "After Theorem 2",
        r"For $k = 1$: $\alpha = 1$ if and only if $p = q$.",
        over_pairs(certain_single_draft),
    ),
    Claim(
        "canonical.sec3c",
        "After Theorem 2",
        r"SpecTr's and SpecInfer's rules accept with probability 1 only if $p = q$.",
        over_cases(certain_baselines, (2, 3)),
        printed="To the best of the authors' knowledge. SpecTr's rule is k-Seq at the smallest "
        "valid factor (just above it where it is irrational); a residual draw that is a draft "
        "counts as accepted.",
    ),
    Claim(
        "canonical.sec3d",
        "Before Example 1",
        r"If $\alpha = 1$, the token selected by an optimal $\beta$ has the law $q$, and the "
        r"second step never rejects.",
        over_cases(second_step_idle, (1, 2, 3)),
        printed="Printed of 'Theorem 1' where Theorem 2 is meant.",
    ),
    Claim(
        "canonical.ex1a",
        "Example 1",
        r"For two tokens and $k = 2$, (5) reduces to $q_1 \ge p_1^2$ and $q_2 \ge p_2^2$.",
        over(lambda _: two_tokens(2), binary_condition, "n = 2, k = 2"),
    ),
    Claim(
        "canonical.ex1b",
        "Example 1",
        r"For $p = (1/2, 1/2)$: $\alpha_2 = 1$ if and only if $1/4 \le q_1 \le 3/4$, and "
        r"$\alpha_1 = 1$ only for $q_1 = 1/2$.",
        over(lambda _: steps(70), even_draft, "q1 with denominators below 70"),
    ),
    Claim(
        "canonical.thm3",
        "Theorem 3, (6)",
        r"For $k = 2$: $\alpha = \min_{S \subseteq V} q(S) + p(S^c)^2 + 2 p(S) p(S^c)$.",
        over_pairs(closed_form),
    ),
    Claim(
        "canonical.sec3e",
        "After Theorem 3",
        r"Theorem 3 implies Theorem 2: the minimum (6) is 1 if and only if (5) holds.",
        over_pairs(third_implies_second),
        printed="Only the direction from (5) to (6) is spelled out.",
    ),
    Claim(
        "canonical.eq8",
        "After Theorem 3, (7) and (8)",
        r"If $q(S) \ge p(S)^2$ for all $S$, then $q(S) + p(S^c)^2 + 2 p(S) p(S^c) \ge 1$ for all "
        r"$S$, with equality for the empty set.",
        over_pairs(certain_terms),
        printed="Equality is checked for both trivial sets, the empty one and V.",
    ),
    Claim(
        "canonical.eq9",
        "Remark 2, (9)",
        r"The terms of (6) are $q(S) + 1 - p(S)^2$.",
        over_pairs(rewritten),
        printed="The second term is the one with the exponent, $-p(S)^2$.",
    ),
    Claim(
        "canonical.rem2",
        "Remark 2, the conjecture; also appendix H.1",
        r"For $k > 2$: $\alpha = \min_{S \subseteq V} q(S) + 1 - p(S)^k$.",
        over_cases(conjectured, (3, 4, 5)),
        printed="Printed as a conjecture; it is true, by the theorem that the maximum flow is the "
        "minimum cut.",
    ),
)
