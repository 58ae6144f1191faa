"""Appendix A: Algorithm 1 returns the target's law."""

from validation.algorithms import residual, residuals
from validation.claim import Fails, Severity, claim, corrected, equal
from validation.domains import cases
from validation.mcsd.events import alg1
from validation.notation import ONE, ZERO, overlap, positive, same, total

CASES = cases(n=3, random_n=4, random_k=(1, 2, 3, 4))


@claim("mcsd.eq3", "eq. (3), appendix A", CASES)
def residuals_are_defined(draft, target, k):
    r"""For any $p$, $q$ and $n \le k$: $q_0 = q$ and $q_n \propto (q_{n-1} - p)_+$ define
    distributions.
    """
    law = target
    for n in range(1, k + 1):
        if law == draft:
            raise Fails(f"eq. (3) divides 0 by 0 at n = {n}")
        law = residual(law, draft)
        equal(sum(law), ONE, f"sum of q_{n}")
    return ZERO


@corrected("mcsd.eq3", Severity.DEGENERATE, CASES)
def residuals_are_defined_if_reached(draft, target, k):
    r"""They are defined for exactly those $n \le k$ for which all of the first n drafts are
    rejected with positive probability: as long as $q_{n-1} \ne p$.
    """
    run, known = alg1(draft, target, k), len(list(residuals(target, draft, k)))
    return equal(known, 1 + sum(run.rejected(n) > 0 for n in range(1, k + 1)))


def rounds(draft, target, rejections):
    """Yield n and q_n for all these n with P(R_n) > 0."""
    return enumerate(residuals(target, draft, rejections))


@claim("mcsd.eq4", "eq. (4), appendix A", CASES)
def chance_of_a_draft(draft, target, k):
    r"""$P(\text{accept } x_n \mid x_n = x, R_{n-1}) = \min(1, q_{n-1}(x)/p(x))$ in Algorithm 1,
    for $p(x) > 0$.
    """
    run = alg1(draft, target, k)
    for n, law in rounds(draft, target, k - 1):
        for x, accepted in enumerate(run.accepted_in(n + 1)):
            if draft[x]:
                chance = accepted / (draft[x] * run.rejected(n))
                equal(chance, min(ONE, law[x] / draft[x]), f"draft {n + 1}, x = {x}")
    return ZERO


@claim("mcsd.eq5", "eq. (5), appendix A", CASES)
def accepted_token(draft, target, k):
    r"""$P(x, \text{accept } x_n \mid R_{n-1}) = \min(p(x), q_{n-1}(x))$.

    Printed: Also as $q(x) \min(1, \hat p_{n-1}(x)/q(x))$, which is 0 times 0/0 or 0 times infinity
    at tokens that are never drafted.
    """
    run = alg1(draft, target, k)
    for n, law in rounds(draft, target, k - 1):
        found = [mass / run.rejected(n) for mass in run.accepted_in(n + 1)]
        same(found, list(map(min, draft, law)), f"draft {n + 1}: chance")
    return ZERO


@claim("mcsd.eq6", "eq. (6), appendix A", CASES)
def rejected_draft(draft, target, k):
    r"""$P(\text{reject } x_n \mid R_{n-1}) = 1 - \sum_x \min(p(x), q_{n-1}(x)) = \sum_x
    (q_{n-1}(x) - p(x))_+$.
    """
    run = alg1(draft, target, k)
    for n, law in rounds(draft, target, k - 1):
        found = run.rejected(n + 1) / run.rejected(n)
        equal(found, 1 - overlap(draft, law), f"draft {n + 1}")
        equal(found, total(positive(law, draft)), f"draft {n + 1}")
    return ZERO


@claim("mcsd.eq7", "eq. (7), appendix A", CASES)
def recursion(draft, target, k):
    r"""$A_n = P(x \mid R_n)$ satisfies $A_n = \min(p(x), q_n(x)) + \sum_x (q_n(x) - p(x))_+
    A_{n+1}$.
    """
    run = alg1(draft, target, k)
    for n, law in rounds(draft, target, k - 1):
        lost = total(positive(law, draft))
        later = run.after(n + 1) if lost else draft
        claimed = [min(p, q) + lost * a for p, q, a in zip(draft, law, later, strict=True)]
        same(run.after(n), claimed, f"A_{n}")
    return ZERO


@claim("mcsd.eq8", "eq. (8), appendix A", CASES)
def tails_are_residuals(draft, target, k):
    r"""$A_k = q_k(x)$, and therefore $A_{k-1} = q_{k-1}(x)$; likewise $A_n = q_n(x)$ for every $n$
    with $P(R_n) > 0$.
    """
    run = alg1(draft, target, k)
    for n, law in rounds(draft, target, k):
        same(run.after(n), law, f"A_{n}")
    return ZERO


@claim("mcsd.eq9", "eq. (9), the conclusion of appendix A", CASES)
def conclusion(draft, target, k):
    r"""$P(x) = P(x \mid R_0) = A_0 = q(x)$ for Algorithm 1."""
    run = alg1(draft, target, k)
    same(run.after(0), run.output(run.n), "A_0")
    return same(run.after(0), target, "A_0")
