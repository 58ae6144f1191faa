"""Algorithm 1, sections 3.1 and 3.2, and appendix A."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import partial

from validation import checks
from validation.claim import Claim, Corrected, Fails, at_least, equal
from validation.instances import Exact
from validation.mcsd.events import events1
from validation.mcsd.printed import algorithm1, hats, law1, output, residual
from validation.notation import ONE, ZERO, iid, overlap, positive, support, total

over_cases = partial(checks.over_cases, most_tokens=3)
"""Check on the cases of this module."""


def lossless(draft: Exact, target: Exact, k: int) -> Fraction:
    """Algorithm 1 returns the target's law."""
    return equal(output(law1(draft, target, k), len(target)), target)


def never_again(draft: Exact, target: Exact, k: int) -> Fraction | None:
    """A rejected token has no mass in the later residuals, nor a chance in a later round."""
    checked = None
    for x in iid(draft, k):
        run = algorithm1(target, draft, x)
        for i, after in enumerate(run.targets[1:], start=1):
            for token in x[:i]:
                checked = equal(after[token], ZERO, f"residual after {i} rejections of {x}")
        for i, chance in enumerate(run.chances):
            if x[i] in x[:i]:
                equal(chance, ZERO, f"chance of candidate {i + 1} of {x}")
    return checked


def collisions(draft: Exact, k: int, **_: object) -> Fraction:
    """The candidates are the less likely distinct the more there are."""
    chances = [
        total(mass for x, mass in iid(draft, i).items() if len(set(x)) == i) for i in (k, k + 1)
    ]
    if k + 1 > support(draft):
        equal(chances[1], ZERO, "P(distinct) beyond the support")
    return at_least(chances[0], chances[1], "P(distinct)")


def defined(draft: Exact, target: Exact, k: int) -> Fraction:
    """Eq. (3) defines a distribution for n = 1, ..., k."""
    p = target
    for n in range(1, k + 1):
        if p == draft:
            raise Fails(f"eq. (3) divides 0 by 0 at n = {n}")
        p = residual(p, draft)
    return equal(sum(p), ONE)


def defined_if_reached(draft: Exact, target: Exact, k: int) -> Fraction:
    """It does exactly for those n where R_n has positive probability."""
    known = len(list(hats(target, draft, k)))
    table = events1(draft, target, k)
    return equal(known, 1 + sum(table.rejected(n) > 0 for n in range(1, k + 1)))


def rounds(
    slack: Callable[[Exact, Exact, int, int, Exact], Fraction | None],
) -> Callable[..., Fraction | None]:
    """Check an equation for each n = 0, ..., k with P(R_n) > 0, given p-hat of that n."""

    def check(draft: Exact, target: Exact, k: int) -> Fraction | None:
        worst = None
        for n, hat in enumerate(hats(target, draft, k)):
            found = slack(draft, target, k, n, hat)
            if found is not None:
                worst = found
        return worst

    return check


def eq4(draft: Exact, target: Exact, k: int, n: int, hat: Exact) -> Fraction | None:
    """The chance of candidate n + 1."""
    table = events1(draft, target, k)
    for x, mass in enumerate(draft if n < k else ()):
        if mass > 0:
            chance = table.accepted(n + 1, x) / (mass * table.rejected(n))
            equal(chance, min(ONE, hat[x] / mass), f"n = {n + 1}, x = {x}")
    return ZERO if n < k else None


def eq5(draft: Exact, target: Exact, k: int, n: int, hat: Exact) -> Fraction | None:
    """Candidate n + 1 is x and accepted."""
    table = events1(draft, target, k)
    for x, mass in enumerate(draft if n < k else ()):
        found = table.accepted(n + 1, x) / table.rejected(n)
        equal(found, min(mass, hat[x]), f"n = {n + 1}, x = {x}")
    return ZERO if n < k else None


def lost(draft: Exact, hat: Exact) -> Fraction:
    """Sum of max(p-hat - q, 0)."""
    return total(positive(hat, draft))


def eq6(draft: Exact, target: Exact, k: int, n: int, hat: Exact) -> Fraction | None:
    """Candidate n + 1 is rejected."""
    if n == k:
        return None
    table = events1(draft, target, k)
    found = table.rejected(n + 1) / table.rejected(n)
    equal(found, 1 - overlap(draft, hat), f"n = {n + 1}")
    return equal(found, lost(draft, hat), f"n = {n + 1}")


def eq7(draft: Exact, target: Exact, k: int, n: int, hat: Exact) -> Fraction | None:
    """The recursion of A_n = P(x | R_n)."""
    if n == k:
        return None
    table = events1(draft, target, k)
    reached, later = table.rejected(n), table.rejected(n + 1)
    for x, mass in enumerate(draft):
        tail = table.returned(x, n + 1) / later if later else ZERO
        found = table.returned(x, n) / reached
        equal(found, min(mass, hat[x]) + lost(draft, hat) * tail, f"A_{n}, x = {x}")
    return ZERO


def eq8(draft: Exact, target: Exact, k: int, n: int, hat: Exact) -> Fraction | None:
    """A_k = p-hat_k, A_{k-1} = p-hat_{k-1}, and so on down."""
    table = events1(draft, target, k)
    reached = table.rejected(n)
    return equal(tuple(table.returned(x, n) / reached for x in range(len(target))), hat, f"A_{n}")


def eq9(draft: Exact, target: Exact, k: int) -> Fraction:
    """P(x) = A_0 = p(x)."""
    table = events1(draft, target, k)
    return equal(tuple(table.returned(x, 0) for x in range(len(target))), target)


CLAIMS: tuple[Claim, ...] = (
    Claim(
        "mcsd.alg1",
        "Algorithm 1, section 3.1",
        r"For any $p$, $q$ and $k$, the token that Algorithm 1 returns, run step by step with the "
        r"residual stored in $q$ itself, has the law $q$; no step divides by zero.",
        over_cases(lossless),
    ),
    Claim(
        "mcsd.sec3.2a",
        "section 3.2, second sentence",
        r"The probability that k independent drafts are distinct does not increase with k; it is "
        r"0 for k beyond the support.",
        over_cases(collisions, most_tokens=4),
        printed="It is likely that the candidates are not unique to each other as k increases.",
    ),
    Claim(
        "mcsd.sec3.2b",
        "section 3.2, third sentence",
        r"A token that Algorithm 1 rejected has probability 0 in every later residual, and is "
        r"never accepted again.",
        over_cases(never_again),
    ),
    Claim(
        "mcsd.eq3",
        "eq. (3), appendix A",
        r"For any $p$, $q$ and $n \le k$: $q_0 = q$ and $q_n \propto (q_{n-1} - p)_+$ define "
        r"distributions.",
        over_cases(defined),
        corrected=Corrected(
            r"They are defined for exactly those $n \le k$ for which all of the first n drafts "
            r"are rejected with positive probability: as long as $q_{n-1} \ne p$.",
            over_cases(defined_if_reached),
        ),
    ),
    Claim(
        "mcsd.eq4",
        "eq. (4), appendix A",
        r"$P(\text{accept } x_n \mid x_n = x, R_{n-1}) = \min(1, q_{n-1}(x)/p(x))$ in "
        r"Algorithm 1, for $p(x) > 0$.",
        over_cases(rounds(eq4)),
    ),
    Claim(
        "mcsd.eq5",
        "eq. (5), appendix A",
        r"$P(x, \text{accept } x_n \mid R_{n-1}) = \min(p(x), q_{n-1}(x))$.",
        over_cases(rounds(eq5)),
        printed=r"Also as $q(x) \min(1, \hat p_{n-1}(x)/q(x))$, which is 0 times 0/0 or 0 times "
        r"infinity at tokens that are never drafted.",
    ),
    Claim(
        "mcsd.eq6",
        "eq. (6), appendix A",
        r"$P(\text{reject } x_n \mid R_{n-1}) = 1 - \sum_x \min(p(x), q_{n-1}(x)) = "
        r"\sum_x (q_{n-1}(x) - p(x))_+$.",
        over_cases(rounds(eq6)),
    ),
    Claim(
        "mcsd.eq7",
        "eq. (7), appendix A",
        r"$A_n = P(x \mid R_n)$ satisfies $A_n = \min(p(x), q_n(x)) + "
        r"\sum_x (q_n(x) - p(x))_+ A_{n+1}$.",
        over_cases(rounds(eq7)),
    ),
    Claim(
        "mcsd.eq8",
        "eq. (8), appendix A",
        r"$A_k = q_k(x)$, and therefore $A_{k-1} = q_{k-1}(x)$; likewise $A_n = q_n(x)$ for every "
        r"$n$ with $P(R_n) > 0$.",
        over_cases(rounds(eq8)),
    ),
    Claim(
        "mcsd.eq9",
        "eq. (9), the conclusion of appendix A",
        r"$P(x) = P(x \mid R_0) = A_0 = q(x)$ for Algorithm 1.",
        over_cases(eq9),
    ),
)
