"""Appendix A: Algorithm 1 returns the target's law."""

from validation.algorithms import residual, residuals
from validation.claim import Fails, Severity, claim, corrected, equal
from validation.mcsd.algorithms import CASES, alg1, returned
from validation.notation import ONE, ZERO, normalised, overlap, positive, same, total


def rejected(run, n, target, event=lambda _: True):
    """P(R_n), with an event of the drafts."""
    return total(returned(run, n, target, event))


def tails(run, n, target, event=lambda _: True):
    """A_n = P(x | R_n, the event) for every token x; all 0 where that is impossible."""
    return normalised(returned(run, n, target, event))


def states(draft, target, k, rounds):
    """Yield n, q_n, p and Algorithm 1, for all n in rounds such that R_n is possible."""
    run = alg1(draft, target, k)
    known = enumerate(residuals(target, draft, k))
    return [(n, law, draft, run) for n, law in known if n in rounds]


@claim("mcsd.eq3", "eq. (3), appendix A", CASES)
def residuals_are_defined(draft, target, k):
    r"""For any $p$, $q$, $n \le k$: $q_0 = q$, $q_n \propto (q_{n-1} - p)_+$ are distributions."""
    law = target
    for n in range(1, k + 1):
        if law == draft:
            raise Fails(f"eq. (3) divides 0 by 0 at n = {n}")
        law = residual(law, draft)
        equal(sum(law), ONE, f"sum of q_{n}")
    return ZERO


@corrected("mcsd.eq3", Severity.DEGENERATE, CASES)
def defined_if_reached(draft, target, k):
    r"""They are defined for exactly those $n \le k$ for which all of the first n drafts are
    rejected with positive probability: as long as $q_{n-1} \ne p$.
    """
    run, known = alg1(draft, target, k), len(list(residuals(target, draft, k)))
    return equal(known, sum(rejected(run, n, target) > 0 for n in range(k + 1)))


@claim("mcsd.eq4", "eq. (4), appendix A", CASES)
def chance_of_a_draft(draft, target, k, states=states):
    r"""$P(\text{accept } x_n \mid x_n = x, R_{n-1}) = \min(1, q_{n-1}(x)/p(x))$ if $p(x) > 0$."""
    for n, law, drawn, run in states(draft, target, k, range(k)):
        for y in (y for y, mass in enumerate(drawn) if mass):
            tested = rejected(run, n, target, lambda drafts, n=n, y=y: drafts[n] == y)
            equal(run.accepted(n, y) / tested, min(ONE, law[y] / drawn[y]), f"n = {n}, x = {y}")
    return ZERO


@claim("mcsd.eq5", "eq. (5), appendix A", CASES)
def accepted_token(draft, target, k, states=states):
    r"""$P(x, \text{accept } x_n \mid R_{n-1}) = \min(p(x), q_{n-1}(x))$.

    Printed: Also as $q(x) \min(1, \hat p_{n-1}(x)/q(x))$, which is 0 times 0/0 or 0 times infinity
    at tokens that are never drafted.
    """
    for n, law, drawn, run in states(draft, target, k, range(k)):
        reached = rejected(run, n, target)
        for x, both in enumerate(zip(drawn, law, strict=True)):
            equal(run.accepted(n, x) / reached, min(both), f"n = {n}, x = {x}")
    return ZERO


@claim("mcsd.eq6", "eq. (6), appendix A", CASES)
def rejected_draft(draft, target, k):
    r"""$P(\text{reject } x_n \mid R_{n-1}) = 1 - \sum_x \min(p(x), q_{n-1}(x)) = \sum_x
    (q_{n-1}(x) - p(x))_+$.
    """
    for n, law, _, run in states(draft, target, k, range(k)):
        found = rejected(run, n + 1, target) / rejected(run, n, target)
        equal(found, 1 - overlap(draft, law), f"n = {n}")
        equal(found, total(positive(law, draft)), f"n = {n}")
    return ZERO


@claim("mcsd.eq7", "eq. (7), appendix A", CASES)
def recursion(draft, target, k):
    r"""$A_n = P(x \mid R_n) = \min(p(x), q_n(x)) + \sum_x (q_n(x) - p(x))_+ A_{n+1}$."""
    for n, law, _, run in states(draft, target, k, range(k)):
        lost, later = total(positive(law, draft)), tails(run, n + 1, target)
        parts = zip(draft, law, later, strict=True)
        same(tails(run, n, target), [min(p, q) + lost * a for p, q, a in parts], f"A_{n}")
    return ZERO


@claim("mcsd.eq8", "eq. (8), appendix A", CASES)
def tails_are_residuals(draft, target, k, states=states, rounds=lambda k: range(k + 1)):
    """$A_k = q_k(x)$, so $A_{k-1} = q_{k-1}(x)$, and so on: $A_n = q_n(x)$ if $P(R_n) > 0$."""
    found = None
    for n, law, _, run in states(draft, target, k, rounds(k)):
        found = same(tails(run, n, target), law, f"A_{n}")
    return found


@claim("mcsd.eq9", "eq. (9), the conclusion of appendix A", CASES)
def conclusion(draft, target, k, algorithm=alg1):
    r"""$P(x) = P(x \mid R_0) = A_0 = q(x)$ for Algorithm 1."""
    run = algorithm(draft, target, k)
    equal(run.output(len(target)), tails(run, 0, target), "P(x), against A_0")
    return same(tails(run, 0, target), target, "A_0")
