"""Appendix B: Algorithm 2 returns the target's law."""

from itertools import permutations

from validation.algorithms import rejection_distinct, residual
from validation.claim import claim, equal
from validation.domains import cases
from validation.mcsd.events import alg2
from validation.notation import ONE, ZERO, distinct, normalised, same, support

CASES = cases(n=3, random_n=4).where(lambda draft, target, k: k <= support(draft))


def states(run, draft, target, rounds):
    """Yield x_1..x_n, q_n and p_n of eqs. (10) and (1), for n in rounds, if P(R_n, x_1..x_n) > 0.

    p_n is all 0 where no token is left.
    """
    for n in rounds:
        for given in permutations([x for x, mass in enumerate(draft) if mass], n):
            if run.rejected(n, given):
                law, drawn = target, draft
                for i in range(n):
                    law = residual(law, drawn)
                    gone = given[: i + 1]
                    drawn = normalised([0 if x in gone else p for x, p in enumerate(draft)])
                yield given, law, drawn


@claim("mcsd.eq11", "eq. (11), appendix B", CASES)
def chance_of_a_draft(draft, target, k):
    r"""$P(\text{accept } x_{n+1} \mid R_n, x_1, \dots, x_{n+1}) = \min(1, q_n(x_{n+1}) /
    p_n(x_{n+1}))$ in Algorithm 2, with $q_n \propto (q_{n-1} - p_{n-1})_+$.
    """
    run = alg2(draft, target, k)
    for given, law, drawn in states(run, draft, target, range(k)):
        for x, mass in enumerate(drawn):
            if mass:
                longer = (*given, x)
                chance = sum(run.accepted_in(len(longer), longer)) / run.rejected(
                    len(given), longer
                )
                equal(chance, min(ONE, law[x] / mass), f"after {given}, x = {x}")
    return ZERO


@claim("mcsd.eq12", "eq. (12), appendix B", CASES)
def accepted_token(draft, target, k):
    r"""$P(x, \text{accept } x_{n+1} \mid R_n, x_1, \dots, x_n) = \min(p_n(x), q_n(x))$.

    Printed: On the way, the chance of a drafted token is kept as a factor while $R_n$ is given;
    that is right, since the drafts given their predecessors do not depend on $R_n$.
    """
    run = alg2(draft, target, k)
    for given, law, drawn in states(run, draft, target, range(k)):
        reached = run.rejected(len(given), given)
        found = [mass / reached for mass in run.accepted_in(len(given) + 1, given)]
        same(found, list(map(min, drawn, law)), f"after {given}: chance")
    return ZERO


def tails(run, given, law, drawn):
    """The sum over draft n + 1 on the right-hand side of eqs. (13) and (14), for every token x."""
    parts = [ZERO] * run.n
    for y, mass in enumerate(drawn):
        lost = mass - min(mass, law[y])
        if lost:
            tail = run.after(len(given) + 1, (*given, y))
            parts = [part + lost * a for part, a in zip(parts, tail, strict=True)]
    return parts


@claim("mcsd.eq13", "eq. (13), appendix B", CASES)
def rejected_then_returned(draft, target, k):
    r"""$P(x, \text{reject } x_{n+1} \mid R_n, x_1, \dots, x_n) = \sum_{x_{n+1}} [p_n(x_{n+1}) -
    \min(p_n(x_{n+1}), q_n(x_{n+1}))] P(x \mid R_{n+1}, x_1, \dots, x_{n+1})$.
    """
    run = alg2(draft, target, k)
    for given, law, drawn in states(run, draft, target, range(k)):
        reached = run.rejected(len(given), given)
        found = [mass / reached for mass in run.returned(len(given) + 1, given)]
        same(found, tails(run, given, law, drawn), f"after {given}: chance")
    return ZERO


@claim("mcsd.eq14", "eq. (14), appendix B", CASES)
def recursion(draft, target, k):
    r"""$A_n = P(x \mid R_n, x_1, \dots, x_n)$ satisfies $A_n = \min(p_n(x), q_n(x)) +
    \sum_{x_{n+1}} [p_n(x_{n+1}) - \min(p_n(x_{n+1}), q_n(x_{n+1}))] A_{n+1}$.
    """
    run = alg2(draft, target, k)
    for given, law, drawn in states(run, draft, target, range(k)):
        tail = tails(run, given, law, drawn)
        claimed = [min(p, q) + rest for p, q, rest in zip(drawn, law, tail, strict=True)]
        same(run.after(len(given), given), claimed, f"A_n after {given}")
    return ZERO


@claim("mcsd.appBa", "appendix B, between eqs. (14) and (15)", CASES)
def last_does_not_matter(draft, target, k):
    r"""$q_n$ does not depend on $x_n$, for $n = 1, \dots, k$: the residual after n rejections is
    the same whichever token the nth draft was.
    """
    seen, compared = {}, None
    for x in distinct(draft, k):
        for n, law in enumerate(rejection_distinct(target, draft, x).targets[1:], start=1):
            if x[: n - 1] in seen:
                compared = equal(law, seen[x[: n - 1]], f"after {n} rejections of {x}")
            seen[x[: n - 1]] = law
    return compared


def tails_are_residuals(draft, target, k, rounds):
    """P(x | R_n, x_1..x_n) is q_n for these n."""
    run, checked = alg2(draft, target, k), None
    for given, law, _ in states(run, draft, target, rounds):
        checked = same(run.after(len(given), given), law, f"A_n after {given}")
    return checked


@claim("mcsd.eq15", "eq. (15), appendix B", CASES)
def last_tail(draft, target, k):
    r"""$A_k = q_k(x)$."""
    return tails_are_residuals(draft, target, k, [k])


@claim("mcsd.eq16", "eq. (16), appendix B", CASES)
def earlier_tails(draft, target, k):
    r"""$A_{k-1} = q_{k-1}(x)$; likewise $A_n = q_n(x)$ for all $n < k$ and rejected drafts."""
    return tails_are_residuals(draft, target, k, range(k))


@claim("mcsd.eq17", "eq. (17), the conclusion of appendix B", CASES)
def conclusion(draft, target, k):
    r"""$P(x) = P(x \mid R_0) = A_0 = q(x)$ for Algorithm 2."""
    run = alg2(draft, target, k)
    same(run.after(0), run.output(run.n), "A_0")
    return same(run.after(0), target, "A_0")
